"""`peirce check`: judge hypotheses that a user provides."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..commands.option_types import CheckOptions
from . import options as o
from .printing import emit
from .running import DEFAULT_SOURCES, option_source, select_role_flags

app = typer.Typer()


@app.command(
    epilog=o.examples(
        'echo \'{"problem": "gen0-0", "hypothesis": "def f(x): return x[1:]"}\' > mine.jsonl',
        "peirce check list_functions --answers mine.jsonl",
        "peirce check list_functions --answers mine.jsonl --data list_function.jsonl",
    )
)
@o.add_flags(*(name for name in CheckOptions.__annotations__ if name != "roles"))
def check(
    context: typer.Context,
    task: o.Task,
    answers: Annotated[
        str, typer.Option(help="JSONL file of hypotheses or raw answers.", metavar="FILE")
    ],
    evaluator: o.Evaluator = "exact",
    split: Annotated[
        str | None,
        typer.Option(
            help=("Rows on which sentences are scored: val, ind or ood (default: the first of"
                 " ind, ood, val that the data has)."),
            metavar="SPLIT", rich_help_panel=o.TEXT,
        ),
    ] = None,
    judge_model: o.JudgeModel = None,
    as_json: o.AsJson = False,
    **settings: Any,
) -> None:  # fmt: skip
    """Judge your own hypotheses without a session; only labelled text may need a model."""
    from .. import check as check_answers
    from ..commands.problems import has_labelled_text
    from ..commands.session.settings import role_settings
    from ..config import RolesConfig
    from ..reports.screen import listings, text

    of_text = {"label", "ood", "split", "tau", "judge", "judge_model", "repeats"}
    role = select_role_flags(context, settings.pop("role", ()))
    if judge_model is not None or role:
        roles = RolesConfig(roles=context.obj.roles, judge_model=judge_model, role=role)
        settings["roles"] = role_settings(roles)
    settings |= {"split": split, "judge_model": judge_model}
    if not has_labelled_text(task):  # ignore settings for other tasks
        standing = {name for name in of_text if option_source(context, name) in DEFAULT_SOURCES}
        settings = {name: one for name, one in settings.items() if name not in standing}
    out = text.create_console()
    wrong = False
    for row in check_answers(task, answers, evaluator=evaluator, **settings):
        wrong = wrong or row.verdict == "error"
        if as_json:
            emit([row])
        else:
            listings.print_check(out, row)
    raise typer.Exit(1 if wrong else 0)
