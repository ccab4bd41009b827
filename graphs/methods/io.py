"""`io`: one request and one answer, which is judged and recorded (ABD, section 6.1).

In the paper, models are asked once, without tools and without feedback. If the setting `tool_calls`
is above 0, the request offers tools, which departs from the paper.
"""

from __future__ import annotations

from functools import partial

from ...config import AskHuman, MethodName, MethodSettings, ToolCalls
from .. import Method
from ..runtime.case import Runtime
from ..runtime.judging import judge
from ..runtime.steps import State, build_loop


async def decide(state: State, runtime: Runtime) -> dict[str, str]:
    """Stop the problem after its answer."""
    return {} if state["stop"] else {"stop": "answered"}


class IoSettings(MethodSettings):
    """Settings of the method `io`."""

    method: MethodName = "io"
    max_answers: int = 1
    tool_calls: ToolCalls = 0
    feedback: bool | None = False
    max_bad: int | None = None
    patience: int | None = None
    problem_tokens: int | None = None
    history_limit: int = 30
    ask_human: AskHuman = False


METHOD = Method(
    "io",
    "ask once, without tools or feedback (ABD)",
    None,
    partial(build_loop, judge, decide, solved_by="accepted"),
    settings=IoSettings,
    hands_over=True,
    text={"examples": 10, "hypotheses": 5},
)
