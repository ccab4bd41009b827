"""`peirce check` on labelled text: sentences that a user brings, applied by exact rules and, for those
that are none, by a model where one is named."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from ...config import SPLITS, RunConfig, TextSettings
from ...graphs.runtime.case import Case, SessionSettings
from ...graphs.runtime.memory import MemoryJournal, case_of
from ...records import (
    Agreement,
    CallKey,
    Family,
    Hypothesis,
    InputSet,
    Json,
    Observation,
    Oracles,
    Outcome,
    Predictions,
    Problem,
    Proposer,
    UsageError,
)
from ...reports.papers.hypobench.metrics import scores
from ...tasks.text.family import of_split
from ..session.planning import CONCURRENCY
from ..session.roles import role_settings
from ..session.settings import one_of
from .judges import Asked, judge_of, judged_by
from .line_judge import Judge

FIRST = ("ind", "ood", "val")  # the first of these that a problem has, where none is named
NEEDS_MODEL = "needs_model"
NOBODY = f"{NEEDS_MODEL}: it is no exact rule, and no model is named to judge it (--judge-model)"


class Answers(MemoryJournal):
    """Keeps what a model was asked; an exact rule is carried out again sooner than kept."""

    async def once(
        self,
        key: CallKey,
        kind: Literal["model", "tool"],
        request: Json,
        make: Callable[[], Awaitable[Outcome]],
    ) -> Outcome:
        return await (make() if kind == "tool" else super().once(key, kind, request, make))


@dataclass(frozen=True)
class TextJudge(Judge):
    """split: whose rows stand as hidden; None: the first of `FIRST`. proposer: who labels texts."""

    settings: TextSettings = field(default_factory=TextSettings)
    split: str | None = None
    seed: int = 0
    proposer: Proposer | None = None

    @cached_property
    def _turns(self) -> asyncio.Semaphore:
        return asyncio.Semaphore(CONCURRENCY)

    @cached_property
    def _cases(self) -> dict[str, Case]:
        return {}

    def _case(self, problem: Problem) -> Case:
        if problem.id not in self._cases:
            self._cases[problem.id] = case_of(
                problem,
                self.proposer,
                space=InputSet("none", ()),
                settings=SessionSettings(seed=self.seed, text=self.settings),
                session="check",
                journal=Answers(),
                turns=self._turns,
            )
        return self._cases[problem.id]

    def hidden(self, problem: Problem) -> Sequence[Observation]:
        return of_split(problem, _split_of(problem, self.split))

    def _measures(
        self,
        problem: Problem,
        key: str,
        brought: str,
        shown: Agreement | None = None,
        hidden: Agreement | None = None,
    ) -> dict[str, Json]:
        """accuracy and macro F1 of the sentence by itself on the rows of the split, of which it
        covers so many; a row that it does not apply to is not right. None where nobody judged."""
        split = _split_of(problem, self.split)
        told: dict[str, Json] = dict.fromkeys(("accuracy", "f1", "covered"))
        if hidden is not None and hidden.marks and hidden.verdict != NEEDS_MODEL:
            gold = [str(one.output) for one in self.hidden(problem)]
            accuracy, f1 = scores(gold, [got.get("value") for got in hidden.got])
            covered = sum(mark is not None for mark in hidden.marks)
            told = {"accuracy": accuracy, "f1": f1, "covered": covered}
        return {**told, "split": split or None}

    async def _apply(
        self, hypothesis: Hypothesis, problem: Problem, space: InputSet, key: str, brought: str
    ) -> dict[str, Json]:
        """As of other tasks; a model that judges is not asked about S, which would cost a call a
        text and says nothing of right or wrong."""
        case = self._case(problem)
        exact = case.judging.rule(hypothesis.text) is not None
        asks = case.judging.asks and not exact
        judge = replace(self, oracles=case.oracles("check"))
        said = await super(TextJudge, judge)._apply(
            hypothesis, problem, InputSet("none", ()) if asks else space, key, brought
        )
        if asks:
            said["undefined"] = Predictions.not_asked(len(space)).undefined()
        if said["reason"] == NEEDS_MODEL:
            said["reason"] = NOBODY
        return said


@dataclass(frozen=True)
class Checking:
    """What `check` was asked of sentences about labelled text."""

    family: Family
    settings: TextSettings
    split: str | None
    asked: Asked

    def judge(
        self,
        answer_format: str,
        known: dict[str, tuple[Problem, InputSet]],
        seed: int,
        proposer: Proposer | None,
    ) -> TextJudge:
        return TextJudge(
            self.family, answer_format, Oracles(), known, settings=self.settings,
            split=self.split, seed=seed, proposer=proposer,
        )  # fmt: skip

    def by_name(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """The problems by their ids, and the first sample of each data set by its name alone."""
        first = {name.removesuffix("#0"): one for name, one in known.items() if name.endswith("#0")}
        return {**first, **known}


def checking(
    family: Any,
    problems: Sequence[Problem],
    config: RunConfig,
    split: str | None,
    judge_model: str | Proposer | None,
) -> Checking:
    """Raises UsageError for a split or a judge that cannot be."""
    _check_split(problems, split)
    asked = judge_of(judge_model, {}, (), role_settings(config.roles))
    given = config.text.given()
    told = {name: given[name] for name in ("tau", "repeats") if name in given}
    settings = judged_by(TextSettings(**told), given.get("judge"), asked)
    return Checking(replace(family, tau=settings.tau), settings, split, asked)


def _split_of(problem: Problem, wanted: str | None) -> str:
    if wanted is not None:
        return wanted
    return next((split for split in FIRST if of_split(problem, split)), "")


def _check_split(problems: Sequence[Problem], split: str | None) -> None:
    """Raises UsageError for a split that there is not, or that a problem lacks."""
    if split is None:
        return
    one_of("split", split, SPLITS)
    for problem in problems:
        if not of_split(problem, split):
            there = ", ".join(one for one in SPLITS if of_split(problem, one)) or "none"
            raise UsageError(f"problem {problem.id} has no rows of split {split!r}; it has {there}")
