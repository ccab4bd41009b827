"""Writing sets of preference pairs to the store, and reading them back.

A set is written in one transaction and never changed. Each SQL statement inserts many rows, given
as lists that DuckDB unnests. Writing a million pairs takes one and a half seconds in this form, but
minutes with statements of single values.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..records import Digest, Json, Message, StoreError
from .change_log import Change, Statement
from .codec import decode_json, decode_text, encode_json, encode_text, settings_of
from .connection import RowReader
from .writer import Writer

PAIRS_PER_QUERY = 65_536  # per statement and per query
TEXTS_PER_QUERY = 4_096  # the same for rows that hold texts
_NONE = "the store holds no pairs yet: `peirce pairs SESSION` makes some"


@dataclass(frozen=True)
class PairColumns:
    """A set of m preference pairs over P prompts and A answers, as the store holds it.

    The columns are not validated here; `training.pair_table.PairTable` validates them.

    Attributes:
        prompts: P prompts, each a list of messages.
        prompt_task: The name of each prompt's task (P texts).
        prompt_problem: The id of each prompt's problem (P texts).
        prompt_split: The name of each prompt's split (P texts).
        prompt_context: The number of earlier hypotheses in each prompt: 0, 1 or 2 (P integers).
        answers: A answers of models, as text.
        answer_model: For each answer, the model that first gave this answer (A texts).
        prompt: The index of each pair's prompt, int32 of shape (m,).
        chosen: The index of each pair's better answer, int32 of shape (m,).
        rejected: The index of each pair's worse answer, int32 of shape (m,).
        stage: The criterion of each pair, int8 of shape (m,): 0 parsing, 1 consistency, 2 GEAR
            score.
        digest: The digest of all other columns.
        settings: How the set was built: digests of the sessions, caps, ratios, seed, fractions,
            template and answer format.
    """

    prompts: Sequence[tuple[Message, ...]]
    prompt_task: Sequence[str]
    prompt_problem: Sequence[str]
    prompt_split: Sequence[str]
    prompt_context: Sequence[int]
    answers: Sequence[str]
    answer_model: Sequence[str]
    prompt: NDArray[np.int32]
    chosen: NDArray[np.int32]
    rejected: NDArray[np.int32]
    stage: NDArray[np.int8]
    digest: Digest
    settings: Mapping[str, Json]


class PairSets:
    """The sets of preference pairs in a store.

    Without a writer, the sets can only be read.
    """

    def __init__(self, reader: RowReader, writer: Writer | None, path: object) -> None:
        self._reading = reader
        self._writer = writer
        self._path = path

    def save(self, table: PairColumns, report: Mapping[str, Json]) -> None:
        """Write a set of preference pairs durably, and make it the latest set ("last").

        If the set is already stored, its rows are not written again.

        Args:
            table: The set.
            report: Counts to store with the set, which `list` returns.

        Raises:
            StoreError: The store is open for reading only, or cannot be written.
        """
        if self._writer is None:
            raise StoreError(f"{self._path} is open for reading")
        ordinal = "(SELECT coalesce(max(ordinal), -1) + 1 FROM pair_set)"
        there = self._there() and self._reading.query(
            "SELECT 1 FROM pair_set WHERE pair_set = ?", (table.digest,)
        )
        if there:
            sql = f"UPDATE pair_set SET ordinal = {ordinal} WHERE pair_set = ?"
            self._writer.submit(Change({}, [(sql, (table.digest,))])).result()
            return
        created = datetime.now(UTC).isoformat(timespec="microseconds")
        head = (table.digest, created, encode_json(dict(table.settings)), encode_json(dict(report)))
        first = (f"INSERT INTO pair_set SELECT ?, {ordinal}, ?, ?, ?", head)
        self._writer.submit(Change({}, [first, *_statements(table)])).result()

    def list(self) -> list[dict[str, Any]]:
        """Return a description of each set of preference pairs in the store.

        The set that was saved last comes last. The keys are digest, created, settings and counts
        (the report that was saved with the set).
        """
        if not self._there():
            return []
        rows = self._reading.query(
            "SELECT pair_set, created, settings, counts FROM pair_set ORDER BY ordinal"
        )
        return [
            {"digest": digest, "created": created, "settings": settings_of(settings, "pair_set.settings"),
             "counts": decode_json(counts, "pair_set.counts", dict)}
            for digest, created, settings, counts in rows
        ]  # fmt: skip

    def find(self, name: str) -> Digest:
        """Return the digest of a set. `name` is the digest, a unique prefix of it, or "last".

        Raises:
            StoreError: No set or several sets match.
        """
        digests = [str(row["digest"]) for row in self.list()]
        if not digests:
            raise StoreError(_NONE)
        if name == "last":
            return digests[-1]
        found = [digest for digest in digests if name and digest.startswith(name)]
        if len(found) == 1:
            return found[0]
        if found:
            raise StoreError(
                f"pairs {name!r} are ambiguous: {', '.join(d[:12] for d in found[:8])}"
            )
        near = difflib.get_close_matches(name, [d[: len(name)] for d in digests], 1)
        hint = near[0] if name and near else digests[-1][:12]
        raise StoreError(f"no pairs {name!r}; did you mean {hint}, or last?")

    def read(self, name: str) -> PairColumns:
        """Return a set of preference pairs. `name` has the form that `find` accepts.

        Raises:
            StoreError: No set or several sets match, or the set cannot be read.
        """
        digest = self.find(name)
        ((settings,),) = self._reading.query(
            "SELECT settings FROM pair_set WHERE pair_set = ?", (digest,)
        )
        of_set = f"pair_prompt.messages of {digest[:12]}"
        asked = list(self._rows("pair_prompt", "prompt", _PROMPT, digest, TEXTS_PER_QUERY))
        said = list(self._rows("pair_answer", "answer", _ANSWER, digest, TEXTS_PER_QUERY))
        pairs = [
            np.array(part, np.int32).reshape(-1, 4)
            for part in self._parts("pair", "pair", _PAIR, digest, PAIRS_PER_QUERY)
        ]
        columns = np.concatenate([np.zeros((0, 4), np.int32), *pairs])
        return PairColumns(
            prompts=[tuple(decode_json(row[0], of_set, list)) for row in asked],
            prompt_task=[decode_text(row[1]) for row in asked],
            prompt_problem=[decode_text(row[2]) for row in asked],
            prompt_split=[row[3] for row in asked],
            prompt_context=[row[4] for row in asked],
            answers=[decode_text(row[0]) for row in said],
            answer_model=[decode_text(row[1]) for row in said],
            prompt=columns[:, 0].copy(),
            chosen=columns[:, 1].copy(),
            rejected=columns[:, 2].copy(),
            stage=columns[:, 3].astype(np.int8),
            digest=digest,
            settings=settings_of(settings, "pair_set.settings"),
        )

    def _there(self) -> bool:
        """Return whether the file has these tables; a version 3 file open for reading has not."""
        sql = "SELECT 1 FROM duckdb_tables() WHERE table_name = 'pair_set' LIMIT 1"
        return bool(self._reading.query(sql))

    def _rows(
        self, table: str, place: str, columns: str, digest: Digest, step: int
    ) -> Iterator[tuple[Any, ...]]:
        for part in self._parts(table, place, columns, digest, step):
            yield from part

    def _parts(
        self, table: str, place: str, columns: str, digest: Digest, step: int
    ) -> Iterator[Sequence[tuple[Any, ...]]]:
        start = 0
        sql = (
            f"SELECT {columns} FROM {table} WHERE pair_set = ? AND {place} >= ? AND {place} < ? "
            f"ORDER BY {place}"
        )
        while part := self._reading.query(sql, (digest, start, start + step)):
            yield part
            start += step


_PROMPT = "messages, task, problem, split, context"
_ANSWER = "text, model"
_PAIR = "prompt, chosen, rejected, stage"


def _statements(table: PairColumns) -> Iterator[Statement]:
    prompts = (
        [encode_json([dict(one) for one in asked]) for asked in table.prompts[start:stop]]
        for start, stop in _steps(len(table.prompts), TEXTS_PER_QUERY)
    )
    for (start, stop), messages in zip(
        _steps(len(table.prompts), TEXTS_PER_QUERY), prompts, strict=True
    ):
        yield _insert(
            "pair_prompt", table.digest, start,
            {
                "VARCHAR": [
                    messages,
                    [encode_text(one) for one in table.prompt_task[start:stop]],
                    [encode_text(one) for one in table.prompt_problem[start:stop]],
                    [str(one) for one in table.prompt_split[start:stop]],
                ],
                "TINYINT": [[int(one) for one in table.prompt_context[start:stop]]],
            },
        )  # fmt: skip
    for start, stop in _steps(len(table.answers), TEXTS_PER_QUERY):
        texts = [encode_text(one) for one in table.answers[start:stop]]
        models = [encode_text(one) for one in table.answer_model[start:stop]]
        yield _insert("pair_answer", table.digest, start, {"VARCHAR": [texts, models]})
    for start, stop in _steps(len(table.prompt), PAIRS_PER_QUERY):
        places = [
            np.asarray(column[start:stop], np.int32)
            for column in (table.prompt, table.chosen, table.rejected)
        ]
        stages = [np.asarray(table.stage[start:stop], np.int8)]
        yield _insert("pair", table.digest, start, {"INTEGER": places, "TINYINT": stages})


def _steps(count: int, step: int) -> list[tuple[int, int]]:
    return [(start, min(count, start + step)) for start in range(0, count, step)]


def _insert(
    table: str, digest: Digest, start: int, columns: Mapping[str, Sequence[Any]]
) -> Statement:
    """Return the statement that inserts columns, grouped by type, for positions from `start` on."""
    kinds = [(kind, values) for kind, some in columns.items() for values in some]
    names = [f"c{number}" for number in range(len(kinds))]
    lists = ", ".join(
        f"?::{kind}[] AS {name}" for name, (kind, _) in zip(names, kinds, strict=True)
    )
    cells = ", ".join(f"unnest({name})" for name in names)
    sql = (
        f"INSERT INTO {table} SELECT ?, ? + generate_subscripts(c0, 1) - 1, {cells} "
        f"FROM (SELECT {lists})"
    )
    return sql, (digest, start, *(values for _, values in kinds))
