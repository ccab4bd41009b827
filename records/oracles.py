"""Oracles that apply hypotheses to inputs: sandbox, solver and judge, with limits and results."""

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
    """The result of running one hypothesis over one input set of n inputs.

    Attributes:
        verdict: "ok" or the reason why there is no result: "syntax", "too_slow", "memory",
            "output_too_large", "protocol", "crashed", "no_function".
        codes, reasons, reason_names: As in `Predictions` (keep="codes").
        values: n entries, {"value": Json} or {"undefined": reason} (keep="values").
        detail: A message about the failure, at most 500 characters.
        limited: Whether a limit affected the result.
        cpu_s: The processor time, in seconds.
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
        """Raise ValueError unless a result with the verdict "ok" belongs to `count` inputs."""
        if self.verdict != "ok":
            return
        if self.values is None:
            _check_codes(self.codes, self.reasons, self.reason_names, count)
        elif len(self.values) != count:
            raise ValueError(f"it has {len(self.values)} results for {count} inputs")


@dataclass(frozen=True)
class Solution:
    """The solver's results for one rule over n inputs.

    Attributes:
        worlds: For the modes "worth" and "explained", n entries {"valid", "cost", "bound",
            "reason"}; for "explained" also with "breaches" and "needless"
            (tools/logic/explanations.py).
        codes: For the mode "extension", which asks for the elements that the rule marks, int64 of
            shape (n,). The code is 1 if the rule marks the element for every choice of truth values
            of the unknown atoms, 2 if only for some choices, and 0 if for none.
        reasons, reason_names: For the mode "extension", as in `Predictions`.
    """

    worlds: tuple[Mapping[str, Json], ...] = ()
    codes: NDArray[np.int64] = field(default_factory=lambda: _none("int64"))
    reasons: NDArray[np.uint8] = field(default_factory=lambda: _none("uint8"))
    reason_names: tuple[str, ...] = ()

    def check_size(self, count: int) -> None:
        """Raise ValueError unless the results belong to `count` inputs."""
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
    """The oracle of the family `programs`: runs a program on a set of inputs."""

    async def __call__(
        self, source: str, entry: str, inputs: InputSet, keep: Keep, equality: Json = None
    ) -> Batch:
        """Run a program on a set of inputs.

        Args:
            source: The source of the program.
            entry: The name of the function to call.
            inputs: The inputs.
            keep: "values" for the outputs, or "codes" for numbers that are equal for equal outputs.
            equality: The task's rule that says which outputs are equal, if it has one
                (sandbox/inside/tolerance.py).

        Raises:
            Unavailable: The sandbox failed. An outage is never a prediction.
        """
        ...


SolveMode: TypeAlias = Literal["worth", "explained", "extension"]


class Solve(Protocol):
    """The oracle that judges first-order rules about worlds."""

    async def __call__(
        self, theory: Json, rule: str, inputs: InputSet, mode: SolveMode
    ) -> Solution:
        """Evaluate a rule on worlds.

        Args:
            theory: The theory's JSON form with the regime.
            rule: A formula with allowed predicates only, as an S-expression.
            inputs: Worlds, or pairs [world, element] for the mode "extension".
            mode: The result to compute: "worth" (validity and cost), "explained" (also where the
                rule fails) or "extension" (the marked elements). If the solver reaches a limit, the
                result has a reason instead.

        Raises:
            Unavailable: The solver failed.
        """
        ...


class Judge(Protocol):
    """The oracle that applies sentences to labelled texts."""

    async def __call__(
        self, sentence: str, texts: InputSet, public: Mapping[str, Json]
    ) -> Predictions:
        """Return the labels that the sentence gives to the texts, as indices of public["labels"].

        A prediction is undefined for the reason "does_not_apply", "unreadable" (the judge's answer
        names no label) or "needs_model" (there is no exact rule, and no model is available).

        Args:
            public: `View.public` of the problem.

        Raises:
            Unavailable: The judge gave no answer.
        """
        ...


@dataclass(frozen=True)
class Oracles:
    """The oracles that a session uses: sandbox, solver and judge; None for an oracle that it lacks.

    `custom` contains the oracles of families from other packages, by name.
    """

    execute: Execute | None = None
    solve: Solve | None = None
    judge: Judge | None = None
    custom: Mapping[str, Apply] = field(default_factory=dict)

    def with_oracle(self, name: str, apply: Apply) -> Oracles:
        """Return a copy with one more oracle, stored under the name of its kind."""
        if name in ("execute", "solve", "judge"):
            known: dict[str, Any] = {name: apply}
            return replace(self, **known)
        return replace(self, custom={**self.custom, name: apply})


@dataclass(frozen=True)
class OracleSettings:
    """The settings with which an oracle is opened.

    Attributes:
        sandbox: The backend of the sandbox.
        workers: The number of processes; None for one per core (for the solver: one).
        strict: Whether to refuse to run if a layer of the sandbox is missing.
        solver: "fast" or "z3".
    """

    sandbox: str = "process"
    workers: int | None = None
    strict: bool = False
    solver: str = "fast"


class OpenOracle(Protocol):
    """An opened oracle: a sandbox or a solver."""

    def with_limits(self, limits: Limits) -> Apply:
        """Return the function that applies one hypothesis to inputs under these limits.

        If the oracle fails, that function raises Unavailable; an outage is never a prediction.
        """
        ...

    def layers(self) -> Mapping[str, bool]:
        """Return the layers of a sandbox and whether each is active."""
        ...

    async def close(self) -> None:
        """Stop the oracle's processes and release its resources."""
        ...


@dataclass(frozen=True)
class OracleKind:
    """How the hypotheses of a family are applied, and which parts of a call the journal records.

    Attributes:
        name: The name in call paths and in `Oracles`.
        open: Function that opens the oracle. It raises SandboxUnavailable or UsageError.
        request: Function that returns what identifies a call in the journal, from the limits and
            the call's arguments.
        outcome: Function that returns what the journal keeps of a result, from the result and the
            arguments.
        result: Function that rebuilds the result from an outcome.
        missing: The exception to raise if a session has only its journal, and a call is not in it.
    """

    name: str
    open: Callable[[OracleSettings], Awaitable[OpenOracle]]
    request: Callable[..., Json]
    outcome: Callable[..., Outcome]
    result: Callable[[Outcome], Any]
    missing: Unavailable


class Sandbox(Protocol):
    """Runs untrusted Python on a set of inputs, under limits. All backends give equal results."""

    async def put(self, inputs: InputSet) -> Digest:
        """Store an input set in the workers and return its digest."""
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
        """Run the function `entry` of `source` on a stored input set."""
        ...

    def layers(self) -> Mapping[str, bool]:
        """Return the isolation layers and whether each is active."""
        ...

    async def close(self) -> None:
        """Stop all processes of the sandbox."""
        ...
