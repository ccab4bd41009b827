"""`abduce`: GEAR's protocol (paper, section 4.1). Ask for a hypothesis, then again and again for
one that is consistent and new, until three answers in total were bad, the proposer has nothing
left to say, or the cap on answers is reached.

An answer is bad if it is malformed, inconsistent with what is shown, or redundant: at least 80%
of its predictions on the sample space were made by earlier parsable answers.
"""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from . import Method
from .case import Case
from .judging import judge
from .steps import STEPS_WITHOUT_END, State, after_ask, ask, record, use_tools


async def after_record(state: State, runtime: Runtime[Case]) -> str:
    return END if state["stop"] or runtime.context.stopping.is_set() else "ask"


async def decide(state: State, runtime: Runtime[Case]) -> dict[str, str]:
    """Why the problem ends here, if it does."""
    settings = runtime.context.settings
    if state["stop"]:
        return {}
    if state["bad"] >= settings.max_bad:
        return {"stop": "three_bad" if settings.max_bad == 3 else "bad"}
    return {"stop": "cap"} if state["answers"] >= settings.max_answers else {}


def build() -> Any:
    """ask -> (use_tools -> ask)* -> judge -> record -> decide -> ask …; a model that refuses tools
    is asked again without."""
    graph = StateGraph(State, context_schema=Case)
    for node in (ask, use_tools, judge, record, decide):
        graph.add_node(node)
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", after_ask, ["ask", "use_tools", "judge", "record"])
    graph.add_edge("use_tools", "ask")
    graph.add_edge("judge", "record")
    graph.add_edge("record", "decide")
    graph.add_conditional_edges("decide", after_record, ["ask", END])
    return graph.compile().with_config(recursion_limit=STEPS_WITHOUT_END)


METHOD = Method(
    "abduce",
    "ask for ever more hypotheses until three answers were bad (GEAR)",
    ("programs", "logic", "text"),
    build(),
    text={"examples": 20, "hypotheses": 1, "banks_all": False, "judge_space": True},
)
