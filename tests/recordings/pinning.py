"""What is pinned of a recording: its digests, and those of what the reading verbs say of it."""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import peirce
from peirce.store import Store

HERE = Path(__file__).parent
PINNED = HERE / "pinned.json"
DIGITS = 9  # after the point: sums may differ in the last places from one processor to another
RECORDINGS = ("programs", "logic", "text", "models", "killed", "resumed", "trainings")


PARTS = {"": "store", ".wal": "log"}  # of a store: the log is there after a kill alone


def compressed(name: str, end: str = "") -> Path:
    return HERE / "stores" / f"{name}.{PARTS[end]}.xz"


def compress(store: Path, name: str) -> None:
    """Keep a store and, of one that was killed, the log beside it."""
    for end in PARTS:
        place = Path(f"{store}{end}")
        if place.exists():
            compressed(name, end).write_bytes(lzma.compress(place.read_bytes(), preset=9))


def unpack(name: str, folder: Path) -> str:
    """Write a recording into `folder` and return the path of its store."""
    for end in PARTS:
        if compressed(name, end).exists():
            held = lzma.decompress(compressed(name, end).read_bytes())
            (folder / f"{name}.duckdb{end}").write_bytes(held)
    return str(folder / f"{name}.duckdb")


def rounded(value: Any) -> Any:
    """JSON with its floats rounded, tuples as lists."""
    if hasattr(value, "to_dict"):
        return rounded(value.to_dict())
    if isinstance(value, float):
        return round(value, DIGITS) + 0.0
    if isinstance(value, dict):
        return {str(key): rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]
    return value


def digest_json(value: Any) -> str:
    """Return a digest of JSON as `--json` prints it, with rounded floats."""
    text = json.dumps(rounded(value), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def digests_of(store: str, session: str) -> dict[str, str]:
    with Store.open(store, write=False) as opened:
        return {"findings": opened.findings_digest(session), "digest": opened.digest(session)}


LISTED = ("session", "status", "problems", "problems_done", "problems_failed", "task", "method",
          "model", "seed", "data")  # fmt: skip


def pin_list(store: str) -> dict[str, Any]:
    """Return the rows of `peirce.sessions` by id, without their settings and clocks."""
    rows = peirce.sessions(store=store)
    return {row["session"]: {key: row[key] for key in LISTED} for row in rows}


def without_baselines(told: Any) -> Any:
    """Return the JSON of `evaluate` without what packages of others predict."""
    plain = rounded(told)
    for one in plain["sessions"]:
        one.pop("baselines", None)
    return plain


def read_session(store: str, session: str) -> dict[str, Any]:
    """What the reading verbs say of a session, by verb; of its first problem where they take one."""
    trace = peirce.load(session, store=store)
    problems, steps = trace.problems, trace.steps
    alpha = (trace.settings.get("text") or {}).get("alpha", 0.5)
    return {
        "evaluate": without_baselines(peirce.evaluate(session, by_problem=True, store=store)),
        "show": peirce.show(session, store=store),
        "show_problem": peirce.show(session, problems[0].id, store=store),
        "show_calls": peirce.show(session, calls=True, store=store),
        # By reward, as while the session runs: findings have tests of their own.
        "bank": peirce.bank(session, alpha=alpha, store=store),
        "bank_history": peirce.bank(session, history=True, store=store),
        "load": [
            [one.digest for one in problems],
            [[step.problem, step.step, len(step.answers), dict(step.fields)] for step in steps],
        ],
    }


def pin_session(store: str, session: str) -> dict[str, Any]:
    """Return what is pinned of a session."""
    verbs = {verb: digest_json(said) for verb, said in read_session(store, session).items()}
    return {"session": session, **digests_of(store, session), "verbs": verbs}


def pin_store(store: str, ids: Mapping[str, str]) -> dict[str, Any]:
    """Return what is pinned of a store with sessions. ids: of the sessions, by name."""
    named = {name: pin_session(store, session) for name, session in ids.items()}
    return {"sessions": named, "list": pin_list(store)}


def pin_trainings(store: str) -> dict[str, Any]:
    """Return what is pinned of pair sets and trainings: their names, and what the verbs say."""
    sets, trainings = peirce.pair_sets(store=store), peirce.trainings(store=store)
    curves = peirce.training_curves(store=store)
    return {
        "pair_sets": [row["digest"] for row in sets],
        "trainings": [row["training"] for row in trainings],
        "verbs": {
            "pair_sets": digest_json(sets),
            "trainings": digest_json(trainings),
            "training_curves": digest_json(curves),
        },
    }
