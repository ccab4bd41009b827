"""Banks that claim the same labels for the same inputs score the same, in whatever words."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peirce.records import Problem
from peirce.tools.discovery import ExactScores, InputSpace, score_exact
from peirce.tools.sentence_rules import (
    AllOf,
    AnyOf,
    Between,
    ColumnNumber,
    Comparison,
    ConditionClause,
    IsOneOf,
    Not,
    Rule,
)

sys.path.insert(0, str(Path(__file__).parent))
from made import GRADES, students, texts

Condition = AllOf | AnyOf | Between | Comparison | IsOneOf | Not
LABELS = ("admitted", "rejected")
MOST_PAPERS = 4


def scored(truths: Sequence[str], bank: Sequence[str], problem: Problem) -> ExactScores:
    found = score_exact(truths, bank, InputSpace(problem), problem.public)
    assert found is not None and found.not_exact == 0 and not found.drawn
    return found


def numbers(found: ExactScores) -> tuple[float, ...]:
    some = (found.fdr, found.rc, found.hdr, found.precision or 0.0, found.identical)
    return tuple(round(one, 9) for one in some)


# --- drawn rules ------------------------------------------------------------------


def simple(column: str, draw: Random) -> Condition:
    if column == "donated":
        return IsOneOf(column, (draw.random() < 0.5,))
    if column == "papers":
        return Comparison(ColumnNumber(column), "more than", draw.randrange(MOST_PAPERS))
    return IsOneOf(column, tuple(draw.sample(GRADES, draw.randint(1, 3))))


def conjunction(draw: Random) -> Condition:
    """Conditions on one to three columns."""
    columns = draw.sample(("math", "english", "papers", "donated"), draw.randint(1, 3))
    parts = tuple(simple(column, draw) for column in columns)
    return parts[0] if len(parts) == 1 else AllOf(parts)


def disjunction(parts: Sequence[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))


# --- other words for a condition ---------------------------------------------------


def reworded(one: Condition, draw: Random, depth: int = 4) -> Condition:
    """A condition that holds for the same inputs."""
    way = draw.choice(WAYS) if depth else kept
    found = way(one, draw)
    if isinstance(found, Not):
        return Not(reworded(found.part, draw, depth - 1)) if depth else found
    if isinstance(found, AllOf | AnyOf):
        parts = tuple(
            dict.fromkeys(reworded(part, draw, max(depth - 1, 0)) for part in found.parts)
        )
        return type(found)(parts) if len(parts) > 1 else parts[0]
    return found


def kept(one: Condition, draw: Random) -> Condition:
    return one


def shuffled(one: Condition, draw: Random) -> Condition:
    if isinstance(one, AllOf | AnyOf):
        return type(one)(tuple(draw.sample(one.parts, len(one.parts))))
    return one


def de_morgan(one: Condition, draw: Random) -> Condition:
    if isinstance(one, AllOf):
        return Not(AnyOf(tuple(Not(part) for part in one.parts)))
    if isinstance(one, AnyOf):
        return Not(AllOf(tuple(Not(part) for part in one.parts)))
    return Not(Not(one))


def distributed(one: Condition, draw: Random) -> Condition:
    if not isinstance(one, AllOf):
        return one
    sides = [part.parts if isinstance(part, AnyOf) else (part,) for part in one.parts]
    cases = [tuple(dict.fromkeys(case)) for case in product(*sides)]
    return disjunction([AllOf(case) if len(case) > 1 else case[0] for case in cases])


def other_values(one: Condition, draw: Random) -> Condition:
    """The complement set of values, or another bound on whole numbers."""
    if isinstance(one, IsOneOf) and one.column == "donated":
        return Not(IsOneOf("donated", (not one.values[0],)))
    if isinstance(one, IsOneOf):
        return Not(IsOneOf(one.column, tuple(g for g in GRADES if g not in one.values)))
    if isinstance(one, Comparison) and one.relation == "more than":
        papers, least = ColumnNumber("papers"), one.value + 1
        return draw.choice([
            Comparison(papers, "at least", least), Not(Comparison(papers, "at most", one.value)),
            Not(Comparison(papers, "less than", least)), Between(papers, least, MOST_PAPERS),
        ])  # fmt: skip
    return one


def one_by_one(one: Condition, draw: Random) -> Condition:
    """One condition for each value."""
    if isinstance(one, IsOneOf) and len(one.values) > 1:
        return AnyOf(tuple(IsOneOf(one.column, (value,)) for value in one.values))
    return one


Way = Callable[[Condition, Random], Condition]
WAYS: tuple[Way, ...] = (kept, shuffled, de_morgan, distributed, other_values, one_by_one)


# --- other words for a bank ----------------------------------------------------------


def sentence(clauses: Sequence[tuple[Condition, str]], otherwise: str | None = None) -> str:
    return Rule(tuple(ConditionClause(*one) for one in clauses), otherwise).to_text()


def other_banks(cases: Sequence[Condition], draw: Random) -> list[list[str]]:
    """Banks that admit in any of the cases and reject otherwise."""

    def say(one: Condition) -> Condition:
        return reworded(one, draw)

    yes, no = LABELS
    every = disjunction(cases)
    cut = draw.randint(1, len(cases))
    parts = draw.sample([say(case) for case in cases], len(cases))
    return [
        [sentence([(say(every), yes)])],
        [sentence([(say(every), yes)], no)],
        [sentence([(say(Not(every)), no)])],
        [sentence([(say(Not(every)), no)], yes)],
        [sentence([(say(every), yes), (say(Not(every)), no)])],
        [sentence([(part, yes) for part in parts], no)],
        [sentence([(part, yes)]) for part in parts],
        # The last sentence says what holds otherwise, and may do so for the other label.
        [*(sentence([(part, yes)]) for part in parts[1:]), sentence([(parts[0], yes)], no)],
        [*(sentence([(part, yes)]) for part in parts[1:]), sentence([(Not(parts[0]), no)], yes)],
        # Every sentence is complete.
        [sentence([(part, yes)], no) for part in parts],
        [sentence([(Not(part), no)], yes) for part in parts],
        # Some cases together, and all cases again.
        [
            sentence([(say(disjunction(cases[:cut])), yes)]),
            *(sentence([(say(case), yes)]) for case in cases),
        ],
    ]


@settings(max_examples=25, derandomize=True)
@given(st.integers(0, 10**9))
def test_banks_that_claim_the_same_score_the_same(seed: int) -> None:
    draw = Random(seed)
    problem = students()
    cases = [conjunction(draw) for _ in range(draw.randint(1, 3))]
    bank = [*draw.sample(cases, draw.randint(1, len(cases))), conjunction(draw)][
        : draw.randint(1, 3)
    ]
    truths = [sentence([(case, LABELS[0])]) for case in cases]
    first, *others = other_banks(bank, draw)
    expected = numbers(scored(truths, first, problem))
    for other in others:
        assert numbers(scored(truths, other, problem)) == expected, (truths, first, other)


@settings(max_examples=25, derandomize=True)
@given(st.integers(0, 10**9))
def test_a_bank_that_claims_what_is_true_scores_one(seed: int) -> None:
    draw = Random(seed)
    problem = students()
    cases = [conjunction(draw) for _ in range(draw.randint(1, 4))]
    truths = [sentence([(case, LABELS[0])]) for case in cases]
    for bank in other_banks(cases, draw):
        found = scored(truths, bank, problem)
        assert (found.hdr, found.identical) == (1, 1), (truths, bank)


def test_the_negative_wording_of_a_bank_scores_what_the_positive_one_does() -> None:
    problem = students()
    truths = [
        "Students with an A in math will be admitted.",
        "Students with more than 3 papers will be admitted.",
        "If english is one of B, C, the label is admitted.",
    ]
    negative = (
        "If not (math is A or papers is more than 3 or english is B or C), rejected; otherwise"
        " admitted."
    )
    found = scored(truths, [negative], problem)
    assert (found.fdr, found.rc, found.hdr, found.precision, found.identical) == (1, 1, 1, 1, 1)


def test_words_of_texts_are_compared_by_the_texts_that_have_them() -> None:
    rows = ["a red hat", "a blue hat", "a green hat", "a red cap", "a blue cap", "a green cap"]
    problem = texts(rows, ["in", "out"])
    truths = ['If the text mentions "red", in.', 'If the text mentions "blue", in.']
    for bank in (
        ['If the text mentions one of "red", "blue", in.'],
        ['If the text mentions "green", out; otherwise in.'],
        ['If the text mentions none of "red", "blue", the label is out.'],
        ['If the text mentions "red", in.', 'If the text has 1 "blue", in; otherwise out.'],
    ):
        assert numbers(scored(truths, bank, problem)) == (1, 1, 1, 1, 1), bank
    half = numbers(scored(truths, truths[:1], problem))
    assert half[2] == 0.5
    assert (
        numbers(scored(truths, ['If the text has no "red", out; otherwise in.'], problem)) == half
    )


@pytest.mark.parametrize(
    "bank",
    [
        ["If math is A, the label is admitted.", "If english is A, the label is admitted."],
        ["If math is A or english is A, the label is admitted; otherwise rejected."],
        ["If math is not A and english is not A, the label is rejected; otherwise admitted."],
    ],
)
def test_a_false_statement_costs_precision_and_finds_nothing(bank: list[str]) -> None:
    found = scored(["If math is A, the label is admitted."], bank, students())
    assert (found.hdr, found.precision) == (1, 0.5)
