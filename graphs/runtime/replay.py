"""Replay a session: run its graph with answers from the journal, and compare the result with the
store.

By default, all answers come from the journal. With `live=True`, the answers of models come from the
journal, but tools are executed again. Every difference is reported with its problem, step and
field. A replay without differences shows that the current code derives the same verdicts and scores
from the recorded answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from ...records import (
    CallKey,
    CallKind,
    Digest,
    Json,
    JudgedHypothesis,
    OpenOracle,
    Outcome,
    PeirceError,
    StepRecord,
    StoreError,
    digest_of,
)
from ...store import ProblemRow, SessionJournal, Store
from .runner import SessionPlan
from .steps import START_STATE


class JournalExhausted(PeirceError):
    """Raised when a call is not in the journal.

    Either an interrupted session stopped at this call, or the record of the call is missing.
    """

    def __init__(self, path: str) -> None:
        super().__init__(f"no call {path} is in the journal")
        self.path = path


@dataclass
class Differences:
    """The differences between the replay of a problem and its record."""

    problem: str
    rows: list[dict[str, Json]] = field(default_factory=list)

    def add(self, step: int, name: str, recorded: Json, replayed: Json) -> None:
        """Add a difference between a recorded value and a replayed value.

        Args:
            step: The number of the step; 0 if the difference belongs to no step.
            name: The name of the field that differs.
            recorded: The value in the store.
            replayed: The value from the replay.
        """
        self.rows.append(
            {
                "problem": self.problem,
                "step": step,
                "field": name,
                "recorded": recorded,
                "replayed": replayed,
            }
        )


async def replay_session(
    store: Store,
    session: str,
    *,
    oracle: OpenOracle | None = None,
    live: bool = False,
) -> dict[str, Json]:
    """Replay a session and compare it with its record.

    Args:
        store: The open store.
        session: The id of the session.
        oracle: The opened sandbox or solver; needed only with `live`.
        live: Whether to execute tools again.

    Returns:
        {"session", "steps", "differences": [{problem, step, field, recorded, replayed}]}. "steps"
        is the number of replayed steps. A difference that belongs to no step has step 0. A
        difference that belongs to no problem has problem "".
    """
    row_of_session = store.session(session)
    plan, rows = SessionPlan(store, session, row_of_session["settings"]), store.problems(session)
    graph, apply = plan.select_graph(rows), plan.limit_oracle(oracle)
    steps = 0
    differences: list[dict[str, Json]] = []
    altered = store.find_changes(session)
    for row in rows:
        noted = Differences(row.problem.id)
        for one in altered:
            if one["problem"] == row.problem.id:
                where = one["step"] if one["path"] == "" else _step_of(one["path"])
                name = f"{one['field']} {one['path']}".strip()
                noted.add(where or 0, name, "as its digest names it", "altered since")
        journal = _Recorded(store.journal(session), noted, live, _kinds(store, session, row))
        ledger = _Compared(store, session, row, noted)
        case = plan.make_case(row, oracle=apply, journal=journal, ledger=ledger)
        if await _replay_problem(graph, case, row, noted):
            journal.check_end()
            ledger.check_end()
        steps += ledger.steps
        differences += noted.rows
    recorded = row_of_session.get("digest")
    if recorded is not None and recorded != (now := store.digest(session)):
        whole = Differences("")
        whole.add(0, "digest of the session", recorded, now)
        differences += whole.rows
    return {"session": session, "steps": steps, "differences": differences}


def _kinds(store: Store, session: str, row: ProblemRow) -> dict[str, str]:
    return {call["path"]: call["kind"] for call in store.calls(session, row.problem.id)}


async def _replay_problem(graph: Any, case: Any, row: ProblemRow, noted: Differences) -> bool:
    """Replay a problem and return whether it ran to its end.

    Only then must every recorded call and step have been used.
    """
    try:
        state = await graph.ainvoke(START_STATE, context=case)
    except JournalExhausted as end:
        if row.status == "done":
            noted.add(_step_of(end.path), "call", str(end), None)
        return False
    except StoreError as unreadable:
        noted.add(0, "unreadable", str(unreadable), None)
        return False
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        if not noted.rows:  # an error of the program, as the record was not altered
            raise
        noted.add(0, "unreadable", f"{type(error).__name__}: {error}", None)
        return False
    if row.status == "done" and state["stop"] != row.cause:
        noted.add(0, "cause", row.cause, state["stop"])
    return row.status == "done"


@dataclass
class _Recorded:
    """The journal as the only source of answers; with `live`, tools run and are compared with it.

    Args:
        journal: the journal of the session.
        noted: where differences are added.
        live: whether tools are executed.
        kinds: kind of every recorded call by path; calls are removed as they are requested.
    """

    journal: SessionJournal
    noted: Differences
    live: bool
    kinds: dict[str, str]

    async def record_once(
        self,
        key: CallKey,
        kind: CallKind,
        request: Json,
        make: Callable[[], Awaitable[Outcome]],
    ) -> Outcome:
        """Return the recorded outcome of a call, or the new one of a tool with `live`."""
        step, told = _step_of(key.path), self.journal.find_entry(key)
        if told is None:
            raise JournalExhausted(key.path)
        digest, outcome = told
        recorded_kind = self.kinds.pop(key.path, kind)
        if recorded_kind != kind:
            self.noted.add(step, f"kind of {key.path}", recorded_kind, kind)
        if digest != digest_of(request):
            self.noted.add(step, f"request of {key.path}", digest, digest_of(request))
        if not (self.live and kind == "tool"):
            return outcome
        again = await make()
        if again.response != outcome.response:
            self.noted.add(step, f"response of {key.path}", outcome.response, again.response)
        for name, codes in again.vectors.items():
            if not np.array_equal(codes, outcome.vectors.get(name, ())):
                self.noted.add(step, f"{name} of {key.path}", "recorded", "other")
        return again

    def find_entry(self, key: CallKey) -> tuple[Digest, Outcome] | None:
        """Return the recorded call, which still has to be requested."""
        return self.journal.find_entry(key)

    def check_end(self) -> None:
        """Note every recorded call that was not requested."""
        for path in sorted(self.kinds):
            self.noted.add(_step_of(path), f"call {path}", "a recorded call", None)


def _step_of(path: str) -> int:
    first, _, rest = path.partition("/")
    step = rest.partition("/")[0]
    return int(step) if first == "step" and step.isdecimal() and len(step) < 10 else 0


class _Compared:
    """A ledger that writes nothing and compares each replayed step with the stored one."""

    def __init__(self, store: Store, session: str, row: ProblemRow, noted: Differences) -> None:
        self._stored: dict[int, StepRecord] = {}
        try:
            for record in store.steps(session, row.problem.id):
                self._stored[record.step] = record
        except StoreError as unreadable:
            noted.add(0, "unreadable", str(unreadable), None)
        self._ended = row.status == "done"
        self._noted = noted
        self.steps = 0

    async def record_step(self, record: StepRecord) -> None:
        """Compare a replayed step with the stored one."""
        self.steps += 1
        stored = self._stored.pop(record.step, None)
        if stored is None:
            if self._ended:
                self._noted.add(record.step, "step", None, "a step that was not recorded")
            return
        for name, before, after in _compare_steps(stored, record):
            self._noted.add(record.step, name, before, after)

    async def record_end(self, problem: str, status: Literal["done", "failed"], cause: str) -> None:
        """Do nothing, because `replay_session` compares how the problem ended."""

    def check_end(self) -> None:
        """Note every stored step that was not replayed."""
        for step in sorted(self._stored):
            self._noted.add(step, "step", "a recorded step", None)


Difference = tuple[str, Json, Json]


def _compare_steps(stored: StepRecord, replayed: StepRecord) -> Iterator[Difference]:
    yield from _unequal("answers", len(stored.answers), len(replayed.answers))
    yield from _unequal("fields", dict(stored.fields), dict(replayed.fields))
    for number, (before, after) in enumerate(zip(stored.answers, replayed.answers, strict=False)):
        yield from _unequal(f"answer {number}", before.text, after.text)
        yield from _unequal(f"path of answer {number}", before.path, after.path)
        yield from _unequal(f"hypotheses of answer {number}", len(before.judged), len(after.judged))
        for old, new in zip(before.judged, after.judged, strict=False):
            recorded, again = _parts(old), _parts(new)
            for name in recorded:
                yield from _unequal(f"{name} of answer {number}", recorded[name], again[name])
    if stored.events != replayed.events:
        yield "bank events", len(stored.events), len(replayed.events)


def _parts(judged: JudgedHypothesis) -> dict[str, Json]:
    """Return everything that a judgement holds, by the names that differences use."""
    hypothesis, space = judged.hypothesis, judged.space
    return {
        "verdict": str(judged.verdict),
        "reason": judged.reason,
        "coverage": judged.coverage,
        "bad": judged.bad,
        "hypothesis": hypothesis and hypothesis.text,
        "description": hypothesis and hypothesis.description,
        "meta": hypothesis and dict(hypothesis.meta),
        "breaches": hypothesis and list(hypothesis.breaches),
        "shown": judged.shown and asdict(judged.shown),
        "hidden": judged.hidden and asdict(judged.hidden),
        "codes": space and digest_of([space.codes.tolist(), space.reasons.tolist()]),
        "undefined": space and list(space.reason_names),
        "limits": space and [space.verdict, space.limited],
    }


def _unequal(name: str, old: Json, new: Json) -> Iterator[Difference]:
    if old != new:
        yield name, old, new
