"""An oracle and a search that sleep instead of computing, for `bench/cluster.py`.

They stand for workers of which there may be a thousand, as they need no processor core: what is left is
the work of the driver. Each call sleeps for `seconds` and returns a canned result of the usual size. The
search is an oracle here, too, so that a node answers it without a process for each worker.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from peirce.records import (
    Apply,
    Batch,
    InputSet,
    Json,
    JsonService,
    Limits,
    OpenOracle,
    OracleKind,
    OracleSettings,
    Outcome,
    Workers,
)
from peirce.tools.execute import EXECUTE


@dataclass(frozen=True)
class SleepingOracle:
    """An open oracle (`records.OpenOracle`) that sleeps, and answers with `answer(*arguments)`."""

    seconds: float
    answer: Any

    def with_limits(self, limits: Limits) -> Apply:
        return self._apply

    async def _apply(self, *arguments: Any) -> Any:
        await asyncio.sleep(self.seconds)
        return self.answer(*arguments)

    def layers(self) -> Mapping[str, bool]:
        return {}

    async def close(self) -> None:
        return None


def draw_batch(
    source: str, entry: str, inputs: InputSet, keep: str, equality: Json = None
) -> Batch:
    """Return a result in which a program gives every input back, or codes drawn from its source.

    Half of the programs have a different code for each input, and half have a hundred codes. No two
    programs agree on them, so no hypothesis is redundant.
    """
    none = np.zeros(0, np.uint8)
    if keep == "values":
        values = tuple({"value": one} for one in inputs.inputs)
        return Batch("ok", np.zeros(0, np.int64), none, values=values)
    digest = hashlib.sha256(source.encode()).digest()
    rng, count = np.random.default_rng(list(digest[:8])), len(inputs.inputs)
    codes = rng.integers(-(2**63), 2**63 - 1, count)
    if digest[8] % 2:
        codes = codes[rng.integers(0, min(100, count), count)]
    return Batch("ok", codes, np.zeros(len(codes), np.uint8))


def draw_program(request: dict[str, Any], space: InputSet) -> dict[str, Json]:
    """Return a reply of the search: a program that differs with the number of earlier answers."""
    text = repr((request["shown"], len(request["earlier"]))).encode()
    number = int(hashlib.sha256(text).hexdigest()[:12], 16)
    source = f"def f(x):\n    return x if len(x) < 20 else [v + {number} for v in x]"
    return {"source": source, "description": f"adds {number} to long lists", "meta": {}}


async def _open(seconds: float, answer: Any, settings: OracleSettings) -> OpenOracle:
    return SleepingOracle(seconds, answer)


def _search_outcome(reply: dict[str, Json], *arguments: Any) -> Outcome:
    return Outcome(reply)


def _search_reply(outcome: Outcome) -> Json:
    return outcome.response


def sleeping_execute(seconds: float) -> OracleKind:
    """Return the oracle `execute` without a sandbox."""
    return replace(EXECUTE, open=partial(_open, seconds, draw_batch))


def sleeping_search(seconds: float) -> OracleKind:
    """Return a search in the form of an oracle."""
    return OracleKind(
        "search", partial(_open, seconds, draw_program), EXECUTE.request, _search_outcome,
        _search_reply, EXECUTE.missing,
    )  # fmt: skip


class SleepingWorkers:
    """Workers (`records.Workers`) whose oracle and search sleep.

    Args:
        inner: Where they sleep: in this process (`LocalWorkers`), or on the nodes of a cluster.
        search: The opened search.
        seconds: How long each call takes.
    """

    def __init__(self, inner: Workers, search: OpenOracle, seconds: float) -> None:
        self._inner, self._search, self._seconds = inner, search, seconds

    @classmethod
    async def open(cls, inner: Workers, seconds: float) -> SleepingWorkers:
        kind = sleeping_search(seconds)
        return cls(inner, await inner.open_oracle(kind, OracleSettings()), seconds)

    async def open_oracle(self, kind: OracleKind, settings: OracleSettings) -> OpenOracle:
        return await self._inner.open_oracle(sleeping_execute(self._seconds), settings)

    def open_service(self, module: str, workers: int | None) -> JsonService:
        return _SleepingService(self._search.with_limits(Limits()))

    def describe_nodes(self) -> list[dict[str, Json]]:
        return self._inner.describe_nodes()

    async def close(self) -> None:
        await self._search.close()


class _SleepingService:
    def __init__(self, apply: Apply) -> None:
        self._apply = apply

    async def ask(self, key: str, request: dict[str, Any], space: InputSet) -> dict[str, Any]:
        reply: dict[str, Any] = await self._apply(request, space)
        return reply

    def is_idle(self, key: str) -> bool:
        return False

    async def close(self) -> None:
        return None
