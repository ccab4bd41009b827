"""The function `execute`: run a function on inputs in the sandbox, without a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...records import InputSet, Json, Malformed, OracleSettings, UsageError
from ..arguments import validate_call
from ..oracles import open_oracles
from ..session.event_loops import run_coroutine
from .oracle_results import Execution, InputResult

MAX_INPUTS = 100_000


@validate_call
def execute(
    source: str,
    inputs: Sequence[Any],
    *,
    sandbox: str = "process",
    strict_sandbox: bool = False,
) -> Execution:
    """Run a Python function on inputs in the sandbox, under the limits of a session.

    On Linux and in Docker, the code cannot read files, open connections or start processes.
    docs/explanation/safety.md says what holds on which system, and `layers` of the result which layers
    are active here. The limits are those of `records.Limits`: for one input, for example, 1 second of processor time and 50,000
    iterations of `while`.

    Args:
        source: the source of a function of one argument. The last top-level function named f, fn,
            solve or transform is called, or the last one of any name.
        inputs: the arguments of the calls, as JSON values.
        sandbox: the backend, process or docker.
        strict_sandbox: refuse to run if an isolation layer is missing here.

    Returns:
        An `Execution` with a value, or the reason why there is none, for each input.

    Raises:
        UsageError: there are no inputs or too many, an input is no JSON value, or there is no such
            backend.
        SandboxUnavailable: the sandbox cannot be started here.
    """
    return run_coroutine(_execute(source, _check_inputs(inputs), sandbox, strict_sandbox))


def _check_inputs(inputs: Sequence[Any]) -> InputSet:
    if isinstance(inputs, str) or not inputs:
        raise UsageError("inputs must be a list of at least one input")
    if len(inputs) > MAX_INPUTS:
        raise UsageError(f"{len(inputs):,} inputs are too many: at most {MAX_INPUTS:,} can be run")
    found = InputSet("inputs", tuple(inputs))
    try:
        _ = found.digest
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"inputs must hold JSON values: {error}") from None
    return found


async def _execute(source: str, inputs: InputSet, sandbox: str, strict: bool) -> Execution:
    from ...tasks import load_family
    from ...tasks.programs.source import read_source

    hypothesis = read_source(source)
    if isinstance(hypothesis, Malformed):
        reason = f"{hypothesis.reason}: {hypothesis.detail}" if hypothesis.detail else ""
        return Execution(
            verdict="malformed", reason=reason or hypothesis.reason, function="", results=[],
            breaches=[], limited=False, layers={},
        )  # fmt: skip
    settings = OracleSettings(sandbox, 1, strict)
    async with open_oracles(load_family("programs"), settings) as opened:
        run = opened.make_oracles().execute
        assert run is not None
        entry = str(hypothesis.meta["entry"])
        batch = await run(hypothesis.text, entry, inputs, "values")
        layers = dict(opened.layers)
    found: Sequence[Any] = batch.values or ()
    return Execution(
        verdict=batch.verdict,
        reason="" if batch.verdict == "ok" else batch.detail or batch.verdict,
        function=entry,
        results=[_result(one) for one in found],
        breaches=list(hypothesis.breaches),
        limited=batch.limited,
        layers=layers,
    )


def _result(found: dict[str, Json]) -> InputResult:
    """Return the result for one input, whose value may be None."""
    return InputResult.from_dict(found)
