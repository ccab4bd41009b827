"""A session of programs whose answers are known, for the tests of `predict`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import peirce
from peirce.agents.scripted import ScriptedProposer

PAIRS = [([3, 8, 5, 4], [8, 4]), ([2, 7], [2]), ([1, 9], [])]
EVEN = "def f(x):\n    return [v for v in x if v % 2 == 0]"
SORTED = "def f(x):\n    return sorted([v for v in x if v % 2 == 0], reverse=True)"
PARITY = "def f(x):\n    return [v for v in x if v % 2 == len(x) % 2]"
DIVISORS = "def f(x):\n    return [v for v in x if 8 % v == 0 and v > 1]"  # undefined for a 0
TAIL = "def f(x):\n    return x[1:]"  # inconsistent
PROGRAMS = (SORTED, PARITY, TAIL, DIVISORS, EVEN)  # in the order in which they are found
CONSISTENT = (EVEN, SORTED, PARITY, DIVISORS)


def write_pairs(path: Path, pairs: list[Any] = PAIRS) -> Path:
    path.write_text("input,output\n" + "".join(f'"{x}","{y}"\n' for x, y in pairs))
    return path


def run_programs(folder: Path) -> dict[str, Any]:
    """Run the session, and return the settings with which `predict` finds it."""
    store = folder / "programs.duckdb"
    answers = [repr((f"program {number}", text)) for number, text in enumerate(PROGRAMS)]
    peirce.run(
        "examples", data=write_pairs(folder / "pairs.csv"), model=ScriptedProposer(answers),
        store=store, workers=1, max_answers=len(answers),
    )  # fmt: skip
    return {"store": store, "workers": 1}


@cache
def _function(source: str) -> Any:
    names: dict[str, Any] = {}
    exec(source, names)
    return names["f"]


def evaluate(source: str, value: Any) -> Any:
    """Return the output of a program in this process, or the name of the exception."""
    try:
        return _function(source)(list(value))
    except Exception as error:
        return type(error).__name__
