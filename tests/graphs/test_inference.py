"""Every strategy on a bank worked by hand, by exact rules alone and with a model that is scripted.

Internals: strategies are called on a reading made by hand, and a session would read only its own
bank.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import reading_bank as bank
from peirce.graphs.inference import (
    DOES_NOT_APPLY,
    NEEDS_MODEL,
    STRATEGIES,
    UNREADABLE,
    Decision,
    Reading,
    RowPredictions,
    predict,
)
from peirce.graphs.inference.queries import row_digest
from peirce.graphs.runtime.memory import SessionSettings, TextSettings, make_case
from peirce.records import Json, Message, Problem, Unavailable, UsageError
from peirce.tools import accuracy, macro_f1

ASKING = [name for name in STRATEGIES if name not in ("best", "weighted")]


def row(i: int) -> str:
    """How a row is named in a place."""
    return row_digest(bank.INPUTS[i])


def predicted(name: str, one: Reading, inputs: object = None) -> RowPredictions:
    return asyncio.run(predict(name, one, bank.INPUTS if inputs is None else inputs))


# Rank B .8, C .7, A .6, D .2. Where nothing decides: the majority of the shown rows, deny.
# best: B, which does not apply on r2 and r5.
# filter-weight, 3 entries: trust (right + 1) / (10 + 2) is B 9, C 8, A 7 twelfths. r0: grant B + A;
# r1: grant C + A 15 > deny B 9; r2: grant C; r3: deny B 9 > grant A 7; r4: deny B + A; r5: nothing.
# one-step and two-step, 2 patterns: A and B are alike, 3 / sqrt(3 * 4) = .87, so B, C, D weigh most,
# of which B and C. r0, r1, r3, r4: B; r2: C; r5: nothing.
# multi: log-odds A ln(7/5) = .336, B ln(9/3) = 1.099, C ln(8/4) = .693, D 0 (below chance, and the
# bank does not say where it applied). r0: grant B + A; r1: grant A + C 1.030 < deny B 1.099; r2:
# grant C; r3: grant A + D .336 < deny B; r4: deny A + B; r5: D alone, whose 0 counts as 1: grant.
F1_OF_BOTH_MISSED = (2 * 1 / 4 + 2 * 3 / 8) / 2
F1_OF_ONE_MISSED = (2 * 2 / 5 + 2 * 3 / 7) / 2


@pytest.mark.parametrize(
    ("name", "codes", "right", "f1"),
    [
        ("best", [1, 0, 0, 0, 0, 0], 4 / 6, F1_OF_BOTH_MISSED),
        ("filter-weight", [1, 1, 1, 0, 0, 0], 1.0, 1.0),
        ("one-step", [1, 0, 1, 0, 0, 0], 5 / 6, F1_OF_ONE_MISSED),
        ("two-step", [1, 0, 1, 0, 0, 0], 5 / 6, F1_OF_ONE_MISSED),
        ("multi", [1, 0, 1, 0, 0, 1], 4 / 6, (2 * 2 / 6 + 2 * 2 / 6) / 2),
    ],
)
def test_exact_rules_alone_give_hand_worked_values(
    name: str, codes: list[int], right: float, f1: float
) -> None:
    got = predicted(name, bank.reading(top=3, patterns=2))
    assert got.codes == codes
    assert accuracy(got.codes, bank.GOLD) == pytest.approx(right)
    assert macro_f1(got.codes, bank.GOLD) == pytest.approx(f1)


def test_multi_asks_one_prompt_a_row_that_lists_the_whole_bank() -> None:
    said = {f"many|A+B+C+D|r{i}": f"Final answer: {'grant' if i < 4 else 'deny'}" for i in range(5)}
    model = bank.Model(said)
    got = predicted("multi", bank.reading(ask=model))
    assert got.codes == [1, 1, 1, 1, 0, -2]
    assert got.counts == {"model": 5, "unreadable": 1}
    assert sorted(place for _, place, _ in model.asked) == sorted(
        f"multi/{row(i)}" for i in range(6)
    )
    assert accuracy(got.codes, bank.GOLD) == pytest.approx(4 / 6)
    assert macro_f1(got.codes, bank.GOLD) == pytest.approx((2 * 1 / 4 + 2 * 3 / 7) / 2)


def test_filter_weight_asks_what_is_relevant_and_judges_that_alone() -> None:
    yes = {"B": "r0", "C": "r0 r1", "A": "r1 r2 r3"}
    said = {
        f"relevant|{text}|r{i}": "**Yes.**" if f"r{i}" in yes[text] else "No"
        for text in yes
        for i in range(6)
    }
    said["relevant|A|r5"] = "Who knows?"
    model, judge = bank.Model(said), bank.Table({t: c for t, (_, c, _) in bank.BANK.items()})
    got = predicted("filter-weight", bank.reading(ask=model, judge=judge, top=3))
    # r0: grant B 9 > deny C 8; r1: grant C + A; r2: A does not apply, nor does B; r3: grant A;
    # r4: nothing relevant, B says deny; r5: nothing relevant, B does not apply
    assert got.codes == [1, 1, 0, 1, 0, 0]
    assert [one.how for one in got.decisions] == [
        "vote", "vote", "majority", "vote", "best", "majority",
    ]  # fmt: skip
    assert got.notes == {"relevance_unreadable": 1}
    assert sorted(judge.asked) == [("A", (1, 2, 3)), ("B", (0,)), ("B", (2, 4, 5)), ("C", (0, 1))]
    places = {place for _, place, _ in model.asked}
    assert len(places) == 18 and all(len(place.split("/")) == 4 for place in places)
    assert accuracy(got.codes, bank.GOLD) == pytest.approx(4 / 6)
    assert macro_f1(got.codes, bank.GOLD) == pytest.approx((2 * 2 / 6 + 2 * 2 / 6) / 2)


CONFIG = {
    "multiple_hypotheses_inference": {"user": "Patterns:\n${hypotheses}\nText: ${text}"},
    "is_relevant": {"system": "Yes or no?", "user": "${hypothesis}\nText: ${text}"},
    "adaptive_info_prompt": {
        "multi_content": "Pattern ${idx}: ${hypothesis_text}\nSeen:\n${observations}\n"
    },
    "observations": {"multi_content": "${text}: ${label}\n"},
    "adaptive_inference": {"user": "${adaptive_info_prompt}\nText: ${text}"},
    "adaptive_selection": {"user": "${adaptive_info_prompt}\nText: ${text}"},
}


def words(kind: str) -> Any:
    """The prompts of a problem that brings templates, or those of the package."""
    public = {"labels": list(bank.LABELS), "columns": {"text": {"kind": "text", "about": ""}}}
    problem = Problem(
        "bank", "labels", "text", bank.view().shown, (), {**public, "templates": CONFIG}
    )
    settings = SessionSettings(text=TextSettings(prompts=kind))
    return make_case(problem, None, space=bank.view().space, settings=settings).prompts


SHOWN_PATTERNS = "B(s0,s1,s2,s3)+C(s3,s4)+D()"


def test_one_step_shows_patterns_that_differ_with_rows_that_they_got_right() -> None:
    said = {f"adaptively|{SHOWN_PATTERNS}|r{i}": "Final answer: grant" for i in range(4)}
    said[f"adaptively|{SHOWN_PATTERNS}|r4"] = "Final answer: does not apply"
    got = predicted("one-step", bank.reading(ask=bank.Model(said)))
    assert got.codes == [1, 1, 1, 1, 0, UNREADABLE]
    assert got.decisions[4] == Decision(0, "best", 1)
    assert accuracy(got.codes, bank.GOLD) == pytest.approx(4 / 6)
    assert macro_f1(got.codes, bank.GOLD) == pytest.approx((2 * 3 / 7 + 2 * 1 / 4) / 2)


def test_two_step_applies_the_pattern_named_and_counts_what_names_none() -> None:
    answers = [
        "Chosen pattern: pattern 2", "CHOSEN PATTERN: Pattern 2", "Pattern 0", "pattern 4",
        "none of them", "Chosen Pattern: Pattern 3",
    ]  # fmt: skip
    said = {f"select|{SHOWN_PATTERNS}|r{i}": text for i, text in enumerate(answers)}
    model = bank.Model(said)
    got = predicted("two-step", bank.reading(ask=model))
    # r0, r1: C; r2, r3, r4: B, the most accurate of those shown, which does not apply on r2; r5: D
    assert got.codes == [0, 1, 0, 0, 0, 1]
    assert [one.how for one in got.decisions] == [
        "hypothesis", "hypothesis", "majority", "no_pattern", "no_pattern", "hypothesis",
    ]  # fmt: skip
    assert got.counts == {"hypothesis": 3, "majority": 1, "no_pattern": 2, "pattern_unnamed": 3}
    assert sorted(place for _, place, _ in model.asked) == sorted(
        f"two-step/{row(i)}/select" for i in range(6)
    )
    assert accuracy(got.codes, bank.GOLD) == pytest.approx(3 / 6)
    assert macro_f1(got.codes, bank.GOLD) == pytest.approx((2 * 1 / 5 + 2 * 2 / 7) / 2)


def test_two_step_asks_nothing_first_where_there_is_one_pattern() -> None:
    model = bank.Model({})
    got = predicted("two-step", bank.reading(ask=model, patterns=1))
    assert got.codes == predicted("best", bank.reading()).codes and not model.asked


@pytest.mark.parametrize("name", STRATEGIES)
def test_an_empty_bank_predicts_the_majority_of_the_shown_rows(name: str) -> None:
    model = bank.Model({})
    for ask in (None, model):
        assert predicted(name, bank.reading({}, ask=ask)).codes == [0] * 6
        granted = bank.reading({}, ask=ask, shown=["deny", "grant", "grant"])
        assert predicted(name, granted).counts == {"majority": 6}
        assert predicted(name, granted).codes == [1] * 6
        assert predicted(name, bank.reading({}, ask=ask, shown=[])).codes == [0] * 6
    assert not model.asked


def test_exact_rules_run_over_one_set_of_inputs() -> None:
    """A journalled judge prepares and names what it is given by the object: all entries, and the
    best entry a second time, are asked about the same one. (`weighted` reads labelled rows too.)"""
    for name in ("best", *ASKING):
        given: set[int] = set()
        table = bank.Table({text: codes for text, (_, codes, _) in bank.BANK.items()})

        async def judge(text: str, inputs: Sequence[Json], table=table, given=given) -> object:
            given.add(id(inputs))
            return await table(text, inputs)

        predicted(name, bank.reading(judge=judge))
        assert given == {id(bank.INPUTS)}


@pytest.mark.parametrize("name", STRATEGIES)
def test_no_rows_are_no_predictions(name: str) -> None:
    assert predicted(name, bank.reading(), ()).codes == []
    assert predicted(name, bank.reading(ask=bank.Model({})), ()).codes == []


@pytest.mark.parametrize("name", STRATEGIES)
def test_sentences_that_need_a_model_are_no_prediction_where_none_is_there(name: str) -> None:
    lost = {text: (a, (NEEDS_MODEL,) * 6, rows) for text, (a, _, rows) in bank.BANK.items()}
    got = predicted(name, bank.reading(lost))
    assert got.codes == [NEEDS_MODEL] * 6
    assert got.reasons == {"needs_model": 6} and got.labels(bank.LABELS) == [None] * 6
    assert accuracy(got.codes, bank.GOLD) == 0.0


@pytest.mark.parametrize("name", STRATEGIES)
def test_an_answer_without_a_label_is_never_made_good_by_the_majority(name: str) -> None:
    nonsense = {text: (a, (UNREADABLE,) * 6, rows) for text, (a, _, rows) in bank.BANK.items()}
    assert predicted(name, bank.reading(nonsense)).codes == [UNREADABLE] * 6
    asked = bank.Model({}, otherwise="\N{OWL} yes Final answer: perhaps")
    for one in (bank.reading(nonsense, ask=asked), bank.reading(nonsense, ask=bank.Model({}))):
        assert predicted(name, one).codes == [UNREADABLE] * 6


def test_rows_that_no_sentence_covers_get_the_best_entry_then_the_majority() -> None:
    silent = (DOES_NOT_APPLY,) * 6
    some = {
        "A": (0.9, (1, *silent[1:]), (0, 1)),
        "B": (0.5, silent, (0, 1)),
        "C": (0.5, silent, ()),
    }
    for name in STRATEGIES:
        got = predicted(name, bank.reading(some))
        assert got.codes == [1, 0, 0, 0, 0, 0] and got.counts["majority"] == 5


@pytest.mark.parametrize("name", STRATEGIES)
def test_nothing_hangs_on_the_order_of_arrival(name: str) -> None:
    say = ["Final answer: grant", "yes", "Pattern 2", "Final answer: deny", "no", "Pattern 1"]

    class Late(bank.Model):
        def __init__(self, slow: int) -> None:
            super().__init__({})
            self.slow = slow

        async def __call__(self, role: str, place: str, messages: object) -> str:
            number = sum(map(ord, str(messages)))
            await asyncio.sleep(0.0005 * (number * self.slow % 7))
            return say[number % len(say)]

    first, second, third = (predicted(name, bank.reading(ask=Late(slow))) for slow in (0, 3, 5))
    assert first == second == third


@pytest.mark.parametrize("name", ASKING)
def test_questions_go_side_by_side_and_an_outage_leaves_none_running(name: str) -> None:
    at_once, most, ended = 0, 0, 0

    async def ask(role: str, place: str, messages: object) -> str:
        nonlocal at_once, most, ended
        at_once += 1
        most = max(most, at_once)
        try:
            await asyncio.sleep(0.02 if place.split("/")[1] == row(3) else 30)
            raise Unavailable("the endpoint is gone")
        finally:
            at_once -= 1
            ended += 1

    with pytest.raises(Unavailable, match="gone"):
        predicted(name, bank.reading(ask=ask, top=4))
    assert most >= 6 and at_once == 0 and ended == most


def test_places_stand_under_the_place_of_the_reading() -> None:
    for name in ("multi", "filter-weight", "one-step", "two-step"):
        model = bank.Model({})
        asyncio.run(predict(name, bank.reading(ask=model), bank.INPUTS, "infer/ind/"))
        places = [place for _, place, _ in model.asked]
        assert len(set(places)) == len(places)
        assert all(place.startswith(f"infer/ind/{name}/") for place in places)


@pytest.mark.parametrize("name", ASKING)
def test_the_same_row_is_the_same_question(name: str) -> None:
    model = bank.Model({})
    got = predicted(name, bank.reading(ask=model), (*bank.INPUTS, *bank.INPUTS[:3]))
    assert got.codes[6:] == got.codes[:3]
    places = [place for _, place, _ in model.asked]
    assert len(set(places)) == len(places)


def test_one_step_names_the_pattern_that_the_answer_names() -> None:
    said = {
        f"adaptively|{SHOWN_PATTERNS}|r{i}": f"Chosen pattern: {i}\nFinal answer: grant"
        for i in range(5)
    }
    got = predicted("one-step", bank.reading(ask=bank.Model(said)), bank.INPUTS[:5])
    assert [one.entry for one in got.decisions] == [None, 1, 2, 3, None]
    assert got.codes == [1] * 5


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("examples", [0, 2])
@pytest.mark.parametrize("prompts", ["own", "config"])
def test_prompts_ask_for_what_the_strategies_read(name: str, examples: int, prompts: str) -> None:
    """An obedient model: it names the second pattern, finds all relevant, and grants."""

    async def ask(role: str, place: str, messages: Sequence[Message]) -> str:
        text = "\n".join(str(one["content"]) for one in messages)
        said = [one for one in ("A", "B", "C", "D") if f"{one} says grant or deny." in text]
        assert "r0" in text and said and "${" not in text
        kind = place.split("/")[0]
        shown = [f"s{i}" for i in range(5) if f"s{i}" in text]
        assert bool(shown) == (examples > 0 and kind in ("one-step", "two-step"))
        if place.endswith("/select"):
            return "Chosen pattern: 2"
        return "Final answer: yes" if "/relevant/" in place else "Final answer: grant"

    table = {f"{t} says grant or deny.": (a, c, r) for t, (a, c, r) in bank.BANK.items()}
    one = replace(bank.reading(table, ask=ask, examples=examples), prompts=words(prompts))
    got = predicted(name, one, bank.INPUTS[:1])
    # B grants r0; C, the second pattern, denies it; B 9 and A 7 against C 8
    assert got.codes == [0 if name == "two-step" else 1]


def test_another_name_is_refused_with_the_valid_ones() -> None:
    with pytest.raises(UsageError, match="'vote': it must be one of multi, best, filter-weight"):
        predicted("vote", bank.reading())
