"""Sessions on small problems of labelled text, made by hand: what is in which row is known."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from peirce.agents.scripted import FunctionProposer
from peirce.config import TextSettings
from peirce.graphs import find_method as method_named
from peirce.graphs.runtime.replay import replay_session
from peirce.graphs.runtime.runner import run_session
from peirce.records import InputSet, Json, Message, Observation, Problem, StepRecord
from peirce.store import Store

COLUMNS = {"text": {"kind": "text", "about": ""}}


def rows(labels: Sequence[str], start: int = 0) -> tuple[Observation, ...]:
    """Row n is the text `item n.`, with the n-th label."""
    return tuple(Observation({"text": f"item {n}."}, one) for n, one in enumerate(labels, start))


def problem(
    shown: Sequence[Observation],
    splits: Mapping[str, Sequence[Observation]] | None = None,
    labels: Sequence[str] = ("yes", "no"),
    **public: Json,
) -> Problem:
    hidden: list[Observation] = []
    places = {}
    for name, some in (splits or {}).items():
        places[name] = [len(hidden), len(hidden) + len(some)]
        hidden += some
    told = {
        "labels": list(labels),
        "columns": COLUMNS,
        "shape": "text",
        "description": "",
        **public,
    }
    return Problem("made#0", "labels", "text", tuple(shown), tuple(hidden), told,
                   {"splits": places}, "made")  # fmt: skip


@dataclass
class Played:
    """A session that was run: its end, steps, bank rows, journal entries."""

    path: Path
    session: str
    outcome: Mapping[str, Json]

    def _read(self, read: Callable[[Store], Any]) -> Any:
        with closing(Store.open(self.path, write=False)) as store:
            return read(store)

    @cached_property
    def _found(self) -> tuple[list[StepRecord], list[dict[str, Any]], list[dict[str, Any]]]:
        """Steps, bank and calls, of one look: opening a store takes longer than reading it."""
        return self._read(
            lambda store: (
                list(store.steps(self.session)),
                list(store.bank(self.session)),
                list(store.calls(self.session)),
            )
        )

    @property
    def steps(self) -> list[StepRecord]:
        return list(self._found[0])

    @property
    def bank(self) -> list[dict[str, Any]]:
        return list(self._found[1])

    @property
    def calls(self) -> list[dict[str, Any]]:
        return list(self._found[2])

    @property
    def digest(self) -> str:
        return str(self._read(lambda store: store.digest(self.session)))

    @property
    def differences(self) -> list[Json]:
        replayed = lambda store: asyncio.run(replay_session(store, self.session))
        return list(self._read(replayed)["differences"])


def begin(path: Path, one: Problem, model: Any, method: str = "hypogenic", **text: Json) -> str:
    with closing(Store.open(path, write=True)) as store:
        return created(store, one, model, method, **text)


def created(store: Store, one: Problem, model: Any, method: str, **text: Json) -> str:
    settings = TextSettings(**{**method_named(method, "text").text, "inference": None, **text})
    known = {
        "task": "labels", "method": method, "model": "scripted", "seed": 0,
        "model_settings": model.settings(), "text": settings.to_dict(), "answer_format": "list",
        "max_bad": None,
    }  # fmt: skip
    space = InputSet("space", tuple(row.input for row in one.shown[:5]))
    return store.create_session(known, [(one, space)])


def go_on(path: Path, session: str, model: Any, **options: Any) -> Played:
    with closing(Store.open(path, write=True)) as store:
        return Played(path, session, asyncio.run(
            run_session(store, session, proposer=model, oracle=None, **options)
        ))  # fmt: skip


def play(path: Path, one: Problem, model: Any, method: str = "hypogenic", concurrency: int = 4,
         **text: Json) -> Played:  # fmt: skip
    """A whole session in a new store at `path`."""
    with closing(Store.open(path, write=True)) as store:
        session = created(store, one, model, method, **text)
        return Played(path, session, asyncio.run(
            run_session(store, session, proposer=model, oracle=None, concurrency=concurrency)
        ))  # fmt: skip


HYPOTHESIS = re.compile(r"^Hypothesis: (.*)$", re.M)
INPUT = re.compile(r"Input:\nitem (\d+)\.\Z")
SHOWN = re.compile(r"item (\d+)\.")


class Told:
    """A model that proposes the answers of a list in turn and judges by `says(hypothesis, row)`.
    asked: the rows shown in each prompt for hypotheses; judged: (hypothesis, row) in order."""

    def __init__(self, answers: Sequence[str], says: Callable[[str, int], str]) -> None:
        self.answers, self.says = answers, says
        self.asked: list[list[int]] = []
        self.prompts: list[str] = []
        self.judged: list[tuple[str, int]] = []

    def __call__(self, messages: Sequence[Message]) -> str:
        prompt = messages[-1]["content"]
        found, row = HYPOTHESIS.search(prompt), INPUT.search(prompt)
        if found is None or row is None:
            self.prompts.append(prompt)
            self.asked.append([int(n) for n in SHOWN.findall(prompt)])
            return self.answers[min(len(self.asked), len(self.answers)) - 1]
        pair = found.group(1), int(row.group(1))
        self.judged.append(pair)
        return self.says(*pair)

    @property
    def model(self) -> FunctionProposer:
        return FunctionProposer(self, "told")
