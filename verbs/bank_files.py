"""A bank that is used again: of a session of the store, or of a file.

Files are what `peirce bank --json` prints, what `peirce bank --out FILE` writes, and the reference's
own JSON, a map from text to its statistics (acc, num_visits, reward, correct_examples).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ..records import DataError, Json, Problem, StoreError, UsageError
from ..store import Store
from ..tasks.files import expanded, identity, read_json, read_lines

FIELDS = ("text", "accuracy", "visits", "reward", "right")


@dataclass(frozen=True)
class StoredBank:
    """rows: by problem id; "" for those of no problem. source: as a session records it. public: of
    the problems, where the bank says them."""

    rows: Mapping[str, Sequence[Mapping[str, Json]]]
    source: Json
    public: Mapping[str, Mapping[str, Json]]

    def of(self, problem: Problem) -> list[Json]:
        """The rows for a problem: its own, else those of the same data set, else the only ones there
        are. Raises UsageError where the bank holds several others."""
        name = problem.group or problem.id
        for key in (problem.id, name, f"{name}#0"):
            if key in self.rows:
                return [dict(row) for row in self.rows[key]]
        if len(self.rows) == 1:
            (only,) = self.rows.values()
            return [dict(row) for row in only]
        raise UsageError(
            f"the bank has no hypotheses for problem {problem.id!r}; it has those of"
            f" {', '.join(sorted(self.rows))}"
        )


def read_bank(named: str | Path, store: Path) -> StoredBank:
    """named: a file, or a session of the store. Raises UsageError, DataError, StoreError."""
    place = expanded(named)
    if place.is_file():
        return _of_file(place)
    if not store.exists():
        raise UsageError(
            f"bank {str(named)!r} is no file, and there is no store {store} to look in"
        )
    with closing(Store.open(store, write=False)) as opened:
        try:
            session = opened.find(str(named))
        except StoreError as error:
            raise UsageError(f"bank {str(named)!r} is no file here, and {error}") from error
        rows: dict[str, list[Mapping[str, Json]]] = {}
        for row in opened.bank(session):
            rows.setdefault(row["problem"], []).append({name: row[name] for name in FIELDS})
        if not rows:
            raise UsageError(f"the bank of session {session} is empty")
        public = {row.problem.id: row.problem.public for row in opened.problems(session)}
        return StoredBank(rows, {"session": session}, public)


def _of_file(place: Path) -> StoredBank:
    said = _objects(place)
    public: dict[str, Mapping[str, Json]] = {}
    if isinstance(said, dict) and "hypotheses" in said:
        public = {"": said.get("public") or {}}
        said = said["hypotheses"]
    if isinstance(said, dict):
        said = [_of_reference(text, told) for text, told in said.items()]
    if not isinstance(said, list) or not said:
        raise DataError(f"{place}: holds no hypotheses: a list of objects with a text is needed")
    rows: dict[str, list[Mapping[str, Json]]] = {}
    for number, one in enumerate(said, 1):
        if not isinstance(one, dict) or not isinstance(one.get("text"), str) or not one["text"]:
            raise DataError(f"{place}, hypothesis {number}: has no text")
        rows.setdefault(str(one.get("problem", "")), []).append(_checked(one, place, number))
    return StoredBank(rows, {"file": identity(place)}, public)


def _objects(place: Path) -> Json:
    if place.name.removesuffix(".gz").endswith(".jsonl"):
        found = []
        for number, line in read_lines(place):
            try:
                found.append(json.loads(line))
            except ValueError as error:
                raise DataError(f"{place}, line {number}: no JSON: {error}") from error
        return found
    return read_json(place)


def _checked(one: Mapping[str, Json], place: Path, number: int) -> Mapping[str, Json]:
    row = {
        "text": one["text"],
        "accuracy": one.get("accuracy"),
        "visits": one.get("visits", 0),
        "reward": one.get("reward", 0.0),
        "right": one.get("right", []),
    }
    for name, kinds in (("accuracy", (int, float)), ("visits", int), ("reward", (int, float)), ("right", list)):  # fmt: skip
        if row[name] is not None and not isinstance(row[name], kinds):
            raise DataError(f"{place}, hypothesis {number}: {name} is {row[name]!r:.60}")
    return row


def _of_reference(text: str, told: Json) -> Json:
    """As the released code saves it."""
    if not isinstance(told, dict):
        return {"text": text}
    right = [row[0] for row in told.get("correct_examples", ()) if isinstance(row, list) and row]
    return {
        "text": text,
        "accuracy": told.get("acc"),
        "visits": told.get("num_visits", 0),
        "reward": told.get("reward", 0.0),
        "right": right,
    }
