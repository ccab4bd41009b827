"""`io`: one request, one answer, judged and recorded, and the problem is at its end (ABD, section 6.1:
models are asked once, without tools and without feedback).

Tools go with the request where `tool_calls` says so; then it is no longer the paper's protocol.
"""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from . import Method
from .case import Case
from .judging import judge
from .steps import STEPS_WITHOUT_END, State, after_ask, ask, record, use_tools


async def close(state: State, runtime: Runtime[Case]) -> dict[str, str]:
    return {} if state["stop"] else {"stop": "answered"}


def build() -> Any:
    """ask -> (use_tools -> ask)* -> judge -> record -> close."""
    graph = StateGraph(State, context_schema=Case)
    for node in (ask, use_tools, judge, record, close):
        graph.add_node(node)
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", after_ask, ["ask", "use_tools", "judge", "record"])
    graph.add_edge("use_tools", "ask")
    graph.add_edge("judge", "record")
    graph.add_edge("record", "close")
    graph.add_edge("close", END)
    return graph.compile().with_config(recursion_limit=STEPS_WITHOUT_END)


METHOD = Method(
    "io",
    "ask once, without tools or feedback (ABD)",
    ("programs", "logic", "text"),
    build(),
    takes=frozenset({"template"}),
    settings={"max_answers": 1, "tool_calls": 0, "feedback": False, "max_bad": None},
    text={"examples": 10, "hypotheses": 5},
)
