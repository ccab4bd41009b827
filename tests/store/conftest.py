"""What the store's tests write: problems, steps and calls of a seed, and a store to put them in."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from peirce.records import (
    Agreement,
    BankEvent,
    CallKey,
    Hypothesis,
    InputSet,
    JudgedAnswer,
    JudgedHypothesis,
    Observation,
    Outcome,
    Predictions,
    Problem,
    StepRecord,
    Usage,
    Verdict,
)
from peirce.store import Store

SPACE = InputSet("lists", tuple([i, i + 1] for i in range(40)))


def problem(name: str) -> Problem:
    return Problem(
        name,
        "list_functions",
        "programs",
        (Observation([1, 2], [2]), Observation([3], [])),
        (Observation([5, 6], [6]),),
        {"labels": ["a"]},
        {"rule": "tail"},
        f"group {name}",
    )


def predictions(seed: int) -> Predictions:
    rng = np.random.default_rng(seed)
    reasons = rng.integers(0, 3, 40, dtype=np.uint8)
    codes = np.where(reasons == 0, rng.integers(-(2**62), 2**62, 40), 0)
    return Predictions(codes, reasons, ("IndexError", "steps"), "ok", bool(seed % 2))


def step(name: str, number: int, text: str = "def fn(x):\n    return x[1:]") -> StepRecord:
    """A malformed answer and one with two hypotheses, at step `number` of problem `name`."""
    seed = random.Random(ascii(f"{name}/{number}")).randrange(10**6)
    hypothesis = Hypothesis(f"{text} # {seed}", "all but the first", {"entry": "fn"}, ("fences",))
    shown = Agreement((True, None), ({"value": [2]}, {"undefined": "IndexError"}))
    hidden = Agreement((False,), ({"value": [6, 7]},), "ok", {"cost": 3})
    kept = JudgedHypothesis(
        Verdict.ACCEPTED, "", hypothesis, 0.25, shown, hidden, predictions(seed)
    )
    again = JudgedHypothesis(
        Verdict.REDUNDANT, "covered", hypothesis, 1.0, shown, hidden, kept.space, True
    )
    events = tuple(
        BankEvent(hypothesis.digest, hypothesis.text, hypothesis.description, place, right, place)
        for place, right in enumerate((True, False, True), 1)
    )
    return StepRecord(
        name,
        number,
        (
            JudgedAnswer(f"step/{number}/propose/0", "no idea", (malformed(),)),
            JudgedAnswer(f"step/{number}/propose/1", f"answer {seed}", (kept, again)),
        ),
        {"chosen": seed},
        events,
    )


def malformed() -> JudgedHypothesis:
    return JudgedHypothesis(Verdict.MALFORMED, "no_tuple", bad=True)


def outcome(key: CallKey, kind: str) -> Outcome:
    seed = random.Random(ascii(f"{key.problem}/{key.path}")).randrange(10**6)
    if kind == "model":
        return Outcome({"text": f"answer {seed}"}, {}, Usage(seed, 2, 3, 4), 0.5, 1)
    space = predictions(seed)
    return Outcome(
        {"verdict": "ok"}, {"codes": space.codes, "reasons": space.reasons}, Usage(), 0.1
    )


def same(one: object, other: object) -> bool:
    """Equality that looks into arrays: of values, dtypes and shapes."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and bool((one == other).all())
    if isinstance(one, Predictions | JudgedHypothesis | JudgedAnswer | StepRecord) and type(
        one
    ) is type(other):
        return all(same(value, getattr(other, name)) for name, value in vars(one).items())
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Another process that runs `code`."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60
    )


@pytest.fixture
def made() -> SimpleNamespace:
    """The functions above, for tests that cannot import this file by name."""
    return SimpleNamespace(
        problem=problem,
        step=step,
        outcome=outcome,
        predictions=predictions,
        same=same,
        python=python,
        space=SPACE,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "peirce.duckdb"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store.open(path, write=True) as opened:
        yield opened


@pytest.fixture
def new_session(store: Store) -> Callable[..., str]:
    def new(*names: str, **settings: object) -> str:
        pairs = [(problem(name), SPACE) for name in names or ("1",)]
        return store.create_session({"seed": 0, **settings}, pairs)

    return new
