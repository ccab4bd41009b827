"""`peirce check TASK --answers FILE`: judge hypotheses that a user provides, without a session.

No model is called, except a model that is named for labelling texts. FILE is JSONL: `{"problem":
ID, "hypothesis": TEXT}` (for example the source of a function) or `{"problem": ID, "answer": TEXT}`
(a model's raw answer, parsed as in a session). Each line is judged independently. Redundancy, which
depends on other hypotheses, is not judged. If an answer contains several hypotheses, the first one
is judged.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, Unpack

from ...config import SPLITS, RunConfig, TextSettings
from ...graphs.runtime.call_gate import CallGate
from ...graphs.runtime.case import Case, SessionSettings
from ...graphs.runtime.memory import MemoryJournal, make_case
from ...records import (
    Agreement,
    CallKey,
    CallKind,
    Family,
    Hypothesis,
    InputSet,
    Json,
    LabelsRows,
    MeasuresHypotheses,
    Observation,
    Oracles,
    Outcome,
    Predictions,
    Problem,
    Proposer,
    UsageError,
)
from ...records.tables import TableLike
from ...reports.papers.hypobench.metrics import label_scores
from ...tasks.text.family import select_split
from ..arguments import validate_call
from ..option_types import CheckOptions
from ..oracles import OpenedOracle, open_oracles
from ..problems import choose_problems
from ..session.event_loops import loop_runner
from ..session.execution import oracle_settings
from ..session.planning import DEFAULT_CONCURRENCY
from ..session.running import run_config
from ..session.settings import check_choice, role_settings
from .judges import Judge, ModelSpec, choose_judge, with_judge
from .results import CheckRow

# --- `peirce check` on labelled text: exact rules apply the sentences that they can parse; a model,
# if one is named, judges the others.

SPLIT_ORDER = ("ind", "ood", "val")  # the default split: the first of these that a problem has
NEEDS_MODEL = "needs_model"
NEEDS_MODEL_REASON = (
    f"{NEEDS_MODEL}: it is no exact rule, and no model is named to judge it (--judge-model)"
)


class ModelAnswerJournal(MemoryJournal):
    """A journal in memory that stores only models' answers. Applying exact rules again is cheap."""

    async def record_once(
        self,
        key: CallKey,
        kind: CallKind,
        request: Json,
        make: Callable[[], Awaitable[Outcome]],
    ) -> Outcome:
        """Return the outcome of a call. A call of a model that was answered before is not made
        again.
        """
        return await (make() if kind == "tool" else super().record_once(key, kind, request, make))


@dataclass(frozen=True)
class TextJudge(Judge):
    """A judge of sentences about labelled text.

    Args:
        settings: how sentences are applied to texts.
        split: the split whose rows count as hidden; None for the first existing split in
            `SPLIT_ORDER`.
        seed: seed of the calls of the model.
        proposer: the model that labels texts; None to use exact rules only.
    """

    settings: TextSettings = field(default_factory=TextSettings)
    split: str | None = None
    seed: int = 0
    proposer: Proposer | None = None

    @cached_property
    def _gate(self) -> CallGate:
        return CallGate(DEFAULT_CONCURRENCY)

    @cached_property
    def _cases(self) -> dict[str, Case]:
        return {}

    def _case(self, problem: Problem) -> Case:
        if problem.id not in self._cases:
            self._cases[problem.id] = make_case(
                problem,
                self.proposer,
                space=InputSet("none", ()),
                settings=SessionSettings(seed=self.seed, text=self.settings),
                session="check",
                journal=ModelAnswerJournal(),
                gate=self._gate,
            )
        return self._cases[problem.id]

    def hidden_observations(self, problem: Problem) -> Sequence[Observation]:
        """Return the rows of the split that counts as hidden."""
        return select_split(problem, _split_of(problem, self.split))

    def _measures(
        self,
        problem: Problem,
        key: str,
        brought: str,
        shown: Agreement | None = None,
        hidden: Agreement | None = None,
    ) -> dict[str, Json]:
        """Return accuracy and macro F1 of the sentence alone on the rows of the split.

        "covered" is the number of rows that it applies to; the others count as wrong. All are None
        where nothing could judge the sentence.
        """
        split = _split_of(problem, self.split)
        told: dict[str, Json] = dict.fromkeys(("accuracy", "f1", "covered"))
        if hidden is not None and hidden.marks and hidden.verdict != NEEDS_MODEL:
            gold = [str(one.output) for one in self.hidden_observations(problem)]
            accuracy, f1 = label_scores(gold, [got.get("value") for got in hidden.got])
            covered = sum(mark is not None for mark in hidden.marks)
            told = {"accuracy": accuracy, "f1": f1, "covered": covered}
        return {**told, "split": split or None}

    async def _apply(
        self, hypothesis: Hypothesis, problem: Problem, space: InputSet, key: str, brought: str
    ) -> dict[str, Json]:
        """Judge a sentence as in other tasks.

        A judging model is not called for the sample space: that would cost a call for each text and
        has no influence on the verdict.
        """
        case = self._case(problem)
        exact = case.row_judge.find_rule(hypothesis.text) is not None
        asks = case.row_judge.queries_model and not exact
        judge = replace(self, oracles=case.make_oracles("check"))
        said = await super(TextJudge, judge)._apply(
            hypothesis, problem, InputSet("none", ()) if asks else space, key, brought
        )
        if asks:
            said["undefined"] = Predictions.unevaluated(len(space)).count_undefined()
        if said["reason"] == NEEDS_MODEL:
            said["reason"] = NEEDS_MODEL_REASON
        return said


@dataclass(frozen=True)
class TextCheck:
    """The options with which `check` judges sentences about labelled text."""

    family: Family
    settings: TextSettings
    split: str | None
    judge_model: ModelSpec

    def make_judge(
        self,
        answer_format: str,
        known: dict[str, tuple[Problem, InputSet]],
        seed: int,
        proposer: Proposer | None,
    ) -> TextJudge:
        """Return a judge of sentences about the problems in `known`.

        Args:
            answer_format: the format of raw answers.
            known: the problems with their sample spaces, by id.
            seed: seed of the calls of the model.
            proposer: the model that labels texts; None to use exact rules only.
        """
        return TextJudge(
            self.family, answer_format, Oracles(), known, settings=self.settings,
            split=self.split, seed=seed, proposer=proposer,
        )  # fmt: skip

    def index_by_name(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """Return `known` with further keys: the name of a data set stands for its first sample."""
        first = {name.removesuffix("#0"): one for name, one in known.items() if name.endswith("#0")}
        return {**first, **known}


def prepare_text_check(
    family: Any,
    problems: Sequence[Problem],
    config: RunConfig,
    split: str | None,
    judge_model: str | Proposer | None,
) -> TextCheck:
    """Return the options for judging sentences about labelled text.

    Args:
        family: the family of the problems.
        problems: the problems.
        config: the configuration of the command.
        split: the split whose rows count as hidden; None for the default.
        judge_model: the model that labels texts; None for no model.

    Raises:
        UsageError: the split or the model is invalid.
    """
    _check_split(problems, split)
    asked = choose_judge(judge_model, {}, (), role_settings(config.roles))
    given = config.text.explicit_values()
    told = {name: given[name] for name in ("tau", "repeats") if name in given}
    settings = with_judge(TextSettings(**told), given.get("judge"), asked)
    return TextCheck(replace(family, tau=settings.tau), settings, split, asked)


def _split_of(problem: Problem, wanted: str | None) -> str:
    if wanted is not None:
        return wanted
    return next((split for split in SPLIT_ORDER if select_split(problem, split)), "")


def _check_split(problems: Sequence[Problem], split: str | None) -> None:
    """Raise UsageError for an unknown split, or one that a problem does not have."""
    if split is None:
        return
    check_choice("split", split, SPLITS)
    for problem in problems:
        if not select_split(problem, split):
            there = ", ".join(one for one in SPLITS if select_split(problem, one)) or "none"
            raise UsageError(f"problem {problem.id} has no rows of split {split!r}; it has {there}")


T = TypeVar("T")
MAX_PENDING_RESULTS = 1_000  # maximum number of results that wait for the caller


@validate_call
def check(
    task: str,
    answers: str | Path | TableLike,
    *,
    evaluator: str = "exact",
    split: str | None = None,
    judge_model: str | Proposer | None = None,
    **settings: Unpack[CheckOptions],
) -> Iterator[CheckRow]:
    """Judge your own hypotheses, and yield one result per line of `answers`, in order.

    If a line cannot be judged, it gets the verdict "error" with a reason, and the next lines are
    still judged. A sentence about labelled text that is not an exact rule is applied by
    `judge_model`. Without `judge_model`, the verdict on this sentence is "inconsistent" with the
    reason "needs_model: ...", its marks are null, and it has no accuracy.

    Args:
        task: name of a task, or path of your own task file.
        answers: a JSONL file of hypotheses or raw answers, a list of dicts, or a table.
        evaluator: for rules about worlds, exact or released.
        split: for labelled text, the rows that count as hidden: ind, ood or val (default: the first
            of these that exists). "accuracy", "f1" and "covered" are computed on these rows.
        judge_model: for labelled text, the model that labels texts. roles["judge"] contains its
            settings.
        settings: settings of the data, the answer contract, the sandbox and the judging, as in
            `run`.

    Returns:
        An iterator that yields a `CheckRow` for each line, as soon as the line is judged.
    """
    return _check(task, answers, evaluator, split, judge_model, run_config(None, settings))


def _check(
    task: str,
    answers: str | Path | TableLike,
    evaluator: str,
    split: str | None,
    judge_model: str | Proposer | None,
    config: RunConfig,
) -> Iterator[CheckRow]:
    from ...tasks import load_family as family_named
    from ...tasks.io.files import locate, read_lines
    from ...tasks.io.table_files import open_data
    from ...tools.solve import check_solver

    sandbox = config.sandbox
    chosen = choose_problems(task, config.data)
    family = family_named(chosen.task.family, strict_contract=config.method.strict_contract)
    of_text = _of_text(family, chosen.problems, config, split, judge_model)
    form = config.method.answer_format or family.answer_formats[0]
    if form not in family.answer_formats:
        raise UsageError(
            f"answer_format is {form!r}: it must be one of {', '.join(family.answer_formats)}"
        )
    check_solver(sandbox.solver)
    known = {one.id: (one, inputs) for one, inputs in chosen.pairs}
    if isinstance(family, MeasuresHypotheses):
        known = {
            name: (family.adapt_problem(one, evaluator), s) for name, (one, s) in known.items()
        }
        family = family.with_evaluator(evaluator)
    if of_text is not None:
        known = of_text.index_by_name(known)
    with open_data(answers) as path:
        lines = read_lines(locate(path, ()), errors="surrogateescape")
        if path is not answers:
            lines = iter(list(lines))  # the file of a table ends with the block

    async def judged(give: Callable[[dict[str, Json]], Awaitable[None]]) -> None:
        opening = oracle_settings(sandbox, config.cluster)
        async with open_oracles(family, opening, config.cluster.cluster) as tools:
            warn_about_missing_layers(tools, sandbox.sandbox)
            if of_text is None:
                await Judge(family, form, tools.make_oracles(), known, evaluator).judge_lines(
                    lines, give
                )
                return
            async with of_text.judge_model.open() as proposer:
                await of_text.make_judge(form, known, config.data.seed, proposer).judge_lines(
                    lines, give
                )

    yield from iter_results(judged, CheckRow.from_dict)


def _of_text(
    family: Family,
    problems: Sequence[Problem],
    config: RunConfig,
    split: str | None,
    judge_model: str | Proposer | None,
) -> Any:
    """Return how sentences about labelled text are judged, as a `TextCheck`.

    Return None for another family, and raise UsageError for options that it does not take.
    """
    if not isinstance(family, LabelsRows):
        own = {"split": split, **config.text.explicit_values(), "judge_model": judge_model}
        for name, value in own.items():
            if value is not None:
                raise UsageError(
                    f"{name.replace('_', '-')} is {value!r}: only tasks with labelled text take"
                    f" it, such as labels; {family.name} tasks do not"
                )
        return None

    return prepare_text_check(family, problems, config, split, judge_model)


def warn_about_missing_layers(tools: OpenedOracle, sandbox: str) -> None:
    """Warn if the sandbox runs without some of its isolation layers, here or on a node.

    Args:
        tools: the open sandbox.
        sandbox: the name of the sandbox, for the message.
    """
    if missing := [name for name, on in tools.layers.items() if not on]:
        warnings.warn(
            f"the sandbox {sandbox} runs without these layers here: {', '.join(missing)} (see"
            " docs/explanation/safety.md)",
            stacklevel=3,
        )


def iter_results(
    work: Callable[[Callable[[Any], Awaitable[None]]], Any], build: Callable[[Any], T]
) -> Iterator[T]:
    """Yield results while asynchronous work produces them in another thread.

    The work has its own thread because its time limits must keep running while the caller handles a
    result. The work waits while `MAX_PENDING_RESULTS` results have not been taken. It is cancelled
    when the caller stops iterating.

    Args:
        work: a coroutine function. It is called with an async function, to which it passes each
            result.
        build: converts each result to the value that is yielded.
    """
    given: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
    left = threading.Event()

    async def give(one: Any) -> None:
        given.put((one,))
        while given.qsize() > MAX_PENDING_RESULTS and not left.is_set():
            await asyncio.sleep(0.05)

    async def until_left() -> None:
        task = asyncio.ensure_future(work(give))
        while not (await asyncio.wait([task], timeout=0.1))[0]:
            if left.is_set():
                task.cancel()
        if not (left.is_set() and task.cancelled()):
            task.result()

    def run() -> None:
        try:
            with loop_runner() as complete:
                complete(until_left())
        finally:
            given.put(())

    with ThreadPoolExecutor(1) as thread:
        try:
            # With the context of the caller, a cancelled `run_in_thread` cancels the work at once.
            done = thread.submit(contextvars.copy_context().run, run)
            while one := given.get():
                yield build(one[0])
            done.result()
        finally:
            left.set()
