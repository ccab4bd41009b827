"""Where the consistent hypotheses of a problem part: inputs of S that few of them agree on.

A store keeps predictions over S as codes (`sandbox/inside/canonical.py`), so a prediction is known by
its value only where that value was seen elsewhere: as an output, or as what a hypothesis gave for an
observation. Who agrees with whom is known always.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...records import (
    Agreement,
    InputSet,
    Json,
    Judged,
    NamesCodes,
    Predictions,
    Problem,
    StepRecord,
)
from ...sandbox.inside.canonical import Unrepresentable, code_of
from ...tasks import family

if TYPE_CHECKING:
    from ...store import ProblemRow


MOST_HYPOTHESES = 40
MOST_INPUTS = 6


@dataclass(frozen=True)
class Values:
    """Values by their codes."""

    known: dict[int, Json]

    @staticmethod
    def of(values: Iterable[Json]) -> Values:
        known = {}
        for value in values:
            try:
                known[code_of(value)] = value
            except Unrepresentable:
                continue
        return Values(known)


def parting(
    numbers: Sequence[int], predictions: Sequence[Predictions], space: InputSet, values: Values
) -> dict[str, Json]:
    """numbers: how the page calls the hypotheses; predictions: theirs over S.

    inputs: {place, input, groups: [{hypotheses, value?}], undefined: [number]}, chosen one after the
    other so that each parts as many pairs of hypotheses as it can that none before has parted. alone:
    by hypothesis, the share of S where it predicts what no other does. same: groups of hypotheses that
    predict the same everywhere. left_out: hypotheses beyond `MOST_HYPOTHESES`, which come last.
    """
    kept = predictions[:MOST_HYPOTHESES]
    told: dict[str, Json] = {"left_out": len(predictions) - len(kept)}
    if len(kept) < 2 or not len(space):
        return told | {"inputs": [], "alone": {}, "same": []}
    classes = _classes(kept)
    return told | {
        "inputs": [
            _input(int(place), numbers, kept, classes[:, place], space, values)
            for place in _chosen(classes)
        ],
        "alone": {
            str(number): share for number, share in zip(numbers, _alone(classes), strict=False)
        },
        "same": _same(numbers, classes),
    }


def _classes(predictions: Sequence[Predictions]) -> NDArray[np.int64]:
    """(m, n): equal numbers in a column are equal predictions, each the least row that predicts so;
    undefined is -1."""
    codes = np.stack([one.codes for one in predictions])
    defined = np.stack([one.defined for one in predictions])
    found = np.full(codes.shape, -1, np.int64)
    for row in reversed(range(len(codes))):
        found[(codes == codes[row]) & defined & defined[row]] = row
    return found


def _chosen(classes: NDArray[np.int64]) -> list[int]:
    first, second = np.triu_indices(len(classes), 1)
    parted = classes[first] != classes[second]  # (pairs, n)
    counts = parted.sum(axis=0)  # of pairs that none before has parted
    left = np.ones(len(first), np.bool_)
    chosen: list[int] = []
    while len(chosen) < MOST_INPUTS:
        best = int(np.argmax(counts))
        if not counts[best]:
            break
        chosen.append(best)
        gone = left & parted[:, best]
        counts -= parted[gone].sum(axis=0)
        left &= ~gone
    return chosen


def _input(
    place: int, numbers: Sequence[int], kept: Sequence[Predictions], classes: NDArray[np.int64],
    space: InputSet, values: Values,
) -> dict[str, Json]:  # fmt: skip
    groups: dict[int, list[int]] = {}
    for row, name in enumerate(classes.tolist()):
        groups.setdefault(name, []).append(row)
    undefined = groups.pop(-1, [])
    told = []
    for rows in sorted(groups.values(), key=lambda rows: (-len(rows), rows)):
        code = int(kept[rows[0]].codes[place])
        known = {"value": values.known[code]} if code in values.known else {}
        told.append({"hypotheses": [numbers[row] for row in rows], **known})
    return {"place": place, "input": space.inputs[place], "groups": told,
            "undefined": [numbers[row] for row in undefined]}  # fmt: skip


def _alone(classes: NDArray[np.int64]) -> list[float]:
    # A class is named by its first row, so whoever is alone is named by itself, and nobody else is.
    rows = range(len(classes))
    return [
        round(float((((classes == row).sum(axis=0) == 1) & (classes[row] == row)).mean()), 4)
        for row in rows
    ]


def _same(numbers: Sequence[int], classes: NDArray[np.int64]) -> list[list[int]]:
    groups: dict[bytes, list[int]] = {}
    for row in range(len(classes)):
        groups.setdefault(classes[row].tobytes(), []).append(numbers[row])
    return [group for group in groups.values() if len(group) > 1]


# --- One problem as the page shows it when a reader opens it.

LONGEST = 20_000  # characters of a text that the page holds; what is longer says that it was cut
MARKS = {True: "1", False: "0", None: "-"}


def opened_problem(
    row: ProblemRow,
    steps: Sequence[StepRecord],
    space: InputSet,
    calls: Sequence[Mapping[str, Json]],
    bank: Sequence[Mapping[str, Json]],
) -> dict[str, Json]:
    """problem: with all that is known of it, hidden parts too. hypotheses: one a judged part of an
    answer, malformed ones too, by number. calls: by step. marks: a sign an observation, 1 agrees, 0 does
    not, - is undefined; got: of those that do not agree, by place."""
    problem = row.problem
    judged = list(_judged(steps))
    kept = {str(one["hypothesis"]): one for one in bank}
    consistent = [
        (number, one.space)
        for number, (_, _, one) in enumerate(judged, 1)
        if one.verdict.consistent and one.space is not None
    ]
    return {
        "problem": {
            "id": problem.id, "task": problem.task, "family": problem.family,
            "status": row.status, "cause": row.cause,
            "shown": [[one.input, one.output] for one in problem.shown],
            "hidden": [[one.input, one.output] for one in problem.hidden],
            "public": dict(problem.public),
            "reference": _reference(problem),
            "space": len(space),
        },
        "hypotheses": [
            _hypothesis(number, step, place, one, kept)
            for number, (step, place, one) in enumerate(judged, 1)
        ],
        "steps": [
            {"step": step.step, "fields": dict(step.fields),
             "answers": [{"path": answer.path, "text": cut(answer.text)} for answer in step.answers]}
            for step in steps
        ],
        "calls": list(calls),
        "parting": parting(
            [number for number, _ in consistent], [given for _, given in consistent], space,
            _values(problem, [one for _, _, one in judged]),
        ),
    }  # fmt: skip


def cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text):,} characters)"


def _judged(steps: Sequence[StepRecord]) -> Iterator[tuple[int, int, Judged]]:
    """Each with its step and the place of its answer there."""
    for step in steps:
        for place, answer in enumerate(step.answers):
            for one in answer.judged:
                yield step.step, place, one


def _hypothesis(
    number: int, step: int, place: int, one: Judged, bank: Mapping[str, Mapping[str, Json]]
) -> dict[str, Json]:
    said = one.hypothesis
    told: dict[str, Json] = {
        "number": number, "step": step, "answer": place, "verdict": one.verdict.value,
        "reason": one.reason, "coverage": one.coverage, "bad": one.bad,
    }  # fmt: skip
    if said is not None:
        told |= {"text": cut(said.text), "description": cut(said.description),
                 "breaches": list(said.breaches), "meta": dict(said.meta)}  # fmt: skip
        held = bank.get(said.digest)
        if held is not None:
            told["bank"] = {
                key: held[key] for key in ("rank", "reward", "accuracy", "visits", "covered")
            }
    for name, agreement in (("shown", one.shown), ("hidden", one.hidden)):
        if agreement is not None:
            told[name] = _agreement(agreement)
    if one.space is not None:
        told["undefined"] = one.space.undefined()
        told["limited"] = one.space.limited
    return told


def _agreement(agreement: Agreement) -> dict[str, Json]:
    got = {
        str(place): dict(got)
        for place, (mark, got) in enumerate(zip(agreement.marks, agreement.got, strict=False))
        if mark is not True
    }
    return {"marks": "".join(MARKS[mark] for mark in agreement.marks), "got": got,
            "verdict": agreement.verdict, "detail": dict(agreement.detail)}  # fmt: skip


def _reference(problem: Problem) -> Json:
    """What is known to be true of it and no proposer saw, as it stands in the problem."""
    return {
        key: cut(value) if isinstance(value, str) else value
        for key, value in problem.secret.items()
    }


def _values(problem: Problem, judged: Sequence[Judged]) -> Values:
    found = family(problem.family)
    if isinstance(found, NamesCodes):
        return Values(dict(enumerate(found.code_names(problem))))
    return Values.of(_seen(problem, judged))


def _seen(problem: Problem, judged: Sequence[Judged]) -> Iterator[Json]:
    for one in (*problem.shown, *problem.hidden):
        yield one.output
    for each in judged:
        for agreement in (each.shown, each.hidden):
            for got in agreement.got if agreement else ():
                if "value" in got:
                    yield got["value"]
