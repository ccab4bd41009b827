"""`abduce`: GEAR's protocol (paper, section 4.1).

It asks for a hypothesis, then repeatedly for another one that is consistent and new. It stops after
three bad answers in total, when the proposer has no further hypothesis, or at the limit on answers.

An answer is bad if it is malformed, inconsistent with the shown observations, or redundant: at
least 80% of its predictions on the sample space were made by earlier parsable answers.
"""

from __future__ import annotations

from functools import partial

from .. import Method
from ..runtime.case import Runtime
from ..runtime.judging import judge
from ..runtime.steps import State, build_loop


async def decide(state: State, runtime: Runtime) -> dict[str, str]:
    """Return the reason why the problem ends here, if it ends."""
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
    partial(build_loop, judge, decide),
    text={"examples": 20, "hypotheses": 1, "banks_all": False, "judge_space": True},
)
