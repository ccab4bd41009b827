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

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from . import Method
from .case import Case
from .judging import judge_and_tell, repair
from .steps import STEPS_WITHOUT_END, State, after_ask, ask_for_better, record, use_tools


async def after_judge(state: State, runtime: Runtime[Case]) -> str:
    return "repair" if runtime.context.settings.repair and not state["stop"] else "record"


async def after_record(state: State, runtime: Runtime[Case]) -> str:
    return END if state["stop"] or runtime.context.stopping.is_set() else "ask"


async def decide(state: State, runtime: Runtime[Case]) -> dict[str, str]:
    """Why the problem ends here, if it does."""
    full = state["answers"] >= runtime.context.settings.max_answers
    return {"stop": "cap"} if full and not state["stop"] else {}


def build() -> Any:
    """ask -> (use_tools -> ask)* -> judge -> (repair) -> record -> decide -> ask …"""
    graph = StateGraph(State, context_schema=Case)
    graph.add_node("ask", ask_for_better)
    graph.add_node("judge", judge_and_tell)
    for node in (use_tools, repair, record, decide):
        graph.add_node(node)
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", after_ask, ["ask", "use_tools", "judge", "record"])
    graph.add_edge("use_tools", "ask")
    graph.add_conditional_edges("judge", after_judge, ["repair", "record"])
    graph.add_edge("repair", "record")
    graph.add_edge("record", "decide")
    graph.add_conditional_edges("decide", after_record, ["ask", END])
    return graph.compile().with_config(recursion_limit=STEPS_WITHOUT_END)


METHOD = Method(
    "refine",
    "tell the model what the oracle says of each answer and ask for a better one",
    ("programs", "logic", "text"),
    build(),
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
