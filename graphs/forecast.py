"""What a method would ask of one problem, by role, before anything is asked (`--dry-run`).

A method's `forecast` counts from `Sizes`; the parts that several share stand here. Retries come on top.

On labelled text a model is taken to give as many hypotheses as it is asked for, each another one. Least and
most are bounds, and what lies between them depends on answers: how often wrong rows make new hypotheses
(`regenerations`), and under `--judge auto` how many sentences are exact rules, which cost no call. A
question of a session is asked once, so rows with the same inputs count once where that is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from ..config import UNDER_A_MODEL, TextSettings
from ..records import Json, Message, Observation, Problem, canonical_json

if TYPE_CHECKING:
    from .runtime.case import Case


@dataclass(frozen=True)
class Span:
    """least and most calls."""

    least: int = 0
    most: int = 0

    def __add__(self, other: Span) -> Span:
        return Span(self.least + other.least, self.most + other.most)


Calls = Mapping[str, Span]  # by role


@dataclass(frozen=True)
class Sizes:
    """What the calls of one problem are counted from.

    Args:
        space: how many inputs S has.
        settings: as the session records them.
        ends: whether the model may have nothing left to say (a search, a record).
    """

    problem: Problem
    space: int
    settings: Mapping[str, Json]
    ends: bool = False

    # --- of labelled text -------------------------------------------------------

    @property
    def labelled(self) -> bool:
        return "text" in self.settings

    @cached_property
    def text(self) -> TextSettings:
        return TextSettings(**self.settings["text"])

    @property
    def first(self) -> int:
        """Rows of the first prompt."""
        return len(self.problem.shown[: self.text.examples])

    @property
    def early(self) -> int:
        """Texts among them."""
        return distinct(self.problem.shown[: self.first])

    @property
    def judged_space(self) -> int:
        return self.space if self.text.judge_space else 0

    @property
    def stored(self) -> list[int]:
        """Entries of each stored bank."""
        return [len(bank) for bank in self.problem.public.get("banks", ())]

    @property
    def predicted(self) -> list[Observation]:
        return [row for split in self.text.splits for row in self._of_split(split)]

    @property
    def scoring(self) -> int:
        """Validation rows that score hypotheses."""
        most = UNDER_A_MODEL if self.text.validation is None else self.text.validation
        return min(len(self._of_split("val")), most)

    def _of_split(self, split: str) -> Sequence[Observation]:
        from ..tasks.text.family import of_split

        return of_split(self.problem, split)

    @property
    def regenerations(self) -> int:
        """Prompts for new hypotheses of a method that goes through the rows, at most: one for each
        `wrong` rows of a round."""
        if not self.text.rounds:
            return 0
        rows = len(self.problem.shown)
        again = (self.text.rounds - 1) * (rows // self.text.wrong)
        return (rows - self.first) // self.text.wrong + again

    def judged(self, least: int, most: int, times: int | None = None) -> Span:
        """Questions about a sentence and a text (or two sentences) as calls."""
        if self.text.judge == "exact":
            return Span()
        each = self.text.repeats if times is None else times
        return Span(least * each if self.text.judge == "model" else 0, most * each)

    @property
    def judged_first(self) -> Span:
        """The hypotheses of one prompt on the first examples, and on S."""
        asked, space = self.text.hypotheses, self.judged_space
        return self.judged(asked * (self.early + space), asked * (self.first + space))

    def bank(self, prompts: int = 1) -> Span:
        """Entries of the bank when it is read, of so many prompts for hypotheses at most."""
        text = self.text
        made = text.hypotheses * prompts
        return Span(
            min(text.hypotheses, text.capacity), max(text.hypotheses, min(text.capacity, made))
        )

    @property
    def summaries(self) -> Span:
        """Of the papers, in pieces."""
        from ..tasks.text.papers import PIECE_WORDS, pieces

        papers = self.problem.public.get("papers", ())
        parts = sum(len(pieces(one["text"], PIECE_WORDS)) for one in papers)
        return Span(parts, parts)

    def reading(self, bank: Span) -> Span:
        """Of the judge, to read a bank of so many entries on every split."""
        text = self.text
        if text.inference is None or text.judge == "exact":
            return Span()
        rows = distinct(self.predicted)
        wide = text.inference not in _ROWS  # choose
        names = list(_ROWS) if wide else [text.inference]
        spans = [self._strategy(name, rows, bank) for name in names]
        found = Span(min(s.least for s in spans), max(s.most for s in spans))
        if wide and self.scoring:
            for name in names:
                found += Span(0, self._strategy(name, self.scoring, bank).most)
        if text.inference != "multi" and self.scoring:
            weighing = self.judged(self.scoring * bank.least, self.scoring * bank.most)
            found = Span(max(found.least, weighing.least), found.most + weighing.most)
        return found if text.judge == "model" else Span(0, found.most)

    def _strategy(self, name: str, rows: int, bank: Span) -> Span:
        """A question about each row, and where it comes to that sentences by themselves."""
        readers = bank.most if name == "weighted" else self.text.readers
        least, most = _ROWS[name](
            self.text.repeats, min(readers, bank.least), min(readers, bank.most)
        )
        return Span(rows * least, rows * most)


# calls a row: by answers a question, and how many entries are read at least and at most. Where nothing
# applies the best entry is asked for too.
_ROWS: Mapping[str, Callable[[int, int, int], tuple[int, int]]] = {
    "multi": lambda times, least, most: (1, 1 + times),
    "best": lambda times, least, most: (times, times),
    "filter-weight": lambda times, least, most: (least, most * (1 + times) + times),
    "one-step": lambda times, least, most: (1, 1 + times),
    "two-step": lambda times, least, most: (times, 1 + 2 * times),
    "weighted": lambda times, least, most: (times * least, times * most),
}


def distinct(rows: Sequence[Observation]) -> int:
    return len({canonical_json(one.input) for one in rows})


# --- of methods -------------------------------------------------------------------


def one_by_one(of: Sizes, least: int | None = None) -> Calls:
    """A method that asks for one answer after the other, `max_answers` at most: a turn of an answer
    may end with calls of tools instead, at most `tool_calls` of them an answer. least: answers; by
    default as many as may be bad, for a method without bad answers may reach its target with the first."""
    most = of.settings["max_answers"]
    if least is None:
        least = 1 if of.ends else min(of.settings.get("max_bad") or 1, most)
    proposer = Span(least, most * (1 + of.settings["tool_calls"]))
    if not of.labelled:
        return {"proposer": proposer}
    asked = of.text.hypotheses
    found = of.judged(
        asked * (of.early + of.judged_space) * min(least, 1),
        asked * (of.first + of.judged_space) * most,
    )
    return {"proposer": proposer, "judge": found + of.reading(Span(1, asked * most))}


def in_one_prompt(of: Sizes) -> Calls:
    """A method that asks for a bank at once, from papers where it reads them."""
    return {
        "proposer": Span(1, 1),
        "judge": of.judged_first + of.reading(of.bank()),
        "literature": of.summaries,
    }


def through_rows(of: Sizes) -> Calls:
    """HypoGeniC: the same, then rows to the best of the bank, and new hypotheses on the rows that made
    them. Visits with a hypothesis and a text that came together before are no calls."""
    text, asked, again = of.text, of.text.hypotheses, of.regenerations
    bank = of.bank(1 + again)
    found = of.judged_first
    if text.rounds:
        rows, texts = len(of.problem.shown), distinct(of.problem.shown)
        least = min(text.top, asked) * (texts - of.early)
        most = min(text.top, bank.most) * (rows - of.first + (text.rounds - 1) * rows)
        most += again * asked * (text.wrong + of.judged_space)
        pairs = (1 + again) * asked * texts - asked * of.early  # that there can be at all
        if not text.judge_space:
            most = min(most, pairs)
        found += of.judged(min(least, most), most)
    return {
        "proposer": Span(1, 1 + again),
        "judge": found + of.reading(bank),
        "literature": of.summaries,
    }


# --- the first prompt -------------------------------------------------------------


def propose_from_rows(case: Case) -> Sequence[Message]:
    return case.prompts.propose(case.view(), case.text.hypotheses)


def propose_blind(case: Case) -> Sequence[Message]:
    return case.prompts.propose(replace(case.view(), shown=()), case.text.hypotheses)
