"""`peirce predict --bank SESSION|FILE --data FILE`: what a bank says of new rows. No session, and
nothing is written.

Of labelled text the bank of a session is read as that session read it: with its settings, with the rows
that it was shown, its entries weighed by its validation rows. A file tells of none of these, so its
entries are weighed by what it says of them. Of a family that opens an oracle the first hypothesis of a
session's bank that is consistent with what was shown is applied to inputs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from ...config import TextSettings
from ...records import (
    DataError,
    Family,
    Hypothesis,
    InputSet,
    Json,
    LabelsRows,
    Observation,
    OpensOracle,
    Oracles,
    OracleSettings,
    Problem,
    Proposer,
    UsageError,
    View,
    registry,
)
from ...records.settings import shown
from ...records.tasks import ReadsInputs
from ..arguments import checked
from ..opening import opened
from ..option_types import PredictOptions
from ..outcome import store_path
from ..session.bank_files import StoredBank, read_bank
from ..session.driving import oracle_settings
from ..session.planning import CONCURRENCY
from ..session.running import run_config
from ..session.settings import one_of, role_settings
from .checking import as_they_come, warn_of_layers
from .judges import Asked, judge_of, judged_by
from .results import PredictionRow

SHAPING = ("temperature", "top_p", "max_tokens", "reasoning_effort", "timeout_s", "retries")
KEPT = (
    "similarity",
    "readers",
    "shots",
    "prompts",
    "tau",
    "alpha",
    "repeats",
    "validation",
    "inference",
)  # fmt: skip - of a session's settings, those that say how its bank is read


@checked
def predict(
    bank: str | Path,
    data: str | Path,
    *,
    problem: str | None = None,
    label: str | None = None,
    model: str | Proposer | None = None,
    judge_model: str | Proposer | None = None,
    seed: int | None = None,
    **settings: Unpack[PredictOptions],
) -> Iterator[PredictionRow]:
    """Apply a bank to new rows: one object for each row of `data`, in its order.

    Args:
        bank: a session, its prefix or `last`; of labelled text also a file of `peirce bank --out`.
        data: the rows. Where an oracle applies hypotheses: JSON Lines, each an input or an object of
            `input` and maybe `output`, or what the task takes as data, of which the pairs of the
            problem are taken (or of the only one there is).
        problem: whose bank, where it has several.
        label: the column of the labels, where it is not called as the bank says.
        model: who is asked, where `judge_model` names nobody; without either exact rules alone
            decide.
        judge_model: who is asked.
        seed: of what is drawn; None: the session's own.
        settings: how the bank is read (inference: None: the session's own, of a file multi),
            settings of the model that is asked, and how an oracle is opened. What is of labelled
            text is refused for another bank.

    Returns:
        A `PredictionRow` for each row (from 1). how: see `graphs.inference.Decision`, or oracle;
        reason: unreadable or needs_model, or why the hypothesis is undefined there.

    Raises:
        UsageError, DataError, StoreError: before the first row.
        Unavailable: at an outage.
    """
    config = run_config(None, settings)
    found = read_bank(bank, store_path(config.store.store))
    target = _problem_of(found, str(bank), problem)
    if not _labels_rows(target):
        of_text = {
            "label": label, "model": model, "judge_model": judge_model, **config.text.given(),
            **config.model.given(), **config.roles.given(),
        }  # fmt: skip
        for name, value in of_text.items():
            if value not in (None, (), [], {}):
                raise UsageError(
                    f"{name.replace('_', '-')} is {shown(value)}: it is of banks of labelled text;"
                    f" this one is of task {target.task}"
                )
        inputs = _given(data, target)
        opening = oracle_settings(config.sandbox, config.cluster)
        applied = _Applied(
            target, str(bank), [row["text"] for row in found.rows[target.id]], inputs, opening
        )
        return as_they_come(applied.give_all, PredictionRow.from_dict)
    own = {name: getattr(config.model, name) for name in SHAPING}
    roles = role_settings(config.roles)
    asked = judge_of(judge_model or model, own, config.model.model_arg, roles)
    concurrency = config.cluster.concurrency
    text = config.text.given()
    prompts, judge = text.get("prompts"), text.pop("judge", None)
    begun = found.settings.get("text") or {}
    whole = {name: begun[name] for name in KEPT if begun.get(name) is not None}
    judged = judged_by(TextSettings(**{**whole, **text}), judge, asked)
    _check_inference(judged.inference, target)
    if prompts == "config" and not target.public.get("templates"):
        raise UsageError(
            "prompts is 'config', and the bank's data set brings no prompts of its own"
        )
    drawn_by = found.settings.get("seed", 0) if seed is None else seed
    rows = _rows(data, target, label)
    work = _Work(target, rows, judged, drawn_by, asked, concurrency or CONCURRENCY)
    work.check(str(bank))
    return as_they_come(work.give_all, PredictionRow.from_dict)


def of_labelled_text(
    bank: str | Path, *, problem: str | None = None, store: str | Path | None = None
) -> bool:
    """Whether a bank is read by rules and models, and not by an oracle. Raises as `predict`."""
    return _labels_rows(_problem_of(read_bank(bank, store_path(store)), str(bank), problem))


def _labels_rows(problem: Problem) -> bool:
    from ...tasks import family

    return isinstance(family(problem.family), LabelsRows)


@dataclass(frozen=True)
class _Row:
    """expected: one of the labels; None where the row has none."""

    input: Json
    expected: str | None


def _problem_of(bank: StoredBank, named: str, wanted: str | None) -> Problem:
    """The problem whose bank is read (of a file: with no row shown), with its rows as the stored bank of an `infer` session."""
    from ...tasks import family

    ids = list(bank.rows)
    if wanted is None and len(ids) > 1:
        raise UsageError(
            f"bank {named} has hypotheses of {len(ids)} problems, {', '.join(ids[:5])}"
            f"{', …' if len(ids) > 5 else ''}: name one with --problem"
        )
    name = ids[0] if wanted is None else wanted
    if name not in bank.rows:
        name = f"{name}#0"
    if name not in bank.rows:
        raise UsageError(f"bank {named} has no hypotheses of {wanted!r}, but of {', '.join(ids)}")
    problem = bank.problems.get(name) or Problem(
        name or "bank", "labels", "text", (), (), bank.public.get(name) or bank.public.get("", {})
    )
    kind = family(problem.family)
    if not isinstance(kind, LabelsRows):
        if isinstance(kind, OpensOracle):
            return problem
        raise UsageError(
            f"bank {named} is of task {problem.task}: nothing here applies its hypotheses"
        )
    if not problem.public.get("labels") or not problem.public.get("columns"):
        raise DataError(
            f"bank {named} says neither labels nor columns: name a session, or a file that `peirce"
            " bank SESSION --out FILE` wrote"
        )
    stored = [[dict(row) for row in bank.rows[name]]]
    return replace(problem, public={**problem.public, "banks": stored})


def _check_inference(name: str | None, problem: Problem) -> None:
    from ...graphs.bank.reading import CHOOSE
    from ...graphs.inference import STRATEGIES
    from ...tasks.text.family import of_split

    one_of("inference", str(name), (*STRATEGIES, CHOOSE))
    if name == CHOOSE and not of_split(problem, "val"):
        raise UsageError(
            f"inference is {CHOOSE!r}, and this bank brings no validation rows to choose by: name"
            f" one of {', '.join(STRATEGIES)}"
        )


def _rows(data: str | Path, problem: Problem, label: str | None) -> list[_Row]:
    from ...tasks.text.label_names import LabelNames
    from ...tasks.text.sources import rows_of

    names = LabelNames(problem.public["labels"])
    column = label or ("" if "label=" in str(data) else problem.public.get("label_name", ""))
    found = []
    for row in rows_of(data, problem.public["columns"], column or None):
        expected = None if row.label is None else names.of(row.label)
        if row.label is not None and expected is None:
            raise DataError(
                f"{row.where}: the label {row.label!r:.60} is none of the bank's:"
                f" {', '.join(names.names)}"
            )
        found.append(_Row(row.input, expected))
    if label is not None and all(row.expected is None for row in found):
        raise DataError(f"{data}: no label stands in a column {label!r}")
    return found


@dataclass(frozen=True)
class _Work:
    problem: Problem
    rows: Sequence[_Row]
    settings: TextSettings
    seed: int
    asked: Asked
    concurrency: int

    def case(self, proposer: Proposer | None) -> Any:
        from ...graphs.methods.infer import entries_of
        from ...graphs.runtime.case import SessionSettings
        from ...graphs.runtime.memory import case_of

        case = case_of(
            self.problem,
            proposer,
            space=InputSet("none", ()),
            settings=SessionSettings(seed=self.seed, text=self.settings),
            session="predict",
            turns=asyncio.Semaphore(self.concurrency),
        )
        case.entries = entries_of(case)
        return case

    def check(self, bank: str) -> None:
        """Raises DataError where nothing of the bank is a sentence; warns of what is none."""
        from ...tasks.io.messages import warn

        kept, there = len(self.case(None).entries), len(self.problem.public["banks"][0])
        if not kept:
            raise DataError(f"bank {bank} holds no sentence that can be judged")
        if kept < there:
            warn(f"bank {bank}: {there - kept} of {there} hypotheses are left out: said before, or"
                 " no sentence")  # fmt: skip

    async def give_all(self, give: Callable[[dict[str, Json]], Awaitable[None]]) -> None:
        from ...graphs.bank.reading import in_parts, reading_of, strategy_of
        from ...graphs.inference import REASONS, predict

        async with self.asked.opened() as proposer:
            case = self.case(proposer)
            reading = await reading_of(case, same_sample=bool(self.problem.shown))
            name, _ = await strategy_of(case, reading)
            at = 0
            for part in in_parts(reading, [row.input for row in self.rows]):
                found = await predict(name, reading, part)
                for decision in found.decisions:
                    row, code = self.rows[at], decision.code
                    at += 1
                    label = reading.labels[code] if code >= 0 else None
                    entry = decision.entry
                    said = {
                        "row": at,
                        "label": label,
                        "how": decision.how,
                        "reason": None if code >= 0 else REASONS[code],
                        "hypothesis": None if entry is None else reading.entries[entry].text,
                    }
                    told = {"expected": row.expected, "right": label == row.expected}
                    await give(said if row.expected is None else said | told)


# --- Of a family that opens an oracle: the best hypothesis applied to inputs.

PART = 1_000  # inputs that a hypothesis is applied to at once


@dataclass(frozen=True)
class _Given:
    """told: whether the output was given too; else it is None."""

    pair: Observation
    told: bool


def _given(data: str | Path, problem: Problem) -> list[_Given]:
    """Of JSON Lines of inputs, or of pairs as the task of the problem loads them."""
    from ...tasks.io.files import expanded, locate, read_jsonl

    place, name = expanded(data), problem.task
    task = registry.load("tasks", name) if registry.has("tasks", name) else None
    if not place.is_dir() and locate(place, ()).name.removesuffix(".gz").endswith(".jsonl"):
        lines = list(read_jsonl(place))
        if not lines:
            raise DataError(f"{place}: the file is empty")
        if all(_is_input(row) for _, row in lines) and not _of_other_inputs(task, problem):
            found = []
            for number, row in lines:
                one = row if isinstance(row, dict) else {"input": row}
                value = one["input"]
                if isinstance(task, ReadsInputs):
                    value = task.read_input(value, f"{place}, line {number}, input")
                found.append(_Given(Observation(value, one.get("output")), "output" in one))
            return found
    if task is None:
        raise DataError(
            f"{place}: JSON Lines are needed, each an input or an object of `input` and maybe `output`"
        )
    problems = task.load(str(place), None, 0)
    same = [one for one in problems if one.id == problem.id] or problems
    if len(same) != 1:
        raise DataError(f"{place}: has {len(same)} problems, and none of them is {problem.id!r}")
    return [_Given(pair, True) for pair in (*same[0].shown, *same[0].hidden)]


def _of_other_inputs(task: object, problem: Problem) -> bool:
    """Whether the inputs that the task can check, those of its sample space, are others than those of
    observations (elements of worlds): then pairs come from the data of the task alone."""
    if not isinstance(task, ReadsInputs) or not problem.shown:
        return False
    try:
        task.read_input(problem.shown[0].input, "")
    except DataError:
        return True
    return False


def _is_input(row: Json) -> bool:
    return not isinstance(row, dict) or ("input" in row and set(row) <= {"input", "output"})


@dataclass(frozen=True)
class _Applied:
    """texts: the hypotheses of the bank, best first. rows: what the best is applied to."""

    problem: Problem
    bank: str
    texts: Sequence[str]
    rows: Sequence[_Given]
    opening: OracleSettings

    async def give_all(self, give: Callable[[dict[str, Json]], Awaitable[None]]) -> None:
        from ...tasks import family_of

        family = family_of(self.problem)
        view = self.problem.view(InputSet("none", ()))
        async with opened(family, self.opening) as tools:
            warn_of_layers(tools, self.opening.sandbox)
            best = await self._best(family, view, tools.oracles())
            for start in range(0, len(self.rows), PART):
                part = self.rows[start : start + PART]
                pairs = [row.pair for row in part]
                found = await family.agree(best, pairs, view, tools.oracles())
                marked = zip(part, found.got, found.marks, strict=True)
                for number, (row, got, mark) in enumerate(marked, start + 1):
                    said = {
                        "row": number,
                        "prediction": got.get("value"),
                        "how": "oracle",
                        "reason": got.get("undefined"),
                        "hypothesis": best.text,
                    }
                    told = {"expected": row.pair.output, "right": mark is True}
                    await give(said | told if row.told else said)

    async def _best(self, family: Family, view: View, oracles: Oracles) -> Hypothesis:
        """The first that is consistent with what is shown. Raises UsageError where none is."""
        for text in self.texts:
            read = family.read(text, view)
            if isinstance(read, Hypothesis) and family.consistent(
                await family.agree(read, self.problem.shown, view, oracles)
            ):
                return read
        raise UsageError(
            f"bank {self.bank} has no hypothesis that is consistent with problem {self.problem.id}"
        )
