"""What stands on the page: of each session its course and scores, of each problem a row and, where a
reader opens it, all of it.

Everything is plain JSON, so that the same parts go into a file whole and are fetched one by one from
`peirce view`. The store alone is read; nothing is executed, and no model is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ...records import Json, StepRecord, Verdict
from ...tools.gear.scores import beta_bounds
from ..metrics.evaluation import Evaluation, evaluate_session, find_evaluation, tally
from ..metrics.results import Spaces, with_steps
from ..metrics.statistics import bootstrap
from ..screen.endings import TOLD
from .problem import opened_problem
from .trainings import trainings_of

if TYPE_CHECKING:
    from ...store import ProblemRow, Store


# --- What is said of one session as a whole: what was run on what by whom, how it ended, what it cost.

FILES = ("data", "observations", "space", "task_file", "answers")


def facts(
    store: Store, record: Mapping[str, Any], rows: Sequence[ProblemRow], scored: Mapping[str, Any]
) -> dict[str, Json]:
    """settings: pairs of a name and a text, in the order in which they are shown."""
    settings = record["settings"]
    operational = settings.get("operational") or {}
    session = str(record["session"])
    usage = store.usage(session)
    return {
        "session": session,
        "status": record["status"],
        "cause": record.get("cause") or "",
        "task": settings.get("task"),
        "family": settings.get("family"),
        "method": settings.get("method"),
        "model": str(operational.get("model_name") or settings.get("model")),
        "created": record["created"],
        "seconds": record.get("seconds"),
        "settings": [*_settings(settings, operational, rows), ("digest", record.get("digest") or "")],
        "ends": dict(Counter(row.cause for row in rows if row.status == "done")),
        "open": sum(row.status == "open" for row in rows),
        "failed": {row.problem.id: row.cause for row in rows if row.status == "failed"},
        "breaches": scored["breaches"],
        "malformed": scored["malformed"],
        "cost": [
            {"role": role, **{key: told[key] for key in TOLD if key in told}, "seconds": told["seconds"]}
            for role, told in usage["by_role"].items()
        ],
    }  # fmt: skip


def _settings(
    settings: Mapping[str, Any], operational: Mapping[str, Any], rows: Sequence[ProblemRow]
) -> list[tuple[str, str]]:
    layers = operational.get("layers") or {}
    held = f"{sum(layers.values())} of {len(layers)} layers hold" if layers else ""
    sandbox = ", ".join(one for one in (str(operational.get("sandbox") or ""), held) if one)
    versions = settings.get("versions") or {}
    shown = _shown(rows)
    told = [
        ("seed", settings.get("seed")),
        *((name, _file(operational.get(name))) for name in FILES),
        ("sample", operational.get("sample")),
        ("observations shown", "" if shown == str(operational.get("observations")) else shown),
        ("answers a problem", settings.get("max_answers")),
        ("answer format", settings.get("answer_format")),
        ("template", settings.get("template")),
        ("consistent from", (settings.get("text") or {}).get("tau")),
        ("sandbox", sandbox),
        ("peirce", versions.get("peirce")),
        ("python", versions.get("python")),
    ]
    return [(name, str(value)) for name, value in told if value not in (None, "")]


def _file(told: Any) -> str:
    """A file by its name and the first digits of its digest; of observations also a number."""
    if not isinstance(told, Mapping):
        return "" if told is None else str(told)
    return " ".join((str(told.get("name")), str(told.get("sha256") or "")[:12])).strip()


def _shown(rows: Sequence[ProblemRow]) -> str:
    counts = sorted({len(row.problem.shown) for row in rows})
    if not counts:
        return ""
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


# --- How a session went: verdicts by step, what the problems had found after so many answers, how their
# banks grew; and where a (gamma, beta) can lie.

VERDICTS = (Verdict.ACCEPTED, Verdict.REDUNDANT, Verdict.INCONSISTENT, Verdict.MALFORMED)
REGIONS = 3  # numbers of hypotheses whose region is drawn
PLACES = 33  # of a region's border


class Course:
    """Gathers the steps of a session, problem by problem."""

    def __init__(self) -> None:
        self._by_step: dict[int, Counter[Verdict]] = {}
        self._found: list[list[int]] = []  # of each problem, accepted after each answer
        self._banks: list[dict[str, Json]] = []

    def add(self, steps: Sequence[StepRecord]) -> None:
        found, accepted = [], 0
        for step in steps:
            counted = self._by_step.setdefault(step.step, Counter())
            for answer in step.answers:
                verdicts = [one.verdict for one in answer.judged]
                counted.update(verdicts)
                accepted += verdicts.count(Verdict.ACCEPTED)
                found.append(accepted)
        self._found.append(found)

    def banks(self, growth: Iterable[Mapping[str, Any]]) -> None:
        """growth: of `Store.bank_growth`, all problems."""
        by_problem: dict[str, dict[int, Mapping[str, Any]]] = {}
        for row in growth:
            by_problem.setdefault(str(row["problem"]), {})[int(row["step"])] = row
        last = max((step for rows in by_problem.values() for step in rows), default=0)
        held: dict[str, Mapping[str, Any]] = {}
        for step in range(1, last + 1):
            held.update({name: rows[step] for name, rows in by_problem.items() if step in rows})
            sizes = [row["size"] for row in held.values()]
            known = [row["accuracy"] for row in held.values() if row["accuracy"] is not None]
            self._banks.append({
                "step": step,
                "size": round(sum(sizes) / max(1, len(by_problem)), 4),
                "accuracy": round(sum(known) / len(known), 4) if known else None,
            })  # fmt: skip

    def as_json(self) -> dict[str, Json]:
        """verdicts: of each step, how often each was given. found: after so many answers, the mean number
        of accepted hypotheses and the share of problems with one; a problem that has ended stays at its
        last value. bank: mean size and mean best accuracy after each step, banks begun or not."""
        longest = max(map(len, self._found), default=0)
        found = []
        for answers in range(1, longest + 1):
            counts = [one[min(answers, len(one)) - 1] if one else 0 for one in self._found]
            found.append({
                "answers": answers,
                "accepted": round(sum(counts) / len(counts), 4),
                "solved": round(sum(count > 0 for count in counts) / len(counts), 4),
                "asked": sum(len(one) >= answers for one in self._found),
            })  # fmt: skip
        return {
            "verdicts": [
                {"step": step, **{verdict.value: counted[verdict] for verdict in VERDICTS}}
                for step, counted in sorted(self._by_step.items())
            ],
            "found": found,
            "bank": self._banks,
        }


def regions(ks: Iterable[int]) -> list[dict[str, Json]]:
    """Of the most frequent numbers of hypotheses: where beta can lie for each gamma (GEAR, appendix D,
    with the tighter upper bound of `beta_bounds`). gamma, low, high: (`PLACES`,)."""
    drawn = []
    for k, _ in Counter(ks).most_common(REGIONS):
        gammas = np.linspace(1, k, PLACES).tolist()
        bounds = [beta_bounds(gamma, k, integral=True) for gamma in gammas]
        drawn.append({
            "k": k,
            "gamma": [round(gamma, 5) for gamma in gammas],
            "low": [round(low, 5) for low, _ in bounds],
            "high": [round(high, 5) for _, high in bounds],
        })  # fmt: skip
    return sorted(drawn, key=lambda one: one["k"])


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
