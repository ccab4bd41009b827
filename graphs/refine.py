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

from langgraph.runtime import Runtime

from . import Method
from .case import Case
from .judging import judge_and_tell, repair
from .steps import State, ask_for_better, loop


async def decide(state: State, runtime: Runtime[Case]) -> dict[str, str]:
    """Why the problem ends here, if it does."""
    full = state["answers"] >= runtime.context.settings.max_answers
    return {"stop": "cap"} if full and not state["stop"] else {}


METHOD = Method(
    "refine",
    "tell the model what the oracle says of each answer and ask for a better one",
    ("programs", "logic", "text"),
    loop(judge_and_tell, decide, ask=ask_for_better, repair=repair),
    aim="better",
    takes=frozenset({"max_answers", "target_gap", "repair", "template"}),
    settings={
        "max_answers": 8,
        "tool_calls": 0,  # each answer is judged and told, so it is the try
        "feedback": True,
        "max_bad": None,
        "target_gap": 1.0,  # of families that know costs; docs/abd.md says why
    },
    of_family={"text": {"max_answers": 4}},  # the published three rounds after the first answer
    text={"examples": 10, "hypotheses": 5},
)
