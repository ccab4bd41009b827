"""A session whose model waits to be let on: answer number n comes once the file `n` is in a folder.

python waiting_run.py DATA STORE FOLDER
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import peirce
from peirce.agents.scripted import ScriptedProposer


class Waiting(ScriptedProposer):
    def __init__(self, replies: list[str], folder: Path) -> None:
        super().__init__(replies)
        self._folder, self._count = folder, 0

    async def propose(self, *given, **more):
        self._count += 1
        while not (self._folder / str(self._count)).exists():
            await asyncio.sleep(0.02)
        return await super().propose(*given, **more)


if __name__ == "__main__":
    data, store, folder = sys.argv[1:]
    answers = [repr((f"answer {n}", f"def f(x):\n    return x[{n}:]")) for n in range(1, 4)]
    peirce.run("examples", data=data, store=store, model=Waiting(answers, Path(folder)), workers=1,
               max_answers=3, concurrency=1)  # fmt: skip
