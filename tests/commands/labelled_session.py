"""A data set of labelled text whose labels follow from its words, and sessions on it."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import peirce
from peirce.agents.scripted import FunctionProposer

GOOD, BAD = ("fresh bread", "kind staff", "warm soup"), ("cold soup", "rude staff", "old bread")
LUX = 'If the text mentions "kind" or "fresh", the label is good; otherwise bad.'
RUDE = 'If the text mentions "rude", the label is bad.'
PLAIN = "Texts that sound pleased are good."  # no exact rule
ANSWER = f"1. {LUX}\n2. {RUDE}\n"


def said(number: int, good: bool) -> str:
    return f"{(GOOD if good else BAD)[number % 3]} at visit {number}"


def rows(count: int, start: int) -> list[dict[str, Any]]:
    return [
        {"review": said(n, n % 2 == 0), "label": "good" if n % 2 == 0 else "bad"}
        for n in range(start, start + count)
    ]


def write_lines(path: Path, lines: Sequence[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return path


def data_set(folder: Path, name: str = "meals") -> Path:
    place = folder / name
    for split, count, start in (("train", 24, 0), ("val", 8, 100), ("test", 12, 200)):
        write_lines(place / f"{split}.jsonl", rows(count, start))
    write_lines(place / "ood.jsonl", rows(10, 300))
    return place


@dataclass
class Model:
    """Proposes `ANSWER`, and labels a text by whether a pleasant word stands in it. asked: how often
    it was asked about a text."""

    answer: str = ANSWER
    asked: int = 0

    def __call__(self, messages: Sequence[Any]) -> str:
        text = "\n".join(str(one["content"]) for one in messages)
        if "You decide" in text:
            return "no"
        if "Final answer" not in text:
            return self.answer
        self.asked += 1
        return "good" if re.search("fresh|kind|warm", text[text.rindex("Input:") :]) else "bad"


@dataclass(frozen=True)
class Labelled:
    folder: Path
    data: Path
    store: str

    def finished(self, **options: Any) -> Any:
        """The session that `run(**options)` comes to, in a copy of the store of its first run."""
        session, content = _first_session(tuple(sorted(options.items())))
        Path(self.store).write_bytes(content)
        return dataclasses.replace(session, store=self.store)

    def run(self, method: str = "hypogenic", model: Any = None, **options: Any) -> Any:
        given = {"data": self.data, "store": self.store, "observations": 20, **options}
        model = FunctionProposer(Model(), "model") if model is None else model
        return peirce.run("labels", method=method, model=model, **given)


@functools.cache
def _first_session(options: tuple[tuple[str, Any], ...]) -> tuple[Any, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        first = labelled(Path(folder))
        return first.run(**dict(options)), Path(first.store).read_bytes()


def labelled(folder: Path) -> Labelled:
    return Labelled(folder, data_set(folder), str(folder / "store.duckdb"))
