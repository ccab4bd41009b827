"""A set of preference pairs as a table of columns, which `peirce pairs` builds and a training
reads.

Each text is stored once. A pair consists of the positions of a prompt and of two answers, and the
pair's id is its position in the table. The digest covers all pairs and settings, so a training
gives the same result on two sets with equal digests.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..records import Digest, Json, Message, StoreError, UsageError, canonical_json
from ..store.pair_sets import PairColumns
from .splits import Split
from .stages import STAGES, Stage

if TYPE_CHECKING:
    from ..store import Store

_TOGETHER = 1 << 20  # characters that are hashed at once


@dataclass(frozen=True)
class PairTable(PairColumns):
    """A set of preference pairs whose columns are checked on creation.

    The columns are described in `PairColumns`. The digest is an empty string until `with_digest`
    sets it.

    Raises:
        ValueError: The lengths, shapes, data types or positions of the columns do not fit each
            other.
    """

    prompt_split: Sequence[Split]

    def __post_init__(self) -> None:
        p, a, m = len(self.prompts), len(self.answers), len(self.prompt)
        for name in ("prompt_task", "prompt_problem", "prompt_split", "prompt_context"):
            if len(getattr(self, name)) != p:
                raise ValueError(f"{name} {len(getattr(self, name))} of {p} prompts")
        if len(self.answer_model) != a:
            raise ValueError(f"answer_model {len(self.answer_model)} of {a} answers")
        for name, kind, most in (
            ("prompt", np.int32, p), ("chosen", np.int32, a), ("rejected", np.int32, a),
            ("stage", np.int8, len(Stage)),
        ):  # fmt: skip
            column = getattr(self, name)
            if column.shape != (m,) or column.dtype != kind:
                raise ValueError(
                    f"{name} is no {kind.__name__} ({m},): {column.dtype} {column.shape}"
                )
            if m and not (int(column.min()) >= 0 and int(column.max()) < most):
                raise ValueError(f"a place in {name} is not within 0 and {most - 1}")

    def __len__(self) -> int:
        return len(self.prompt)

    def with_digest(self) -> PairTable:
        """Return a copy of this table with its digest."""
        return replace(self, digest=table_digest(self))

    def positions(
        self, stage: Stage | int | None = None, split: Split | str | None = None
    ) -> NDArray[np.int64]:
        """Return the positions of the pairs with a stage and a split, in ascending order.

        Args:
            stage: The stage; None for all stages.
            split: The split; None for all splits.
        """
        kept = np.ones(len(self), np.bool_)
        if stage is not None:
            kept &= self.stage == int(Stage(stage))
        if split is not None:
            kept &= self._splits[self.prompt] == list(Split).index(Split(split))
        return np.flatnonzero(kept)

    def texts(self, pair: int) -> tuple[tuple[Message, ...], str, str]:
        """Return the prompt (a tuple of messages), the chosen answer and the rejected answer of a
        pair.

        Args:
            pair: The position of the pair.
        """
        return (
            self.prompts[int(self.prompt[pair])],
            self.answers[int(self.chosen[pair])],
            self.answers[int(self.rejected[pair])],
        )

    @cached_property
    def _splits(self) -> NDArray[np.int8]:
        place = {split: number for number, split in enumerate(Split)}
        return np.array([place[Split(one)] for one in self.prompt_split], np.int8)


def table_digest(table: PairTable) -> Digest:
    """Return the SHA-256 digest of a table's settings, texts and positions."""
    seen = hashlib.sha256()
    waiting: list[str] = []
    size = 0
    for line in _lines(table):
        waiting.append(line)
        size += len(line)
        if size > _TOGETHER:
            seen.update("\n".join([*waiting, ""]).encode("utf-8", "surrogatepass"))
            waiting, size = [], 0
    seen.update("\n".join([*waiting, ""]).encode("utf-8", "surrogatepass"))
    for column, kind in ((table.prompt, "<i4"), (table.chosen, "<i4"), (table.rejected, "<i4"),
                         (table.stage, "i1")):  # fmt: skip
        seen.update(np.ascontiguousarray(column, kind).data if len(column) else b"")
    return seen.hexdigest()


def _lines(table: PairTable) -> Iterator[str]:
    yield canonical_json(["pairs", 1, dict(table.settings), list(STAGES)])
    yield canonical_json([len(table.prompts), len(table.answers), len(table)])
    for asked, *said in zip(
        table.prompts, table.prompt_task, table.prompt_problem, table.prompt_split,
        table.prompt_context, strict=True,
    ):  # fmt: skip
        yield canonical_json([[dict(one) for one in asked], *said])
    for answer in zip(table.answers, table.answer_model, strict=True):
        yield canonical_json(answer)


def save_table(store: Store, table: PairTable, report: Mapping[str, Json]) -> Digest:
    """Save a table and the report of its counts in the store, and return the table's digest.

    If the store already contains the same set of pairs, the set stays unchanged. In both cases the
    name `last` then refers to this set.

    Raises:
        UsageError: The table has no digest, or no pairs.
        StoreError: The store cannot be written.
    """
    if not table.digest:
        raise UsageError("a set of pairs is saved under its digest: name it first")
    if not len(table):
        raise UsageError("a set without pairs is not saved")
    store.pairs.save(table, report)
    return table.digest


def read_table(store: Store, name: str = "last") -> PairTable:
    """Return a stored set of preference pairs.

    Args:
        store: The open store.
        name: The digest of the set, a unique prefix of the digest, or `last`.

    Raises:
        StoreError: The store has no such set, or the stored set was changed or damaged.
    """
    found = store.pairs.read(name)
    try:
        splits = [Split(one) for one in found.prompt_split]
        table = PairTable(**{**vars(found), "prompt_split": splits})
        actual = table_digest(table)
    except (ValueError, TypeError) as error:
        raise StoreError(f"the pairs {found.digest[:12]} are not whole: {error}") from error
    if actual != found.digest:
        raise StoreError(
            f"the pairs {found.digest[:12]} were altered in the store: their digest is now "
            f"{actual[:12]}; make them again with `peirce pairs SESSION`"
        )
    return table
