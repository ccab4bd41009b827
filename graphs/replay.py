"""Replay: the same graph driven by the journal alone, and its result compared with what the
store holds. `live=True` takes the models' answers from the journal and executes the tools again.

Every difference is named by problem, step and field. A clean replay says that the verdicts and
scores of a session follow from its recorded answers by the code at hand.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ..records import (
    Agreement,
    CallKey,
    Json,
    Judged,
    Outcome,
    PeirceError,
    Predictions,
    Sandbox,
    StepRecord,
    digest_of,
)
from ..store import ProblemRow, SessionJournal, Store
from .runner import STEPS_WITHOUT_END, executor_of, graph_of, make_case, spaces_of
from .steps import START_STATE


class JournalEnds(PeirceError):
    """The journal holds no more: where an interrupted session stopped, or a call is missing."""


@dataclass
class Differences:
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
    store: Store, session: str, *, sandbox: Sandbox | None = None, live: bool = False
) -> dict[str, Json]:
    """Returns {"session", "steps", "differences": [{problem, step, field, recorded, replayed}]}."""
    settings = store.session(session)["settings"]
    rows = store.problems(session)
    graph, spaces = graph_of(settings, rows), spaces_of(store)
    execute = executor_of(settings, sandbox)
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
        journal = _Recorded(store.journal(session), noted, live)
        ledger = _Compared(store, session, row, noted)
        case = make_case(
            store, session, settings, row, spaces, execute=execute, journal=journal, ledger=ledger
        )
        await _replay_problem(graph, case, row, noted)
        ledger.check_end()
        steps += ledger.steps
        differences += noted.found
    return {"session": session, "steps": steps, "differences": differences}


async def _replay_problem(graph: Any, case: Any, row: ProblemRow, noted: Differences) -> None:
    config = {"recursion_limit": STEPS_WITHOUT_END}
    try:
        state = await graph.ainvoke(START_STATE, config=config, context=case)
    except JournalEnds as end:
        if row.status == "done":
            noted.note(0, "call", str(end), None)
        return
    if row.status == "done" and state["stop"] != row.cause:
        noted.note(0, "cause", row.cause, state["stop"])


@dataclass
class _Recorded:
    """The journal as the only source of answers; with `live`, tools run and are compared."""

    journal: SessionJournal
    noted: Differences
    live: bool

    async def once(
        self,
        key: CallKey,
        kind: Literal["model", "tool"],
        request: Json,
        make: Callable[[], Awaitable[Outcome]],
    ) -> Outcome:
        recorded = self.journal.entry(key)
        if recorded is None:
            raise JournalEnds(f"no call {key.path} is in the journal")
        known, outcome = recorded
        if known != digest_of(request):
            self.noted.note(_step_of(key.path), f"request of {key.path}", known, digest_of(request))
        if self.live and kind == "tool":
            again = await make()
            if again.response != outcome.response:
                self.noted.note(
                    _step_of(key.path), f"response of {key.path}", outcome.response, again.response
                )
            for name, codes in again.vectors.items():
                if not np.array_equal(codes, outcome.vectors[name]):
                    self.noted.note(
                        _step_of(key.path), f"{name} of {key.path}", "recorded", "other"
                    )
            return again
        return outcome


def _step_of(path: str) -> int:
    return int(path.split("/")[1])


class _Compared:
    """A ledger that writes nothing: each replayed step is held against the stored one."""

    def __init__(self, store: Store, session: str, row: ProblemRow, noted: Differences) -> None:
        self._stored = {record.step: record for record in store.steps(session, row.problem.id)}
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
        yield from _unequal(f"hypotheses of answer {number}", len(before.judged), len(after.judged))
        for old, new in zip(before.judged, after.judged, strict=False):
            yield from _compare_judged(f"of answer {number}", old, new)
    if stored.events != replayed.events:
        yield "bank events", len(stored.events), len(replayed.events)


def _compare_judged(where: str, old: Judged, new: Judged) -> Iterator[Difference]:
    yield from _unequal(f"verdict {where}", str(old.verdict), str(new.verdict))
    yield from _unequal(f"reason {where}", old.reason, new.reason)
    yield from _unequal(f"coverage {where}", old.coverage, new.coverage)
    yield from _unequal(f"hypothesis {where}", _text(old), _text(new))
    yield from _unequal(f"shown {where}", _marks(old.shown), _marks(new.shown))
    yield from _unequal(f"hidden {where}", _marks(old.hidden), _marks(new.hidden))
    if not _same_predictions(old.space, new.space):
        yield f"codes {where}", _codes(old.space), _codes(new.space)


def _unequal(name: str, old: Json, new: Json) -> Iterator[Difference]:
    if old != new:
        yield name, old, new


def _text(judged: Judged) -> Json:
    return None if judged.hypothesis is None else judged.hypothesis.text


def _marks(agreement: Agreement | None) -> Mapping[str, Json] | None:
    if agreement is None:
        return None
    return {"marks": list(agreement.marks), "got": [dict(got) for got in agreement.got]}


def _codes(predictions: Predictions | None) -> Json:
    if predictions is None:
        return None
    return digest_of([predictions.codes.tolist(), predictions.undefined()])


def _same_predictions(old: Predictions | None, new: Predictions | None) -> bool:
    if old is None or new is None:
        return old is new
    return (
        np.array_equal(old.codes, new.codes)
        and np.array_equal(old.reasons, new.reasons)
        and old.reason_names == new.reason_names
    )
