"""Count the model calls of a method for one problem, by role, before the session runs
(`--dry-run`).

The `forecast` function of a method counts the calls from a `Sizes` object. This module contains the
functions that several methods share. Retries are not counted.

On labelled text, the count assumes that a model gives as many hypotheses as requested, and that all
are different. The results are bounds. The actual number of calls depends on the answers: on how
often wrongly predicted rows lead to a request for new hypotheses (`regenerations`), and, with
`--judge auto`, on how many sentences are exact rules, which need no call. A session never asks the
same question twice. Therefore, rows with equal inputs are counted once if the repetition is
certain.
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
    """The smallest and largest number of calls that a session may make."""

    least: int = 0
    most: int = 0

    def __add__(self, other: Span) -> Span:
        return Span(self.least + other.least, self.most + other.most)


CallsByRole = Mapping[str, Span]  # the calls of each role


@dataclass(frozen=True)
class Sizes:
    """The figures of one problem from which model calls are counted.

    Args:
        problem: The problem.
        space: The number of inputs in the sample space S, on which hypotheses are compared.
        settings: The settings of the session, as the session records them.
        may_end: Whether the model can run out of hypotheses, as a search or a file of recorded
            answers can.
        answers: The number of calls that answer one question about a sentence and a text; None for
            the setting `repeats`.
    """

    problem: Problem
    space: int
    settings: Mapping[str, Json]
    may_end: bool = False
    answers: int | None = None

    # --- Labelled text only.

    @property
    def labelled(self) -> bool:
        """Whether the problem consists of labelled text."""
        return "text" in self.settings

    @cached_property
    def text(self) -> TextSettings:
        """The settings for labelled text."""
        return TextSettings(**self.settings["text"])

    @property
    def repeats(self) -> int:
        """The number of calls that answer one question about a sentence and a text."""
        return self.text.repeats if self.answers is None else self.answers

    @property
    def first_rows(self) -> int:
        """The number of rows in the first prompt."""
        return len(self.problem.shown[: self.text.examples])

    @property
    def first_texts(self) -> int:
        """The number of rows with different inputs in the first prompt."""
        return count_distinct(self.problem.shown[: self.first_rows])

    @property
    def judged_space(self) -> int:
        """The number of inputs in the sample space S that the judge labels; 0 unless `judge_space`
        is set.
        """
        return self.space if self.text.judge_space else 0

    @property
    def stored_bank_sizes(self) -> list[int]:
        """The number of hypotheses in each stored bank that the session reads."""
        return [len(bank) for bank in self.problem.public.get("banks", ())]

    @property
    def predicted_rows(self) -> list[Observation]:
        """The rows whose labels the session predicts at the end."""
        return [row for split in self.text.splits for row in self._of_split(split)]

    @property
    def scoring_rows(self) -> int:
        """The number of validation rows that are used to score hypotheses."""
        most = UNDER_A_MODEL if self.text.validation is None else self.text.validation
        return min(len(self._of_split("val")), most)

    def _of_split(self, split: str) -> Sequence[Observation]:
        from ..tasks.text.family import select_split

        return select_split(self.problem, split)

    @property
    def regenerations(self) -> int:
        """The maximum number of prompts for new hypotheses after the first prompt.

        A method that goes through the rows sends at most one such prompt for every `wrong` rows of
        a pass.
        """
        if not self.text.rounds:
            return 0
        rows = len(self.problem.shown)
        again = (self.text.rounds - 1) * (rows // self.text.wrong)
        return (rows - self.first_rows) // self.text.wrong + again

    def count_judgements(self, least: int, most: int, times: int | None = None) -> Span:
        """Return the number of calls that answer a number of questions to the judge model.

        A question asks what a sentence says about a text, or whether two sentences mean the same.

        Args:
            least: The smallest number of questions.
            most: The largest number of questions.
            times: How often each question is asked; None for the setting `repeats`.
        """
        if self.text.judge == "exact":
            return Span()
        each = self.repeats if times is None else times
        return Span(least * each if self.text.judge == "model" else 0, most * each)

    @property
    def first_judgements(self) -> Span:
        """The number of calls that judge the hypotheses from one prompt on the first rows and on
        S.
        """
        asked, space = self.text.hypotheses, self.judged_space
        return self.count_judgements(
            asked * (self.first_texts + space), asked * (self.first_rows + space)
        )

    def estimate_bank_size(self, prompts: int = 1) -> Span:
        """Return the smallest and largest number of hypotheses in the bank at the end.

        Args:
            prompts: The maximum number of prompts that request hypotheses.
        """
        text = self.text
        made = text.hypotheses * prompts
        return Span(
            min(text.hypotheses, text.capacity), max(text.hypotheses, min(text.capacity, made))
        )

    @property
    def summary_calls(self) -> Span:
        """The number of calls that summarise the papers. A long paper is summarised in several
        pieces.
        """
        from ..tasks.text.papers import MAX_PIECE_WORDS, split_text

        papers = self.problem.public.get("papers", ())
        parts = sum(len(split_text(one["text"], MAX_PIECE_WORDS)) for one in papers)
        return Span(parts, parts)

    def count_reading_calls(self, bank: Span) -> Span:
        """Return the number of judge calls that label the rows of every split with a bank.

        Args:
            bank: The smallest and largest number of hypotheses in the bank.
        """
        text = self.text
        if text.inference is None or text.judge == "exact":
            return Span()
        rows = count_distinct(self.predicted_rows)
        wide = text.inference not in _ROWS  # choose
        names = list(_ROWS) if wide else [text.inference]
        spans = [self._strategy(name, rows, bank) for name in names]
        found = Span(min(s.least for s in spans), max(s.most for s in spans))
        if wide and self.scoring_rows:
            for name in names:
                found += Span(0, self._strategy(name, self.scoring_rows, bank).most)
        if text.inference != "multi" and self.scoring_rows:
            weighing = self.count_judgements(
                self.scoring_rows * bank.least, self.scoring_rows * bank.most
            )
            found = Span(max(found.least, weighing.least), found.most + weighing.most)
        return found if text.judge == "model" else Span(0, found.most)

    def _strategy(self, name: str, rows: int, bank: Span) -> Span:
        """Return the calls of one strategy.

        It asks a question for each row, and about single sentences where it uses them.
        """
        readers = bank.most if name == "weighted" else self.text.readers
        least, most = _ROWS[name](self.repeats, min(readers, bank.least), min(readers, bank.most))
        return Span(rows * least, rows * most)


# Fewest and most calls for a row, from the number of answers to a question and the fewest and most
# hypotheses that are read. Where no hypothesis applies, the best one is asked for too.
_ROWS: Mapping[str, Callable[[int, int, int], tuple[int, int]]] = {
    "multi": lambda times, least, most: (1, 1 + times),
    "best": lambda times, least, most: (times, times),
    "filter-weight": lambda times, least, most: (least, most * (1 + times) + times),
    "one-step": lambda times, least, most: (1, 1 + times),
    "two-step": lambda times, least, most: (times, 1 + 2 * times),
    "weighted": lambda times, least, most: (times * least, times * most),
}


def count_distinct(rows: Sequence[Observation]) -> int:
    """Return the number of different inputs among the rows."""
    return len({canonical_json(one.input) for one in rows})


# --- Methods.


def forecast_one_by_one(sizes: Sizes, least: int | None = None) -> CallsByRole:
    """Count the calls of a method that requests one answer at a time, up to `max_answers` answers.

    For each answer, up to `tool_calls` additional calls are counted, after which the model reads
    the results of tools.

    Args:
        sizes: The figures of the problem.
        least: The smallest number of answers. By default, this is 1 if the model can run out of
            hypotheses, if the method has no limit on bad answers or if `problem_tokens` is set,
            otherwise the smaller of the settings `max_bad` and `patience`.
    """
    most = sizes.settings["max_answers"]
    if least is None:
        least = 1 if sizes.may_end else min(sizes.settings.get("max_bad") or 1, most)
        # Answers that add nothing end the problem, and one answer may use up its tokens.
        least = min(least, sizes.settings.get("patience") or least)
    if sizes.settings.get("problem_tokens"):
        least = min(least, 1)
    proposer = Span(least, most * (1 + sizes.settings["tool_calls"]))
    if not sizes.labelled:
        return {"proposer": proposer}
    asked = sizes.text.hypotheses
    found = sizes.count_judgements(
        asked * (sizes.first_texts + sizes.judged_space) * min(least, 1),
        asked * (sizes.first_rows + sizes.judged_space) * most,
    )
    return {"proposer": proposer, "judge": found + sizes.count_reading_calls(Span(1, asked * most))}


def forecast_one_prompt(sizes: Sizes) -> CallsByRole:
    """Count the calls of a method that requests all hypotheses in one prompt, possibly from
    papers.
    """
    return {
        "proposer": Span(1, 1),
        "judge": sizes.first_judgements + sizes.count_reading_calls(sizes.estimate_bank_size()),
        "literature": sizes.summary_calls,
    }


def forecast_through_rows(sizes: Sizes) -> CallsByRole:
    """Count the calls of HypoGeniC: a first prompt, then passes through the rows with further
    prompts.

    The best hypotheses of the bank are judged on each row. The rows that they predict wrongly lead
    to prompts for new hypotheses. A sentence is judged only once on each text.
    """
    text, asked, again = sizes.text, sizes.text.hypotheses, sizes.regenerations
    bank = sizes.estimate_bank_size(1 + again)
    found = sizes.first_judgements
    if text.rounds:
        rows, texts = len(sizes.problem.shown), count_distinct(sizes.problem.shown)
        least = min(text.top, asked) * (texts - sizes.first_texts)
        if sizes.settings.get("problem_tokens"):  # the first prompt may use them up
            least = 0
        most = min(text.top, bank.most) * (rows - sizes.first_rows + (text.rounds - 1) * rows)
        most += again * asked * (text.wrong + sizes.judged_space)
        pairs = (1 + again) * asked * texts - asked * sizes.first_texts  # all pairs that can exist
        if not text.judge_space:
            most = min(most, pairs)
        found += sizes.count_judgements(min(least, most), most)
    return {
        "proposer": Span(1, 1 + again),
        "judge": found + sizes.count_reading_calls(bank),
        "literature": sizes.summary_calls,
    }


# --- The first prompt.


def propose_from_rows(case: Case) -> Sequence[Message]:
    """Return the first prompt of a method whose first prompt shows labelled rows."""
    view = case.make_prompt_view(case.make_view())
    return case.prompts.propose(view, case.text.hypotheses)


def propose_without_rows(case: Case) -> Sequence[Message]:
    """Return the first prompt of a method whose first prompt shows no rows."""
    return case.prompts.propose(replace(case.make_view(), shown=()), case.text.hypotheses)
