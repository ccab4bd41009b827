"""The function `predict`: check its settings, choose the problem, and apply a bank of hypotheses.

Predictions are not written to the store.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack, overload

from ....config import RunConfig, TextSettings
from ....records import (
    DataError,
    LabelsRows,
    Problem,
    Proposer,
    UsageError,
)
from ....records.settings import format_value
from ....records.tables import TableLike
from ....tasks.io.table_files import open_data
from ....tasks.text.tables import Table
from ...arguments import validate_call
from ...option_types import PredictOptions
from ...outcome import Session, Trace, store_path
from ...session.bank_files import StoredBank, read_bank
from ...session.execution import oracle_settings
from ...session.planning import DEFAULT_CONCURRENCY
from ...session.running import run_config
from ...session.settings import role_settings
from ..checking import iter_results
from ..judges import choose_judge, with_judge
from ..results import PredictionFile, PredictionRow
from .files import check_prediction_file, write_predictions
from .hypotheses import OraclePredictions, rank_stored
from .inputs import read_inputs
from .sentences import SentencePredictions, check_inference, read_labelled_rows

MODEL_OPTIONS = ("temperature", "top_p", "max_tokens", "reasoning_effort", "reasoning_tokens",
                 "timeout_s", "retries")  # fmt: skip
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


@overload
def predict(
    bank: str | Path | Session | Trace, data: str | Path | TableLike, *, problem: str | None = None, label: str | None = None,
    model: str | Proposer | None = None, judge_model: str | Proposer | None = None,
    seed: int | None = None, out: None = None, **settings: Unpack[PredictOptions],
) -> Iterator[PredictionRow]: ...  # fmt: skip
@overload
def predict(
    bank: str | Path | Session | Trace, data: str | Path | TableLike, *, problem: str | None = None, label: str | None = None,
    model: str | Proposer | None = None, judge_model: str | Proposer | None = None,
    seed: int | None = None, out: str | Path, **settings: Unpack[PredictOptions],
) -> PredictionFile: ...  # fmt: skip
@validate_call
def predict(
    bank: str | Path | Session | Trace,
    data: str | Path | TableLike,
    *,
    problem: str | None = None,
    label: str | None = None,
    model: str | Proposer | None = None,
    judge_model: str | Proposer | None = None,
    seed: int | None = None,
    out: str | Path | None = None,
    **settings: Unpack[PredictOptions],
) -> Iterator[PredictionRow] | PredictionFile:
    """Apply a bank of hypotheses to new rows, and return one prediction for each row, in order.

    Args:
        bank: a session id, a unique prefix of one, or `last`; a session as `run` or `load` returns
            it, whose store is then used if `store` is not set; or a file that `peirce bank --out`
            wrote.
        data: the rows, as a file, a list of dicts or a table. For programs: JSON Lines, JSON, CSV
            or Parquet. Each row is an input, or has the columns `input` and optionally `output`.
            Data of the task is also accepted. For rules about worlds: worlds in a form that the
            task `abd` reads, which give one row for each element. For labelled text: a table with
            the columns that the bank uses.
        problem: id of the problem whose hypotheses to use, if the bank has several problems.
        label: column of the labels, if it has another name than in the bank's data.
        model: the model to call if `judge_model` is not set. If both are None, only exact rules are
            applied.
        judge_model: the model to call.
        seed: seed of random draws; None for the session's own seed.
        out: write the predictions and the columns of the data to this .csv or .parquet file.
        settings: `inference` (how labels are predicted with the bank; None for the session's own
            strategy, or multi for a file), settings of the called model, and settings of the
            sandbox or solver. Settings of labelled text are an error with any other bank.

    Returns:
        An iterator with a `PredictionRow` for each row, numbered from 1. With `out`, a
        `PredictionFile` after the file was written. `how` is explained in
        `graphs.inference.Decision`, or is "oracle" or "missing_value". `reason` is unreadable,
        needs_model, missing_value, or the reason why the hypothesis is undefined for the input.

    Raises:
        UsageError: a setting is invalid, or no hypothesis can be applied.
        DataError: the bank or the data is invalid.
        StoreError: the session cannot be read.
        Unavailable: the model cannot be reached.
    """
    if isinstance(bank, Session | Trace):
        settings["store"] = settings.get("store") or bank.store
        bank = bank.session
    config = run_config(None, settings)
    store = store_path(config.store.store)
    found = read_bank(bank, store)
    chosen = _problem_of(found, str(bank), problem)
    work: SentencePredictions | OraclePredictions
    with open_data(data) as path:
        target = None if out is None else check_prediction_file(out, path)
        if _labels_rows(chosen):
            table, work = _prepare_sentences(
                found, chosen, str(bank), path, config, label, judge_model or model, seed
            )
        else:
            _refuse_text_settings(chosen, config, label=label, model=model, judge_model=judge_model)
            table, work = _prepare_hypotheses(found, chosen, str(bank), path, config, store)
    rows = iter_results(work.give_all, PredictionRow.from_dict)
    return rows if target is None else write_predictions(target, table, rows, chosen.id)


def _refuse_text_settings(problem: Problem, config: RunConfig, **named: Any) -> None:
    """Raise UsageError for a setting that only banks of labelled text take."""
    of_text = {
        **named, **config.text.explicit_values(), **config.model.explicit_values(),
        **config.roles.explicit_values(),
    }  # fmt: skip
    for name, value in of_text.items():
        if value not in (None, (), [], {}):
            raise UsageError(
                f"{name.replace('_', '-')} is {format_value(value)}: only banks of labelled text take"
                f" it, but this bank is of task {problem.task}"
            )


def _prepare_hypotheses(
    found: StoredBank, problem: Problem, bank: str, data: str | Path, config: RunConfig, store: Path
) -> tuple[Table, OraclePredictions]:
    inputs = read_inputs(data, problem)
    texts = [str(row["text"]) for row in found.rows[problem.id]]
    ranked = rank_stored(found, problem, store)
    opening = oracle_settings(config.sandbox, config.cluster)
    predictions = OraclePredictions(
        problem, bank, texts, ranked, inputs, opening, config.cluster.cluster
    )
    return inputs.table, predictions


def _prepare_sentences(
    found: StoredBank,
    problem: Problem,
    bank: str,
    data: str | Path,
    config: RunConfig,
    label: str | None,
    model: str | Proposer | None,
    seed: int | None,
) -> tuple[Table, SentencePredictions]:
    own = {name: getattr(config.model, name) for name in MODEL_OPTIONS}
    asked = choose_judge(model, own, config.model.model_arg, role_settings(config.roles))
    text = config.text.explicit_values()
    prompts, judge = text.get("prompts"), text.pop("judge", None)
    begun = found.settings.get("text") or {}
    whole = {name: begun[name] for name in READING_SETTINGS if begun.get(name) is not None}
    judged = with_judge(TextSettings(**{**whole, **text}), judge, asked)
    check_inference(judged.inference, problem)
    if prompts == "config" and not problem.public.get("templates"):
        raise UsageError(
            "prompts is 'config', but the data set of the bank has no prompts of its own"
        )
    drawn_by = found.settings.get("seed", 0) if seed is None else seed
    concurrency = config.cluster.concurrency or DEFAULT_CONCURRENCY
    work = SentencePredictions(problem, judged, drawn_by, asked, concurrency)
    work.check(bank)
    table, rows = read_labelled_rows(data, problem, label, work.needed_columns())
    return table, replace(work, rows=rows)


def is_labelled_text_bank(
    bank: str | Path, *, problem: str | None = None, store: str | Path | None = None
) -> bool:
    """Return whether the hypotheses of a bank are sentences about labelled text.

    The errors are those of `predict`.

    Args:
        bank: a session id, a unique prefix of one, `last`, or the path of a bank file.
        problem: id of the problem, if the bank has several problems.
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.
    """
    return _labels_rows(_problem_of(read_bank(bank, store_path(store)), str(bank), problem))


def _labels_rows(problem: Problem) -> bool:
    from ....tasks import load_family

    return isinstance(load_family(problem.family), LabelsRows)


def _problem_of(bank: StoredBank, named: str, wanted: str | None) -> Problem:
    """Return the problem whose bank is read.

    A bank of sentences from a file has a problem without shown rows. For labelled text the problem holds the
    bank's hypotheses as its stored bank, as in an `infer` session.
    """
    from ....tasks import load_family

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
    if not isinstance(load_family(problem.family), LabelsRows):
        return problem
    if not problem.public.get("labels") or not problem.public.get("columns"):
        raise DataError(
            f"bank {named} contains neither labels nor columns: use a session, or a file written"
            " by `peirce bank SESSION --out FILE`"
        )
    stored = [[dict(row) for row in bank.rows[name]]]
    return replace(problem, public={**problem.public, "banks": stored})
