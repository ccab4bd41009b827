"""Method `patient`: asks again until so many answers in a row say nothing new."""

from __future__ import annotations

from functools import partial

from peirce.config import MaxAnswers, MethodName, MethodSettings
from peirce.graphs import Method
from peirce.graphs.forecast import CallsByRole, Sizes, forecast_one_by_one
from peirce.graphs.runtime.case import Runtime
from peirce.graphs.runtime.judging import judge
from peirce.graphs.runtime.steps import State, build_loop
from peirce.records import Verdict
from peirce.records.settings import setting


class PatientSettings(MethodSettings):
    """What `patient` can be set to."""

    method: MethodName = "patient"
    max_answers: MaxAnswers = 10
    tries: int = setting(
        2, "Answers in a row without an accepted hypothesis that end a problem.", ge=1
    )


async def decide(state: State, runtime: Runtime) -> dict[str, str]:
    """Why the problem ends here, if it does."""
    settings = runtime.context.settings.method
    assert isinstance(settings, PatientSettings)
    if state["stop"]:
        return {}
    last = [one.verdict for one in runtime.context.past_answers[-settings.tries :]]
    if len(last) == settings.tries and Verdict.ACCEPTED not in last:
        return {"stop": "tries"}
    return {"stop": "cap"} if state["answers"] >= settings.max_answers else {}


def forecast(of: Sizes) -> CallsByRole:
    """No answer may be new, so `tries` of them may end a problem."""
    settings = of.settings
    return forecast_one_by_one(
        of, 1 if of.may_end else min(settings["tries"], settings["max_answers"])
    )


METHOD = Method(
    "patient",
    "ask again until some answers in a row say nothing new",
    None,
    partial(build_loop, judge, decide),
    settings=PatientSettings,
    forecast=forecast,
)
