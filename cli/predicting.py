"""`peirce predict`: apply a bank of hypotheses to new rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from ..commands.option_types import PredictOptions
from . import options as o
from .printing import emit
from .running import DEFAULT_SOURCES, option_source, select_role_flags

app = typer.Typer()
ORACLE_OPTIONS = (
    "sandbox",
    "strict_sandbox",
    "solver",
    "workers",
    "cluster",
    "concurrency",
    "store",
)
MODEL_OPTIONS = ("temperature", "top_p", "max_tokens", "reasoning_effort", "reasoning_tokens",
                 "timeout_s", "retries")  # fmt: skip


@app.command(
    epilog=o.examples(
        "peirce predict --bank last --data new.csv",
        "peirce predict --bank last --data new.csv --out predictions.csv",
        "peirce predict --bank bank.json --data new.jsonl --judge-model openai:NAME",
    )
)
@o.add_flags(*(name for name in PredictOptions.__annotations__ if name != "roles"))
def predict(
    context: typer.Context,
    bank: Annotated[
        str,
        typer.Option(
            help="Bank to apply: a session, or a file written by `peirce bank --out`.",
            metavar="SESSION|FILE", rich_help_panel=o.DATA,
        ),
    ],
    data: Annotated[
        str,
        typer.Option(
            help="Data to predict: CSV, JSONL, JSON or Parquet, plain or gzip. For a bank of"
                 " labelled text: rows with the columns that the bank uses; labels are optional."
                 " For programs: inputs, or rows with a column input, or data of the task. For"
                 " exception rules: worlds.",
            metavar="FILE", rich_help_panel=o.DATA,
        ),
    ],
    problem: Annotated[
        str | None,
        typer.Option(help="Problem whose bank is applied, if there are several.", metavar="ID",
                     rich_help_panel=o.DATA),
    ] = None,
    label: o.Label = None,
    judge_model: o.JudgeModel = None,
    model: Annotated[
        str | None,
        typer.Option(help=("Same as --judge-model. Without either, only exact rules make predictions."),
                     rich_help_panel=o.MODEL),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(help="Write the columns of the data with the predictions to this .csv or"
                          " .parquet file.", metavar="FILE", rich_help_panel=o.DATA),
    ] = None,
    as_json: o.AsJson = False,
    **settings: Any,
) -> None:  # fmt: skip
    """Apply what a session found to new data."""
    from .. import predict as predict_rows
    from ..commands.score.predicting import is_labelled_text_bank
    from ..commands.session.settings import drop_unsupported_model_options, role_settings
    from ..commands.session.text_planning import NON_JUDGE_MODELS
    from ..config import RolesConfig

    if not is_labelled_text_bank(bank, problem=problem, store=settings.get("store")):
        told = {"label": label, "model": model, "judge_model": judge_model, **settings}
        told = {  # Ignore settings for labelled text from file and environment.
            name: one for name, one in told.items()
            if name in ORACLE_OPTIONS or option_source(context, name) not in DEFAULT_SOURCES
        }  # fmt: skip
        print_predictions(predict_rows(bank, data, problem=problem, out=out, **told), as_json)
        return
    typed = option_source(context, "model") not in DEFAULT_SOURCES
    if model is not None and not typed and model.partition(":")[0] in NON_JUDGE_MODELS:
        model = None  # the proposer of other commands
    if model is not None and typed and option_source(context, "judge_model") in DEFAULT_SOURCES:
        judge_model = None
    role = select_role_flags(context, settings.pop("role", ()))
    standing = [name for name in MODEL_OPTIONS if option_source(context, name) in DEFAULT_SOURCES]
    roles = role_settings(RolesConfig(roles=context.obj.roles, judge_model=judge_model, role=role))
    asked = (roles.get("judge") or {}).get("model") or model
    pairs: list[str] = []
    if asked is None:
        roles = role_settings(RolesConfig(role=role))
        settings = {name: one for name, one in settings.items() if name not in standing}
    else:
        settings, pairs = drop_unsupported_model_options(
            asked, settings, standing, context.obj.model_args
        )
    settings["model_arg"] = [*pairs, *settings.get("model_arg", ())]
    rows = predict_rows(
        bank, data, problem=problem, label=label, model=model, out=out, roles=roles, **settings
    )
    print_predictions(rows, as_json)


def print_predictions(found: Iterable[Any], as_json: bool) -> None:
    """Print predictions, or a summary of the file that contains them, as JSON or as text."""
    from .. import PredictionFile
    from ..reports.screen import rating, text

    if isinstance(found, PredictionFile):
        emit([found]) if as_json else rating.print_prediction_file(text.create_console(), found)
    elif as_json:
        emit(found)
    else:
        rating.print_predictions(text.create_console(), found)
