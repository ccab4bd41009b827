"""The proposer that asks cvc5, with a process of its own for each answer."""

from __future__ import annotations

import ast
import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ...records import HasSearch, Json, Message, Reply, SearchStyle, ToolSpec, View
from ...search.examples.constants import constants_of
from ...search.examples.grammar import SEP
from ...tasks import load_family
from ...tools.line_process import LineProcess, ProcessDied

UNSUPPORTED = (
    "cvc5 finds only programs that take texts, integers, truth values or a list of these with a fixed"
    " length, and return a text, an integer or a truth value"
)
NUMBERS = (0, 1, 2, 3)
MAX_TEXTS = 6  # each constant makes the solver slower
MAX_ARGUMENTS = 10
MAX_CODE_POINT = 0x2FFFF  # of a character in SMT-LIB

_MODULE = f"{__package__}.process"
_TYPES = {str: "str", int: "int", bool: "bool"}


class Cvc5Proposer:
    """A proposer whose answers are programs that the SyGuS solver of cvc5 finds.

    The reply depends on the view, the limits and the speed of the machine, not on the messages.

    Args:
        seconds: Time limit of each answer.
        memory_mb: Memory limit of each solver, in megabytes.
        workers: Number of solvers that run at a time.
        release: Version of the package cvc5.
    """

    def __init__(self, seconds: float, memory_mb: int, workers: int, release: str) -> None:
        self.seconds, self.memory_mb, self.release = seconds, memory_mb, release
        self.turns = asyncio.Semaphore(workers)

    def settings(self) -> Json:
        """Return the settings of the solver that the session records."""
        return {
            "model": "cvc5",
            "seconds": self.seconds,
            "memory_mb": self.memory_mb,
            "cvc5": self.release,
            "version": 1,
        }

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Mapping[str, Json] | None = None,
    ) -> Reply:
        """Return a program that is right on all shown pairs and is no earlier answer."""
        style = _style(view)
        problem = (
            None if style is None else synthesis_problem([(o.input, o.output) for o in view.shown])
        )
        if style is None or problem is None:
            return _exhausted(UNSUPPORTED)
        earlier = [h.text for one in view.past_answers for h in one.hypotheses]
        found = await self.solve({**problem, "earlier": earlier})
        if "source" not in found:
            return _exhausted(found["reason"])
        return Reply(text=style.answer(f"Returns {found['term']}.", found["source"]))

    async def solve(self, problem: Mapping[str, Any]) -> dict[str, Any]:
        """Ask a new process for a program, and kill the process at the time limit.

        The time in which the process starts does not count.

        Args:
            problem: What `synthesis_problem` returns, and "earlier", the texts of programs that are
                not asked for again.

        Returns:
            A mapping with the keys "source" and "term", or {"reason": why there is no program}.
        """
        limits = {"memory_mb": self.memory_mb, "seconds": self.seconds}
        async with self.turns:
            process = LineProcess(_MODULE)
            try:
                await process.ask({})
                found: dict[str, Any] = await process.ask({**problem, **limits}, self.seconds)
                return found
            except TimeoutError:
                return {"reason": f"cvc5 finds no program in {self.seconds:g} seconds"}
            except ProcessDied:
                return {
                    "reason": f"cvc5 ended without an answer; it may use {self.memory_mb:,} MB of memory"
                }
            finally:
                await process.close()

    async def close(self) -> None:
        """Do nothing: each process ends with its answer."""


def synthesis_problem(pairs: Sequence[tuple[Json, Json]]) -> dict[str, Any] | None:
    """Return the problem in the form that the process takes, or None for values of other types.

    Args:
        pairs: The shown pairs (input, output).
    """
    if not pairs:
        return None
    inputs, outputs = zip(*pairs, strict=True)
    several = all(isinstance(one, list) for one in inputs)
    rows = [[*one, output] if several else [one, output] for one, output in pairs]
    if len({len(row) for row in rows}) > 1 or not 1 < len(rows[0]) <= MAX_ARGUMENTS + 1:
        return None
    columns = [{_type_of(value) for value in column} for column in zip(*rows, strict=True)]
    if any(len(types) > 1 or None in types for types in columns):
        return None
    return {
        "types": [next(iter(types)) for types in columns],
        "pairs": [[row[:-1], row[-1]] for row in rows],
        "arguments": [f"x[{place}]" for place in range(len(columns) - 1)] if several else ["x"],
        "texts": _texts(inputs, outputs),
        "numbers": list(NUMBERS),
    }


def _texts(inputs: Sequence[Json], outputs: Sequence[Json]) -> list[str]:
    """Return the constants: the cheapest texts from which the embedded search composes programs.

    Words of the inputs are left out. With them, cvc5 writes outputs down more often than it finds a
    rule.
    """
    ranked = sorted(
        ((price, text) for kind, text, price in constants_of(inputs, outputs) if kind == SEP),
        key=lambda one: one[0],
    )
    words = json.dumps(inputs, ensure_ascii=False)
    texts = [ast.literal_eval(text) for _, text in ranked]
    kept = [text for text in texts if text not in words or not any(map(str.isalnum, text))]
    return kept[:MAX_TEXTS]


def _type_of(value: Json) -> str | None:
    """Return the name of the type of a value, or None if cvc5 has no such values."""
    if isinstance(value, str) and any(ord(one) > MAX_CODE_POINT for one in value):
        return None
    return _TYPES.get(type(value))


def _style(view: View) -> SearchStyle | None:
    """Return how answers are written, or None if hypotheses are not programs, which `execute` runs."""
    family = load_family(view.family)
    style = family.search_style if isinstance(family, HasSearch) else None
    return style if style is not None and style.tool == "execute" else None


def _exhausted(reason: str) -> Reply:
    return Reply(finish="exhausted", meta={"reason": reason})
