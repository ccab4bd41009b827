"""One problem as the page shows it when a reader opens it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...records import Agreement, InputSet, Json, Judged, NamesCodes, Problem, StepRecord
from ...tasks import family
from .parting import Values, parting

if TYPE_CHECKING:
    from ...store import ProblemRow

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
