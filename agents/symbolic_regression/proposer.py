"""The proposer that asks pyoperon or gplearn, with a process of its own for each search."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ...records import Json
from ...tools.line_process import LineProcess, ProcessDied
from .table import GRACE_S

_MODULE = f"{__package__}.process"


class RegressionProposer:
    """A proposer whose answers are laws that a package for symbolic regression finds.

    The reply depends on the view, the seed, the limits and the speed of the machine, not on the
    messages.

    Args:
        peer: Name of the package: "pyoperon" or "gplearn".
        seconds: Time of a search.
        memory_mb: Memory limit of each process, in megabytes.
        workers: Number of processes that run at a time.
        release: Version of the package.
    """

    def __init__(
        self, peer: str, seconds: float, memory_mb: int, workers: int, release: str
    ) -> None:
        self.peer, self.seconds, self.memory_mb, self.release = peer, seconds, memory_mb, release
        self.turns = asyncio.Semaphore(workers)

    def settings(self) -> Json:
        """Return the settings of the package that the session records."""
        return {
            "model": self.peer,
            "seconds": self.seconds,
            "memory_mb": self.memory_mb,
            self.peer: self.release,
            "version": 1,
        }

    async def search(self, table: Mapping[str, Any], seed: int) -> dict[str, Any]:
        """Ask a new process for laws, and kill the process if it exceeds the time limit by more than
        `GRACE_S` seconds.

        The time in which the process starts does not count.

        Args:
            table: A mapping with the keys "columns", "categories" and "target" (process.py).
            seed: Seed of the search.

        Returns:
            {"laws": texts of formulas, the chosen one first}, or {"reason": why there is none}.
        """
        request = {
            **table, "peer": self.peer, "seconds": self.seconds, "memory_mb": self.memory_mb,
            "seed": seed,
        }  # fmt: skip
        async with self.turns:
            process = LineProcess(_MODULE)
            try:
                await process.ask({"peer": self.peer})
                found: dict[str, Any] = await process.ask(request, self.seconds + GRACE_S)
                return found
            except TimeoutError:
                return {"reason": f"{self.peer} finds no law in {self.seconds:g} seconds"}
            except ProcessDied:
                return {
                    "reason": f"{self.peer} ended without an answer; it may use"
                    f" {self.memory_mb:,} MB of memory"
                }
            finally:
                await process.close()

    async def close(self) -> None:
        """Do nothing: each process ends with its answer."""
