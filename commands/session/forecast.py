"""Count the calls that a session would make, by role, without calling a model (`peirce run
--dry-run`).

The method computes the numbers (graphs/forecast.py). Retries are not included. The smallest number
of calls of the repairer is 0, because the repairer may never be called.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ...config import RunConfig
from ...records import Json
from .event_loops import run_coroutine
from .execution import OnEvent
from .learning_curve import plan_curve
from .planning import RunPlan, opening_settings, plan_run
from .settings import JUDGE, NAMER, OPTIONAL_ROLES, ROLES, SECOND_JUDGE, SEEDER, THEN

if TYPE_CHECKING:
    from ...graphs import Method
    from ...graphs.forecast import CallsByRole, Sizes

NAMING_METHODS = ("abduce", "io", "refine", "t3")  # methods whose answers the namer sees
# models that may run out of hypotheses
EXHAUSTIBLE_MODELS = ("search", "cvc5", "pyoperon", "gplearn", "scripted", "recorded")


def forecast(plan: RunPlan) -> dict[str, Json]:
    """Return how many calls of each role a planned session would make.

    Args:
        plan: the plan of the session.

    Returns:
        {task, method, model, seed, problems, calls: {role: {least, most}}}, for a session with a
        protocol "protocol", with a model for the judge "judge", its name, and for labelled text
        "prompt_tokens", the estimated length of the longest first prompt. `least` and `most` are
            totals
        over all problems, assuming that no call fails. A proposer that may run out of hypotheses
        (`EXHAUSTIBLE_MODELS`, or a proposer object) makes at least one call for each problem.
            Imported
        answers need no call. With a repairer, a namer, a second proposer or a seeder (the search
        that gives hypotheses first), "calls" contains its role too. With "ask_human", `most` holds
        until a person answers: each answer of a person allows as many further answers of the model.
    """
    from ...graphs import get_method
    from ...graphs.forecast import Sizes
    from ...graphs.judge_forecast import count_judge_calls

    chosen, settings, model = plan.chosen, plan.settings, plan.model
    problems = len(chosen.pairs)
    calls = {role: {"least": 0, "most": 0} for role in ROLES if role not in OPTIONAL_ROLES}
    beside: dict[str, Json] = {}
    method = get_method(settings["method"])
    labelled = "text" in settings
    ends = not isinstance(model, str) or model.partition(":")[0] in EXHAUSTIBLE_MODELS
    # the search gives all its sentences in one answer
    searches = isinstance(model, str) and model.partition(":")[0] == "search"
    roles = [one for one in (SECOND_JUDGE, THEN) if one in plan.operational["players"]]
    second = THEN in roles
    for one in roles:
        calls[one] = {"least": 0, "most": 0}

    def count(sizes: Sizes) -> CallsByRole:
        return _with_second(method, sizes) if second else method.forecast(sizes)

    for problem, space in chosen.pairs:
        sizes = Sizes(problem, len(space), settings, ends and (not labelled or searches))
        for role, span in count_judge_calls(count, sizes, SECOND_JUDGE in roles).items():
            calls[role]["least"] += span.least
            calls[role]["most"] += span.most
    if JUDGE in plan.operational["players"]:
        beside["judge"] = plan.operational["players"][JUDGE][0]
    if labelled and method.asks:
        from .text_forecast import estimate_prompt_tokens

        beside["prompt_tokens"] = estimate_prompt_tokens(chosen.problems, settings)
    if NAMER in plan.operational["players"] and settings["method"] in NAMING_METHODS:
        answers = (1 if searches else settings["max_answers"]) * (1 + second)
        calls[NAMER] = {"least": 0, "most": problems * answers}
    if "protocol" in plan.operational:
        beside["protocol"] = plan.operational["protocol"]
    if plan.repair is not None:
        calls["repairer"] = {
            "least": 0,
            "most": problems * settings["max_answers"] * (1 + second),
        }
    if SEEDER in plan.operational["players"]:
        calls[SEEDER] = {"least": problems, "most": problems * settings["seed_hypotheses"]}
    if settings.get("ask_human"):
        beside["ask_human"] = True
    return {
        "task": settings["task"],
        "method": settings["method"],
        "model": model if isinstance(model, str) else type(model).__name__,
        "seed": settings["seed"],
        "problems": problems,
        "calls": calls,
        **beside,
    }


def _with_second(method: Method, sizes: Sizes) -> CallsByRole:
    """Return the calls for a problem which a second proposer may continue.

    The second proposer is asked at most as often as the first one. The other roles are asked about
    the answers of both.
    """
    first = method.forecast(sizes)
    answers = 2 * sizes.settings["max_answers"]
    both = method.forecast(replace(sizes, settings={**sizes.settings, "max_answers": answers}))
    found = {role: replace(span, most=both[role].most) for role, span in first.items()}
    asked = first["proposer"]
    return {**found, "proposer": asked, THEN: replace(asked, least=0)}


def forecast_run(task: str, config: RunConfig) -> dict[str, Json]:
    """Plan a run, and return how many calls it would make (see `forecast`).

    Args:
        task: name of a task, or path of a task file.
        config: the configuration of the run.

    Raises:
        UsageError: a setting is invalid, as far as this is known without calling or loading a
            model.
        DataError: the data is invalid.
    """
    return forecast_plan(plan_run(task, config))


def forecast_plan(plan: RunPlan) -> dict[str, Json]:
    """Return how many calls a planned run would make, after checking its models.

    Raises:
        UsageError: a setting of a model is invalid.
    """
    from ...agents import check_model
    from ...graphs.runtime.queries import read_settings

    config = plan.config
    if isinstance(plan.model, str):
        run_coroutine(check_model(plan.model, opening_settings(config.model, config.cluster)))
    else:
        read_settings(plan.model)
    if isinstance(plan.repair, str):
        run_coroutine(check_model(plan.repair, {}))
    whole = forecast(plan)
    for part in plan_curve(plan):
        for role, count in forecast(part.plan)["calls"].items():
            for bound in ("least", "most"):
                whole["calls"][role][bound] += count[bound]
    return whole


def add_forecast(on_event: OnEvent | None, plan: RunPlan) -> OnEvent | None:
    """Return a listener that adds the forecast of calls to the event that starts a session.

    The forecast is added only for sessions on labelled text. For other sessions, and for None,
    `on_event` is returned unchanged.
    """
    if on_event is None or "text" not in plan.settings:
        return on_event

    def tell(event: Mapping[str, Json]) -> None:
        more = {}
        if event["type"] == "session":
            more = {"calls": forecast(plan)["calls"]}
        on_event({**event, **more})

    return tell
