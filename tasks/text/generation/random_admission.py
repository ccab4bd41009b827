"""Generate applicants with a random rule: the additional data sets of `labels:admission`.

An applicant is a record of grades, counts, a major and a truth value. A random rule decides who is
admitted. The rule has one to three cases with one or two conditions each; an applicant is admitted
if all conditions of a case hold, and rejected otherwise. Each split of 200 rows has 100 rows with
each label. There is no noise, so the rule is right on all rows. `known` holds the rule as a
sentence that the judge can execute.

A data set depends only on the seed and its number.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from ....records import Json, Observation
from ....tools.sentence_rules import compile_sentence, rules
from ..columns import Columns
from ..problems import LabelledData
from .planted import build_labelled_data, make_clean_splits, public_facts

ROWS_PER_SPLIT = 200  # rows per split
LABELS = ("admitted", "rejected")
_GRADES = ("A", "B", "C", "D", "F")
_MAJORS = ("Arts", "Business", "Engineering", "Law", "Medicine", "Science")
_COLUMNS: dict[str, dict[str, Json]] = {
    "math": {"kind": "choice", "about": "grade in mathematics", "values": list(_GRADES)},
    "english": {"kind": "choice", "about": "grade in English", "values": list(_GRADES)},
    "major": {"kind": "choice", "about": "what is applied for", "values": list(_MAJORS)},
    "publications": {"kind": "number", "about": "papers written, 0 to 4"},
    "letters": {"kind": "number", "about": "letters of recommendation, 0 to 4"},
    "activities": {"kind": "number", "about": "clubs and teams, 0 to 4"},
    "volunteer": {"kind": "truth", "about": "whether there was volunteer work"},
}
_MOST = 4
_ABOUT = (
    "Records of applicants to a university: their grades, what they did besides, and whether they"
    " were admitted."
)
_TRIES = 100_000  # records drawn for one split


@dataclass(frozen=True)
class Condition:
    """A condition on one column of an applicant.

    Attributes:
        column: The name of the column.
        value: The required value of a choice or truth value, or the minimum of a number.
    """

    column: str
    value: Json

    def holds(self, record: dict[str, Json]) -> bool:
        """Return whether the condition holds for an applicant."""
        got = record[self.column]
        if _COLUMNS[self.column]["kind"] == "number":
            return bool(got >= self.value)
        return bool(got == self.value)

    def to_text(self) -> str:
        """Return the condition in words that the judge can execute."""
        kind = _COLUMNS[self.column]["kind"]
        if kind == "number":
            return f"{self.column} is at least {self.value}"
        value = str(self.value).lower() if kind == "truth" else self.value
        return f"{self.column} is {value}"


Rule = Sequence[Sequence[Condition]]  # a disjunction of conjunctions


def generate_set(seed: int, number: int) -> LabelledData:
    """Return the data set `admission-SEED-NUMBER`, with a random rule."""
    draw = random.Random(f"admission {seed} {number}")
    while True:
        rule = _rule(draw)
        sets = [_balanced(draw, rule) for _ in range(3)]
        if all(sets):
            break
    columns = Columns(_COLUMNS, "fields", LABELS)
    said = compile_sentence(describe_rule(rule), public_facts(columns, LABELS))
    assert isinstance(said, rules.Rule)
    splits = {split: some or () for split, some in zip(("train", "val", "test"), sets, strict=True)}
    told = {
        "underlying_model": "decision_tree",
        "balanced": True,
        "noise_level": 0,
        "true_num_hypotheses": 1,
        "depth": max(map(len, rule)),
        "seed": seed,
    }
    name = f"admission-{seed}-{number}"
    return build_labelled_data(
        name,
        columns,
        LABELS,
        make_clean_splits(splits),
        _ABOUT,
        [describe_rule(rule)],
        [said],
        told,
    )


def describe_rule(rule: Rule) -> str:
    """Return a rule of admission as one sentence.

    Args:
        rule: Cases, each a list of conditions; an applicant is admitted if all conditions of a case
            hold.
    """
    cases = [" and ".join(one.to_text() for one in some) for some in rule]
    whole = "; ".join(f"if {case}, the label is {LABELS[0]}" for case in cases)
    return f"{whole[0].upper()}{whole[1:]}; otherwise {LABELS[1]}."


def _rule(draw: random.Random) -> Rule:
    """Draw a rule that uses each column at most once, so that no case repeats another."""
    names = draw.sample(sorted(_COLUMNS), len(_COLUMNS))
    sizes = [draw.randint(1, 2) for _ in range(draw.randint(1, 3))]
    return [[_condition(draw, names.pop()) for _ in range(size)] for size in sizes]


def _condition(draw: random.Random, name: str) -> Condition:
    told = _COLUMNS[name]
    if told["kind"] == "choice":
        return Condition(name, draw.choice(told["values"]))
    return Condition(name, draw.randint(2, _MOST) if told["kind"] == "number" else True)


def _balanced(draw: random.Random, rule: Rule) -> tuple[Observation, ...] | None:
    """Return balanced rows, or None if a label is too rare."""
    left = dict.fromkeys(LABELS, ROWS_PER_SPLIT // 2)
    found = []
    for _ in range(_TRIES):
        record = _record(draw)
        admitted = any(all(one.holds(record) for one in some) for some in rule)
        label = LABELS[0] if admitted else LABELS[1]
        if left[label]:
            left[label] -= 1
            found.append(Observation(record, label))
        if len(found) == ROWS_PER_SPLIT:
            return tuple(found)
    return None


def _record(draw: random.Random) -> dict[str, Json]:
    values: dict[str, Json] = {}
    for name, told in _COLUMNS.items():
        if told["kind"] == "choice":
            values[name] = draw.choice(told["values"])
        else:
            values[name] = (
                draw.randint(0, _MOST) if told["kind"] == "number" else draw.random() < 0.5
            )
    return values
