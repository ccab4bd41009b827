"""Runs of one function that share a child: over what was shown, what is hidden and S, which a judge
asks for at one moment. A child costs milliseconds, most functions take microseconds.

Only where that changes nothing: the source is one whose calls leave nothing behind (state.Reach,
which the stage tells before any of it runs), and no limit is met on the way. Else each runs alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..records import Batch

if TYPE_CHECKING:
    from .link import Job

TURNS = 2  # of the loop, in which those that are asked for at one moment have all come
FURTHER = 3  # sets beside the first: many would wait for each other on one worker
OF_THE_SOURCE = ("ok", "syntax", "no_function")  # verdicts that more input sets cannot bring about


@dataclass
class Trip:
    """Those that ask for one function, each with the batch that it waits for; None: run it alone."""

    asked: list[tuple[Job, asyncio.Future[Batch | None]]] = field(default_factory=list)

    def join(self, job: Job) -> asyncio.Future[Batch | None]:
        waiting: asyncio.Future[Batch | None] = asyncio.get_running_loop().create_future()
        self.asked.append((job, waiting))
        return waiting

    def together(self, most_bytes: int) -> Job | None:
        """One job for all, the largest set with those of at most so many bytes beside it; None
        where there is nothing to share."""
        self.asked.sort(key=lambda one: -len(one[0].text))
        few = [one for one in self.asked[1:] if len(one[0].text) <= most_bytes][:FURTHER]
        for one in self.asked[1:]:
            if one not in few and not one[1].done():
                one[1].set_result(None)
        self.asked[1:] = few
        return replace(self.asked[0][0], also=tuple(job for job, _ in few)) if few else None

    def land(self, batch: Batch, further: Sequence[Batch]) -> None:
        """What came of the job for all."""
        if batch.verdict not in OF_THE_SOURCE:
            return
        for (_, waiting), found in zip(self.asked, [batch, *further], strict=False):
            if not waiting.done():
                waiting.set_result(found)

    def end(self) -> None:
        """Nobody waits any longer."""
        for _, waiting in self.asked:
            if not waiting.done():
                waiting.set_result(None)
