"""A run on a scripted model, and what it needs in a user's folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path

SOURCE = "def f(x):\n    return x[1:]"

TAIL = repr(("all but the first", SOURCE))


RUN = [
    "run", "examples", "--data", "pairs.jsonl", "--space", "space.jsonl", "--workers", "1",
    "--model", "scripted:script.json",
]  # fmt: skip


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "peirce", *arguments]


def put_files() -> None:
    """In the working directory: pairs, a sample space and a scripted model."""
    pairs = [
        {"problem": "one", "input": [3, 1, 2], "output": [1, 2]},
        {"problem": "one", "input": [5, 6], "output": [6]},
        {"problem": "one", "input": [9], "output": [], "split": "hidden"},
    ]
    Path("pairs.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    Path("space.jsonl").write_text("[]\n[1]\n[1, 2]\n[2, 2]\n")
    recorded = {"problem": "one", "step": 1, "answer": "```python\n" + SOURCE + "\n```"}
    Path("answers.jsonl").write_text(json.dumps(recorded) + "\n")
    Path("script.json").write_text(json.dumps({"*": [TAIL, "no idea"]}))
