"""`peirce run --dry-run`: how many calls a session would make, by role, before anything is asked.

Retries come on top, and so does nothing else: a problem asks its model once a turn, and a turn of
an answer may end with calls of tools instead, at most `tool_calls` of them an answer.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..records import Json, Proposer, UsageError
from ..tasks.files import nearest
from .problems import Chosen, choose
from .roles import ROLES, model_options, role_settings
from .settings import course, model_args_of

ENDING = ("search", "scripted", "recorded")  # models that may have nothing left to say


def forecast(
    chosen: Chosen, settings: Mapping[str, Json], model: str | Proposer
) -> dict[str, Json]:
    """{task, method, model, seed, problems, calls: {role: {least, most}}}; least and most count
    over all problems, where no call fails. Of `ENDING` and of a proposer object the least is one
    call a problem; for imported answers no model is asked."""
    problems = len(chosen.pairs)
    calls = {role: {"least": 0, "most": 0} for role in ROLES}
    if settings["method"] != "imported":
        answers = min(settings["max_bad"], settings["max_answers"])
        ends = not isinstance(model, str) or model.partition(":")[0] in ENDING
        turns = 1 + settings["tool_calls"]
        calls["proposer"] = {
            "least": problems * (1 if ends else answers),
            "most": problems * settings["max_answers"] * turns,
        }
    return {
        "task": settings["task"],
        "method": settings["method"],
        "model": model if isinstance(model, str) else type(model).__name__,
        "seed": settings["seed"],
        "problems": problems,
        "calls": calls,
    }


def planned(
    task: str, defaults: Mapping[str, Json], given: Mapping[str, Json], fixed: Mapping[str, Json]
) -> dict[str, Json]:
    """The forecast of a run with the options `given`. Raises UsageError as the run would for what
    names no problem, method, model or setting; the model is not opened."""
    for name in given:
        if name not in defaults:
            raise UsageError(f"run takes no option {name!r}{nearest(name, list(defaults))}")
    options = {**defaults, **given}
    named = ("data", "problems", "problem", "observations", "space", "seed")
    chosen = choose(task, **{name: options[name] for name in named})
    model = options["model"]
    model_options(model, model_args_of(options["model_arg"]), {})
    role_settings(options["roles"] or {}, {}, ())
    settings = course(chosen, options["method"], options["answer_format"], options["history"])
    more = {name: options[name] for name in ("seed", "max_answers", "tool_calls")}
    return forecast(chosen, {**settings, **fixed, **more}, model)
