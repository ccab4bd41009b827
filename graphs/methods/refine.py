"""`refine`: the oracle in the loop. Each prompt shows feedback and asks for a better hypothesis.

The feedback says where the last answer fails or, if it is consistent, what it costs and which of
these costs are unnecessary.

It stops when the target is reached (a hypothesis that is right on all shown observations; where
`target_gap` is set, a consistent one whose cost is at most that much above its lower bound), when
the proposer has no further hypothesis, or at the limit on its answers. With `repair`, a search
improves and shortens each answer that misses the target; its result is another answer of the step,
and the next prompt shows it. No answer is bad here: a refined hypothesis predicts nearly the same
as the previous one, so redundancy is no fault.
"""

from __future__ import annotations

from functools import partial

from ...config import MaxAnswers, MethodName, RepairSettings, TargetGap, ToolCalls
from .. import Method
from ..runtime.case import Runtime
from ..runtime.judging import judge_with_feedback, repair
from ..runtime.steps import State, ask_for_better, build_loop


async def decide(state: State, runtime: Runtime) -> dict[str, str]:
    """Return the reason why the problem ends here, if it ends."""
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


METHOD = Method(
    "refine",
    "tell the model what the oracle says of each answer and ask for a better one",
    None,
    partial(build_loop, judge_with_feedback, decide, ask=ask_for_better, repair=repair),
    settings=RefineSettings,
    aim="better",
    text={"examples": 10, "hypotheses": 5},
)
