"""`literature`: hypotheses from papers alone (HypoBench, section 3: literature-based generation).

Each paper is summarised, one prompt over all summaries asks for hypotheses, each of which names its paper
and quotes it. The first examples give them their place in the bank; no label shapes them.
"""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from ..records import Json
from . import Method
from .bank_steps import admit, ask_for_new, close, record_bank
from .case import Case
from .papers_read import summarise
from .steps import STEPS_WITHOUT_END, State


async def ask(state: State, runtime: Runtime[Case]) -> dict[str, Json]:
    return await ask_for_new(runtime.context, state, (), runtime.context.summaries)


def build() -> Any:
    """summarise -> ask -> admit -> close -> record_bank."""
    graph = StateGraph(State, context_schema=Case)
    for node in (summarise, ask, admit, close, record_bank):
        graph.add_node(node)
    graph.add_edge(START, "summarise")
    graph.add_edge("summarise", "ask")
    graph.add_edge("ask", "admit")
    graph.add_edge("admit", "close")
    graph.add_edge("close", "record_bank")
    graph.add_edge("record_bank", END)
    return graph.compile().with_config(recursion_limit=STEPS_WITHOUT_END)


METHOD = Method(
    "literature",
    "hypotheses from papers, each with its source (HypoBench)",
    ("text",),
    build(),
    takes=frozenset(),
    reads=frozenset({"literature"}),
)
