"""`execute`: a hypothesis' function run over inputs, in the sandbox.

`executor` makes the oracle (records.Execute) from a sandbox; `execute_tool` is the LangChain tool
of the same name, by which a model tries its code on the shown observations before it answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ..records import Batch, Execute, InputSet, Json, Keep, Limits, Observation, Sandbox

if TYPE_CHECKING:
    from langchain_core.tools import StructuredTool
    from pydantic import BaseModel

FAILING_SHOWN = 3
VALUE_CHARACTERS = 400  # of an input or output that a model is shown


class _Executor:
    def __init__(self, sandbox: Sandbox, limits: Limits) -> None:
        self._sandbox = sandbox
        self._limits = limits

    async def __call__(
        self, source: str, entry: str, inputs: InputSet, keep: Keep, equality: Json = None
    ) -> Batch:
        digest = await self._sandbox.put(inputs)
        if equality is None:
            return await self._sandbox.run(source, entry, digest, keep, self._limits)
        return await self._sandbox.run(source, entry, digest, keep, self._limits, equality)


def executor(sandbox: Sandbox, limits: Limits) -> Execute:
    """The execute oracle: puts the input set into the sandbox, which knows whether it has it still,
    and runs.

    What it returns raises Unavailable where the sandbox gives no answer.
    """
    return _Executor(sandbox, limits)


def trial(
    observations: Sequence[Observation],
    marks: Sequence[bool | None],
    got: Sequence[Mapping[str, Json]],
    verdict: str = "ok",
    shown: int = FAILING_SHOWN,
) -> dict[str, Json]:
    """What helps to mend a function: how many observations it explains and the first it does not.

    {"consistent": bool, "passed": k, "of": n, "failing": [{"input", "expected", "got"}, …]}, where
    "got" says `undefined: REASON` where the function gave no value; "verdict" is there where the
    whole run failed (too_slow, memory, …).
    """
    failing = [
        {
            "input": _trim(pair.input),
            "expected": _trim(pair.output),
            "got": _trim(came["value"]) if "value" in came else f"undefined: {came['undefined']}",
        }
        for pair, mark, came in zip(observations, marks, got, strict=True)
        if mark is not True
    ]
    found: dict[str, Json] = {
        "consistent": not failing,
        "passed": len(observations) - len(failing),
        "of": len(observations),
        "failing": failing[:shown],
    }
    if verdict != "ok":
        found["verdict"] = verdict
    return found


def _trim(value: Json) -> Json:
    """The value itself, or the start of its text where it is long."""
    text = value if isinstance(value, str) else repr(value)
    return value if len(text) <= VALUE_CHARACTERS else text[:VALUE_CHARACTERS] + " …"


@cache
def _arguments() -> type[BaseModel]:
    """Made once: pydantic takes two milliseconds for it."""
    from pydantic import BaseModel, Field

    class ExecuteArguments(BaseModel):
        code: str = Field(
            description="Complete Python source of one top-level function of one argument."
        )

    return ExecuteArguments


def execute_tool(attempt: Callable[[str], Awaitable[str]]) -> StructuredTool:
    """The LangChain tool `execute(code)`; `attempt` runs code on the shown observations and
    answers with JSON text. Raises what `attempt` raises: an outage is no answer."""
    from langchain_core.tools import StructuredTool

    async def execute(code: str) -> str:
        return await attempt(code)

    tool: Any = StructuredTool.from_function(
        coroutine=execute,
        name="execute",
        description=(
            "Run a candidate function on all shown inputs and compare with the shown outputs."
            " Returns JSON: consistent (bool), passed, of, and the first failing pairs with"
            " input, expected and got. Use it before you answer; mend the function while it fails."
        ),
        args_schema=_arguments(),
    )
    return tool  # type: ignore[no-any-return]
