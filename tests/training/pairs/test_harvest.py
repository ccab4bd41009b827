"""Pairs from stored sessions: those of the definition, each text once, no problem on two sides, and
nothing of what cannot be compared.

Internals: pairs are built from stores that are written without running anything.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peirce.records import (
    CallKey,
    JudgedAnswer,
    JudgedHypothesis,
    Outcome,
    StoreError,
    UsageError,
    Verdict,
)
from peirce.store import AnswerSummary, Store
from peirce.training import Fractions, Split, Splits
from peirce.training.pairs import Caps, PairChoices, PairsResult
from peirce.training.pairs.build_pairs import build_pairs
from peirce.training.pairs.pooling import _left_out
from sessions_of_pairs import (
    Pair,
    answered,
    draw_sessions,
    judged,
    naive_pairs,
    problem,
    space,
    write,
)


def hint(store: Store, session: str, path: str, response: dict[str, object]) -> None:
    """Record a call of a person about the problem p."""

    async def make() -> Outcome:
        return Outcome(response)

    asyncio.run(store.journal(session).record_once(CallKey(session, "p", path), "human", {}, make))


EVERY = Caps((None, None, None), (None, None, None))
ALL_TRAIN = Splits(fractions=Fractions(1, 0, 0))
A, I, M = Verdict.ACCEPTED, Verdict.INCONSISTENT, Verdict.MALFORMED  # noqa: E741
WIDE: list[int | None] = [1, 1, 1, 1]
HALF: list[int | None] = [1, 1, None, None]
OTHER: list[int | None] = [2, 2, 2, None]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store.duckdb", write=True) as opened:
        yield opened


def as_set(made: PairsResult) -> set[Pair]:
    table = made.table
    found = {
        (str(asked[0]["content"]), chosen, rejected, int(table.stage[i]))
        for i in range(len(table))
        for asked, chosen, rejected in [table.texts(i)]
    }
    assert len(found) == len(table)
    return found


@pytest.mark.parametrize("examples", [6, pytest.param(60, marks=pytest.mark.soak)])
def test_a_harvest_is_the_pairs_of_the_definition(examples: int) -> None:
    """Of six drawn stores with every change, of 60 in `make soak`."""
    settings(max_examples=examples)(given(st.integers(0, 10**9))(check_definition))()


def check_definition(seed: int) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        Store.open(Path(folder) / "store.duckdb", write=True) as store,
    ):
        sessions = draw_sessions(store, seed)
        wanted = naive_pairs(store, sessions)
        choices = PairChoices(EVERY, splits=ALL_TRAIN)
        if not wanted:
            with pytest.raises(StoreError, match="no pairs, for"):
                build_pairs(store, sessions, choices)
            return
        made = build_pairs(store, sessions, choices)
        assert as_set(made) == wanted
        again = build_pairs(store, sessions[::-1], choices)
        assert again.table.digest == made.table.digest


def three(store: Store, **told: object) -> str:
    """Of one problem: two consistent answers, one inconsistent, one malformed."""
    given = [answered(A, "wide", WIDE), answered(A, "half", HALF), answered(I, "wrong", WIDE),
             answered(M, "none", WIDE)]  # fmt: skip
    return write(store, [(problem("p"), given)], space(4), **told)


def test_each_stage_is_counted_by_split_task_model_and_context(store: Store) -> None:
    made = build_pairs(store, [three(store)], PairChoices(EVERY, splits=ALL_TRAIN))
    report = made.report
    assert report["by_split"]["train"] == {"parsing": 8, "consistency": 4, "gear": 1}
    assert report["by_context"] == {
        "0": {"parsing": 3, "consistency": 2, "gear": 1},
        "1": {"parsing": 4, "consistency": 2, "gear": 0},
        "2": {"parsing": 1, "consistency": 0, "gear": 0},
    }
    assert report["by_task"] == {"list_functions": report["by_split"]}
    (model,) = report["by_model"].values()
    assert [model[name] for name in ("answers", "malformed", "inconsistent", "consistent")] == [
        4, 1, 1, 2,
    ]  # fmt: skip
    assert sum(model["chosen"].values()) == sum(model["rejected"].values()) == report["pairs"]
    assert report["found"] == report["by_split"]["train"] and report["ties"] == 0
    assert report["pairs"] == len(made.table) and report["digest"] == made.table.digest


def test_a_text_counts_once_whoever_says_it_again(store: Store) -> None:
    one = build_pairs(store, [three(store)], PairChoices(splits=ALL_TRAIN))
    two = build_pairs(store, [three(store), three(store, model="b")], PairChoices(splits=ALL_TRAIN))
    assert as_set(two) == as_set(one)
    assert two.report["left_out"]["repeated"] == 4
    assert sum(one["answers"] for one in two.report["by_model"].values()) == 8
    assert len(set(two.table.answer_model)) == 1


@pytest.mark.parametrize(
    "told",
    [{"answer_format": "json"}, {"equality": 2}, {"task": "other"}, {"strict_contract": True}],
)
def test_sessions_that_asked_something_else_are_not_joined(
    store: Store, told: dict[str, object]
) -> None:
    first = write(store, [(problem("p"), [answered(A, "wide", WIDE)])], space(4))
    second = write(store, [(problem("p"), [answered(I, "wrong", WIDE)])], space(4), **told)
    with pytest.raises(StoreError, match="no problem has two different answers"):
        build_pairs(store, [first, second])


def test_problems_of_other_observations_or_another_space_are_not_joined(store: Store) -> None:
    first = write(store, [(problem("p"), [answered(A, "wide", WIDE)])], space(4))
    for other, over in ((problem("p", 3), space(4)), (problem("p"), space(5))):
        codes = [*WIDE, *[1] * (len(over) - 4)]
        second = write(store, [(other, [answered(I, "wrong", codes)])], over)
        with pytest.raises(StoreError, match="no problem has two different answers"):
            build_pairs(store, [first, second])


def test_the_order_of_the_shown_pairs_does_not_keep_sessions_apart(store: Store) -> None:
    from dataclasses import replace

    one = problem("p")
    turned = replace(one, shown=one.shown[::-1])
    first = write(store, [(one, [answered(A, "wide", WIDE)])], space(4))
    second = write(store, [(turned, [answered(I, "wrong", WIDE)])], space(4))
    assert len(build_pairs(store, [first, second], PairChoices(splits=ALL_TRAIN)).table) == 1


def test_an_answer_counts_by_its_first_hypothesis(store: Store) -> None:
    unread = judged(M, "", [])
    given = [
        JudgedAnswer("step/1/propose/0", "two", (judged(I, "x", WIDE), judged(A, "y", WIDE))),
        JudgedAnswer("step/1/propose/0", "late", (unread, judged(A, "y", WIDE))),
    ]
    session = write(store, [(problem("p"), given)], space(4))
    made = build_pairs(store, [session], PairChoices(splits=ALL_TRAIN))
    assert [pair[1:] for pair in as_set(made)] == [("late", "two", 1)]
    assert made.report["several"] == 1


def test_answers_that_cannot_be_compared_are_left_out_and_counted(store: Store) -> None:
    cut = JudgedHypothesis(M, "cut: the answer was cut at the token limit", bad=True)
    tools = JudgedHypothesis(
        M, "no_answer: tools were called to the end of the step's limit", bad=True
    )
    unknown = replace(judged(A, "unknown", WIDE), space=None)
    given = [
        answered(A, "wide", WIDE), answered(I, "wrong", WIDE),
        JudgedAnswer("step/1/propose/0", "cut", (cut,)),
        JudgedAnswer("step/1/propose/0", "", (tools,)),
        JudgedAnswer("step/1/propose/0", "lone \ud800", (judged(I, "lone", WIDE),)),
        JudgedAnswer("step/1/propose/0", "unknown", (unknown,)),
        answered(I, "wrong", WIDE),
    ]  # fmt: skip
    session = write(store, [(problem("p"), given)], space(4))
    made = build_pairs(store, [session], PairChoices(splits=ALL_TRAIN))
    assert made.table.answers == ["answer wide", "answer wrong"]
    counted = {why: count for why, count in made.report["left_out"].items() if count}
    assert counted == {"cut": 1, "unanswered": 1, "not_text": 1, "not_judged": 1, "repeated": 1}


def test_an_escape_that_became_a_lone_surrogate_stands_in_no_prompt(store: Store) -> None:
    said = judged(A, "wide", WIDE)
    assert said.hypothesis is not None
    lone = replace(said, hypothesis=replace(said.hypothesis, description="\ud800"))
    given = [JudgedAnswer("step/1/propose/0", r"it is \ud800", (lone,)), answered(A, "half", HALF),
             answered(I, "wrong", WIDE)]  # fmt: skip
    session = write(store, [(problem("p"), given)], space(4))
    made = build_pairs(store, [session], PairChoices(splits=ALL_TRAIN))
    assert made.report["left_out"]["not_text"] == 1 and len(made.table) == 1
    assert [asked[0]["content"].encode() for asked in made.table.prompts]


def test_a_consistent_hypothesis_of_unknown_cost_is_left_out_where_there_are_costs() -> None:
    said = judged(A, "rule", WIDE).hypothesis
    known = AnswerSummary(
        "step/1/propose/0", "rule", said, A, "", 1, "codes", "reasons", {"cost": 0}
    )
    unknown = replace(known, detail=None)
    assert _left_out(known, {}, True) == "" == _left_out(unknown, {}, False)
    assert _left_out(unknown, {}, True) == "not_judged"
    assert _left_out(replace(unknown, verdict=I), {}, True) == ""  # its score is never asked for


def test_what_a_repairer_mended_is_its_own(store: Store) -> None:
    mended = JudgedAnswer("step/1/repair/0", "mended", (judged(A, "wide", WIDE),))
    given = [answered(I, "wrong", WIDE), mended]
    session = write(store, [(problem("p"), given)], space(4), repair="search")
    table = build_pairs(store, [session], PairChoices(splits=ALL_TRAIN)).table
    assert dict(zip(table.answers, table.answer_model, strict=True)) == {
        "answer wrong": "a", "mended": "search",
    }  # fmt: skip


def test_answers_of_a_second_proposer_are_those_of_its_own_model(store: Store) -> None:
    given = [answered(I, "wrong", WIDE), answered(A, "wide", WIDE)]
    players = {"operational": {"players": {"then": ["openai:large", {}]}}}
    session = write(store, [(problem("p"), given)], space(4), ("proposer", "then"), **players)
    made = build_pairs(store, [session], PairChoices(splits=ALL_TRAIN))
    assert dict(zip(made.table.answers, made.table.answer_model, strict=True)) == {
        "answer wrong": "a", "answer wide": "openai:large",
    }  # fmt: skip
    counted = {name: of["answers"] for name, of in made.report["by_model"].items()}
    assert counted == {"a": 1, "openai:large": 1}
    assert made.report["by_model"]["openai:large"]["chosen"]["consistency"] == 1


# --- splits -----------------------------------------------------------------------------------


def many(store: Store, names: list[str], offset: int | None = None) -> str:
    listed = [
        (problem(name, offset=i if offset is None else offset),
         [answered(A, "wide", WIDE), answered(A, "half", HALF), answered(I, "wrong", WIDE),
          answered(M, "none", WIDE)])
        for i, name in enumerate(names)
    ]  # fmt: skip
    return write(store, listed, space(4))


def test_a_problem_is_in_one_split_for_every_number_of_observations(store: Store) -> None:
    names = [f"p{i}" for i in range(20)]
    first = many(store, names)
    listed = [(problem(name, 3, offset=i), [answered(A, "wide", WIDE), answered(I, "wrong", WIDE)])
              for i, name in enumerate(names)]  # fmt: skip
    second = write(store, listed, space(4))
    table = build_pairs(store, [first, second], PairChoices()).table
    splits = Splits()
    assert len(set(table.prompt_split)) == 3
    for name, split in zip(table.prompt_problem, table.prompt_split, strict=True):
        assert split is splits.split_of(problem(name))


def test_problems_that_look_alike_count_in_the_strictest_split(store: Store) -> None:
    """All show the same pairs: to a model they are one problem."""
    names = [f"p{i}" for i in range(12)]
    made = build_pairs(store, [many(store, names, offset=0)], PairChoices())
    own = [Splits().split_of(problem(name)) for name in names]
    assert set(own) == set(Split)
    assert set(made.table.prompt_split) == {Split.HELD_OUT}
    outside = sum(split is not Split.HELD_OUT for split in own)
    assert made.report["left_out"]["in_another_split"] == outside


@pytest.mark.parametrize("last", [Split.HELD_OUT, Split.VALIDATION])
def test_the_strictest_split_counts_wherever_it_stands_among_the_problems(
    store: Store, last: Split
) -> None:
    names = ["p0", "p1", "p2"]
    fixed = {"p0": Split.TRAIN, "p1": Split.TRAIN, "p2": last}
    made = build_pairs(
        store, [many(store, names, offset=0)], PairChoices(splits=Splits(fixed=fixed))
    )
    assert set(made.table.prompt_split) == {last} and set(made.table.prompt_problem) == {"p2"}


def test_another_seed_of_pairs_moves_no_problem(store: Store) -> None:
    session = many(store, [f"p{i}" for i in range(12)])
    few = Caps((1, 1, 1), (2, 1, 1))
    tables = [build_pairs(store, [session], PairChoices(few, seed=seed)).table for seed in (0, 1)]
    assert tables[0].digest != tables[1].digest
    placed = [dict(zip(t.prompt_problem, t.prompt_split, strict=True)) for t in tables]
    assert placed[0] == placed[1]


# --- bounds -----------------------------------------------------------------------------------


def test_a_limit_bounds_each_stage_of_each_split_and_tasks_alike(store: Store) -> None:
    names = [f"p{i}" for i in range(8)]
    first = many(store, names)
    listed = [
        (problem("q", 2, "acre", 50), [answered(A, "wide", WIDE), answered(I, "wrong", WIDE)])
    ]
    second = write(store, listed, space(4), task="acre")
    choices = PairChoices(EVERY, limit=5, splits=ALL_TRAIN)
    whole = build_pairs(store, [first, second], PairChoices(EVERY, splits=ALL_TRAIN))
    made = build_pairs(store, [first, second], choices)
    assert made.report["by_split"]["train"] == {"parsing": 5, "consistency": 5, "gear": 5}
    assert made.report["by_task"]["acre"]["train"]["consistency"] == 1  # all that it has
    assert made.report["left_out"]["over_limit"] == len(whole.table) - 15
    assert as_set(made) < as_set(whole)


def test_a_ratio_gives_the_largest_set_that_stands_in_it(store: Store) -> None:
    session = many(store, [f"p{i}" for i in range(8)])
    whole = build_pairs(store, [session], PairChoices(EVERY, splits=ALL_TRAIN)).report
    made = build_pairs(
        store, [session], PairChoices(EVERY, ratio=(2, 1, 1), splits=ALL_TRAIN)
    ).report
    gear = whole["by_split"]["train"]["gear"]
    assert made["by_split"]["train"] == {"parsing": 2 * gear, "consistency": gear, "gear": gear}
    assert made["pairs"] + made["left_out"]["out_of_ratio"] == whole["pairs"]


def test_a_stage_of_a_ratio_that_is_missing_leaves_no_pair_and_says_so(store: Store) -> None:
    given = [answered(A, "wide", WIDE), answered(I, "wrong", WIDE)]
    session = write(store, [(problem("p"), given)], space(4))
    with pytest.raises(StoreError, match="no pairs are left: 1 do not go into the ratio"):
        build_pairs(store, [session], PairChoices(ratio=(1, 1, 1), splits=ALL_TRAIN))


class Words:
    """Lengths in words."""

    def __init__(self, most: int) -> None:
        self.max_tokens = most

    def count_prompt_tokens(self, asked):
        return [len(str(messages[0]["content"]).split()) for messages in asked]

    def count_answer_tokens(self, texts):
        return [len(text.split()) for text in texts]

    def settings(self):
        return {"base": "words", "max_length": self.max_tokens}


def test_a_pair_that_does_not_fit_is_left_out_and_never_cut(store: Store) -> None:
    given = [answered(A, "wide", WIDE), answered(A, "half of it", HALF),
             answered(I, "wrong as many words say", WIDE), answered(M, "none", WIDE)]  # fmt: skip
    listed = [(problem(f"p{i}", offset=i), given) for i in range(2)]
    session = write(store, listed, space(4))
    whole = as_set(build_pairs(store, [session], PairChoices(EVERY, splits=ALL_TRAIN)))
    lengths = {
        pair: len(pair[0].split()) + max(len(pair[i].split()) for i in (1, 2)) for pair in whole
    }
    most = sorted(lengths.values())[len(lengths) // 2]
    assert any(len(pair[2].split()) > len(pair[1].split()) for pair in whole)  # the rejected one
    made = build_pairs(store, [session], PairChoices(EVERY, splits=ALL_TRAIN), Words(most))
    fitting = {pair for pair, length in lengths.items() if length <= most}
    assert as_set(made) == fitting and len(fitting) < len(whole)
    assert made.report["left_out"]["too_long"] == len(whole) - len(fitting)
    assert made.table.settings["length"] == {"base": "words", "max_length": most}
    with pytest.raises(StoreError, match=f"no pairs are left: {len(whole)} do not fit the length"):
        build_pairs(store, [session], PairChoices(EVERY, splits=ALL_TRAIN), Words(3))


# --- templates --------------------------------------------------------------------------------


def test_prompts_are_in_the_template_of_the_sessions(store: Store) -> None:
    session = three(store, template="compact")
    made = build_pairs(store, [session], PairChoices(splits=ALL_TRAIN)).table
    named = build_pairs(store, [session], PairChoices(splits=ALL_TRAIN, template="full")).table
    assert made.settings["template"] == "compact" and named.settings["template"] == "full"
    shortest = [min(len(str(asked[0]["content"])) for asked in t.prompts) for t in (made, named)]
    assert shortest[0] * 4 < shortest[1]
    with pytest.raises(
        UsageError, match="unknown template 'tiny': it must be one of full, compact"
    ):
        build_pairs(store, [session], PairChoices(template="tiny"))


def test_prompts_in_the_template_of_gear_have_its_structure(store: Store) -> None:
    session = three(store, template="gear")
    made = build_pairs(store, [session], PairChoices(splits=ALL_TRAIN)).table
    assert made.settings["template"] == "gear"
    texts = [str(asked[0]["content"]) for asked in made.prompts]
    assert texts and all("Rules for the code in the second string" in one for one in texts)
    assert any("proposed so far:\n- " in one for one in texts)


def test_sessions_of_different_templates_need_a_word(store: Store) -> None:
    sessions = [three(store, template="compact"), three(store)]
    with pytest.raises(UsageError, match=r"the sessions used different prompt templates \("):
        build_pairs(store, sessions)
    assert len(
        build_pairs(store, sessions, PairChoices(splits=ALL_TRAIN, template="compact")).table
    )


# --- nothing to have --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ([], "there is no answer yet"),
        ([answered(A, "wide", WIDE)], "no problem has two different answers"),
        ([answered(A, "wide", WIDE)] * 2, "no problem has two different answers"),
        ([answered(M, "a", WIDE), answered(M, "b", WIDE)], "no two answers .* differ in worth"),
        ([answered(A, "a", OTHER), answered(A, "b", OTHER)], "no two answers .* differ in worth"),
    ],
)
def test_sessions_without_a_pair_are_one_sentence(
    store: Store, given: list[JudgedAnswer], why: str
) -> None:
    session = write(store, [(problem("p"), given)], space(4))
    with pytest.raises(StoreError, match=f"^session {session}: no pairs, for {why}$"):
        build_pairs(store, [session])


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"limit": 0}, "limit is 0: it must be at least 1"),
        ({"ratio": (0, 0, 0)}, "ratio is 0:0:0: it must be three whole numbers for "),
        ({"ratio": (1, -1, 1)}, "ratio is 1:-1:1: it must be three whole numbers for "),
    ],
)
def test_numbers_that_cannot_be_are_refused(told: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        PairChoices(**told)


def test_an_answer_whose_request_showed_a_hint_makes_no_pair(store: Store) -> None:
    given = [
        answered(I, "wrong", WIDE),
        JudgedAnswer("step/2/propose/1", "after a hint", (judged(A, "wide", WIDE),)),
        JudgedAnswer("step/3/repair/0", "mended after a hint", (judged(A, "half", HALF),)),
        JudgedAnswer("step/4/propose/0", "by itself", (judged(A, "other", OTHER),)),
        JudgedAnswer("step/5/propose/0", "after giving up", (judged(A, "half", HALF),)),
    ]
    session = write(store, [(problem("p"), given)], space(4))
    hint(store, session, "step/2/propose/1/hints", {"hints": ["first", "it is wide"]})
    hint(store, session, "step/3/propose/0/hints", {"hints": ["it is half"]})
    hint(store, session, "step/4/human/0", {"text": "it is other"})
    hint(store, session, "step/5/propose/0/hints", {"hints": [""]})
    made = build_pairs(store, [session], PairChoices(splits=ALL_TRAIN))
    assert made.table.answers == ["after giving up", "answer wrong", "by itself"]
    assert made.report["left_out"]["after_hint"] == 2
    assert sum(of_model["answers"] for of_model in made.report["by_model"].values()) == 5
