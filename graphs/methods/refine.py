"""`refine`: ask for better hypotheses, with feedback on each answer.

The feedback says where the last answer fails. If the last answer is consistent, the feedback says
what it costs and which of these costs are unnecessary.

The method stops when the target is reached, at the maximum number of answers, or when the proposer
has no further hypothesis. The target is a hypothesis that is right on all shown observations. In
families with costs, if `target_gap` is set, the target is a consistent hypothesis whose cost
exceeds its lower bound by at most `target_gap` per observation. With the setting `repair`, a search
improves and shortens each answer that misses the target. The repaired hypothesis is another answer
of the step, and the next prompt shows it. With the setting `seed_hypotheses`, the search gives
hypotheses before the first request; one of them that reaches the target ends the problem. No answer
counts as bad, because a refined hypothesis is expected to predict nearly the same as the hypothesis
before.
"""

from __future__ import annotations

from functools import partial

from ...config import MaxAnswers, MethodName, RepairSettings, TargetGap, ToolCalls
from .. import Method
from ..forecast import CallsByRole, Sizes, forecast_one_by_one
from ..runtime.case import Runtime
from ..runtime.judging import judge_with_feedback, repair
from ..runtime.seeding import seed_towards_target
from ..runtime.steps import State, ask_for_better, build_loop


async def decide(state: State, runtime: Runtime) -> dict[str, str]:
    """Stop the problem at the maximum number of answers."""
    full = state["answers"] >= runtime.context.settings.method.max_answers
    return {"stop": "cap"} if full and not state["stop"] else {}


class RefineSettings(RepairSettings):
    """Settings of the method `refine`."""

    method: MethodName = "refine"
    max_answers: MaxAnswers = 8
    tool_calls: ToolCalls = 0  # each answer is judged with feedback, so no tool is needed to try it
    feedback: bool | None = True
    max_bad: int | None = None
    target_gap: TargetGap = (
        1.0  # for families with costs; docs/explanation/exception-rules.md explains the value
    )


def forecast(sizes: Sizes) -> CallsByRole:
    """Count the calls as for any method with one answer at a time.

    With seeds, the smallest number of answers is 0, because a seed that reaches the target ends the
    problem.
    """
    return forecast_one_by_one(sizes, least=0 if sizes.settings.get("seed_hypotheses") else None)


METHOD = Method(
    "refine",
    "tell the model what the oracle says of each answer and ask for a better one",
    None,
    partial(
        build_loop,
        judge_with_feedback,
        decide,
        ask=ask_for_better,
        repair=repair,
        solved_by="target",
        seed=seed_towards_target,
    ),
    settings=RefineSettings,
    aim="better",
    hands_over=True,
    text={"examples": 10, "hypotheses": 5},
    forecast=forecast,
)
