"""`peirce check`: hypotheses that a user brings."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from . import options as o
from .printing import emit
from .running import STANDING, source

app = typer.Typer()


@app.command(
    epilog=o.examples(
        'echo \'{"problem": "gen0-0", "hypothesis": "def f(x): return x[1:]"}\' > mine.jsonl',
        "peirce check list_functions --answers mine.jsonl",
        "peirce check list_functions --answers mine.jsonl --data list_function.jsonl",
    )
)
def check(
    context: typer.Context,
    task: o.Task,
    answers: Annotated[
        str, typer.Option(help="JSONL of hypotheses or raw answers.", metavar="FILE")
    ],
    data: o.Data = None,
    problems: o.Problems = None,
    problem: o.ProblemIds = None,
    sample: o.Sample = None,
    observations: o.Observations = None,
    space: o.Space = None,
    seed: o.Seed = 0,
    answer_format: o.AnswerFormat = None,
    strict_contract: o.StrictContract = False,
    sandbox: o.SandboxName = "process",
    strict_sandbox: o.StrictSandbox = False,
    workers: o.Workers = None,
    solver: o.SolverOption = "fast",
    evaluator: o.Evaluator = "exact",
    label: o.Label = None,
    ood: o.Ood = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="The rows that a sentence is scored on: val, ind, ood (ind, else ood, else val).",
            metavar="SPLIT", rich_help_panel=o.TEXT,
        ),
    ] = None,
    tau: o.Tau = None,
    judge: o.JudgeHow = None,
    judge_model: o.JudgeModel = None,
    repeats: o.Repeats = None,
    role: o.RoleSettings = None,
    as_json: o.AsJson = False,
) -> None:  # fmt: skip
    """Judge hypotheses that you bring; no session, and no model but one that labels texts."""
    from .. import check as check_answers
    from ..commands.problems import has_texts
    from ..commands.session.roles import role_settings
    from ..reports import readable, text

    of_text: dict[str, Any] = dict(label=label, ood=ood, split=split, tau=tau, judge=judge,
                                   repeats=repeats, judge_model=judge_model)  # fmt: skip
    if not has_texts(task):  # what file and environment say of other tasks
        standing = [name for name in of_text if source(context, name) in STANDING]
        of_text = {name: None if name in standing else one for name, one in of_text.items()}
    roles = None
    if of_text["judge_model"] is not None or role:
        roles = role_settings(context.obj.roles, {"judge": judge_model}, role or ())
    out = text.console()
    wrong = False
    for row in check_answers(
        task, answers, data=data, problems=problems, problem=problem or (),
        sample=sample, observations=observations, space=space, seed=seed,
        answer_format=answer_format, strict_contract=strict_contract, sandbox=sandbox,
        strict_sandbox=strict_sandbox, workers=workers, solver=solver, evaluator=evaluator,
        roles=roles, **of_text,
    ):  # fmt: skip
        wrong = wrong or row["verdict"] == "error"
        if as_json:
            emit([row])
        else:
            readable.print_check(out, row)
    raise typer.Exit(1 if wrong else 0)
