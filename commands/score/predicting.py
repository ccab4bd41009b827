"""`peirce predict --bank SESSION|FILE --data FILE`: apply a bank to new rows. Nothing is stored.

For labelled text, the bank of a session is read as that session read it: with its settings and the
rows that it was shown, and with its hypotheses weighted by its validation rows. A file holds none
of these, so its hypotheses are weighted by the statistics that it does hold. For a family with an
oracle, the first hypothesis of a session's bank that is consistent with the shown observations is
applied to the inputs.
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
from ...records.settings import format_value
from ...records.tables import TableLike
from ...records.tasks import ReadsInputs
from ...tasks.io.table_files import open_data
from ..arguments import validate_call
from ..option_types import PredictOptions
from ..oracles import open_oracles
from ..outcome import store_path
from ..session.bank_files import StoredBank, read_bank
from ..session.execution import oracle_settings
from ..session.planning import DEFAULT_CONCURRENCY
from ..session.running import run_config
from ..session.settings import check_choice, role_settings
from .checking import iter_results, warn_about_missing_layers
from .judges import ModelSpec, choose_judge, with_judge
from .results import PredictionRow

MODEL_OPTIONS = ("temperature", "top_p", "max_tokens", "reasoning_effort", "timeout_s", "retries")
READING_SETTINGS = (
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


@validate_call
def predict(
    bank: str | Path,
    data: str | Path | TableLike,
    *,
    problem: str | None = None,
    label: str | None = None,
    model: str | Proposer | None = None,
    judge_model: str | Proposer | None = None,
    seed: int | None = None,
    **settings: Unpack[PredictOptions],
) -> Iterator[PredictionRow]:
    """Apply a bank of hypotheses to new rows, and yield one result per row of `data`, in order.

    Args:
        bank: a session id, a unique prefix of the id, or `last`. For labelled text also a file that
            `peirce bank --out` wrote.
        data: the rows, as a file, a list of dicts or a table. If the family has an oracle, either
            JSON Lines, in which a line is an input or an object with `input` and optionally `output`; or data of the task, from which the
            pairs of the bank's problem are taken (or of the only problem in the data).
        problem: the problem that the bank belongs to, if the session has several problems.
        label: the column of the labels, if its name differs from the name in the bank.
        model: the model to call if `judge_model` is not set. Without a model, only exact rules
            decide.
        judge_model: the model to call.
        seed: seed of random draws; None for the session's own seed.
        settings: how the bank is read (`inference`: None for the session's own strategy, or multi
            for a file), settings of the called model, and settings that open an oracle. Settings of
            labelled text are an error for any other bank.

    Returns:
        An iterator that yields a `PredictionRow` for each row, numbered from 1. `how` is explained
        in `graphs.inference.Decision`, or is "oracle". `reason` is unreadable or needs_model, or
        the reason why the hypothesis is undefined for the input.

    Raises:
        UsageError: a setting is invalid, or no hypothesis can be applied.
        DataError: the bank or the data is invalid.
        StoreError: the session cannot be read.
        Unavailable: the model cannot be reached.
    """
    config = run_config(None, settings)
    found = read_bank(bank, store_path(config.store.store))
    target = _problem_of(found, str(bank), problem)
    if not _labels_rows(target):
        of_text = {
            "label": label, "model": model, "judge_model": judge_model, **config.text.explicit_values(),
            **config.model.explicit_values(), **config.roles.explicit_values(),
        }  # fmt: skip
        for name, value in of_text.items():
            if value not in (None, (), [], {}):
                raise UsageError(
                    f"{name.replace('_', '-')} is {format_value(value)}: only banks of labelled"
                    f" text take it, but this bank is of task {target.task}"
                )
        with open_data(data) as path:
            inputs = _read_inputs(path, target)
        opening = oracle_settings(config.sandbox, config.cluster)
        applied = _Applied(
            target, str(bank), [row["text"] for row in found.rows[target.id]], inputs, opening
        )
        return iter_results(applied.give_all, PredictionRow.from_dict)
    own = {name: getattr(config.model, name) for name in MODEL_OPTIONS}
    roles = role_settings(config.roles)
    asked = choose_judge(judge_model or model, own, config.model.model_arg, roles)
    concurrency = config.cluster.concurrency
    text = config.text.explicit_values()
    prompts, judge = text.get("prompts"), text.pop("judge", None)
    begun = found.settings.get("text") or {}
    whole = {name: begun[name] for name in READING_SETTINGS if begun.get(name) is not None}
    judged = with_judge(TextSettings(**{**whole, **text}), judge, asked)
    _check_inference(judged.inference, target)
    if prompts == "config" and not target.public.get("templates"):
        raise UsageError(
            "prompts is 'config', but the data set of the bank has no prompts of its own"
        )
    drawn_by = found.settings.get("seed", 0) if seed is None else seed
    with open_data(data) as path:
        rows = _rows(path, target, label)
    work = _Work(target, rows, judged, drawn_by, asked, concurrency or DEFAULT_CONCURRENCY)
    work.check(str(bank))
    return iter_results(work.give_all, PredictionRow.from_dict)


def is_labelled_text_bank(
    bank: str | Path, *, problem: str | None = None, store: str | Path | None = None
) -> bool:
    """Return whether a bank consists of sentences, which rules and models apply, instead of an
    oracle.

    The function raises the errors that `predict` raises.
    """
    return _labels_rows(_problem_of(read_bank(bank, store_path(store)), str(bank), problem))


def _labels_rows(problem: Problem) -> bool:
    from ...tasks import load_family

    return isinstance(load_family(problem.family), LabelsRows)


@dataclass(frozen=True)
class _Row:
    """A row of labelled text.

    Args:
        input: the values by column.
        expected: one of the labels; None where the row has none.
    """

    input: Json
    expected: str | None


def _problem_of(bank: StoredBank, named: str, wanted: str | None) -> Problem:
    """Return the problem whose bank is read.

    A bank from a file has a problem without shown rows. For labelled text the problem holds the
    bank's hypotheses as its stored bank, as in an `infer` session.
    """
    from ...tasks import load_family

    ids = list(bank.rows)
    if wanted is None and len(ids) > 1:
        raise UsageError(
            f"bank {named} has hypotheses of {len(ids)} problems"
            f" ({', '.join(ids[:5])}{', …' if len(ids) > 5 else ''}): choose one with --problem"
        )
    name = ids[0] if wanted is None else wanted
    if name not in bank.rows:
        name = f"{name}#0"
    if name not in bank.rows:
        raise UsageError(f"bank {named} has no hypotheses of {wanted!r}, only of {', '.join(ids)}")
    problem = bank.problems.get(name) or Problem(
        name or "bank", "labels", "text", (), (), bank.public.get(name) or bank.public.get("", {})
    )
    kind = load_family(problem.family)
    if not isinstance(kind, LabelsRows):
        if isinstance(kind, OpensOracle):
            return problem
        raise UsageError(
            f"bank {named} is of task {problem.task}, whose hypotheses cannot be applied to new"
            " data"
        )
    if not problem.public.get("labels") or not problem.public.get("columns"):
        raise DataError(
            f"bank {named} contains neither labels nor columns: use a session, or a file written"
            " by `peirce bank SESSION --out FILE`"
        )
    stored = [[dict(row) for row in bank.rows[name]]]
    return replace(problem, public={**problem.public, "banks": stored})


def _check_inference(name: str | None, problem: Problem) -> None:
    from ...graphs.bank.reading import CHOOSE
    from ...graphs.inference import STRATEGIES
    from ...tasks.text.family import select_split

    check_choice("inference", str(name), (*STRATEGIES, CHOOSE))
    if name == CHOOSE and not select_split(problem, "val"):
        raise UsageError(
            f"inference is {CHOOSE!r}, but this bank has no validation rows to choose a strategy"
            f" with: use one of {', '.join(STRATEGIES)}"
        )


def _rows(data: str | Path, problem: Problem, label: str | None) -> list[_Row]:
    from ...tasks.text.label_names import LabelNames
    from ...tasks.text.sources import read_rows

    names = LabelNames(problem.public["labels"])
    column = label or ("" if "label=" in str(data) else problem.public.get("label_name", ""))
    found = []
    for row in read_rows(data, problem.public["columns"], column or None):
        expected = None if row.label is None else names.find(row.label)
        if row.label is not None and expected is None:
            raise DataError(
                f"{row.where}: the label {row.label!r:.60} is not one of the bank's labels:"
                f" {', '.join(names.names)}"
            )
        found.append(_Row(row.input, expected))
    if label is not None and all(row.expected is None for row in found):
        raise DataError(f"{data}: no column {label!r} contains labels")
    return found


@dataclass(frozen=True)
class _Work:
    problem: Problem
    rows: Sequence[_Row]
    settings: TextSettings
    seed: int
    asked: ModelSpec
    concurrency: int

    def case(self, proposer: Proposer | None) -> Any:
        """Return the case of the problem with the bank's entries."""
        from ...graphs.methods.infer import read_entries
        from ...graphs.runtime.case import SessionSettings
        from ...graphs.runtime.memory import make_case

        case = make_case(
            self.problem,
            proposer,
            space=InputSet("none", ()),
            settings=SessionSettings(seed=self.seed, text=self.settings),
            session="predict",
            turns=asyncio.Semaphore(self.concurrency),
        )
        case.stored_entries = read_entries(case)
        return case

    def check(self, bank: str) -> None:
        """Raise DataError if no hypothesis of the bank can be judged; warn if some cannot."""
        from ...tasks.io.messages import warn

        kept, there = len(self.case(None).stored_entries), len(self.problem.public["banks"][0])
        if not kept:
            raise DataError(f"bank {bank} contains no sentence that can be judged")
        if kept < there:
            warn(f"bank {bank}: {there - kept} of {there} hypotheses are skipped because they"
                 " are duplicates or not sentences")  # fmt: skip

    async def give_all(self, give: Callable[[dict[str, Json]], Awaitable[None]]) -> None:
        """Pass the prediction for each row to `give`."""
        from ...graphs.bank.reading import iter_parts, make_reading, select_strategy
        from ...graphs.inference import REASONS, predict

        async with self.asked.open() as proposer:
            case = self.case(proposer)
            reading = await make_reading(case, same_sample=bool(self.problem.shown))
            name, _ = await select_strategy(case, reading)
            at = 0
            for part in iter_parts(reading, [row.input for row in self.rows]):
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


# --- Families with an oracle: the best hypothesis is applied to inputs.

INPUTS_PER_BATCH = 1_000  # inputs that a hypothesis is applied to in one batch


@dataclass(frozen=True)
class _GivenInput:
    """An input with its output.

    Args:
        pair: the input and its output, which is None where it is not known.
        has_output: whether the output is known.
    """

    pair: Observation
    has_output: bool


def _read_inputs(data: str | Path, problem: Problem) -> list[_GivenInput]:
    """Read inputs from JSON Lines, or pairs from data that the task of the problem loads."""
    from ...tasks.io.files import expand_home, locate, read_jsonl

    place, name = expand_home(data), problem.task
    task = registry.load("tasks", name) if registry.is_registered("tasks", name) else None
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
                found.append(_GivenInput(Observation(value, one.get("output")), "output" in one))
            return found
    if task is None:
        raise DataError(
            f"{place}: the file must be JSON Lines, each an input or an object with `input` and"
            " optionally `output`"
        )
    problems = task.load(str(place), None, 0)
    same = [one for one in problems if one.id == problem.id] or problems
    if len(same) != 1:
        raise DataError(f"{place}: the file has {len(same)} problems, but not {problem.id!r}")
    return [_GivenInput(pair, True) for pair in (*same[0].shown, *same[0].hidden)]


def _of_other_inputs(task: object, problem: Problem) -> bool:
    """Return whether the task checks other inputs than those of observations (elements of worlds).

    In this case pairs can only come from the task's own data.
    """
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
    """Predictions by the best hypothesis of a bank.

    Args:
        problem: the problem of the bank.
        bank: name of the bank, for messages.
        texts: the hypotheses of the bank, best first.
        rows: the inputs that the best one is applied to.
        opening: how the oracle is opened.
    """

    problem: Problem
    bank: str
    texts: Sequence[str]
    rows: Sequence[_GivenInput]
    opening: OracleSettings

    async def give_all(self, give: Callable[[dict[str, Json]], Awaitable[None]]) -> None:
        """Pass the prediction for each row to `give`."""
        from ...tasks import problem_family

        family = problem_family(self.problem)
        view = self.problem.make_view(InputSet("none", ()))
        async with open_oracles(family, self.opening) as tools:
            warn_about_missing_layers(tools, self.opening.sandbox)
            best = await self._best(family, view, tools.make_oracles())
            for start in range(0, len(self.rows), INPUTS_PER_BATCH):
                part = self.rows[start : start + INPUTS_PER_BATCH]
                pairs = [row.pair for row in part]
                found = await family.measure_agreement(best, pairs, view, tools.make_oracles())
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
                    await give(said | told if row.has_output else said)

    async def _best(self, family: Family, view: View, oracles: Oracles) -> Hypothesis:
        """Return the first hypothesis that is consistent with the shown observations.

        Raises:
            UsageError: there is none.
        """
        for text in self.texts:
            read = family.parse_hypothesis(text, view)
            if isinstance(read, Hypothesis) and family.is_consistent(
                await family.measure_agreement(read, self.problem.shown, view, oracles)
            ):
                return read
        raise UsageError(
            f"bank {self.bank} has no hypothesis that is consistent with problem {self.problem.id}"
        )
