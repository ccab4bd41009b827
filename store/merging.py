"""Merge sessions, sets of preference pairs and trainings of another store into a store.

Each of them is copied in one transaction, so a merge that is killed leaves complete copies and can be
repeated. Something that is already there is not copied again. A copy of a session that was
interrupted is replaced by a copy that went on. Two copies that went on differently are an error.
Afterwards everything is in the order of creation, so the order of merges has no effect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..records import StoreError
from .change_log import Change, Statement
from .connection import RowReader, source_name
from .schema import TABLES

SHARED = ("input_set", "vector")  # rows that several sessions use, by their digest
# What is copied as a whole, named by the key of its tables, and the table whose rows tell which of two
# copies went on.
KINDS = {"session": "call", "pair_set": "", "training": "training_point"}
CALL = "problem, path, kind, request_digest, response, vectors"


@dataclass(frozen=True)
class MergeCounts:
    """What was found in another store, by kind: sessions, sets of pairs, trainings.

    Attributes:
        copied: The number that was not there before.
        replaced: The number whose interrupted copy was replaced.
        present: The number that was there already.
    """

    copied: dict[str, int]
    replaced: dict[str, int]
    present: dict[str, int]


def merge_store(
    reader: RowReader, write: Callable[[Change], None], number: int, source: Path, target: Path
) -> MergeCounts:
    """Copy what a store lacks from another store.

    Args:
        reader: Reads the store.
        write: Writes a change to the store, and waits until it is durable.
        number: The position of the other store among those that were opened with the store.
        source: The path of the other store, for messages.
        target: The path of the store, for messages.

    Raises:
        StoreError: The other store cannot be read, or both stores have different copies of something.
    """
    merge = _Merge(reader, source_name(number), source, target)
    found = MergeCounts(*(dict.fromkeys(KINDS, 0) for _ in range(3)))
    there = {row[0] for row in reader.query(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = ?", [merge.other]
    )}  # fmt: skip
    write(Change(statements=[merge.copy_missing(name) for name in SHARED]))
    for kind in KINDS:
        if kind not in there:  # a store of version 3
            continue
        for (key,) in reader.query(f"SELECT {kind} FROM {merge.other}.{kind} ORDER BY ordinal"):
            known = merge.compare(kind, key)
            getattr(found, known)[kind] += 1
            if known != "present":
                write(Change(statements=merge.copy(kind, key, replace=known == "replaced")))
    write(Change(statements=[_renumber(kind) for kind in KINDS]))
    return found


def _tables(kind: str) -> list[str]:
    """Return the tables that have rows of this kind, its own table last."""
    others = [name for name, columns in TABLES.items() if f"{kind} VARCHAR" in columns]
    return [*(name for name in others if name != kind), kind]


def _renumber(kind: str) -> Statement:
    """Number everything of a kind in the order of creation."""
    return (
        f"UPDATE {kind} SET ordinal = numbered.place FROM (SELECT {kind} AS name,"
        f" row_number() OVER (ORDER BY created, {kind}) AS place FROM {kind}) AS numbered"
        f" WHERE {kind}.{kind} = numbered.name",
        (),
    )


@dataclass(frozen=True)
class _Merge:
    """The statements that copy from another store, whose name in SQL is `other`."""

    reader: RowReader
    other: str
    source: Path
    target: Path

    def copy_missing(self, table: str) -> Statement:
        return (
            f"INSERT INTO {table} SELECT * FROM {self.other}.{table} AS other WHERE NOT EXISTS"
            f" (SELECT 1 FROM {table} AS own WHERE own.digest = other.digest)",
            (),
        )

    def copy(self, kind: str, key: str, replace: bool) -> list[Statement]:
        """Return the statements that copy something with all its rows."""
        # The order is set at the end, and a run that was killed does not go on.
        last = f"(SELECT coalesce(max(ordinal), 0) + 1 FROM {kind})"
        own = f"* REPLACE ({last} AS ordinal"
        if kind == "session":
            own += ", CASE status WHEN 'running' THEN 'interrupted' ELSE status END AS status"
        found: list[Statement] = []
        for table in _tables(kind):
            if replace:
                found.append((f"DELETE FROM {table} WHERE {kind} = ?", [key]))
            columns = f"{own})" if table == kind else "*"
            found.append(
                (
                    f"INSERT INTO {table} SELECT {columns} FROM {self.other}.{table}"
                    f" WHERE {kind} = ?",
                    [key],
                )
            )
        return found

    def compare(self, kind: str, key: str) -> str:
        """Return what is to be done with something of the other store: a field of `MergeCounts`."""
        if not self.reader.query(f"SELECT 1 FROM {kind} WHERE {kind} = ?", [key]):
            return "copied"
        if kind == "pair_set":  # its key is the digest of its content
            return "present"
        columns = CALL if kind == "session" else "*"
        newer, older = self._count_differing(kind, KINDS[kind], columns, key)
        if kind == "session":
            settings = self._count_differing(kind, "session", "settings", key)
            problems = self._count_differing(
                kind, "problem", "problem, ordinal, digest, space", key
            )
            verdicts = self._count_differing(kind, "verdict", "*", key)
            if any((*settings, *problems)) or (newer and older) or all(verdicts):
                raise StoreError(
                    f"the session {key} of {self.source} and that of {self.target} are different:"
                    " both went on, or one was changed; leave one of the stores out"
                )
            there, here = (
                self.reader.query(f"SELECT count(*) FROM {place}step WHERE session = ?", [key])
                for place in (f"{self.other}.", "")
            )
            newer = newer or max(0, there[0][0] - here[0][0])
        return "replaced" if newer and not older else "present"

    def _count_differing(self, kind: str, table: str, columns: str, key: str) -> tuple[int, int]:
        """Return how many rows only the other store has, and how many only this store has."""
        there = f"SELECT {columns} FROM {self.other}.{table} WHERE {kind} = ?"
        here = f"SELECT {columns} FROM {table} WHERE {kind} = ?"
        first, second = (
            self.reader.query(f"SELECT count(*) FROM ({one} EXCEPT {two})", [key, key])[0][0]
            for one, two in ((there, here), (here, there))
        )
        return first, second
