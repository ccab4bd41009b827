"""Steps of a problem written in one line each: what the reports read.

Internals: a baseline is taken away where it is chosen.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from peirce.records import (
    Agreement,
    Hypothesis,
    JudgedAnswer,
    JudgedHypothesis,
    Observation,
    Predictions,
    Problem,
    StepRecord,
    Verdict,
)
from peirce.reports.papers.hypobench import baseline_models, baselines

sys.path.insert(0, str(Path(__file__).parent))  # tests import what lies beside them


@pytest.fixture(scope="module", autouse=True)
def without_boosting() -> Iterator[None]:
    """Explainable boosting is left out: it takes a second for each evaluation of labelled text. test_baselines.py
    has tests of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(baseline_models, "has_interpret", lambda: False)
        patch.setattr(baselines, "describe_missing", lambda: None)
        yield


def predictions(outputs):
    """None where undefined."""
    codes = np.array([0 if o is None else o for o in outputs], np.int64)
    reasons = np.array([1 if o is None else 0 for o in outputs], np.uint8)
    return Predictions(codes, reasons, ("ValueError",))


def agreement(marks):
    return None if marks is None else Agreement(tuple(marks), ({},) * len(marks))


class Write:
    """Builders that the tests share."""

    def problem(self, name="p", shown=2, hidden=2, family="programs"):
        def pairs(count):
            return tuple(Observation([i], [i]) for i in range(count))

        return Problem(name, "list_functions", family, pairs(shown), pairs(hidden))

    def judged(self, verdict, space=None, shown=(True, True), hidden=(True, True)):
        if verdict is Verdict.MALFORMED:
            return JudgedHypothesis(verdict, "no_tuple", bad=True)
        return JudgedHypothesis(
            verdict,
            "",
            Hypothesis("def f(x): return x"),
            0.0,
            agreement(shown),
            agreement(hidden),
            None if space is None else predictions(space),
        )

    def steps(self, *judged, problem="p"):
        """One step, one answer and one hypothesis each; a tuple is one answer of several."""
        return [
            StepRecord(
                problem, i, (JudgedAnswer(f"step/{i}", "", j if type(j) is tuple else (j,)),)
            )
            for i, j in enumerate(judged, 1)
        ]


@pytest.fixture(scope="session")
def write():
    return Write()


@pytest.fixture
def shelf(tmp_path):
    from study_shelf import Shelf

    made = Shelf(tmp_path / "store.duckdb")
    yield made
    made.store.close()
