"""`peirce predict`: what a bank says of new rows."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from . import options as o
from .printing import emit
from .running import STANDING, source

app = typer.Typer()


@app.command(
    epilog=o.examples(
        "peirce predict --bank last --data new.csv",
        "peirce predict --bank bank.json --data new.jsonl --judge-model openai:NAME",
    )
)
def predict(
    context: typer.Context,
    bank: Annotated[
        str,
        typer.Option(
            help="A session with a bank, or a file of `peirce bank --out`.",
            metavar="SESSION|FILE", rich_help_panel=o.DATA,
        ),
    ],
    data: Annotated[
        str,
        typer.Option(
            help="Rows with the columns that the bank speaks of: CSV, JSONL, JSON or Parquet, plain"
            " or gzip; labels may be there.",
            metavar="FILE", rich_help_panel=o.DATA,
        ),
    ],
    problem: Annotated[
        str | None,
        typer.Option(help="Whose bank, where there are several.", metavar="ID",
                     rich_help_panel=o.DATA),
    ] = None,
    label: o.Label = None,
    inference: o.Inference = None,
    judge: o.JudgeHow = None,
    judge_model: o.JudgeModel = None,
    model: Annotated[
        str | None,
        typer.Option(help="The same as --judge-model; without either exact rules alone decide.",
                     rich_help_panel=o.MODEL),
    ] = None,
    repeats: o.Repeats = None,
    prompts: o.Prompts = None,
    temperature: o.Temperature = None,
    top_p: o.TopP = None,
    max_tokens: o.MaxTokens = None,
    reasoning_effort: o.ReasoningEffort = None,
    timeout_s: o.TimeoutS = None,
    retries: o.Retries = None,
    model_arg: o.ModelArg = None,
    role: o.RoleSettings = None,
    concurrency: o.Concurrency = None,
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:  # fmt: skip
    """Apply a bank to new rows; no session, nothing is written."""
    from .. import predict as predict_rows
    from ..commands.session.roles import fitting, role_settings
    from ..commands.session.text_course import WITHOUT_JUDGE
    from ..reports import predicted, text

    shaping: dict[str, Any] = dict(
        temperature=temperature, top_p=top_p, max_tokens=max_tokens, timeout_s=timeout_s,
        reasoning_effort=reasoning_effort, retries=retries,
    )  # fmt: skip
    typed = source(context, "model") not in STANDING
    if model is not None and not typed and model.partition(":")[0] in WITHOUT_JUDGE:
        model = None  # the proposer of other verbs
    if model is not None and typed and source(context, "judge_model") in STANDING:
        judge_model = None
    roles = role_settings(context.obj.roles, {"judge": judge_model}, role or ())
    asked = (roles.get("judge") or {}).get("model") or model
    standing = [name for name in shaping if source(context, name) in STANDING]
    pairs: list[str] = []
    if asked is None:
        roles = role_settings({}, {}, role or ())
        shaping = {name: None if name in standing else one for name, one in shaping.items()}
    else:
        shaping, pairs = fitting(asked, shaping, standing, context.obj.model_args)
    rows = predict_rows(
        bank, data, problem=problem, label=label, inference=inference, judge=judge, model=model,
        repeats=repeats, prompts=prompts, roles=roles, concurrency=concurrency,
        store=store, model_arg=[*pairs, *(model_arg or ())], **shaping,
    )  # fmt: skip
    if as_json:
        emit(rows)
    else:
        predicted.print_rows(text.console(), rows)
