"""`io`: one request, one answer, judged and recorded, and the problem is at its end (ABD, section 6.1:
models are asked once, without tools and without feedback).

Tools go with the request where `tool_calls` says so; then it is no longer the paper's protocol.
"""

from __future__ import annotations

from langgraph.runtime import Runtime

from . import Method
from .case import Case
from .judging import judge
from .steps import State, loop


async def decide(state: State, runtime: Runtime[Case]) -> dict[str, str]:
    return {} if state["stop"] else {"stop": "answered"}


METHOD = Method(
    "io",
    "ask once, without tools or feedback (ABD)",
    ("programs", "logic", "text"),
    loop(judge, decide),
    takes=frozenset({"template"}),
    settings={"max_answers": 1, "tool_calls": 0, "feedback": False, "max_bad": None},
    text={"examples": 10, "hypotheses": 5},
)
