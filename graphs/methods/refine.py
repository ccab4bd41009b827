"""`refine`: the oracle in the loop. After every answer the proposer is told what the oracle says of
it (where it fails; of a consistent one, what it costs and what for nothing), and is asked for a
better hypothesis, not for another idea.

It stops at the first of: the target is reached (a consistent hypothesis, and where `target_gap` is
set one that costs no more above its lower bound); the proposer has nothing left to say; the cap on
its answers. With `repair` a search mends and shrinks each answer that falls short of the target;
what it makes is a further answer of the step, told of in the next prompt. No answer is bad here: a
mended hypothesis predicts nearly what the one before it did, so being redundant is no fault.
"""

from __future__ import annotations

from functools import partial

from ...config import MaxAnswers, MendingSettings, MethodName, TargetGap, ToolCalls
from .. import Method
from ..runtime.case import Runtime
from ..runtime.judging import judge_and_tell, repair
from ..runtime.steps import State, ask_for_better, loop


async def decide(state: State, runtime: Runtime) -> dict[str, str]:
    """Why the problem ends here, if it does."""
    full = state["answers"] >= runtime.context.settings.method.max_answers
    return {"stop": "cap"} if full and not state["stop"] else {}


class RefineSettings(MendingSettings):
    """What `refine` can be set to."""

    method: MethodName = "refine"
    max_answers: MaxAnswers = 8
    tool_calls: ToolCalls = 0  # each answer is judged and told, so it is the try
    feedback: bool | None = True
    max_bad: int | None = None
    target_gap: TargetGap = 1.0  # of families that know costs; docs/abd.md says why


METHOD = Method(
    "refine",
    "tell the model what the oracle says of each answer and ask for a better one",
    None,
    partial(loop, judge_and_tell, decide, ask=ask_for_better, repair=repair),
    settings=RefineSettings,
    aim="better",
    text={"examples": 10, "hypotheses": 5},
)
