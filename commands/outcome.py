"""Results of a session, read from the store. `Session` is a summary; `Trace` has every record."""

from __future__ import annotations

import html
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..records import Json, Problem, StepRecord, UsageError
from ..store import ProblemRow, Store
from ..tasks.io.files import expand_home
from .results import Metric, Result, json_key, optional_key, unprinted_field
from .session.finding_results import Finding, Findings
from .session.settings import display_model_name

if TYPE_CHECKING:
    from ..reports import Tally
    from ..reports.answer_gains import ProblemGains

DEFAULT_STORE = "peirce.duckdb"


def store_path(store: str | Path | None = None) -> Path:
    """Return the path of the store: `store`, else $PEIRCE_STORE, else peirce.duckdb in this
    folder.
    """
    return expand_home(store or os.environ.get("PEIRCE_STORE") or DEFAULT_STORE)


class Session(Result):
    """The outcome of a session, as `peirce.run` returns it.

    Attributes:
        status: done, interrupted, budget or failed.
        problems: number of problems.
        steps: number of steps.
        best: the best hypotheses of each problem (`findings` in the JSON).
        unexplained: ids of the finished problems for which no hypothesis was found; absent from the
            JSON if there are none.
        unexplained_reason: why the model proposed nothing for the first of these problems, in its
            own words; "" if it does not say.
        verdicts: number of hypotheses and malformed answers, by verdict.
        metrics: the metrics of the session, by name.
        evaluation: name of the evaluation that computed the metrics.
        failed: error message of each failed problem, by the problem's id; absent from the JSON if no
            problem failed.
        ends: number of finished problems by the reason why they ended.
        breaches: number of breaches of the answer contract (the rules for an answer), by kind
            (`reports.Tally`).
        malformed: number of malformed answers by reason (`reports.Tally`).
        repaired: number of faults of form, by kind, in answers that were read all the same; absent
            from the JSON if there are none.
        cause: why the session ended before all problems were finished; "", and absent from the
            JSON, if all were finished.
        next: the command that continues the session; "", and absent from the JSON, if nothing is
            left to do.
        learning_curve: the accuracy by number of shown rows, fewest rows first; empty, and absent from
            the JSON, unless the session was run with `learning_curve`.
        part_rows: the number of rows shown to a smaller session of a learning curve; 0, and absent
            from the JSON, for any other session.
        protocol: the protocol of the session and the options that differ from it, such as "gear, with
            tool_calls=4"; "", and absent from the JSON, without a protocol.
        oracle: what applied the hypotheses, for example the sandbox. `usage` counts its calls under
            the role judge.
        judging: figures on a second judge and on batches of texts (`reports.judging`); empty, and
            missing from the JSON, if one judge labels single texts.
        costs: what the session spent on its models for each accepted hypothesis, unit of gamma and
            solved problem, also by role (`reports.costs.summarize_costs`).
        gain: what answers added by their number, and the advice where to stop
            (`reports.marginal_gain.summarize_gain`).
    """

    session: str
    best: Sequence[Finding] = json_key("findings")
    status: str
    digest: str
    store: str
    task: str
    method: str
    model: str
    seed: int
    problems: int
    steps: int
    verdicts: Mapping[str, int]
    metrics: Mapping[str, Metric]
    usage: Mapping[str, Json]
    seconds: float
    unexplained: Sequence[str] = optional_key(default_factory=list)
    unexplained_reason: str = unprinted_field(default_factory=str)
    failed: Mapping[str, str] = optional_key(default_factory=dict)
    ends: Mapping[str, int] = unprinted_field(default_factory=dict)
    evaluation: str = unprinted_field(default_factory=str)
    breaches: Mapping[str, int] = unprinted_field(default_factory=dict)
    malformed: Mapping[str, int] = unprinted_field(default_factory=dict)
    repaired: Mapping[str, int] = optional_key(default_factory=dict)
    cause: str = optional_key(default_factory=str)
    next: str = optional_key(default_factory=str)
    learning_curve: Sequence[Mapping[str, Json]] = optional_key(default_factory=list)
    part_rows: int = optional_key(default_factory=int)
    protocol: str = optional_key(default_factory=str)
    oracle: str = unprinted_field(default_factory=str)
    judging: Mapping[str, Json] = optional_key(default_factory=dict)
    costs: Mapping[str, Json] = optional_key(default_factory=dict)
    gain: Mapping[str, Json] = optional_key(default_factory=dict)

    def findings(self, problem: str | None = None) -> Findings:
        """Return all hypotheses of the session, best first.

        Args:
            problem: id of one problem whose hypotheses to return; None for all problems.

        Raises:
            UsageError: the session has no such problem.
        """
        return load_findings(self.session, problem, store=self.store)

    def _repr_html_(self) -> str:
        """Return the outcome for a notebook: the best hypotheses, and what comes of them."""
        head = f"{self.task}, {self.method}, {self.model}: {self.status}, session {self.session}"
        return f"<p>{html.escape(head)}</p>{Findings(self.best)._repr_html_()}"


@dataclass(frozen=True)
class Trace:
    """A stored session, as `load` returns it. Its records are read from the store on first
    access.
    """

    session: str
    store: str

    @cached_property
    def settings(self) -> Mapping[str, Json]:
        """The settings that the session recorded."""
        with open_for_reading(self.store) as opened:
            return dict(opened.settings(self.session))

    @cached_property
    def problems(self) -> list[Problem]:
        """The problems of the session."""
        with open_for_reading(self.store) as opened:
            return [row.problem for row in opened.problems(self.session)]

    @cached_property
    def steps(self) -> list[StepRecord]:
        """The recorded steps of the session, over all problems."""
        with open_for_reading(self.store) as opened:
            return list(opened.steps(self.session))

    @cached_property
    def costs(self) -> Mapping[str, Json]:
        """What the session spent for each result (`reports.costs.summarize_costs`)."""
        from ..reports.costs import read_costs

        with open_for_reading(self.store) as opened:
            spending = opened.session(self.session).get("spending") or {}
            return read_costs(opened, self.session, self._gains, spending)

    @cached_property
    def gain(self) -> Mapping[str, Json]:
        """What answers added by their number, and the advice where to stop
        (`reports.marginal_gain.summarize_gain`).
        """
        from ..reports.marginal_gain import summarize_gain

        return summarize_gain(self._gains, self.settings)

    @cached_property
    def judging(self) -> Mapping[str, Json]:
        """Figures on a second judge and on batches of texts (`reports.judging`)."""
        from ..reports.judging import summarize_judging

        with open_for_reading(self.store) as opened:
            return summarize_judging(opened.steps(self.session, spaces=False))

    @cached_property
    def _gains(self) -> list[ProblemGains]:
        from ..reports.answer_gains import GainReader

        with open_for_reading(self.store) as opened:
            return GainReader(opened).read(self.session, opened.problems(self.session))

    @cached_property
    def digest(self) -> str:
        """The digest of the session's record. Equal digests mean equal sessions."""
        with open_for_reading(self.store) as opened:
            return opened.digest(self.session)

    def findings(self, problem: str | None = None) -> Findings:
        """Return all hypotheses of the session, best first, as `Session.findings` does.

        Args:
            problem: id of one problem whose hypotheses to return; None for all problems.

        Raises:
            UsageError: the session has no such problem.
        """
        return load_findings(self.session, problem, store=self.store)


@contextmanager
def open_for_reading(store: str | Path | None, memory: str | None = None) -> Iterator[Store]:
    """Open a store read-only, and close it at the end of the `with` block.

    Args:
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.
        memory: how much of the file may be held in memory, as in `Store.open`.
    """
    with closing(Store.open(store_path(store), write=False, memory=memory)) as opened:
        yield opened


def find_problem(store: Store, session: str, name: str) -> str:
    """Return the id of a problem in a session.

    Args:
        store: the open store.
        session: id of the session.
        name: id of the problem. For labelled text, the name of a data set stands for the first
            sample of the data set.

    Raises:
        UsageError: the session has no such problem.
    """
    from ..tasks.io.messages import suggest_nearest

    ids = [row.problem.id for row in store.problems(session)]
    for one in (name, f"{name}#0"):
        if one in ids:
            return one
    raise UsageError(f"no problem {name!r} in session {session}{suggest_nearest(name, ids)}")


def load_findings(
    session: str = "last", problem: str | None = None, *, store: str | Path | None = None
) -> Findings:
    """Return the hypotheses of a session, best first.

    Args:
        session: the session's id, a unique prefix of the id, or "last".
        problem: id of one problem whose hypotheses to return; None for all problems.
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.

    Raises:
        UsageError: the session has no such problem.
        StoreError: the store or the session cannot be read.
    """
    from .findings import find_findings
    from .session.event_loops import run_coroutine

    with open_for_reading(store) as opened:
        found = opened.find_session(session)
        name = None if problem is None else find_problem(opened, found, problem)
        rows = [row for row in opened.problems(found) if name in (None, row.problem.id)]
        return run_coroutine(find_findings(opened, found, rows, limit=None))


def load_outcome(path: Path, session: str, best: Findings | None = None) -> Session:
    """Return the outcome of a stored session, with the metrics that fit its task.

    Args:
        path: path of the store.
        session: full id of the session.
        best: the findings of the session, if they are known already.
    """
    from ..graphs.runtime.budget import add_costs
    from ..reports import evaluate_session
    from ..reports.costs import read_costs
    from ..reports.judging import summarize_judging
    from ..reports.learning_curve import PART_KEY, read_learning_curve
    from ..reports.marginal_gain import summarize_gain
    from ..reports.screen.text import format_resume
    from ..tasks import load_family
    from .findings import find_findings
    from .session.event_loops import run_coroutine

    with open_for_reading(path) as store:
        record = store.session(session)
        rows = store.problems(session)
        scored = evaluate_session(store, session)
        if best is None:
            best = run_coroutine(find_findings(store, session, rows))
        gains, counted, judged = _read_steps(store, session, rows)
        spending = record.get("spending") or {}
        status, cause = record["status"], record.get("cause") or ""
        failed = {row.problem.id: row.cause for row in rows if row.status == "failed"}
        complete = status == "done" and not failed
        again = (
            "" if complete else format_resume(session, str(path), failed=bool(failed), cause=cause)
        )
        explained = {one.problem for one in best}
        done = [row for row in rows if row.status == "done"]
        unexplained = [row for row in done if row.problem.id not in explained]
        return Session(
            session=session,
            status=status,
            digest=store.digest(session),
            store=str(path),
            task=scored["task"],
            method=scored["method"],
            model=display_model_name(record["settings"]),
            seed=record["settings"]["seed"],
            problems=len(rows),
            steps=counted.steps,
            verdicts=counted.verdicts,
            metrics={name: Metric(**one) for name, one in scored["metrics"].items()},
            usage=add_costs(store.usage(session), store.model_usage(session), spending),
            seconds=record.get("seconds") or 0.0,
            best=list(best),
            failed=failed,
            unexplained=[row.problem.id for row in unexplained],
            unexplained_reason=_end_reason(store, session, unexplained[:1]),
            ends=dict(Counter(row.cause for row in done)),
            evaluation=scored["evaluation"],
            breaches=counted.breaches,
            malformed=counted.malformed,
            repaired=counted.repaired,
            cause=cause,
            next=again,
            learning_curve=read_learning_curve(store, session, scored),
            part_rows=min(len(row.problem.shown) for row in rows)
            if PART_KEY in record["settings"].get("operational", {})
            else 0,
            protocol=_protocol_of(record["settings"]),
            oracle=load_family(record["settings"]["family"]).oracle,
            judging=summarize_judging(judged),
            costs=read_costs(store, session, gains, spending),
            gain=summarize_gain(gains, record["settings"]),
        )


def _read_steps(
    store: Store, session: str, rows: Sequence[ProblemRow]
) -> tuple[list[ProblemGains], Tally, list[StepRecord]]:
    """Return what answers added, counts of verdicts, and the steps with figures on judges, without
    their answers.

    All are read in one pass over the steps, because reading takes most of the time.
    """
    from ..reports import Tally, tally
    from ..reports.answer_gains import GainReader
    from ..reports.metrics.results import pair_with_steps

    reader, counted = GainReader(store), Tally.empty()
    gains: list[ProblemGains] = []
    judged: list[StepRecord] = []
    ids = [row.problem.id for row in rows]
    records = store.steps(session, ids, spaces="consistent")
    for row, steps in pair_with_steps(rows, records):
        gains.append(reader.trace(row, steps))
        counted += tally(steps)
        judged += [
            replace(step, answers=(), events=()) for step in steps if step.fields.get("judging")
        ]
    return gains, counted, judged


def _protocol_of(settings: Mapping[str, Json]) -> str:
    from ..reports.protocol_summary import summarise_protocol

    record = settings.get("operational", {}).get("protocol")
    return summarise_protocol(record) if record else ""


def _end_reason(store: Store, session: str, rows: Sequence[ProblemRow]) -> str:
    last = store.last_responses(session, "model") if rows else {}
    return "".join(
        describe_end(last.get(row.problem.id)) for row in rows if row.cause == "exhausted"
    )


def describe_end(response: Mapping[str, Any] | None) -> str:
    """Return why a reply proposes nothing more (`Reply.meta`), or "" where it does not say."""
    said = (response or {}).get("meta", {}).get("reason", "")
    return said if isinstance(said, str) else ""
