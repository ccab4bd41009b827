"""The proposer that asks pyoperon or gplearn, with a process of its own for each search."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...records import HasSearch, Json, Message, Reply, ToolSpec, View, digest_of
from ...tasks import load_family
from ...tasks.laws.columns import LawColumns
from ...tasks.laws.problems import FAMILY_NAME
from ...tools.line_process import LineProcess, ProcessDied
from .table import GRACE_S

NO_ROWS = "no row has a value in every column"
KEPT_SEARCHES = 100  # whose laws are kept for further answers

_MODULE = f"{__package__}.process"


class RegressionProposer:
    """A proposer whose answers are laws that a package for symbolic regression finds.

    The first answer to a problem is the model that the package chooses. Further answers are the other
    laws of the same search, the best first. If the search is not kept, as in a resumed session, it is
    done again.

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
        self.searches: OrderedDict[str, dict[str, Any]] = OrderedDict()

    def settings(self) -> Json:
        """Return the settings of the package that the session records."""
        return {
            "model": self.peer,
            "seconds": self.seconds,
            "memory_mb": self.memory_mb,
            self.peer: self.release,
            "version": 1,
        }

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Mapping[str, Json] | None = None,
    ) -> Reply:
        """Return the next law that is no earlier answer and stands in no message of the model."""
        if view.family != FAMILY_NAME:
            return _exhausted(f"{self.peer} finds only laws of numbers (peirce run laws)")
        found = await self._find_laws(view, seed)
        if "laws" not in found:
            return _exhausted(found["reason"])
        earlier = {h.text for one in view.past_answers for h in one.hypotheses}
        for message in messages:
            if message.get("role") == "assistant":
                earlier.update(str(message.get("content")).splitlines())
        for law in found["laws"]:
            if law not in earlier:
                return Reply(text=_write_answer(view, f"Found by {self.peer}.", law))
        return _exhausted(f"{self.peer} finds no further law")

    async def _find_laws(self, view: View, seed: int) -> dict[str, Any]:
        key = digest_of([[[o.input, o.output] for o in view.shown], dict(view.public)])
        if key not in self.searches:
            table = regression_table(view)
            self.searches[key] = (
                await self.search(table, seed) if table["target"] else {"reason": NO_ROWS}
            )
            if len(self.searches) > KEPT_SEARCHES:
                self.searches.popitem(last=False)
        self.searches.move_to_end(key)
        return self.searches[key]

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


def regression_table(view: View) -> dict[str, Any]:
    """Return the shown rows that have a value in every column, in the form that the process takes."""
    columns = LawColumns(view.public)
    arrays = columns.arrays([one.input for one in view.shown])
    complete = np.ones(len(view.shown), np.bool_)
    for name, cells in arrays.items():
        complete &= (cells != "") if name in columns.categories else np.isfinite(cells)
    outputs = [float(one.output) for one in view.shown]
    return {
        "columns": {name: cells[complete].tolist() for name, cells in arrays.items()},
        "categories": columns.categories,
        "target": [one for one, kept in zip(outputs, complete, strict=True) if kept],
    }


def _write_answer(view: View, description: str, law: str) -> str:
    family = load_family(view.family)
    assert isinstance(family, HasSearch)
    return family.search_style.answer(description, law)


def _exhausted(reason: str) -> Reply:
    return Reply(finish="exhausted", meta={"reason": reason})
