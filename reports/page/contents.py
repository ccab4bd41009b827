"""The contents of the HTML page: settings and scores of sessions, and details of each problem.

The contents are JSON. They are embedded in the page, or requested one by one from `peirce view`.
This module only reads the store. It runs no hypothesis and calls no model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import chain, combinations, repeat
from typing import TYPE_CHECKING, Any

from ...records import Json, StepRecord
from ..answer_gains import GainReader, ProblemGains
from ..costs import ROLE_NAMES, describe_cached, read_costs
from ..findings import CheckedFindings, proposed_likeliest_first
from ..judging import JUDGING, describe_judging, summarize_judging
from ..learning_curve import draw_learning_curve, read_learning_curve
from ..marginal_gain import describe_advice, summarize_gain
from ..metrics.evaluation import Evaluation, SessionScorer, evaluate_session
from ..metrics.results import SpaceCache, pair_with_steps
from ..metrics.statistics import bootstrap
from ..metrics.tallies import tally
from ..protocol_summary import summarise_protocol
from ..screen.summaries import USAGE_KEYS
from ..sentence_effects import EffectOptions
from .curves import SessionCurves, regions
from .findings import NOT_CHECKED, describe_findings
from .problem import describe_problem
from .trainings import find_trainings

if TYPE_CHECKING:
    from ...store import ProblemRow, Store


# --- Facts about one session: settings, ends, failures and cost.

FILE_KEYS = ("data", "observations", "space", "task_file", "answers")


def session_facts(
    store: Store, record: Mapping[str, Any], rows: Sequence[ProblemRow], scored: Mapping[str, Any]
) -> dict[str, Json]:
    """Return the settings, outcome and cost of a session as JSON.

    The value of "settings" is a list of (name, text) pairs in the order in which they are shown.

    Args:
        store: The open store.
        record: The session's record (`Store.session`).
        rows: The problems of the session.
        scored: The scores of the session (`evaluate_session`).
    """
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
        "repaired": scored.get("repaired", {}),
        "cost": [
            {"role": role, **{key: told[key] for key in (*USAGE_KEYS, "cached_share") if key in told}, "seconds": told["seconds"]}
            for role, told in usage["by_role"].items()
        ],
    }  # fmt: skip


def _effort(
    store: Store,
    record: Mapping[str, Any],
    gains: Sequence[ProblemGains],
    steps: Sequence[StepRecord],
) -> dict[str, Json]:
    """Return what a session spent for each result, what its last answers added, and sentences about
    both.

    A row of "results" has the result, the number of results, and the costs of each: calls, tokens,
    dollars (None if prices are unknown) and seconds. Rows of roles follow if there are several.

    Args:
        store: The open store.
        record: The session's record (`Store.session`).
        gains: What the answers to each problem added.
        steps: The steps of the session, whose answers may be left out.
    """
    costs = read_costs(store, str(record["session"]), gains, record.get("spending") or {})
    gain = summarize_gain(gains, record["settings"])
    results = [
        (name, costs[number], costs[each])
        for name, number, each in (
            ("accepted hypothesis", "accepted", "per_accepted"),
            ("unit of gamma", "gamma", "per_gamma"),
            ("solved problem", "solved", "per_solved"),
        )
    ]
    if len(costs["by_role"]) > 1:
        results += [
            (
                f"accepted hypothesis, {ROLE_NAMES.get(role, role)} alone",
                sums.get("accepted", costs["accepted"]),
                sums["per_accepted"],
            )
            for role, sums in costs["by_role"].items()
        ]
    return {
        "results": [
            {"result": name, "number": number,
             **{key: each.get(key) for key in ("calls", "tokens", "cost_usd", "seconds")}}
            for name, number, each in results if each is not None and (each["calls"] or each["seconds"])
        ],
        "answers": gain["answers"],
        "notes": [
            *describe_judging(summarize_judging(steps)),
            *describe_cached(costs),
            *describe_advice(gain),
        ],
    }  # fmt: skip


def _settings(
    settings: Mapping[str, Any], operational: Mapping[str, Any], rows: Sequence[ProblemRow]
) -> list[tuple[str, str]]:
    layers = operational.get("layers") or {}
    held = f"{sum(layers.values())} of {len(layers)} layers are active" if layers else ""
    sandbox = ", ".join(one for one in (str(operational.get("sandbox") or ""), held) if one)
    versions = settings.get("versions") or {}
    shown = _shown(rows)
    protocol = operational.get("protocol")
    told = [
        ("protocol", summarise_protocol(protocol) if protocol else ""),
        ("seed", settings.get("seed")),
        *((name, _file(operational.get(name))) for name in FILE_KEYS),
        ("sample", operational.get("sample")),
        ("shown observations", "" if shown == str(operational.get("observations")) else shown),
        ("max. answers per problem", settings.get("max_answers")),
        ("answer format", settings.get("answer_format")),
        ("template", settings.get("template")),
        ("consistency threshold", (settings.get("text") or {}).get("tau")),
        ("sandbox", sandbox),
        ("peirce", versions.get("peirce")),
        ("python", versions.get("python")),
    ]
    return [(name, str(value)) for name, value in told if value not in (None, "")]


def _file(told: Any) -> str:
    """Return a file's name and the first digits of its digest; an integer is returned as text."""
    if not isinstance(told, Mapping):
        return "" if told is None else str(told)
    return " ".join((str(told.get("name")), str(told.get("sha256") or "")[:12])).strip()


def _shown(rows: Sequence[ProblemRow]) -> str:
    counts = sorted({len(row.problem.shown) for row in rows})
    if not counts:
        return ""
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


MAX_COMPARED = 6  # Sessions of one task that are compared pairwise.
PROBLEMS_PER_QUERY = 100  # whose calls are in memory at once

ReceiveDetails = Callable[[str, str, dict[str, Json]], None]  # session, problem, details
Describe = Callable[[Any, Sequence[StepRecord], Sequence[dict[str, Json]]], dict[str, Json]]


class Contents:
    """The data that the HTML page shows about sessions of a store.

    Args:
        store: The open store.
        sessions: Full ids of the sessions.
        evaluation: Name of the evaluation whose metrics are shown; None for the default of each
            session's family.
        checked: Results that only a sandbox or solver can compute, by session and problem.
        unchecked: Why the sandbox or solver of a session could not be opened, by session.
        effects: How effects of sentences about labelled text are measured; None for the default.

    Raises:
        StoreError: A session cannot be read.
        UsageError: The evaluation does not fit a session.
    """

    def __init__(
        self,
        store: Store,
        sessions: Sequence[str],
        evaluation: str | None = None,
        *,
        checked: Mapping[str, Mapping[str, CheckedFindings]] | None = None,
        unchecked: Mapping[str, str] | None = None,
        effects: EffectOptions | None = None,
    ) -> None:
        self._store = store
        self._sessions = list(dict.fromkeys(sessions))
        self._evaluation = evaluation
        self._checked = checked or {}
        self._unchecked = unchecked or {}
        self._effects = effects
        self._spaces = SpaceCache(store)

    def build_overview(
        self, *, live: bool = False, receive: ReceiveDetails | None = None
    ) -> dict[str, Json]:
        """Return everything that the page shows, except the details of problems.

        Args:
            live: Whether the page is served while a session may run.
            receive: Is called with the ids of the session and of the problem and with the details
                of the problem (`build_problem`), for each problem in stored order. The steps of a
                session, with their predictions, are then read only once for both.
        """
        told = [self._session(session, receive) for session in self._sessions]
        return {
            "version": 1,
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "live": live,
            "sessions": told,
            "regions": regions(point["k"] for one in told for point in one["points"]),
            "differences": list(_differences(told)),
            "compared": MAX_COMPARED,
            "trainings": find_trainings(
                self._store, [self._store.session(one) for one in self._sessions]
            ),
        }

    def build_problem(self, session: str, problem: str) -> dict[str, Json]:
        """Return the details of a problem: observations, hypotheses, calls and disagreements.

        Args:
            session: Id of the session.
            problem: Id of the problem.
        """
        rows = [row for row in self._store.problems(session) if row.problem.id == problem]
        describe = self._describer(session, problem)
        records = self._store.steps(session, problem, spaces="consistent")
        ((row, steps),) = pair_with_steps(rows, records)
        (calls,) = self._calls(session, rows)
        return describe(row, steps, calls)

    # --- inside

    def _describer(self, session: str, problem: str | None) -> Describe:
        """Return a function that returns the details of a problem from its row, steps and calls.

        Args:
            problem: Id of the only problem that is described; None for all problems of the session.
        """
        banks = _by_problem(self._store.bank(session, problem))
        settings = self._store.settings(session)
        in_order = proposed_likeliest_first(settings)
        checked = self._checked.get(session, {})

        def describe(
            row: ProblemRow, steps: Sequence[StepRecord], calls: Sequence[dict[str, Json]]
        ) -> dict[str, Json]:
            name = row.problem.id
            return describe_problem(
                row, steps, self._spaces.get_space(row.space), calls, banks.get(name, ()),
                checked.get(name, NOT_CHECKED),
                settings=settings, in_order=in_order, options=self._effects,
            )  # fmt: skip

        return describe

    def _calls(
        self, session: str, rows: Sequence[ProblemRow]
    ) -> Iterator[Sequence[dict[str, Json]]]:
        """Yield the calls of each problem. Those of a few problems are in memory at once."""
        for start in range(0, len(rows), PROBLEMS_PER_QUERY):
            ids = [row.problem.id for row in rows[start : start + PROBLEMS_PER_QUERY]]
            calls = _by_problem(self._store.list_calls(session, ids))
            yield from (calls.get(name, ()) for name in ids)

    def _session(self, session: str, receive: ReceiveDetails | None) -> dict[str, Json]:
        record = self._store.session(session)
        rows = self._store.problems(session)
        ids = [row.problem.id for row in rows]
        scorer = SessionScorer(
            self._store, session, self._evaluation, spaces=self._spaces, problems=rows
        )
        chosen = scorer.evaluation
        scored: dict[str, Json] | None = None
        if chosen.needs_all_predictions:  # the page compares those of consistent hypotheses alone
            scored = evaluate_session(self._store, session, self._evaluation, spaces=self._spaces)
        values = {one["problem"]: one for one in scored["by_problem"]} if scored else {}
        describe = self._describer(session, None) if receive else None
        calls = self._calls(session, rows) if receive else repeat(())
        course = SessionCurves()
        listed = []
        gains: list[ProblemGains] = []
        reader = GainReader(self._store)
        noted: list[StepRecord] = []  # without their answers, which take most of the memory
        records = self._store.steps(session, ids, spaces="consistent")
        for (row, steps), own in zip(pair_with_steps(rows, records), calls, strict=False):
            if scored is None and row.status == "done":
                values[row.problem.id] = scorer.add(row, steps)
            course.add(steps)
            listed.append(_row(row, steps, values.get(row.problem.id, {}), chosen))
            gains.append(reader.trace(row, steps))
            noted += [
                replace(one, answers=(), events=()) for one in steps if one.fields.get(JUDGING)
            ]
            if receive and describe:
                receive(session, row.problem.id, describe(row, steps, own))
        scored = scored or scorer.summarize()
        course.add_bank_growth(self._store.bank_growth(session))
        points = [
            {"problem": detail.problem, "gamma": detail.point[0], "beta": detail.point[1],
             "k": detail.point[2]}
            for detail in scored["details"] if detail.point is not None
        ]  # fmt: skip
        curve = draw_learning_curve(read_learning_curve(self._store, session, scored))
        return {
            **session_facts(self._store, record, rows, scored),
            "findings": describe_findings(
                self._store, session, rows, self._spaces, self._checked.get(session, {})
            ),
            "unchecked": self._unchecked.get(session, ""),
            "evaluation": chosen.name,
            "note": chosen.note,
            "metrics": _metrics(chosen, scored["metrics"]),
            "problems": listed,
            "points": points,
            "curve": None if curve is None else asdict(curve),
            "course": course.as_json(),
            "effort": _effort(self._store, record, gains, noted),
        }


def _by_problem(rows: Iterable[dict[str, Json]]) -> dict[str, list[dict[str, Json]]]:
    found: dict[str, list[dict[str, Json]]] = {}
    for row in rows:
        found.setdefault(row.pop("problem"), []).append(row)
    return found


def _row(
    row: ProblemRow, steps: Sequence[StepRecord], values: Mapping[str, Json], chosen: Evaluation
) -> dict[str, Json]:
    """Return one row of the list of problems.

    "verdicts" counts accepted, redundant, inconsistent and malformed, in this order.
    """
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
    """Yield the differences between sessions that share a task, problems and an evaluation.

    Each is the second session minus the first over the problems where both have a value; intervals
    resample problems. Problem ids are only unique within a task: problem 0 of one task is not
    problem 0 of another.
    """
    alike: dict[tuple[Any, Any], list[Mapping[str, Any]]] = {}
    for one in told:
        alike.setdefault((one["task"], one["evaluation"]), []).append(one)
    for first, second in chain.from_iterable(
        combinations(some[:MAX_COMPARED], 2) for some in alike.values()
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
