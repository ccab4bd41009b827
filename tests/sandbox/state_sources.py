"""Sources that keep state, that reach out of their namespace, and ordinary ones (`sources/`), and their
outcomes in namespaces of their own or in one that they share.

Internals: sources are classified and compiled in this process, as a worker does it.
"""

from __future__ import annotations

import ast
import json
import random
from pathlib import Path
from typing import Any

from peirce.sandbox.inside.canonical import code_bytes
from peirce.sandbox.inside.state import Reach, analyse_reach
from peirce.sandbox.inside.trial import TICK, compile_tree

SOURCES = Path(__file__).parent / "sources"
PASSES = 2_000  # of `while` loops, for each call
left = 0


def judge(source: str, entry: str = "f") -> Reach:
    return analyse_reach(ast.parse(source), entry)


def sources(name: str) -> list[str]:
    """Those of a file, which lines of dashes separate."""
    text = (SOURCES / f"{name}.txt").read_text("utf-8")
    return [one.strip("\n") for one in text.split("\n---\n") if one.strip()]


def tick() -> None:
    global left
    left -= 1
    if left < 0:
        raise TimeoutError


def outcome(function: Any, one: Any) -> Any:
    global left
    left = PASSES
    try:
        return code_bytes(function(one))
    except Exception as error:
        return type(error).__name__


def namespace(source: str) -> dict[str, Any]:
    made: dict[str, Any] = {"__name__": "hypothesis", TICK: tick}
    tree = ast.parse(source)
    exec(compile_tree(tree, list(ast.walk(tree))), made)
    return made


def fresh(source: str, entry: str, inputs: list[Any]) -> list[Any]:
    found = []
    for one in inputs:
        random.seed(0)
        found.append(outcome(namespace(source)[entry], json.loads(json.dumps(one))))
    return found


def shared(source: str, entry: str, inputs: list[Any]) -> list[Any]:
    function = namespace(source)[entry]
    return [outcome(function, json.loads(json.dumps(one))) for one in inputs]
