"""A bank small enough to work by hand: six rows, four sentences, and what each says of each row.

Internals: a reading of a bank is built by hand, with a judge and a model that are tables.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peirce.graphs.inference import Entry, ModelQuery, Reading, ReadingSettings, Worth
from peirce.records import InputSet, Json, Message, Observation, View

LABELS = ("deny", "grant")
TEXTS = ("r0", "r1", "r2", "r3", "r4", "r5")
INPUTS: tuple[Json, ...] = tuple({"text": text} for text in TEXTS)
GOLD = (1, 1, 1, 0, 0, 0)
UNKNOWN = -1  # a row that no sentence applies to


def view(shown: Sequence[str] = ("deny", "deny", "deny", "grant", "grant")) -> View:
    rows = tuple(Observation({"text": f"s{i}"}, label) for i, label in enumerate(shown))
    return View("bank", "labels", "text", rows, {"labels": list(LABELS)}, InputSet("space", ()))


class Table:
    """A judge that looks codes up, and counts what it was asked. Later questions are answered
    first: nothing may hang on the order of arrival."""

    def __init__(self, table: Mapping[str, Sequence[int]], inputs: Sequence[Json] = INPUTS) -> None:
        self.table = table
        self.at = {repr(one): i for i, one in enumerate(inputs)}
        self.asked: list[tuple[str, tuple[int, ...]]] = []

    async def __call__(self, text: str, inputs: Sequence[Json]) -> NDArray[np.int64]:
        rows = tuple(self.at.get(repr(one), UNKNOWN) for one in inputs)
        self.asked.append((text, rows))
        await asyncio.sleep(0.001 * max(0, 5 - len(self.asked)))
        codes = self.table[text]
        return np.array([-1 if row == UNKNOWN else codes[row] for row in rows], np.int64)


class Prompts:
    """Prompts that are their own description."""

    def infer_many(self, view: View, hypotheses: Sequence[str], input: Json) -> list[Message]:
        return [{"role": "user", "content": f"many|{'+'.join(hypotheses)}|{input['text']}"}]

    def judge_relevance(self, view: View, hypothesis: str, input: Json) -> list[Message]:
        return [{"role": "user", "content": f"relevant|{hypothesis}|{input['text']}"}]

    def infer_adaptively(self, view: View, patterns: Any, input: Json) -> list[Message]:
        return [{"role": "user", "content": f"adaptively|{_patterns(patterns)}|{input['text']}"}]

    def select_pattern(self, view: View, patterns: Any, input: Json) -> list[Message]:
        return [{"role": "user", "content": f"select|{_patterns(patterns)}|{input['text']}"}]


def _patterns(patterns: Sequence[tuple[str, Sequence[Observation]]]) -> str:
    return "+".join(f"{text}({','.join(r.input['text'] for r in rows)})" for text, rows in patterns)


class Model:
    """Answers each prompt by its text; the earlier ones later."""

    def __init__(self, answers: Mapping[str, str], otherwise: str = "no idea") -> None:
        self.answers, self.otherwise = answers, otherwise
        self.asked: list[tuple[str, str, str]] = []

    async def __call__(self, role: str, place: str, messages: Sequence[Message]) -> str:
        said = str(messages[0]["content"])
        self.asked.append((role, place, said))
        await asyncio.sleep(0.001 * max(0, 8 - len(self.asked)))
        return self.answers.get(said, self.otherwise)


# sentence: accuracy of 10 visits, what it says of r0..r5 (-1: does not apply), right shown rows
BANK: dict[str, tuple[float, tuple[int, ...], tuple[int, ...]]] = {
    "A": (0.6, (1, 1, -1, 1, 0, -1), (0, 1, 2)),
    "B": (0.8, (1, 0, -1, 0, 0, -1), (0, 1, 2, 3)),
    "C": (0.7, (0, 1, 1, -1, 1, -1), (3, 4)),
    "D": (0.2, (-1, -1, -1, 1, -1, 1), ()),
}


def reading(
    bank: Mapping[str, tuple[float, tuple[int, ...], tuple[int, ...]]] = BANK,
    *,
    ask: ModelQuery | None = None,
    worth: Sequence[Worth] = (),
    shown: Sequence[str] = ("deny", "deny", "deny", "grant", "grant"),
    judge: Any = None,
    visits: int = 10,
    **settings: Any,
) -> Reading:
    return Reading(
        tuple(
            Entry(text, accuracy, visits, 0.0, right) for text, (accuracy, _, right) in bank.items()
        ),
        view(shown),
        judge or Table({text: codes for text, (_, codes, _) in bank.items()}),
        prompts=Prompts(),
        ask=ask,
        worth=tuple(worth),
        settings=ReadingSettings(**settings),
    )
