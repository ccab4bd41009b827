"""Python texts of programs about lists, as functions that are run on many inputs.

The text of a conditional is also cut into the texts of its test and its two branches. Run in turn, they do
what the whole text does.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..novelty import Codes, Defined, Predictions

# Exceptions that a generated program can raise. They are listed, so that no other failure is
# hidden.
RAISED = (ArithmeticError, LookupError, MemoryError, TypeError, ValueError, AttributeError)


class ProgramText:
    """The text of a program or of a part of one.

    Args:
        text: A Python function `f(x)`.
        is_conditional: Whether the text has the form "if test, a branch, otherwise another branch".
    """

    sentence = ""
    cost = 0.0

    def __init__(self, text: str, is_conditional: bool = False) -> None:
        self.text = text
        self.is_conditional = is_conditional

    @cached_property
    def function(self) -> Callable[[list[int]], Any]:
        """Return the function that the text defines."""
        return compile_text(self.text)

    @cached_property
    def parts(self) -> tuple[ProgramText, ProgramText, ProgramText] | None:
        """Return the test and the two branches of a conditional, or None for any other text."""
        if not self.is_conditional:
            return None
        first, *lines = self.text.split("\n")
        head = next(k for k, line in enumerate(lines) if line.startswith("    if "))
        test = [first, *lines[:head], f"    return bool({lines[head][7:-1]})"]
        then = list(itertools.takewhile(lambda line: line.startswith(" " * 8), lines[head + 1 :]))
        other = [first, *lines[head + 1 + len(then) :]]
        return (
            ProgramText("\n".join(test)),
            ProgramText("\n".join([first, *(line[4:] for line in then)])),
            ProgramText("\n".join(other)),
        )

    def predict(self, inputs: Sequence[list[int]]) -> Predictions:
        """Return the predictions of the program on `inputs`.

        Returns:
            Two arrays of shape (inputs,): an integer code of each output, where equal codes mean
            equal outputs, and whether the program is defined on each input.
        """
        codes: Codes = np.zeros(len(inputs), dtype=np.int64)
        defined: Defined = np.zeros(len(inputs), dtype=bool)
        function = self.function
        for k, values in enumerate(inputs):
            try:
                out = function(values)
            except RAISED:
                continue
            codes[k] = _code(out)
            defined[k] = True
        return codes, defined


def compile_text(text: str) -> Callable[[list[int]], Any]:
    """Compile a program that this engine wrote. No other text is ever executed here."""
    names: dict[str, Any] = {}
    exec(compile(text, "<candidate>", "exec"), names)
    made: Callable[[list[int]], Any] = names["f"]
    return made


def _code(out: Any) -> int:
    """Return Python's hash of the integers, with -1 kept apart from -2.

    The hash of integers is the same in every process.
    """
    values = tuple(out) if type(out) is list else (out,)
    if -1 in values:
        values = tuple(-(1 << 40) if v == -1 else v for v in values)
    return hash(values)


HOLDS = _code(True)  # the code of a test that holds
