"""Replay: the same graph driven by the journal alone, and its result compared with what the
store holds. `live=True` takes the models' answers from the journal and executes the tools again.

Every difference is named by problem, step and field. A clean replay says that the verdicts and
scores of a session follow from its recorded answers by the code at hand.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from ...records import (
    CallKey,
    Json,
    Judged,
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


class JournalEnds(PeirceError):
    """The journal holds no more: where an interrupted session stopped, or a call is missing."""

    def __init__(self, path: str) -> None:
        super().__init__(f"no call {path} is in the journal")
        self.path = path


@dataclass
class Differences:
    """Where a replay of a problem departs from its record, by step and field."""

    problem: str
    found: list[dict[str, Json]] = field(default_factory=list)

    def note(self, step: int, name: str, recorded: Json, replayed: Json) -> None:
        self.found.append(
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
    """Returns {"session", "steps", "differences": [{problem, step, field, recorded, replayed}]}.

    step is 0 for what belongs to no step, problem "" for what belongs to none.
    """
    row_of_session = store.session(session)
    plan, rows = SessionPlan(store, session, row_of_session["settings"]), store.problems(session)
    graph, apply = plan.graph(rows), plan.bound(oracle)
    steps = 0
    differences: list[dict[str, Json]] = []
    altered = store.alterations(session)
    for row in rows:
        noted = Differences(row.problem.id)
        for one in altered:
            if one["problem"] == row.problem.id:
                where = one["step"] if one["path"] == "" else _step_of(one["path"])
                name = f"{one['field']} {one['path']}".strip()
                noted.note(where or 0, name, "as its digest names it", "altered since")
        journal = _Recorded(store.journal(session), noted, live, _kinds(store, session, row))
        ledger = _Compared(store, session, row, noted)
        case = plan.case(row, oracle=apply, journal=journal, ledger=ledger)
        if await _replay_problem(graph, case, row, noted):
            journal.check_end()
            ledger.check_end()
        steps += ledger.steps
        differences += noted.found
    recorded = row_of_session.get("digest")
    if recorded is not None and recorded != (now := store.digest(session)):
        whole = Differences("")
        whole.note(0, "digest of the session", recorded, now)
        differences += whole.found
    return {"session": session, "steps": steps, "differences": differences}


def _kinds(store: Store, session: str, row: ProblemRow) -> dict[str, str]:
    return {call["path"]: call["kind"] for call in store.calls(session, row.problem.id)}


async def _replay_problem(graph: Any, case: Any, row: ProblemRow, noted: Differences) -> bool:
    """Whether the problem came to an end, so that all that is recorded must have been met."""
    try:
        state = await graph.ainvoke(START_STATE, context=case)
    except JournalEnds as end:
        if row.status == "done":
            noted.note(_step_of(end.path), "call", str(end), None)
        return False
    except StoreError as unreadable:
        noted.note(0, "unreadable", str(unreadable), None)
        return False
    if row.status == "done" and state["stop"] != row.cause:
        noted.note(0, "cause", row.cause, state["stop"])
    return row.status == "done"


@dataclass
class _Recorded:
    """The journal as the only source of answers; with `live`, tools run and are compared.

    kinds: of every recorded call, by path; those that were asked for are taken out.
    """

    journal: SessionJournal
    noted: Differences
    live: bool
    kinds: dict[str, str]

    async def once(
        self,
        key: CallKey,
        kind: Literal["model", "tool"],
        request: Json,
        make: Callable[[], Awaitable[Outcome]],
    ) -> Outcome:
        step, told = _step_of(key.path), self.journal.entry(key)
        if told is None:
            raise JournalEnds(key.path)
        digest, outcome = told
        recorded_kind = self.kinds.pop(key.path, kind)
        if recorded_kind != kind:
            self.noted.note(step, f"kind of {key.path}", recorded_kind, kind)
        if digest != digest_of(request):
            self.noted.note(step, f"request of {key.path}", digest, digest_of(request))
        if not (self.live and kind == "tool"):
            return outcome
        again = await make()
        if again.response != outcome.response:
            self.noted.note(step, f"response of {key.path}", outcome.response, again.response)
        for name, codes in again.vectors.items():
            if not np.array_equal(codes, outcome.vectors.get(name, ())):
                self.noted.note(step, f"{name} of {key.path}", "recorded", "other")
        return again

    def check_end(self) -> None:
        for path in sorted(self.kinds):
            self.noted.note(_step_of(path), f"call {path}", "a recorded call", None)


def _step_of(path: str) -> int:
    first, _, rest = path.partition("/")
    return int(rest.partition("/")[0]) if first == "step" else 0


class _Compared:
    """A ledger that writes nothing: each replayed step is held against the stored one."""

    def __init__(self, store: Store, session: str, row: ProblemRow, noted: Differences) -> None:
        self._stored: dict[int, StepRecord] = {}
        try:
            for record in store.steps(session, row.problem.id):
                self._stored[record.step] = record
        except StoreError as unreadable:
            noted.note(0, "unreadable", str(unreadable), None)
        self._ended = row.status == "done"
        self._noted = noted
        self.steps = 0

    async def step(self, record: StepRecord) -> None:
        self.steps += 1
        stored = self._stored.pop(record.step, None)
        if stored is None:
            if self._ended:
                self._noted.note(record.step, "step", None, "a step that was not recorded")
            return
        for name, before, after in _compare_steps(stored, record):
            self._noted.note(record.step, name, before, after)

    async def end(self, problem: str, status: Literal["done", "failed"], cause: str) -> None:
        """Nothing: the runner's ends are compared by replay_session."""

    def check_end(self) -> None:
        for step in sorted(self._stored):
            self._noted.note(step, "step", "a recorded step", None)


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


def _parts(judged: Judged) -> dict[str, Json]:
    """All that a judgement holds, by the names under which a difference is told."""
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
