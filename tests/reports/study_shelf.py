"""Stores for the studies: sessions written as a run writes them, with outputs and marks of the test's own.

Internals: a study is computed with choices that the command line bounds.
"""

from __future__ import annotations

import asyncio

import numpy as np
from peirce.records import (
    Agreement,
    Hypothesis,
    InputSet,
    JudgedAnswer,
    JudgedHypothesis,
    Observation,
    Predictions,
    Problem,
    StepRecord,
    Verdict,
)
from peirce.reports.papers.gear.studies import StudySettings, run_study
from peirce.store import Store

SPACE = InputSet("six", tuple([i] for i in range(6)))

SHOWN = ((0, 0), (1, 1))

MARKS = [True, True, False, None]


def pairs(some):
    return tuple(Observation([given], [output]) for given, output in some)


def problem(name, hidden, shown=SHOWN):
    return Problem(name, "list_functions", "programs", pairs(shown), pairs(hidden), group=name)


def judged(text, outputs, marks, verdict=Verdict.ACCEPTED):
    """outputs: over S, None where undefined. marks: of the hidden pairs, None: never compared."""
    codes = np.array([0 if o is None else o for o in outputs], np.int64)
    reasons = np.array([o is None for o in outputs], np.uint8)
    hidden = None if marks is None else Agreement(tuple(marks), ({},) * len(marks))
    return JudgedHypothesis(
        verdict, "", Hypothesis(text), 0.0, None, hidden, Predictions(codes, reasons, ("E",))
    )


class Shelf:
    """A store that sessions are put into."""

    def __init__(self, path):
        self.path, self.store = path, Store.open(path, write=True)

    def session(self, *problems, model="m", space=SPACE, status="done", **operational):
        """problems: (problem, its hypotheses). Returns the session's id."""
        settings = {
            "task": "list_functions", "family": "programs", "method": "abduce", "model": model,
            "equality": 1, "operational": {"data": {"name": "file"}} | operational,
        }  # fmt: skip
        session = self.store.create_session(settings, [(one, space) for one, _ in problems])
        ledger = self.store.ledger(session)

        async def write():
            for one, hypotheses in problems:
                for step, hypothesis in enumerate(hypotheses, 1):
                    await ledger.record_step(
                        StepRecord(one.id, step, (JudgedAnswer(f"step/{step}", "", (hypothesis,)),))
                    )
                if status != "open":
                    await ledger.record_end(one.id, status, "exhausted")

        asyncio.run(write())
        return session

    def study(self, name, *sessions, **choices):
        ids = sessions or [row["session"] for row in self.store.sessions()]
        return run_study(name, self.store, ids, StudySettings(resamples=50, **choices))


def row_of(result, **place):
    (found,) = [r for r in result["rows"] if all(r[key] == value for key, value in place.items())]
    return found
