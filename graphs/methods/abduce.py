"""`abduce`: the protocol of GEAR (paper, section 4.1).

The method asks for a hypothesis, then repeatedly for another hypothesis that is consistent and
novel. It stops after three bad answers in total, at the maximum number of answers, or when the
proposer has no further hypothesis. An answer is bad if it is malformed, inconsistent with the shown
observations, or redundant. A hypothesis is redundant if earlier answers already made at least 80%
of its predictions on the sample space, the set of inputs on which hypotheses are compared.

With the setting `seed_hypotheses`, the embedded search gives hypotheses before the first request.
With the setting `repair`, it repairs each answer that is wrong on shown observations (programs, and
rules of abd), and the repaired hypothesis is another answer of the step. Neither counts as an answer
of the model, and neither is ever bad. The model's own answer stays bad after it was repaired.
"""

from __future__ import annotations

from functools import partial

from ...config import AbduceSettings
from .. import Method
from ..runtime.case import Runtime
from ..runtime.judging import judge, repair_inconsistent
from ..runtime.seeding import seed
from ..runtime.steps import State, build_loop


async def decide(state: State, runtime: Runtime) -> dict[str, str]:
    """Stop the problem after too many bad answers or at the maximum number of answers.

    The returned change of the state contains the reason, or nothing if the problem continues.
    """
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
    partial(build_loop, judge, decide, repair=repair_inconsistent, seed=seed, solved_by="accepted"),
    settings=AbduceSettings,
    hands_over=True,
    text={"examples": 20, "hypotheses": 1, "judge_space": True},
)
