"""`zero-shot-gen`: hypotheses from what the model knows, without data (HypoBench, section 3).

The first examples give them their place in the bank; the model is shown none.
"""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from ..records import Json
from . import Method
from .bank_steps import admit, ask_for_new, close, record_bank
from .case import Case
from .steps import STEPS_WITHOUT_END, State


async def ask(state: State, runtime: Runtime[Case]) -> dict[str, Json]:
    return await ask_for_new(runtime.context, state, (), ())


def build() -> Any:
    """ask -> admit -> close -> record_bank."""
    graph = StateGraph(State, context_schema=Case)
    for node in (ask, admit, close, record_bank):
        graph.add_node(node)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "admit")
    graph.add_edge("admit", "close")
    graph.add_edge("close", "record_bank")
    graph.add_edge("record_bank", END)
    return graph.compile().with_config(recursion_limit=STEPS_WITHOUT_END)


METHOD = Method(
    "zero-shot-gen",
    "hypotheses without data, from what the model knows (HypoBench)",
    ("text",),
    build(),
    takes=frozenset(),
    text={"hypotheses": 20},
)
