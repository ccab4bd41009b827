"""Family `programs`: a hypothesis is a description and a Python function of one argument.

The oracle `execute` runs a function in the sandbox, which receives inputs only. The outputs are
compared with the expected outputs outside of the sandbox, by the equality rule of
`sandbox/inside/canonical.py`. The answer formats are:

- `tuple`, the default: one Python tuple of two strings, description and source (the contract of
  GEAR's appendix E, in other words);
- `json`: one object {"description", "code"}, for endpoints that enforce a JSON schema;
- `fenced_function`: a ```python block with the function. The prose around the block is the
  description. Recorded answers of earlier work have this form.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...records import (
    Agreement,
    Batch,
    FamilyWords,
    Hypothesis,
    InputSet,
    Json,
    Malformed,
    Observation,
    Oracles,
    Predictions,
    Problem,
    SearchStyle,
    Unavailable,
    View,
)
from ...sandbox.inside.canonical import (
    Unrepresentable,
    canonical_bytes,
    stored_bytes,
    to_json_value,
)
from ...sandbox.inside.tolerance import Normal, make_normaliser, normal_bytes
from ...tools.description_length import program_bits, text_bits
from ...tools.execute import (
    EXECUTE,
    TruncatedJson,
    build_execute_tool,
    format_trial,
    summarise_trial,
)
from ..custom.words import EQUALITY, IMPORTS, OwnWords
from ..io.compact_values import format_compact, join_lines
from ..io.spaces import equality_key
from .answers import ANSWER_SCHEMA, allow_imports, enforce_contract, read_answer, read_code
from .gear_words import GearProgramWords

ANSWER_FORMATS = ("tuple", "json", "fenced_function")

_BUILTINS = "uses Python's builtins alone: nothing is imported"
_MODULES = "imports nothing but modules that compute, such as re, datetime and math"
_RULES = f"""\
The function
- takes one argument, the input, and returns the output with `return`;
- is the only top-level definition, and {_BUILTINS};
- prints nothing and comes without tests, examples or a second function;
- is indented by four spaces, with a new line after every header such as `if` or `for`;
- compiles and runs exactly as written;
- states a rule that carries over to inputs that are not shown: no table of the shown pairs, no
  branch for one of them."""

_TUPLE = f"""\
Answer with one Python tuple of two strings and nothing else: no prose around it, no Markdown.
First string: the hypothesis in one sentence.
Second string: the complete source of the function, line breaks written as \\n.
{_RULES}
The form of an answer, for another problem:
("The list without its first element.", "def f(x):\\n    return x[1:]")"""

_JSON = f"""\
Answer with one JSON object and nothing else: no prose around it, no Markdown.
"description": the hypothesis in one sentence.
"code": the complete source of the function, line breaks written as \\n.
{_RULES}
The form of an answer, for another problem:
{{"description": "The list without its first element.", "code": "def f(x):\\n    return x[1:]"}}"""

_FENCED = f"""\
Answer with one sentence that says the hypothesis, then one block of code that holds the function.
{_RULES}
The form of an answer, for another problem:
The list without its first element.
```python
def fn(x):
    return x[1:]
```"""


class ProgramWords:
    """Prompt texts for programs. Values are shown as Python literals, and grids without blanks."""

    instructions = (
        "A hypothesis is one rule that turns every input into its output: a Python function of"
        " one argument, with a sentence that says what it does. It must give exactly the shown"
        " output for each shown input, and it will be run on many inputs that are not shown, so"
        " it should be defined on as many of them as makes sense."
    )

    def contract(self, answer_format: str) -> str:
        """Return the instructions for writing an answer in the format `answer_format`."""
        return {"tuple": _TUPLE, "json": _JSON, "fenced_function": _FENCED}[answer_format]

    def schema(self, answer_format: str) -> Mapping[str, Json] | None:
        """Return the JSON schema of an answer, or None for a format that is not JSON."""
        return ANSWER_SCHEMA if answer_format == "json" else None

    def show_observation(self, number: int, observation: Observation) -> str:
        """Return a pair of input and output as text for a prompt."""
        return f"Pair {number}: ({_written(observation.input)}, {_written(observation.output)})"

    def show_hypothesis(self, hypothesis: Hypothesis) -> str:
        """Return the description of a hypothesis, or its source if it has no description."""
        return hypothesis.description or hypothesis.text

    def show_feedback(self, view: View, agreement: Agreement) -> str:
        """Return feedback on a function: the number of correct pairs, and the first wrong pairs."""
        found = summarise_trial(view.shown, agreement.marks, agreement.got, agreement.verdict)
        if found["consistent"]:
            return f"The function is right on all {found['of']} pairs."
        lines = [f"The function is right on {found['passed']} of {found['of']} pairs."]
        if "verdict" in found:
            lines.append(f"It could not be run: {found['verdict']}.")
        else:
            lines += [
                f"Input {_written(case['input'])}: expected {_written(case['expected'])},"
                f" got {_format_result(case['got'])}"
                for case in found["failing"]
            ]
        return "\n".join(lines)

    def compact(self) -> CompactProgramWords:
        """Return a version of these prompt texts with fewer tokens."""
        return CompactProgramWords()

    def gear(self) -> GearProgramWords:
        """Return the texts for prompts with the structure of GEAR's appendix E."""
        return GearProgramWords(self)


class ImportingProgramWords(ProgramWords):
    """Prompt texts for programs that may import modules."""

    def contract(self, answer_format: str) -> str:
        """Return the instructions for writing an answer in the format `answer_format`."""
        return super().contract(answer_format).replace(_BUILTINS, _MODULES)

    def gear(self) -> GearProgramWords:
        """Return the texts for prompts with the structure of GEAR's appendix E."""
        return GearProgramWords(self, f"it {_MODULES}")


_COMPACT = {
    "tuple": 'Rule as ("description", "def f(x): ..."):',
    "json": 'Rule as {"description": "...", "code": "def f(x): ..."}:',
    "fenced_function": "Rule as a sentence and a ```python block of def fn(x):",
}


class CompactProgramWords(ProgramWords):
    """Prompt texts for programs with few tokens. Values are shown in the notation of
    `compact_values.py`.
    """

    instructions = ""

    def contract(self, answer_format: str) -> str:
        """Return the beginning of an answer in the format `answer_format`, on one line, as an
        example.
        """
        return _COMPACT[answer_format]

    def show_observation(self, number: int, observation: Observation) -> str:
        """Return a pair of input and output as `input -> output`."""
        return f"{format_compact(observation.input)} -> {format_compact(observation.output)}"

    def show_hypothesis(self, hypothesis: Hypothesis) -> str:
        """Return the description of a hypothesis on one line, or its source if it has no
        description.
        """
        return join_lines(hypothesis.description) or hypothesis.text

    def show_feedback(self, view: View, agreement: Agreement) -> str:
        """Return feedback on a function: the number of correct pairs, and the first wrong pair."""
        found = summarise_trial(
            view.shown, agreement.marks, agreement.got, agreement.verdict, max_failing=1
        )
        said = f"{found['passed']} of {found['of']} right"
        if "verdict" in found:
            return f"{said}; {found['verdict']}"
        return "; ".join([said, *map(_wrong, found["failing"])])

    def compact(self) -> CompactProgramWords:
        """Return this object, which is compact already."""
        return self


def _wrong(case: Mapping[str, Json]) -> str:
    got = case["got"]
    undefined = isinstance(got, str) and got.startswith("undefined: ")
    return f"{_short(case['input'])} -> {got if undefined else _short(got)} is wrong"


def _short(value: Json) -> str:
    return str(value) if isinstance(value, TruncatedJson) else format_compact(value)


def _written(value: Json) -> str:
    """Return a value as Python writes it, and a grid (a list of lists of integers) compactly."""
    if isinstance(value, TruncatedJson):
        return str(value)
    rows = value if isinstance(value, list) and value else [None]
    if all(isinstance(row, list) and all(type(cell) is int for cell in row) for row in rows):
        return repr(value).replace(" ", "")
    return repr(value)


def _format_result(got: Json) -> str:
    return got if isinstance(got, str) and got.startswith("undefined: ") else _written(got)


def answer_text(description: str, code: str) -> str:
    """Return an answer in the format `tuple`: Python text that `ast.literal_eval` reads as two
    strings.
    """
    return f"({json.dumps(description)}, {json.dumps(code)})"


@dataclass(frozen=True)
class Programs:
    """The family `programs`: Python functions of one argument.

    Args:
        strict_contract: whether an answer that breaks the answer contract (one function and nothing
            else) is malformed and is not run.
        words: the prompt texts.
    """

    strict_contract: bool = False
    words: FamilyWords = ProgramWords()  # noqa: RUF009 - it has no state

    name = "programs"
    answer_formats = ANSWER_FORMATS
    oracle = "execute"
    oracle_kind = EXECUTE
    recorded_format = "fenced_function"
    search_style = SearchStyle(answer_text, "execute", "code", repairs=True, likeliest_first=True)
    opens_hidden = True

    def with_strict_contract(self) -> Programs:
        """Return a copy of this family in which answers that break the answer contract are
        malformed.
        """
        return replace(self, strict_contract=True)

    def with_task_wording(self, public: Mapping[str, Json]) -> Programs:
        """Return a copy of this family with the prompt texts for a problem.

        `public` holds the problem's public facts. If the task of the problem has wording of its
        own, that wording precedes the prompt texts of the family.
        """
        words = ImportingProgramWords() if public.get(IMPORTS) else self.words
        return replace(self, words=OwnWords.from_public(public, words))

    def parse(
        self, view: View, answer: str, answer_format: str
    ) -> Sequence[Hypothesis | Malformed]:
        """Return the hypothesis in a model's answer, or `Malformed` with the reason, as the only
        element.
        """
        return [self._held(read_answer(answer, answer_format), view)]

    def parse_hypothesis(self, text: str, view: View) -> Hypothesis | Malformed:
        """Return the hypothesis for a function that a user supplies, with or without a Markdown
        fence.
        """
        return self._held(read_code(text), view)

    def _held(self, read: Hypothesis | Malformed, view: View) -> Hypothesis | Malformed:
        if view.public.get(IMPORTS):
            read = allow_imports(read)
        return enforce_contract(read) if self.strict_contract else read

    async def measure_agreement(
        self,
        hypothesis: Hypothesis,
        observations: Sequence[Observation],
        view: View,
        oracles: Oracles,
    ) -> Agreement:
        """Run a function on observations in the sandbox and compare its outputs with the expected
        outputs.

        Returns:
            For each observation True, False, or None with a reason if the function returns no
            output. If the complete run failed, all elements are None, and `verdict` says how the
            run failed.

        Raises:
            Unavailable: the session has no sandbox.
        """
        inputs = InputSet("observations", tuple(pair.input for pair in observations))
        batch = await _run(hypothesis, inputs, oracles, "values")
        if batch.verdict != "ok" or batch.values is None:
            nothing = {"undefined": batch.verdict}
            return Agreement(
                (None,) * len(inputs), (nothing,) * len(inputs), batch.verdict, _detail(batch)
            )
        rule = view.public.get(EQUALITY)
        normal = None if rule is None else make_normaliser(rule)
        marks = tuple(
            _mark(came, pair.output, normal)
            for came, pair in zip(batch.values, observations, strict=True)
        )
        return Agreement(marks, batch.values, "ok", _detail(batch))

    async def predict(
        self, hypotheses: Sequence[Hypothesis], inputs: InputSet, view: View, oracles: Oracles
    ) -> Sequence[Predictions]:
        """Run each function on all inputs in the sandbox and return a code for each output.

        Equal outputs have equal codes. The functions run concurrently.

        Raises:
            Unavailable: the session has no sandbox.
        """
        rule = view.public.get(EQUALITY)
        batches = await asyncio.gather(
            *(_run(hypothesis, inputs, oracles, "codes", rule) for hypothesis in hypotheses)
        )
        return [_predictions(batch, len(inputs)) for batch in batches]

    def is_consistent(self, agreement: Agreement) -> bool:
        """Return whether the function is right on all observations."""
        return all(mark is True for mark in agreement.marks)

    def find_contradiction(self, problem: Problem | View) -> Sequence[Observation]:
        """Return two shown pairs with equal inputs and different outputs, or an empty tuple.

        No function is consistent with both pairs. Outputs are compared by the task's rule of
        equality, or exactly if the task has no such rule.
        """
        normal = make_normaliser(problem.public.get(EQUALITY, {}))
        first: dict[bytes | str, tuple[bytes, Observation]] = {}
        for pair in problem.shown:
            try:
                output = normal_bytes(to_json_value(pair.output), normal)
            except Unrepresentable:  # too large to be predicted at all
                continue
            before = first.setdefault(equality_key(pair.input), (output, pair))
            if before[0] != output:
                return before[1], pair
        return ()

    def description_bits(self, text: str, problem: Problem) -> float:
        """Return the description length of a function in bits.

        If this version of Python cannot parse the function, the length of its text is used.
        """
        try:
            return program_bits(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return text_bits(text)

    def count_explained(self, agreement: Agreement, problem: Problem) -> tuple[int, int]:
        """Return (number of shown pairs on which the function is right, number of all shown pairs)."""
        return agreement.right, len(problem.shown)

    def make_tools(self, view: View, oracles: Oracles) -> Sequence[Any]:
        """Return the tool `execute`, which runs a function on the shown pairs; no tool without a
        sandbox.
        """
        if oracles.execute is None:
            return ()
        return (build_execute_tool(lambda code: self.attempt(code, view, oracles)),)

    async def attempt(self, code: str, view: View, oracles: Oracles) -> str:
        """Return the reply of the tool `execute` to a function, as JSON text.

        The reply depends only on `code` and `view`.
        """
        read = self.parse_hypothesis(code, view)
        if isinstance(read, Malformed):
            said = {"consistent": False, "passed": 0, "of": len(view.shown), "failing": []}
            return format_trial({**said, "error": f"{read.reason}: {read.detail}"})
        agreement = await self.measure_agreement(read, view.shown, view, oracles)
        found = summarise_trial(view.shown, agreement.marks, agreement.got, agreement.verdict)
        return format_trial(found)


async def _run(
    hypothesis: Hypothesis, inputs: InputSet, oracles: Oracles, keep: Any, equality: Json = None
) -> Batch:
    if oracles.execute is None:
        raise Unavailable("this session has no sandbox to run programs in")
    asked = (hypothesis.text, hypothesis.meta["entry"], inputs, keep)
    return await oracles.execute(*asked, *([] if equality is None else [equality]))


def _mark(came: Mapping[str, Json], expected: Json, normal: Normal | None) -> bool | None:
    if "value" not in came:
        return None
    try:
        value = _bytes(came["value"], normal)
    except ValueError:  # type tags that no honest run writes; the output counts as wrong
        return False
    try:
        return value == (
            _bytes(to_json_value(expected), normal) if normal else canonical_bytes(expected)
        )
    except Unrepresentable:
        return False


def _bytes(stored: Json, normal: Normal | None) -> bytes:
    return stored_bytes(stored) if normal is None else normal_bytes(stored, normal)


def _detail(batch: Batch) -> dict[str, Json]:
    detail: dict[str, Json] = {"message": batch.detail} if batch.detail else {}
    return {**detail, "limited": True} if batch.limited else detail


def _predictions(batch: Batch, count: int) -> Predictions:
    if batch.verdict == "ok":
        return Predictions(batch.codes, batch.reasons, batch.reason_names, "ok", batch.limited)
    return Predictions(
        np.zeros(count, np.int64),
        np.ones(count, np.uint8),
        (batch.verdict,),
        batch.verdict,
        batch.limited,
    )


FAMILY = Programs()
