"""`abduce`: GEAR's protocol (paper, section 4.1). Ask for a hypothesis, then again and again for
one that is consistent and new, until three answers in total were bad, the proposer has nothing
left to say, or the cap on answers is reached.

An answer is bad if it is malformed, inconsistent with what is shown, or redundant: at least 80%
of its predictions on the sample space were made by earlier parsable answers.
"""

from __future__ import annotations

from functools import partial

from .. import Method
from ..runtime.case import Runtime
from ..runtime.judging import judge
from ..runtime.steps import State, loop


async def decide(state: State, runtime: Runtime) -> dict[str, str]:
    """Why the problem ends here, if it does."""
    settings = runtime.context.settings.method
    if state["stop"]:
        return {}
    if settings.max_bad is not None and state["bad"] >= settings.max_bad:
        return {"stop": "three_bad" if settings.max_bad == 3 else "bad"}
    return {"stop": "cap"} if state["answers"] >= settings.max_answers else {}


METHOD = Method(
    "abduce",
    "ask for ever more hypotheses until three answers were bad (GEAR)",
    None,
    partial(loop, judge, decide),
    text={"examples": 20, "hypotheses": 1, "banks_all": False, "judge_space": True},
)
