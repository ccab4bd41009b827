"""`peirce predict --bank SESSION|FILE --data FILE`: what a bank says of new rows. No session, and
nothing is written.

The bank of a session is read as that session read it: with its settings, with the rows that it was
shown, its entries weighed by its validation rows. A file tells of none of these, so its entries are
weighed by what it says of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from ...config import TextSettings
from ...records import DataError, InputSet, Json, LabelsRows, Problem, Proposer, UsageError
from ..arguments import checked
from ..option_types import PredictOptions
from ..outcome import store_path
from ..session.bank_files import StoredBank, read_bank
from ..session.planning import CONCURRENCY
from ..session.running import run_config
from ..session.settings import one_of, role_settings
from .checking import as_they_come
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
        bank: a session, its prefix or `last`, or a file of `peirce bank --out`.
        data: the rows.
        problem: whose bank, where it has several.
        label: the column of the labels, where it is not called as the bank says.
        model: who is asked, where `judge_model` names nobody; without either exact rules alone
            decide.
        judge_model: who is asked.
        seed: of what is drawn; None: the session's own.
        settings: how the bank is read (inference: None: the session's own, of a file multi), and
            settings of the model that is asked.

    Returns:
        A `PredictionRow` for each row (from 1). how: see `graphs.inference.Decision`; reason:
        unreadable or needs_model.

    Raises:
        UsageError, DataError, StoreError: before the first row.
        Unavailable: at an outage.
    """
    config = run_config(None, settings)
    own = {name: getattr(config.model, name) for name in SHAPING}
    roles = role_settings(config.roles)
    asked = judge_of(judge_model or model, own, config.model.model_arg, roles)
    store, concurrency = config.store.store, config.cluster.concurrency
    text = config.text.given()
    prompts, judge = text.get("prompts"), text.pop("judge", None)
    found = read_bank(bank, store_path(store))
    target = _problem_of(found, str(bank), problem)
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
    if not isinstance(family(problem.family), LabelsRows):
        raise UsageError(
            f"bank {named} is of task {problem.task}: predict applies sentences about labelled text"
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
