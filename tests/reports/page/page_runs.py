"""Small sessions of every family, run for real into one store, once for all the tests of the page."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import peirce
from peirce.agents.scripted import ScriptedProposer
from peirce.records import Reply, ToolCall

sys.path.insert(0, str(Path(__file__).parents[2] / "endtoend"))
from text_model import RULES, TextModel, write_own

WORLDS = [
    {"id": "W0", "domain": ["a0", "a1", "a2"],
     "true": {"P": ["a1"], "R": [["a0", "a1"], ["a1", "a1"]], "S": [["a2", "a0"]]}},
    {"id": "W1", "domain": ["a0", "a1"], "true": {"P": ["a0"], "Q": ["a0"]},
     "unknown": {"R": [["a1", "a0"]]}},
]  # fmt: skip
LARGE = [
    {"id": f"W{n}", "domain": [f"a{k}" for k in range(9)],
     "true": {"P": [f"a{k}" for k in range(9) if (k + n) % 3 == 0], "Q": ["a4"],
              "R": [[f"a{k}", f"a{(k * 4 + n + 1) % 9}"] for k in range(9)],
              "S": [[f"a{k}", f"a{(k + 5 + n) % 9}"] for k in range(0, 9, 2)]},
     "unknown": {"R": [["a1", "a0"]], "Q": ["a7"]}}
    for n in range(3)
]  # fmt: skip
NAMES = ("own", "large")
HOLDOUT = {"domain": ["h0", "h1"], "true": {"P": ["h0"], "R": [["h1", "h0"]]}}


def function(description: str, source: str) -> str:
    return repr((description, source))


def formula(text: str) -> str:
    return json.dumps({"formula": text, "description": f"whatever {text} holds of"})


def tries(name: str, **arguments: Any) -> Reply:
    return Reply(tool_calls=(ToolCall("t", name, arguments),), finish="tool_calls")


LISTS = [
    function("the input itself", "def f(x):\n    return x"),
    [
        tries("execute", code="def f(x):\n    return x[::-1]"),
        function("turned around", "def f(x):\n    return x[::-1]"),
    ],
    "I do not know.",
    function("only what is < 50 & odd", "def f(x):\n    return [v for v in x if v < 50 and v % 2]"),
]
GRIDS = [
    function("the same grid", "def f(grid):\n    return grid"),
    function("mirrored", "def f(grid):\n    return [row[::-1] for row in grid]"),
    function("its first row", "def f(grid):\n    return grid[0][0] // 0"),
]
RULES_OF_WORLDS = [
    [tries("solve", formula="(P x)"), formula("(exists y (R x y))")],
    formula("(= x x)"), formula("(P x)"), "nonsense", formula("(Q x)"),
]  # fmt: skip


def worlds_file(folder: Path, some: Sequence[Any]) -> Path:
    """A problem for each list of worlds."""
    own = {"regime": "skeptical", "theory": "T1", "holdouts": [HOLDOUT],
           "reference": "(exists y (and (R x y) (P y)))"}  # fmt: skip
    told = [
        {"id": name, "worlds": worlds, **own} for name, worlds in zip(NAMES, some, strict=False)
    ]
    path = folder / "worlds.json"
    path.write_text(json.dumps(told))
    return path


def sessions(folder: Path) -> dict[str, Any]:
    """Runs them into folder/"s.duckdb"; by name, the outcome of each."""
    store = folder / "s.duckdb"
    texts = write_own(folder / "texts", "text")
    fields = write_own(folder / "fields", "fields")
    worlds = worlds_file(folder, [WORLDS, LARGE])
    search = {"model": "search", "budget_expansions": 1000, "max_answers": 3}
    ran: dict[str, Callable[[], Any]] = {
        "lists": lambda: run("list_functions", problems=3, observations=4, **search),
        "scripted": lambda: run(
            "list_functions", problems=3, observations=4, model=ScriptedProposer(LISTS), tool_calls=2
        ),
        "acre": lambda: run("acre", problems=2, observations=4, **search),
        "mini_arc": lambda: run("mini_arc", problems=2, model=ScriptedProposer(GRIDS)),
        "arc": lambda: run("arc", problems=1, model=ScriptedProposer(GRIDS)),
        "worlds": lambda: run("abd", data=worlds, model=ScriptedProposer(RULES_OF_WORLDS)),
        "texts": lambda: run(
            "labels", data=texts, method="hypogenic", observations=30, hypotheses=4,
            model=TextModel(["warm", "cold"], RULES["text"]).proposer,
            method_arg={"top": 3, "wrong": 4, "capacity": 8, "readers": 3},
        ),
        "fields": lambda: run("labels", data=fields, method="abduce", model="search", max_answers=4),
    }  # fmt: skip

    def run(task: str, **options: Any) -> Any:
        return peirce.run(task, store=store, workers=1, **options)

    return {name: begin() for name, begin in ran.items()}
