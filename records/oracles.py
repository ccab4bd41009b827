"""Oracles, which apply hypotheses to inputs: the sandbox, the solver and the judge model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from .calls import Outcome
from .errors import Unavailable
from .hypotheses import Predictions
from .limits import Limits
from .problems import InputSet
from .values import Digest, Json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Keep: TypeAlias = Literal["values", "codes"]
Apply: TypeAlias = Callable[..., Awaitable[Any]]  # applies a hypothesis to inputs


@dataclass(frozen=True)
class Batch:
    """The result of running one program on a set of n inputs.

    Attributes:
        verdict: "ok", or the reason why there is no result: "syntax", "too_slow", "memory",
            "output_too_large", "protocol", "crashed" or "no_function".
        codes, reasons, reason_names: As in `Predictions`, if the run was requested with
            keep="codes".
        values: n results, each {"value": Json} or {"undefined": reason}, if the run was requested
            with keep="values"; otherwise None.
        detail: A message about the failure, at most 500 characters.
        limited: Whether a resource limit affected the result.
        cpu_s: The processor time in seconds.
    """

    verdict: str
    codes: NDArray[np.int64]
    reasons: NDArray[np.uint8]
    reason_names: tuple[str, ...] = ()
    values: tuple[Mapping[str, Json], ...] | None = None
    detail: str = ""
    limited: bool = False
    cpu_s: float = 0.0

    def check_size(self, count: int) -> None:
        """Check that this result has one entry for each of `count` inputs.

        Nothing is checked if the verdict is not "ok".

        Raises:
            ValueError: The number of entries is wrong.
        """
        if self.verdict != "ok":
            return
        if self.values is None:
            _check_codes(self.codes, self.reasons, self.reason_names, count)
        elif len(self.values) != count:
            raise ValueError(f"it has {len(self.values)} results for {count} inputs")


@dataclass(frozen=True)
class Solution:
    """The result of evaluating one rule about worlds on n inputs.

    Which attributes are set depends on the mode (`SolveMode`) of the call.

    Attributes:
        worlds: For the modes "worth" and "explained", n mappings with the keys "valid", "cost",
            "bound" and "reason". The mode "explained" adds "breaches" and "needless"
            (tools/logic/explanations.py).
        codes: For the mode "extension", int64 array of shape (n,). Each input is an element of a
            world, whose unknown atoms may be true or false. The code is 1 if the rule marks the
            element for every choice of their truth values, 2 if only for some choices, and 0 if for
            none.
        reasons, reason_names: For the mode "extension", as in `Predictions`.
    """

    worlds: tuple[Mapping[str, Json], ...] = ()
    codes: NDArray[np.int64] = field(default_factory=lambda: _none("int64"))
    reasons: NDArray[np.uint8] = field(default_factory=lambda: _none("uint8"))
    reason_names: tuple[str, ...] = ()

    def check_size(self, count: int) -> None:
        """Check that this result has one entry for each of `count` inputs.

        Raises:
            ValueError: The number of entries is wrong.
        """
        if not self.worlds:
            _check_codes(self.codes, self.reasons, self.reason_names, count)
        elif len(self.worlds) != count:
            raise ValueError(f"it has {len(self.worlds)} results for {count} inputs")


def _check_codes(
    codes: NDArray[Any], reasons: NDArray[Any], names: Sequence[str], count: int
) -> None:
    for array in (codes, reasons):
        if array.shape != (count,):
            raise ValueError(f"it has {len(array)} results for {count} inputs")
    if count and int(reasons.max()) > len(names):
        raise ValueError(f"it names {len(names)} reasons and uses number {int(reasons.max())}")


def _none(kind: str) -> NDArray[Any]:
    import numpy as np

    return np.zeros(0, kind)


class Execute(Protocol):
    """A function that runs a program on a set of inputs, for the family `programs`."""

    async def __call__(
        self, source: str, entry: str, inputs: InputSet, keep: Keep, equality: Json = None
    ) -> Batch:
        """Run a program on a set of inputs.

        Args:
            source: The source code of the program.
            entry: The name of the function to call.
            inputs: The inputs, one call of the function for each.
            keep: "values" to return the outputs, or "codes" to return numbers that are equal for
                equal outputs.
            equality: The rule of the task that says which outputs are equal; None for the usual
                rule (sandbox/inside/tolerance.py).

        Raises:
            Unavailable: The sandbox failed. An outage never counts as a prediction.
        """
        ...


SolveMode: TypeAlias = Literal["worth", "explained", "extension"]


class Solve(Protocol):
    """A function that evaluates first-order rules about worlds."""

    async def __call__(
        self, theory: Json, rule: str, inputs: InputSet, mode: SolveMode
    ) -> Solution:
        """Evaluate a rule on worlds.

        If the solver reaches a limit on an input, the result for this input has a reason instead of
        a value.

        Args:
            theory: The JSON form of the theory, including how unknown atoms are treated (the
                regime).
            rule: The rule, a formula with allowed predicates only, as an S-expression.
            inputs: The worlds, or pairs [world, element] for the mode "extension".
            mode: The result to compute: "worth" (validity and cost), "explained" (validity, cost
                and where the rule fails) or "extension" (whether the rule marks each element).

        Raises:
            Unavailable: The solver failed.
        """
        ...


class Judge(Protocol):
    """A function that labels texts by a hypothesis that is written as a sentence."""

    async def __call__(
        self, sentence: str, texts: InputSet, public: Mapping[str, Json]
    ) -> Predictions:
        """Return the label that the sentence gives to each text, as an index of `public["labels"]`.

        A prediction is undefined for one of the reasons "does_not_apply", "unreadable" (the judge
        model's answer names no label) and "needs_model" (no exact rule can be parsed from the
        sentence, and no model is available).

        Args:
            sentence: The hypothesis.
            texts: The texts to label.
            public: The public data of the problem (`View.public`).

        Raises:
            Unavailable: The judge model gave no answer.
        """
        ...


@dataclass(frozen=True)
class Oracles:
    """The functions with which a session applies hypotheses: sandbox, solver and judge.

    An attribute is None if the session does not use this oracle.

    Attributes:
        custom: The oracles of families from other packages, by name.
    """

    execute: Execute | None = None
    solve: Solve | None = None
    judge: Judge | None = None
    custom: Mapping[str, Apply] = field(default_factory=dict)

    def with_oracle(self, name: str, apply: Apply) -> Oracles:
        """Return a copy with the function `apply` stored as the oracle `name`.

        Args:
            name: "execute", "solve", "judge", or the name of a custom oracle.
            apply: The function that applies a hypothesis to inputs.
        """
        if name in ("execute", "solve", "judge"):
            known: dict[str, Any] = {name: apply}
            return replace(self, **known)
        return replace(self, custom={**self.custom, name: apply})


@dataclass(frozen=True)
class OracleSettings:
    """The settings for opening a sandbox or solver.

    Attributes:
        sandbox: The name of the sandbox backend.
        workers: The number of processes; None for one per core, or for one process if it is the
            solver.
        strict: Whether to refuse to run if an isolation layer of the sandbox is missing.
        solver: "fast" or "z3".
    """

    sandbox: str = "process"
    workers: int | None = None
    strict: bool = False
    solver: str = "fast"


class OpenOracle(Protocol):
    """A running sandbox or solver."""

    def with_limits(self, limits: Limits) -> Apply:
        """Return an async function that applies one hypothesis to inputs under these resource
        limits.

        The returned function raises Unavailable if the sandbox or solver fails. An outage never
        counts as a prediction.
        """
        ...

    def layers(self) -> Mapping[str, bool]:
        """Return the isolation layers of the sandbox: whether each layer is active, by name."""
        ...

    async def close(self) -> None:
        """Stop the processes of this sandbox or solver and release its resources."""
        ...


@dataclass(frozen=True)
class OracleKind:
    """How a family opens its sandbox or solver, and how the journal records the calls.

    Attributes:
        name: The name of the oracle in call paths and in `Oracles`.
        open: Function that opens the oracle. It raises SandboxUnavailable or UsageError.
        request: Function (limits, call arguments) that returns the JSON value which identifies a
            call in the journal.
        outcome: Function (result, call arguments) that returns the `Outcome` which the journal
            stores.
        result: Function that rebuilds the result from a stored `Outcome`.
        missing: The exception to raise if a session can only read its journal, and a call is not in
            the journal.
        untrusted: Whether the oracle runs untrusted code, so that its node must isolate it.
    """

    name: str
    open: Callable[[OracleSettings], Awaitable[OpenOracle]]
    request: Callable[..., Json]
    outcome: Callable[..., Outcome]
    result: Callable[[Outcome], Any]
    missing: Unavailable
    untrusted: bool = True


class Sandbox(Protocol):
    """A sandbox that runs untrusted Python code under resource limits.

    All sandbox backends return equal results.
    """

    async def put(self, inputs: InputSet) -> Digest:
        """Send an input set to the worker processes, and return its digest for later calls of
        `run`.
        """
        ...

    async def run(
        self,
        source: str,
        entry: str,
        inputs: Digest,
        keep: Keep,
        limits: Limits,
        equality: Json = None,
    ) -> Batch:
        """Run a function on every input of an input set that `put` stored.

        Args:
            source: The source code of the program.
            entry: The name of the function to call.
            inputs: The digest that `put` returned.
            keep: "values" to return the outputs, or "codes" to return numbers that are equal for
                equal outputs.
            limits: The resource limits.
            equality: The rule of the task that says which outputs are equal; None for the usual
                rule.
        """
        ...

    def layers(self) -> Mapping[str, bool]:
        """Return the isolation layers of this sandbox: whether each layer is active, by name."""
        ...

    async def close(self) -> None:
        """Stop all processes of this sandbox."""
        ...
