"""`io`: one request, one answer, judged and recorded, and the problem is at its end (ABD, section 6.1:
models are asked once, without tools and without feedback).

Tools go with the request where `tool_calls` says so; then it is no longer the paper's protocol.
"""

from __future__ import annotations

from functools import partial

from ...config import MethodName, MethodSettings, ToolCalls
from .. import Method
from ..runtime.case import Runtime
from ..runtime.judging import judge
from ..runtime.steps import State, loop


async def decide(state: State, runtime: Runtime) -> dict[str, str]:
    return {} if state["stop"] else {"stop": "answered"}


class IoSettings(MethodSettings):
    """What `io` can be set to."""

    method: MethodName = "io"
    max_answers: int = 1
    tool_calls: ToolCalls = 0
    feedback: bool | None = False
    max_bad: int | None = None


METHOD = Method(
    "io",
    "ask once, without tools or feedback (ABD)",
    None,
    partial(loop, judge, decide),
    settings=IoSettings,
    text={"examples": 10, "hypotheses": 5},
)
