"""`peirce run --dry-run`: how many calls a session would make, by role, before anything is asked.

Retries come on top, and so does nothing else: a problem asks its model once a turn, and a turn of
an answer may end with calls of tools instead, at most `tool_calls` of them an answer. A method
without bad answers may reach its target with the first; then a repairer is never asked.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ...records import Json, Proposer, Repairer, UsageError
from ...tasks.sentences import nearest
from ..arguments import check_arguments
from ..problems import Chosen
from .driving import OnEvent, complete, opening_options
from .intended import Intended, intended
from .roles import ROLES

ENDING = ("search", "scripted", "recorded")  # models that may have nothing left to say


def forecast(
    chosen: Chosen,
    settings: Mapping[str, Json],
    model: str | Proposer,
    repair: str | Repairer | None = None,
) -> dict[str, Json]:
    """{task, method, model, seed, problems, calls: {role: {least, most}}}; least and most count
    over all problems, where no call fails. Of `ENDING` and of a proposer object the least is one
    call a problem; for imported answers no model is asked. Of labelled text as text_forecast.py says,
    and "prompt_tokens", the estimate of the longest first prompt. repair: where somebody repairs, calls
    has "repairer" too."""
    problems = len(chosen.pairs)
    calls = {role: {"least": 0, "most": 0} for role in ROLES}
    beside: dict[str, Json] = {}
    if "text" in settings and settings["method"] != "imported":
        from .text_forecast import calls_of, prompt_tokens

        for problem, space in chosen.pairs:
            for role, span in calls_of(problem, len(space), settings).items():
                calls[role]["least"] += span.least
                calls[role]["most"] += span.most
        beside["prompt_tokens"] = prompt_tokens(chosen.problems, settings)
    elif settings["method"] != "imported":
        answers = min(settings.get("max_bad", 1), settings["max_answers"])
        if "rounds" in settings:  # t3 goes on to the last of them, each at an answer at least
            answers = settings["max_answers"]
        ends = not isinstance(model, str) or model.partition(":")[0] in ENDING
        turns = 1 + settings["tool_calls"]
        calls["proposer"] = {
            "least": problems * (settings.get("rounds", 1) if ends else answers),
            "most": problems * settings["max_answers"] * turns,
        }
    if repair is not None:
        calls["repairer"] = {"least": 0, "most": problems * settings["max_answers"]}
    return {
        "task": settings["task"],
        "method": settings["method"],
        "model": model if isinstance(model, str) else type(model).__name__,
        "seed": settings["seed"],
        "problems": problems,
        "calls": calls,
        **beside,
    }


def planned(task: str, run: Callable[..., Any], given: Mapping[str, Json]) -> dict[str, Json]:
    """The forecast of a `run` with the options `given`. Raises UsageError and DataError as the run
    would, as far as that is known before a model is asked or loaded."""
    from ...agents import check_model
    from ...graphs.replies import checked_settings

    parameters = inspect.signature(run).parameters
    defaults = {name: one.default for name, one in parameters.items() if name != "task"}
    for name in given:
        if name not in defaults:
            raise UsageError(f"run takes no option {name!r}{nearest(name, list(defaults))}")
    check_arguments(run, given)
    what = intended(task, {**defaults, **given})
    if isinstance(what.model, str):
        complete(check_model(what.model, opening_options(what.model, what.operational)))
    else:
        checked_settings(what.model)
    if isinstance(what.repair, str):
        complete(check_model(what.repair, {}))
    return forecast(what.chosen, what.settings, what.model, what.repair)


def with_forecast(
    on_event: OnEvent | None, what: Intended, model: str | Proposer
) -> OnEvent | None:
    """Tells a listener with the start of a session on labelled text how many calls it may take."""
    if on_event is None or "text" not in what.settings:
        return on_event

    def tell(event: Mapping[str, Json]) -> None:
        more = {}
        if event["type"] == "session":
            more = {"calls": forecast(what.chosen, what.settings, model, what.repair)["calls"]}
        on_event({**event, **more})

    return tell
