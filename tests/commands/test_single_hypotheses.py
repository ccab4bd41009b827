"""`execute`, `solve` and `judge` apply one hypothesis without a session or a store."""

from __future__ import annotations

import asyncio
from typing import Any

import peirce
import pytest
from peirce.agents.scripted import FunctionProposer, ScriptedProposer
from peirce.records import DataError, UsageError

WORLD = {"domain": ["a", "b"], "true": {"P": ["a"], "R": [["a", "a"]]}}
OPEN = {"domain": ["a"], "true": {"P": ["a"], "R": [["a", "a"]]}, "unknown": {"Q": ["a"]}}
OWN = {"axioms": ["(forall x (implies (and (Bird x) (not (Ab x))) (Flies x)))"],
       "signature": {"Bird": 1, "Flies": 1}, "allowed": ["Bird"]}  # fmt: skip
REVIEWS = [
    {"text": "so good!!", "label": "positive"},
    {"text": "good", "label": "negative"},
    {"text": "bad", "label": "negative"},
]


def test_a_function_is_run_on_inputs_in_the_sandbox() -> None:
    found = peirce.execute(
        "import math\ndef helper(x): return x\ndef f(x):\n    return math.sqrt(x) if x else None",
        [4, 0, -1, "a", [1]],
    )
    assert found.verdict == "ok" and found.function == "f" and "import" in found.breaches
    assert [one.to_dict() for one in found.results] == [
        {"value": 2}, {"value": None}, {"undefined": "ValueError"},
        {"undefined": "TypeError"}, {"undefined": "TypeError"},
    ]  # fmt: skip
    assert found.layers["rlimits"] is True


@pytest.mark.parametrize(
    ("source", "verdict", "reason"),
    [
        ("def f(x) return x", "malformed", "syntax: line 1"),
        ("x = 1", "malformed", "no_function"),
        ("def f(x, y): return x", "malformed", "many_arguments"),
        ("", "malformed", "empty"),
        ("raise ValueError('no')\ndef f(x): return x", "no_function", "ValueError: no"),
    ],
)
def test_a_text_that_is_no_function_has_a_verdict_and_no_results(
    source: str, verdict: str, reason: str
) -> None:
    found = peirce.execute(source, [1])
    assert found.verdict == verdict and reason in found.reason and not found.results


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [([], "at least one input"), ("abc", "at least one input"), ([{1, 2}], "must hold JSON values"), ([0] * 100_001, "too many")],
)  # fmt: skip
def test_inputs_that_cannot_be_run_are_refused(inputs: Any, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        peirce.execute("def f(x): return x", inputs)
    with pytest.raises(UsageError, match="sandbox"):
        peirce.execute("def f(x): return x", [1], sandbox="none")


def test_a_rule_is_judged_in_each_world() -> None:
    found = peirce.solve("(P x)", [WORLD, WORLD | {"id": "second"}])
    assert (found.verdict, found.reason, found.cost, found.lower_bound) == ("consistent", "", 2, 2)
    assert [one.world for one in found.worlds] == ["W0", "second"]
    wrong = peirce.solve("(S x x)", [WORLD])
    assert wrong.verdict == "inconsistent" and wrong.worlds[0].valid is False
    assert wrong.worlds[0].breaches and "1 of 1 worlds" in wrong.reason
    assert (
        peirce.solve("(P x)", [WORLD], solver="z3").worlds == peirce.solve("(P x)", [WORLD]).worlds
    )


def test_a_theory_of_ones_own_and_unknown_atoms_are_judged() -> None:
    birds = {
        "domain": ["tweety", "pingu"],
        "true": {"Bird": ["tweety", "pingu"], "Flies": ["tweety"]},
    }
    assert peirce.solve("(Bird x)", [birds], theory=OWN).worlds[0].needless == ["tweety"]
    assert "forbidden_predicate" in peirce.solve("(Flies x)", [birds], theory=OWN).reason
    assert peirce.solve("(P x)", [OPEN], regime="partial").verdict == "consistent"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"worlds": []}, "1 to 10,000 worlds"),
        ({"worlds": [{"domain": []}]}, "^worlds"),
        ({"theory": "T9"}, "^theory: no theory 'T9'"),
        ({"theory": {"axioms": ["("], "signature": {"P": 1}}}, "axiom 1"),
        ({"regime": "none"}, "^regime: must be one of"),
        ({"worlds": [OPEN]}, "unknown atoms"),
        ({"solver": "none"}, "there is no solver"),
        ({"worlds": [{"domain": ["a"], "true": {"X": ["a"]}}]}, "no predicate 'X'"),
    ],
)
def test_worlds_and_theories_that_cannot_be_read_are_refused(changes: Any, error: str) -> None:
    with pytest.raises((UsageError, DataError), match=error):
        peirce.solve("(P x)", **{"worlds": [WORLD], **changes})


def test_an_exact_sentence_labels_rows_without_a_model() -> None:
    sentence = "If the text contains 'good', it is positive; otherwise it is negative"
    found = peirce.judge(sentence, REVIEWS)
    assert (found.how, found.reason) == ("exact", "")
    assert found.labels == ["positive", "positive", "negative"]
    assert (found.right, found.covered, found.of, found.tokens) == (2, 3, 3, 0)
    texts = [row["text"] for row in REVIEWS]
    unlabelled = peirce.judge(sentence, texts, labels=["positive", "negative"])
    assert unlabelled.labels == found.labels and unlabelled.right is unlabelled.accuracy is None
    partly = peirce.judge("texts with at least two exclamation marks are positive", REVIEWS)
    assert partly.labels == ["positive", None, None]
    assert partly.undefined == {"does_not_apply": 2}


def test_another_sentence_needs_a_model_and_is_never_scored_without_one() -> None:
    sentence = "happy texts are positive"
    without = peirce.judge(sentence, REVIEWS)
    assert without.how == "needs_model" and without.reason
    assert without.labels == [None] * 3 and without.right is without.accuracy is None
    asked = []

    def answer(messages: Any) -> str:
        asked.append(messages[-1]["content"])
        return "Final answer: positive"

    found = peirce.judge(sentence, REVIEWS, model=FunctionProposer(answer))
    assert found.how == "model" and found.labels == ["positive"] * 3 and found.right == 1
    assert len(asked) == 3 and all("negative" in one for one in asked)  # the labels to choose from


@pytest.mark.parametrize(
    ("rows", "options", "error"),
    [
        ([], {}, "1 to 100,000 rows"),
        (["a"], {}, "labels must be given"),
        (["a"], {"labels": ["x", "x"]}, "1 different labels"),
        (["a"], {"labels": ["x", "y"], "label": "z"}, "the columns text"),
        ([{"t": [1]}], {"labels": ["x", "y"]}, "no columns are left"),
        (["a", "b"], {"labels": ["x", "y"], "model": "search"}, "cannot label texts"),
        ([{"text": "a", "label": "q"}], {"labels": ["x", "y"]}, "'q' is not one of x, y"),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rows_that_cannot_be_judged_are_refused(rows: Any, options: Any, error: str) -> None:
    with pytest.raises((UsageError, DataError), match=error):
        peirce.judge("x is y", rows, **options)


def test_a_call_in_a_thread_can_be_cancelled() -> None:
    source = "def f(x):\n    return sum(i * i for i in range(10**9))"

    async def cancel() -> float:
        loop = asyncio.get_running_loop()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await peirce.run_in_thread(peirce.execute, source, [0] * 40)
        started = loop.time()
        rows = [{"problem": "gen0-0", "hypothesis": source}] * 4
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await peirce.run_in_thread(
                    lambda: list(peirce.check("list_functions", rows, problems=1, workers=1))
                )
        return loop.time() - started

    assert asyncio.run(cancel()) < 15  # 16 inputs and a sample space took a second each


def test_proposals_differ_from_the_earlier_ones_and_are_judged() -> None:
    pairs = [{"input": [3, 8, 5], "output": [8]}, {"input": [1], "output": []}]
    evens = "def f(x):\n    return [v for v in x if v % 2 == 0]"
    prompts = []

    def answer(messages: Any) -> str:
        prompts.append(messages[-1]["content"])
        return repr(("the number 8", "def f(x):\n    return [v for v in x if v == 8]"))

    found = peirce.propose(
        "examples", earlier=[evens, "def f(x) return", "def f(x): return 0"], answers=2, data=pairs,
        model=FunctionProposer(answer), tool_calls=0,
    )  # fmt: skip
    assert [one.verdict for one in found.earlier] == ["accepted", "malformed", "inconsistent"]
    assert [one.verdict for one in found.proposals] == ["accepted", "redundant"]
    assert found.proposals[0].observations == [True, True] and found.ended == "cap"
    assert "v % 2 == 0" in prompts[0] and "the number 8" in prompts[1]


def test_proposals_end_when_the_model_has_no_more() -> None:
    found = peirce.propose(
        "list_functions", answers=3, model=ScriptedProposer(["prose", "more prose"])
    )
    assert [one.verdict for one in found.proposals] == ["malformed", "malformed"]
    assert found.ended == "exhausted" and found.reason and found.tokens_in == 0


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"problem": ["none"]}, "no problem 'none'"),
        ({"problem": ["gen0-0", "gen0-1"]}, "one problem at a time"),
        ({"answers": 0}, "at least 1"),
        ({"problems": 3}, "takes no problems"),
        ({"method": "refine"}, "works as abduce"),
        ({"earlier": ["x"] * 201}, "too many"),
    ],
)
def test_options_that_do_not_apply_to_one_problem_are_refused(options: Any, error: str) -> None:
    with pytest.raises(UsageError, match=error):
        peirce.propose("list_functions", **options)
