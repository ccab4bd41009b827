"""What stands on the page: of each session its course and scores, of each problem a row and, where a
reader opens it, all of it.

Everything is plain JSON, so that the same parts go into a file whole and are fetched one by one from
`peirce view`. The store alone is read; nothing is executed, and no model is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

from ...records import Json, StepRecord
from ..metrics.evaluation import Evaluation, evaluate_session, find_evaluation, tally
from ..metrics.results import Spaces, with_steps
from ..metrics.statistics import bootstrap
from .curves import Course, regions
from .opened import opened_problem
from .session import facts
from .trainings import trainings_of

if TYPE_CHECKING:
    from ...store import ProblemRow, Store

MOST_COMPARED = 6  # sessions of one task of which every pair is compared


class Contents:
    """The page of some sessions of a store. evaluation: by name, whose metrics it has; without
    one that which fits each task. Raises StoreError, and UsageError for an evaluation that does not fit."""

    def __init__(
        self, store: Store, sessions: Sequence[str], evaluation: str | None = None
    ) -> None:
        self._store = store
        self._sessions = list(dict.fromkeys(sessions))
        self._evaluation = evaluation
        self._spaces = Spaces(store)

    def overview(self, *, live: bool = False) -> dict[str, Json]:
        """All but what `problem` and `problems` give."""
        told = [self._session(session) for session in self._sessions]
        return {
            "version": 1,
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "live": live,
            "sessions": told,
            "regions": regions(point["k"] for one in told for point in one["points"]),
            "differences": list(_differences(told)),
            "compared": MOST_COMPARED,
            "trainings": trainings_of(
                self._store, [self._store.session(one) for one in self._sessions]
            ),
        }

    def problems(self) -> Iterator[tuple[str, str, dict[str, Json]]]:
        """Session, problem and what `problem` says of it, in their order."""
        for session in self._sessions:
            for row, told in self._opened(session, self._store.problems(session), None):
                yield session, row.problem.id, told

    def problem(self, session: str, problem: str) -> dict[str, Json]:
        """One problem whole: observations, hypotheses, calls, where predictions part."""
        rows = [row for row in self._store.problems(session) if row.problem.id == problem]
        ((_, told),) = self._opened(session, rows, problem)
        return told

    # --- inside

    def _opened(
        self, session: str, rows: Sequence[ProblemRow], problem: str | None
    ) -> Iterator[tuple[ProblemRow, dict[str, Json]]]:
        """problem: the only one of the rows; None: they are all of the session."""
        calls = _by_problem(self._store.listed_calls(session, problem))
        banks = _by_problem(self._store.bank(session, problem))
        records = self._store.steps(session, [row.problem.id for row in rows], spaces="consistent")
        for row, steps in with_steps(rows, records):
            name = row.problem.id
            space = self._spaces.space(row.space)
            yield row, opened_problem(row, steps, space, calls.get(name, ()), banks.get(name, ()))

    def _session(self, session: str) -> dict[str, Json]:
        record = self._store.session(session)
        rows = self._store.problems(session)
        scored = evaluate_session(self._store, session, self._evaluation, spaces=self._spaces)
        chosen = find_evaluation(str(scored["evaluation"]))
        values = {one["problem"]: one for one in scored["by_problem"]}
        course = Course()
        listed = []
        for row, steps in with_steps(rows, self._store.steps(session, spaces=False)):
            course.add(steps)
            listed.append(_row(row, steps, values.get(row.problem.id, {}), chosen))
        course.banks(self._store.bank_growth(session))
        points = [
            {"problem": detail.problem, "gamma": detail.point[0], "beta": detail.point[1],
             "k": detail.point[2]}
            for detail in scored["details"] if detail.point is not None
        ]  # fmt: skip
        return {
            **facts(self._store, record, rows, scored),
            "evaluation": chosen.name,
            "note": chosen.note,
            "metrics": _metrics(chosen, scored["metrics"]),
            "problems": listed,
            "points": points,
            "course": course.as_json(),
        }


def _by_problem(rows: Iterable[dict[str, Json]]) -> dict[str, list[dict[str, Json]]]:
    found: dict[str, list[dict[str, Json]]] = {}
    for row in rows:
        found.setdefault(row.pop("problem"), []).append(row)
    return found


def _row(
    row: ProblemRow, steps: Sequence[StepRecord], values: Mapping[str, Json], chosen: Evaluation
) -> dict[str, Json]:
    """What the list of problems has of one. verdicts: accepted, redundant, inconsistent, malformed."""
    counted = tally(steps)
    return {
        "id": row.problem.id,
        "status": row.status,
        "cause": row.cause,
        "steps": counted.steps,
        "verdicts": list(counted.verdicts.values()),
        "values": [_rounded(values.get(name)) for name in chosen.metric_names],
    }


def _metrics(chosen: Evaluation, found: Mapping[str, Mapping[str, Json]]) -> list[dict[str, Json]]:
    return [
        {"name": metric.name, "better": metric.better, "about": metric.about,
         **{key: _rounded(found[metric.name][key]) for key in ("mean", "low", "high", "n")}}
        for metric in chosen.metrics
    ]  # fmt: skip


def _rounded(value: Json) -> Json:
    return round(value, 6) if isinstance(value, float) else value


def _differences(told: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Json]]:
    """Of each two sessions that share a task, problems and an evaluation: the second less the first,
    over the problems where both have a value; intervals draw problems. Ids are the task's own: problem 0
    of one is not problem 0 of another."""
    alike: dict[tuple[Any, Any], list[Mapping[str, Any]]] = {}
    for one in told:
        alike.setdefault((one["task"], one["evaluation"]), []).append(one)
    for first, second in chain.from_iterable(
        combinations(some[:MOST_COMPARED], 2) for some in alike.values()
    ):
        before = {one["id"]: one["values"] for one in first["problems"]}
        after = {one["id"]: one["values"] for one in second["problems"]}
        shared = [name for name in before if name in after]
        if not shared:
            continue
        rows = []
        for place, metric in enumerate(first["metrics"]):
            pairs = ((before[name][place], after[name][place]) for name in shared)
            apart = [b - a for a, b in pairs if a is not None and b is not None]
            interval = bootstrap(apart)
            rows.append({"name": metric["name"], "better": metric["better"],
                         **{key: _rounded(value) for key, value in interval.items()}})  # fmt: skip
        yield {"first": first["session"], "second": second["session"], "problems": len(shared),
               "metrics": rows}  # fmt: skip
