"""The oracle `execute`, which runs the function of a hypothesis on inputs in the sandbox.

`EXECUTE` defines how a session opens the oracle and records its answers in the journal.
`build_executor` returns the oracle (`records.Execute`) for a sandbox. `build_execute_tool` returns
a LangChain tool, also named `execute`, with which a model tries its code on the shown observations
before it answers.

A model needs to see complete grids, so a value is shown as compact JSON up to the length of a grid
of 30 by 30. Of a longer value, the beginning, the end and the size are shown. The first failing
observation is always shown. Other failing observations follow as long as all of them fit.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..records import (
    Batch,
    Execute,
    InputSet,
    Json,
    Keep,
    Limits,
    Observation,
    OracleKind,
    OracleSettings,
    Outcome,
    Sandbox,
    SandboxUnavailable,
)

if TYPE_CHECKING:
    from langchain_core.tools import StructuredTool
    from pydantic import BaseModel

MAX_FAILING_SHOWN = 3
MAX_VALUE_CHARACTERS = 2_000  # for one input or output; a grid of 30 by 30 has 1,861
MAX_TRIAL_CHARACTERS = 8_000  # for all failing observations: three of 20 by 20, one of 30 by 30


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


def build_executor(sandbox: Sandbox, limits: Limits) -> Execute:
    """Return an execute oracle that runs hypotheses in a sandbox under fixed limits.

    Each call first puts the input set into the sandbox, unless the sandbox already holds the set,
    and then runs the function on the inputs. A call raises Unavailable when the sandbox does not
    answer.
    """
    return _Executor(sandbox, limits)


class SandboxOracle:
    """A sandbox in the form that sessions open as an oracle (`records.OpenOracle`)."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    def with_limits(self, limits: Limits) -> Execute:
        """Return an execute oracle that runs hypotheses in this sandbox under `limits`."""
        return build_executor(self.sandbox, limits)

    def layers(self) -> Mapping[str, bool]:
        """Return the isolation layers of the sandbox, and whether each layer is active."""
        return self.sandbox.layers()

    async def close(self) -> None:
        """Close the sandbox."""
        await self.sandbox.close()


async def open_oracle(settings: OracleSettings) -> SandboxOracle:
    """Open the sandbox that `settings` name and return it as an oracle.

    Raises:
        SandboxUnavailable: The sandbox cannot be started on this machine.
        UsageError: The settings are invalid.
    """
    from ..sandbox import open_sandbox

    return SandboxOracle(await open_sandbox(settings.sandbox, settings.workers, settings.strict))


def _request(
    limits: Limits, source: str, entry: str, inputs: InputSet, keep: Keep, equality: Json = None
) -> Json:
    return {
        "tool": "execute",
        "source": source,
        "entry": entry,
        "inputs": inputs.digest,
        "keep": keep,
        "limits": dict(vars(limits)),
        **({} if equality is None else {"equality": equality}),
    }


def _outcome(
    batch: Batch, source: str, entry: str, inputs: InputSet, keep: Keep, equality: Json = None
) -> Outcome:
    response = {
        "verdict": batch.verdict,
        "reason_names": list(batch.reason_names),
        "detail": batch.detail,
        "limited": batch.limited,
    }
    if keep == "values":
        values = None if batch.values is None else [dict(value) for value in batch.values]
        return Outcome({**response, "values": values})
    return Outcome(response, {"codes": batch.codes, "reasons": batch.reasons})


def _batch(outcome: Outcome) -> Batch:
    response = outcome.response
    values = response.get("values")
    none = "values" in response  # With values, no codes were kept.
    return Batch(
        verdict=response["verdict"],
        codes=np.zeros(0, np.int64) if none else outcome.vectors["codes"],
        reasons=np.zeros(0, np.uint8) if none else outcome.vectors["reasons"],
        reason_names=tuple(response["reason_names"]),
        values=None if values is None else tuple(values),
        detail=response["detail"],
        limited=response["limited"],
    )


EXECUTE = OracleKind(
    name="execute",
    open=open_oracle,
    request=_request,
    outcome=_outcome,
    result=_batch,
    missing=SandboxUnavailable(
        "This session has no sandbox, only its journal: no code can be run."
    ),
)


def summarise_trial(
    observations: Sequence[Observation],
    marks: Sequence[bool | None],
    results: Sequence[Mapping[str, Json]],
    verdict: str = "ok",
    max_failing: int = MAX_FAILING_SHOWN,
) -> dict[str, Json]:
    """Summarise a trial run: how many observations a function explains, and which fail first.

    Args:
        observations: The shown observations.
        marks: For each observation, whether the function explains it; None if the function returned
            no value.
        results: For each observation, `{"value": ...}`, or `{"undefined": REASON}` if the function
            returned no value.
        verdict: The verdict on the run as a unit: "ok", or the reason why the run failed.
        max_failing: The largest number of failing observations to include.

    Returns:
        `{"consistent": bool, "passed": k, "of": n, "failing": [{"input", "expected", "got"}, …]}`.
        The text under "got" is `undefined: REASON` if the function returned no value. The key
        "verdict" is present only if the run failed (too_slow, memory, …). After the first failing
        observation, others follow as long as they fit into `MAX_TRIAL_CHARACTERS`. A value of more
        than `MAX_VALUE_CHARACTERS` is replaced by a `TruncatedJson`.
    """
    wrong = [i for i, mark in enumerate(marks) if mark is not True]
    found: dict[str, Json] = {
        "consistent": not wrong,
        "passed": len(observations) - len(wrong),
        "of": len(observations),
        "failing": _fitting(_case(observations[i], results[i]) for i in wrong[:max_failing]),
    }
    if verdict != "ok":
        found["verdict"] = verdict
    return found


def format_trial(found: Json) -> str:
    """Return the result of `summarise_trial` as compact JSON text without spaces."""
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


class TruncatedJson(str):
    """The JSON text of a value that is too long to show, cut to its beginning and its end."""

    __slots__ = ()


def _case(pair: Observation, came: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "input": _trim(pair.input),
        "expected": _trim(pair.output),
        "got": _trim(came["value"]) if "value" in came else f"undefined: {came['undefined']}",
    }


def _fitting(cases: Iterable[dict[str, Json]]) -> list[dict[str, Json]]:
    taken: list[dict[str, Json]] = []
    left = MAX_TRIAL_CHARACTERS
    for case in cases:
        left -= len(format_trial(case))
        if taken and left < 0:
            break
        taken.append(case)
    return taken


def _trim(value: Json) -> Json:
    """Return the value itself, or a `TruncatedJson` that states its length if it is too long."""
    text = format_trial(value)[1:-1] if isinstance(value, str) else format_trial(value)
    if len(text) <= MAX_VALUE_CHARACTERS:
        return value
    size = f"{len(value):,} items, " if isinstance(value, list | dict) else ""
    middle = f" … [{size}{len(text):,} characters, the middle left out] … "
    end = (MAX_VALUE_CHARACTERS - len(middle)) // 2
    return TruncatedJson(text[: MAX_VALUE_CHARACTERS - len(middle) - end] + middle + text[-end:])


@cache
def _arguments() -> type[BaseModel]:
    """Build the argument schema once: pydantic takes two milliseconds for it."""
    from pydantic import BaseModel, Field

    class ExecuteArguments(BaseModel):
        code: str = Field(
            description="Complete Python source of one top-level function of one argument."
        )

    return ExecuteArguments


def build_execute_tool(attempt: Callable[[str], Awaitable[str]]) -> StructuredTool:
    """Return the LangChain tool `execute(code)`.

    Args:
        attempt: A function that runs code on the shown observations and returns JSON text. An
            exception that `attempt` raises also leaves the tool, because an outage is not an
            answer.
    """
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
