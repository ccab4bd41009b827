"""Family `programs`: agreement is judged here by the equality rule, undefined apart from wrong,
failures of a whole run apart from both; expected outputs never reach the sandbox."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from peirce.records import (
    Agreement,
    Batch,
    Hypothesis,
    InputSet,
    Json,
    Keep,
    Limits,
    Malformed,
    Observation,
    Oracles,
    Problem,
    SandboxUnavailable,
    Unavailable,
    View,
)
from peirce.sandbox import open_sandbox
from peirce.tasks import load_family
from peirce.tools.execute import build_executor

FAMILY = load_family("programs")
PAIRS = (
    Observation([3, 1], [1, 3]),
    Observation([], []),
    Observation([2], [2]),
)
SPACE = InputSet("s", ([1, 2], [], [5]))


def _view(pairs: tuple[Observation, ...] = PAIRS) -> View:
    return Problem("p", "t", "programs", pairs, (Observation([9, 8], [8, 9]),)).make_view(SPACE)


def _hypothesis(source: str) -> Hypothesis:
    read = FAMILY.parse_hypothesis(source, _view())
    assert isinstance(read, Hypothesis), read
    return read


class Says:
    """An execute oracle that answers with given values and remembers what it was asked."""

    def __init__(self, *values: Mapping[str, Json], verdict: str = "ok") -> None:
        self.values, self.verdict = values, verdict
        self.asked: list[tuple[str, str, InputSet, str]] = []

    async def __call__(self, source: str, entry: str, inputs: InputSet, keep: Keep) -> Batch:
        self.asked.append((source, entry, inputs, keep))
        n = len(inputs)
        values = self.values if self.verdict == "ok" else None
        return Batch(self.verdict, np.zeros(n, np.int64), np.zeros(n, np.uint8), (), values)


def _marks(says: Says, *expected: Json) -> tuple[bool | None, ...]:
    pairs = tuple(Observation(i, output) for i, output in enumerate(expected))
    hypothesis = _hypothesis("def f(x):\n    return x")
    agreed = asyncio.run(
        FAMILY.measure_agreement(hypothesis, pairs, _view(), Oracles(execute=says))
    )
    assert FAMILY.is_consistent(agreed) == all(mark is True for mark in agreed.marks)
    return agreed.marks


def test_predictions_are_compared_by_the_equality_rule() -> None:
    says = Says({"value": True}, {"value": [1.0]}, {"value": {"$float": "nan"}}, {"value": "1"})
    assert _marks(says, 1, [1], float("nan"), 1) == (True, True, True, False)
    odd = Says({"value": {"$dict": [[1, 2]]}}, {"value": {"$lie": 1}}, {"value": {"$dict": 5}})
    assert _marks(odd, {"1": 2}, {"$lie": 1}, 5) == (False, False, False)


def test_undefined_is_neither_right_nor_wrong() -> None:
    says = Says({"value": 1}, {"undefined": "IndexError"}, {"value": 3})
    assert _marks(says, 1, 1, 1) == (True, None, False)


def test_a_run_that_failed_as_a_whole_leaves_every_observation_undefined() -> None:
    says = Says(verdict="too_slow")
    hypothesis = _hypothesis("def f(x):\n    return x")
    agreed = asyncio.run(
        FAMILY.measure_agreement(hypothesis, PAIRS, _view(), Oracles(execute=says))
    )
    assert agreed.marks == (None, None, None) and agreed.verdict == "too_slow"
    assert set(agreed.got[0].values()) == {"too_slow"} and not FAMILY.is_consistent(agreed)
    (predicted,) = asyncio.run(FAMILY.predict([hypothesis], SPACE, _view(), Oracles(execute=says)))
    assert predicted.count_undefined() == {"too_slow": 3} and not predicted.defined.any()


def test_the_oracle_is_given_source_entry_and_inputs_and_no_outputs() -> None:
    says = Says(*({"value": 0} for _ in PAIRS))
    hypothesis = _hypothesis("def g(x):\n    return x\ndef solve(x):\n    return g(x)")
    asyncio.run(FAMILY.measure_agreement(hypothesis, PAIRS, _view(), Oracles(execute=says)))
    ((source, entry, inputs, keep),) = says.asked
    assert (source, entry, keep) == (hypothesis.text, "solve", "values")
    assert inputs.inputs == tuple(pair.input for pair in PAIRS)


def test_without_a_sandbox_there_is_no_score() -> None:
    hypothesis = _hypothesis("def f(x):\n    return x")
    with pytest.raises(Unavailable, match="no sandbox"):
        asyncio.run(FAMILY.measure_agreement(hypothesis, PAIRS, _view(), Oracles()))
    assert FAMILY.make_tools(_view(), Oracles()) == ()


def test_an_outage_is_no_prediction_and_no_answer_of_the_tool() -> None:
    async def out(source: str, entry: str, inputs: InputSet, keep: Keep) -> Batch:
        raise SandboxUnavailable("gone")

    oracles = Oracles(execute=out)
    hypothesis = _hypothesis("def f(x):\n    return x")
    with pytest.raises(SandboxUnavailable):
        asyncio.run(FAMILY.predict([hypothesis], SPACE, _view(), oracles))
    (tool,) = FAMILY.make_tools(_view(), oracles)
    with pytest.raises(SandboxUnavailable):
        asyncio.run(tool.ainvoke({"code": hypothesis.text}))


def test_parse_gives_one_hypothesis_or_one_reason() -> None:
    (read,) = FAMILY.parse(_view(), repr(("d", "def f(x):\n    return x")), "tuple")
    assert isinstance(read, Hypothesis) and read.description == "d"
    (bad,) = FAMILY.parse(_view(), "no", "tuple")
    assert isinstance(bad, Malformed)


def test_the_example_of_each_contract_fulfils_it() -> None:
    for form in FAMILY.answer_formats:
        contract = FAMILY.words.contract(form)
        example = contract.split("for another problem:\n")[1]
        (read,) = FAMILY.parse(_view(), example, form)
        assert isinstance(read, Hypothesis) and not read.breaches
        assert "leniency" not in read.meta and read.description


def test_feedback_names_the_first_failing_pairs() -> None:
    words = FAMILY.words
    assert words.show_observation(2, PAIRS[0]) == "Pair 2: ([3, 1], [1, 3])"
    says = Says({"value": [3, 1]}, {"undefined": "IndexError"}, {"value": [2]})
    hypothesis = _hypothesis("def f(x):\n    return x")
    agreed = asyncio.run(
        FAMILY.measure_agreement(hypothesis, PAIRS, _view(), Oracles(execute=says))
    )
    assert words.show_feedback(_view(), agreed).split("\n") == [
        "The function is right on 1 of 3 pairs.",
        "Input [3, 1]: expected [1, 3], got [3, 1]",
        "Input []: expected [], got undefined: IndexError",
    ]
    assert words.show_hypothesis(hypothesis) == hypothesis.text


def test_feedback_writes_grids_whole_and_long_values_cut() -> None:
    grid = [[0] * 12 for _ in range(12)]
    pairs = (Observation(grid, grid), Observation(1, 2))
    view = _view(pairs)
    agreed = Agreement((False, False), ({"value": [[1] * 12] * 12}, {"value": [7] * 5_000}), "ok")
    _, first, second = FAMILY.words.show_feedback(view, agreed).split("\n")
    row = "[" + ",".join("0" * 12) + "]"
    assert first.count(row) == 24 and first.endswith("[1,1,1,1,1,1,1,1,1,1,1,1]]")
    assert second.startswith("Input 1: expected 2, got [7,7,7,") and second.endswith(",7,7]")


# --- with the real sandbox ----------------------------------------------------------


@pytest.fixture(scope="module")
def live() -> Iterator[Any]:
    """(run, oracles) over one sandbox of one worker."""
    with asyncio.Runner() as runner:
        sandbox = runner.run(open_sandbox("process", 1))
        yield runner.run, Oracles(execute=build_executor(sandbox, Limits()))
        runner.run(sandbox.close())


def test_true_wrong_and_undefined_come_from_real_runs(live: Any) -> None:
    run, oracles = live
    for source, marks in {
        "def f(x):\n    return sorted(x)": (True, True, True),
        "def f(x):\n    x.sort()\n    return tuple(x)": (True, True, True),
        "def f(x):\n    return x": (False, True, True),
        "def f(x):\n    return [x[0]]": (False, None, True),
        "def f(x):\n    while x:\n        pass\n    return x": (None, True, None),
        "def f(x):\n    return {1}": (None, None, None),
    }.items():
        agreed = run(FAMILY.measure_agreement(_hypothesis(source), PAIRS, _view(), oracles))
        assert agreed.marks == marks, source
        assert FAMILY.is_consistent(agreed) == (marks == (True, True, True))


def test_predictions_are_codes_over_the_space(live: Any) -> None:
    run, oracles = live
    sources = ["def f(x):\n    return sorted(x)", "def f(x):\n    return [x[0]]"]
    ordered, first = run(FAMILY.predict([_hypothesis(s) for s in sources], SPACE, _view(), oracles))
    assert ordered.defined.all() and first.count_undefined() == {"IndexError": 1}
    assert (ordered.codes == first.codes).tolist() == [False, False, True]


def test_the_tool_answers_with_counterexamples_from_the_shown_pairs_alone(live: Any) -> None:
    run, oracles = live
    (tool,) = FAMILY.make_tools(_view(), oracles)
    assert tool.name == "execute" and set(tool.args) == {"code"}
    wrong = json.loads(run(tool.ainvoke({"code": "def f(x):\n    return x"})))
    assert wrong == {
        "consistent": False,
        "passed": 2,
        "of": 3,
        "failing": [{"input": [3, 1], "expected": [1, 3], "got": [3, 1]}],
    }
    right = "```python\ndef f(x):\n    return sorted(x)\n```"
    assert json.loads(run(tool.ainvoke({"code": right})))["consistent"] is True
    broken = json.loads(run(tool.ainvoke({"code": "def f(x):\n    return ("})))
    assert broken["consistent"] is False and broken["error"].startswith("syntax: line 2")
