"""The contents of the HTML page: settings and scores of sessions, and details of each problem.

The contents are JSON. They are embedded in the page, or requested one by one from `peirce view`.
This module only reads the store. It runs no hypothesis and calls no model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ...records import Json, StepRecord, Verdict
from ...tools.gear.scores import beta_bounds
from ..answer_gains import GainReader, ProblemGains
from ..costs import ROLE_NAMES, describe_cached, read_costs
from ..findings import CheckedFindings, proposed_likeliest_first
from ..judging import describe_judging, summarize_judging
from ..learning_curve import draw_learning_curve, read_learning_curve
from ..marginal_gain import describe_advice, summarize_gain
from ..metrics.evaluation import Evaluation, evaluate_session, find_evaluation, tally
from ..metrics.results import SpaceCache, pair_with_steps
from ..metrics.statistics import bootstrap
from ..protocol_summary import summarise_protocol
from ..screen.summaries import USAGE_KEYS
from ..sentence_effects import EffectOptions
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


# --- Curves of a session (verdicts by step, hypotheses accepted after n answers, sizes of banks)
# and the feasible region of (gamma, beta).

VERDICTS = (Verdict.ACCEPTED, Verdict.REDUNDANT, Verdict.INCONSISTENT, Verdict.MALFORMED)
MAX_REGIONS = 3  # Maximum number of regions, one per number of hypotheses.
REGION_POINTS = 33  # Points on the border of a region.


class SessionCurves:
    """Collects the data of curves over the steps of a session, one problem at a time."""

    def __init__(self) -> None:
        self._by_step: dict[int, Counter[Verdict]] = {}
        self._found: list[list[int]] = []  # per problem: hypotheses accepted after each answer
        self._banks: list[dict[str, Json]] = []

    def add(self, steps: Sequence[StepRecord]) -> None:
        """Add the steps of one problem to the data of the curves."""
        found, accepted = [], 0
        for step in steps:
            counted = self._by_step.setdefault(step.step, Counter())
            for answer in step.answers:
                verdicts = [one.verdict for one in answer.judged]
                counted.update(verdicts)
                accepted += verdicts.count(Verdict.ACCEPTED)
                found.append(accepted)
        self._found.append(found)

    def add_bank_growth(self, growth: Iterable[Mapping[str, Any]]) -> None:
        """Add how the banks of hypotheses changed during the session.

        Args:
            growth: Rows of `Store.bank_growth` for all problems.
        """
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
        """Return the data of the curves as JSON.

        "verdicts" has the number of hypotheses by verdict for each step. "found" has, after each
        number of answers, the mean number of accepted hypotheses, and the share of problems with at
        least one accepted hypothesis. A problem that has ended keeps its last value. "bank" has the
        mean size and the mean best accuracy of the banks after each step. The mean size covers all
        problems with a bank, including problems that have not started.
        """
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
    """Return the possible range of beta for each gamma (GEAR, appendix D).

    Gamma and beta measure the diversity of a set of hypotheses. The ranges are returned for the
    most frequent numbers of hypotheses, with the tighter upper bound of `beta_bounds`. The lists
    "gamma", "low" and "high" have `REGION_POINTS` values each.

    Args:
        ks: Number of consistent hypotheses of each problem.
    """
    drawn = []
    for k, _ in Counter(ks).most_common(MAX_REGIONS):
        gammas = np.linspace(1, k, REGION_POINTS).tolist()
        bounds = [beta_bounds(gamma, k, integral=True) for gamma in gammas]
        drawn.append({
            "k": k,
            "gamma": [round(gamma, 5) for gamma in gammas],
            "low": [round(low, 5) for low, _ in bounds],
            "high": [round(high, 5) for _, high in bounds],
        })  # fmt: skip
    return sorted(drawn, key=lambda one: one["k"])


MAX_COMPARED = 6  # Sessions of one task that are compared pairwise.


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

    def build_overview(self, *, live: bool = False) -> dict[str, Json]:
        """Return everything that the page shows, except the details of problems.

        Args:
            live: Whether the page is served while a session may run.
        """
        told = [self._session(session) for session in self._sessions]
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

    def iter_problems(self) -> Iterator[tuple[str, str, dict[str, Json]]]:
        """Yield (session id, problem id, details) for each problem, in stored order."""
        for session in self._sessions:
            for row, told in self._opened(session, self._store.problems(session), None):
                yield session, row.problem.id, told

    def build_problem(self, session: str, problem: str) -> dict[str, Json]:
        """Return the details of a problem: observations, hypotheses, calls and disagreements.

        Args:
            session: Id of the session.
            problem: Id of the problem.
        """
        rows = [row for row in self._store.problems(session) if row.problem.id == problem]
        ((_, told),) = self._opened(session, rows, problem)
        return told

    # --- inside

    def _opened(
        self, session: str, rows: Sequence[ProblemRow], problem: str | None
    ) -> Iterator[tuple[ProblemRow, dict[str, Json]]]:
        """Yield problems with their details.

        Args:
            problem: Id of the only problem in `rows`; None if `rows` holds all problems of the
                session.
        """
        calls = _by_problem(self._store.list_calls(session, problem))
        banks = _by_problem(self._store.bank(session, problem))
        records = self._store.steps(session, [row.problem.id for row in rows], spaces="consistent")
        settings = self._store.settings(session)
        in_order = proposed_likeliest_first(settings)
        for row, steps in pair_with_steps(rows, records):
            name = row.problem.id
            space = self._spaces.get_space(row.space)
            yield (
                row,
                describe_problem(
                    row,
                    steps,
                    space,
                    calls.get(name, ()),
                    banks.get(name, ()),
                    self._checked.get(session, {}).get(name, NOT_CHECKED),
                    settings=settings,
                    in_order=in_order,
                    options=self._effects,
                ),
            )

    def _session(self, session: str) -> dict[str, Json]:
        record = self._store.session(session)
        rows = self._store.problems(session)
        scored = evaluate_session(self._store, session, self._evaluation, spaces=self._spaces)
        chosen = find_evaluation(str(scored["evaluation"]))
        values = {one["problem"]: one for one in scored["by_problem"]}
        course = SessionCurves()
        listed = []
        gains: list[ProblemGains] = []
        reader = GainReader(self._store)
        noted: list[StepRecord] = []  # without their answers, which take most of the memory
        for row, steps in pair_with_steps(rows, self._store.steps(session, spaces="consistent")):
            course.add(steps)
            listed.append(_row(row, steps, values.get(row.problem.id, {}), chosen))
            gains.append(reader.trace(row, steps))
            noted += [replace(step, answers=(), events=()) for step in steps]
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
