"""`t3`: exactly three answers in each of several rounds, whatever their verdicts.

GEAR evaluates tuned proposers with this protocol (section 6.2, tables 2 and 4).

Each round is a separate conversation: its prompts show only the earlier answers of the same round,
and a hypothesis is redundant only in comparison with these answers. Step numbers continue across
rounds: round r has the steps 3 (r - 1) + 1 to 3 r. Therefore, the paths and seeds of its calls
differ from those of every other round. If the proposer has no further hypothesis, only the current
round ends, and its remaining step numbers are not used. The built-in search depends only on the
shown observations, so it gives the same answers in every round.

The protocol does not depart from the paper: no tools are offered and no feedback is given, unless
`tool_calls` or `feedback` is set.
"""

from __future__ import annotations

from functools import partial

from pydantic import model_validator

from ...config import Feedback, Fit, MethodName, MethodSettings, ToolCalls
from ...records import Json
from ...records.settings import setting
from .. import Method
from ..forecast import CallsByRole, Sizes, forecast_one_by_one
from ..runtime.case import Runtime
from ..runtime.judging import judge_reply
from ..runtime.steps import State, build_loop

ANSWERS_PER_ROUND = 3  # answers in a round


def round_number(step: int) -> int:
    """Return the number of the round that a step belongs to. Rounds and steps are counted from
    1.
    """
    return (step - 1) // ANSWERS_PER_ROUND + 1


async def judge_in_round(state: State, runtime: Runtime) -> dict[str, Json]:
    """Judge the reply as `judge` does, and record the number of the round."""
    case, step = runtime.context, state["step"]
    judged = await judge_reply(state, case, goes_on=step % ANSWERS_PER_ROUND != 0)
    case.step_fields["round"] = round_number(step)
    return judged


async def decide(state: State, runtime: Runtime) -> dict[str, Json]:
    """Stop the problem after the last round, or continue with the next step.

    A new round begins when the current round has all its answers, or when the proposer has no
    further hypothesis.
    """
    case, step = runtime.context, state["step"]
    if state["stop"]:  # the proposer was exhausted, so there was no step
        step = ANSWERS_PER_ROUND * round_number(step) + 1
    last = case.settings.method.max_answers
    if step > last:
        return {"stop": "answered" if state["answers"] == last else "exhausted"}
    if step % ANSWERS_PER_ROUND == 1:
        case.begin_conversation()
    return {"step": step, "turn": 0, "stop": ""}


class T3Settings(MethodSettings):
    """Settings of the method `t3`. The number of answers (`max_answers`) is computed from
    `rounds`.
    """

    method: MethodName = "t3"
    rounds: int = setting(
        5, "Number of rounds of three answers each (5); for other methods on labelled text,"
           " passes through the rows (1).",
        metavar="N", ge=1,
    )  # fmt: skip
    max_answers: int = 3 * 5
    max_bad: int | None = None
    tool_calls: ToolCalls = 0
    feedback: Feedback = False
    patience: int | None = None
    fit: Fit = "refuse"  # with fewer observations, it would be another problem
    history_limit: int = 30

    @model_validator(mode="before")
    @classmethod
    def _count_answers(cls, values: dict[str, Json]) -> dict[str, Json]:
        rounds = values.get("rounds")
        return (
            {**values, "max_answers": ANSWERS_PER_ROUND * rounds}
            if isinstance(rounds, int)
            else values
        )


def forecast(sizes: Sizes) -> CallsByRole:
    """Count one call for each answer.

    If the proposer can run out of hypotheses, the smallest count is one call per round.
    """
    return forecast_one_by_one(
        sizes, least=sizes.settings["rounds" if sizes.may_end else "max_answers"]
    )


METHOD = Method(
    "t3",
    "ask for exactly three hypotheses, in each of several rounds (GEAR's evaluation)",
    None,
    partial(build_loop, judge_in_round, decide),
    settings=T3Settings,
    forecast=forecast,
    text={"examples": 20, "hypotheses": 1, "judge_space": True},
)
