"""What applies hypotheses to inputs: sandbox, solver, judge, their limits and their results."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from .calls import Outcome
from .errors import Unavailable
from .hypotheses import Predictions
from .problems import InputSet
from .values import Digest, Json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# --- What a hypothesis may use in the sandbox.


@dataclass(frozen=True)
class Limits:
    """Of the sandbox. A limit on one input gives that input a reason; a limit on the batch gives
    the whole hypothesis one verdict. Passes of `while` loops are counted, which no clock decides;
    CPU times are for what that does not catch."""

    loop_steps: int = 50_000  # one input
    recursion: int = 1_000  # one input, frames
    input_cpu_s: float = 1.0
    value_bytes: int = 100_000  # one output in canonical form
    batch_loop_steps: int = 100_000_000  # batch, from here on: a few seconds of CPU
    cpu_s: float = 20.0
    wall_s: float = 120.0
    memory_mb: int = 512
    output_bytes: int = 32_000_000


Keep: TypeAlias = Literal["values", "codes"]
Apply: TypeAlias = Callable[..., Awaitable[Any]]  # of a hypothesis to inputs


@dataclass(frozen=True)
class Batch:
    """One hypothesis run over one input set of n inputs.

    verdict: "ok" or the reason why there is no result: "syntax", "too_slow", "memory",
    "output_too_large", "protocol", "crashed", "no_function". codes, reasons, reason_names: as in
    `Predictions` (keep="codes"). values: n entries, {"value": Json} or {"undefined": reason}
    (keep="values"). detail: at most 500 characters.
    """

    verdict: str
    codes: NDArray[np.int64]
    reasons: NDArray[np.uint8]
    reason_names: tuple[str, ...] = ()
    values: tuple[Mapping[str, Json], ...] | None = None
    detail: str = ""
    limited: bool = False
    cpu_s: float = 0.0


@dataclass(frozen=True)
class Solution:
    """What the solver says of one rule over n inputs.

    worlds: n entries {"valid", "cost", "bound", "reason"}, and where it was to be explained
    "breaches" and "needless" (tools/logic/explaining.py); empty for an extension.
    codes: int64 (n,), whether the rule covers the element in no, every or some completions (0, 1,
    2), for an extension. reasons, reason_names: as in `Predictions`.
    """

    worlds: tuple[Mapping[str, Json], ...] = ()
    codes: NDArray[np.int64] = field(default_factory=lambda: _none("int64"))
    reasons: NDArray[np.uint8] = field(default_factory=lambda: _none("uint8"))
    reason_names: tuple[str, ...] = ()


def _none(kind: str) -> NDArray[Any]:
    import numpy as np

    return np.zeros(0, kind)


class Execute(Protocol):
    """The oracle of programs."""

    async def __call__(
        self, source: str, entry: str, inputs: InputSet, keep: Keep, equality: Json = None
    ) -> Batch:
        """equality: the task's rule for codes, where it has one (sandbox/inside/tolerance.py).
        Raises Unavailable; an outage is never a prediction."""
        ...


Wanted: TypeAlias = Literal["worth", "explained", "extension"]


class Solve(Protocol):
    """The oracle of rules about worlds."""

    async def __call__(self, theory: Json, rule: str, inputs: InputSet, wanted: Wanted) -> Solution:
        """theory: its JSON form with the regime; rule: a formula in scope, as it is written.
        inputs: worlds, or for an extension pairs [world, element]. Raises Unavailable; a limit is a
        reason in the answer."""
        ...


class Judge(Protocol):
    """The oracle of sentences about labelled text."""

    async def __call__(
        self, sentence: str, texts: InputSet, told: Mapping[str, Json]
    ) -> Predictions:
        """Which label the sentence gives each text: codes are indices of told["labels"] (told:
        `View.public`). Undefined for the reasons "does_not_apply", "unreadable" (the judge's answer
        names no label) and "needs_model" (no exact rule, and no model judges here). Raises
        Unavailable."""
        ...


@dataclass(frozen=True)
class Oracles:
    """What applies hypotheses; injected by the runner. None: this session has no such oracle. others:
    those of families that other packages bring, by name."""

    execute: Execute | None = None
    solve: Solve | None = None
    judge: Judge | None = None
    others: Mapping[str, Apply] = field(default_factory=dict)

    def having(self, name: str, apply: Apply) -> Oracles:
        """The same with one more, by the name of its kind."""
        if name in ("execute", "solve", "judge"):
            known: dict[str, Any] = {name: apply}
            return replace(self, **known)
        return replace(self, others={**self.others, name: apply})


@dataclass(frozen=True)
class OracleSettings:
    """How an oracle is opened. sandbox: its backend. workers: processes; None for one a core, of the
    solver one. strict: refuse where a wanted layer of the sandbox is missing. solver: fast or z3."""

    sandbox: str = "process"
    workers: int | None = None
    strict: bool = False
    solver: str = "fast"


class OpenOracle(Protocol):
    """An oracle that was opened: a sandbox, a solver."""

    def bound(self, limits: Limits) -> Apply:
        """What applies one hypothesis to inputs, under limits. It raises Unavailable; an outage is never
        a prediction."""
        ...

    def layers(self) -> Mapping[str, bool]:
        """Of a sandbox its layers, and whether each is there."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True)
class OracleKind:
    """How the hypotheses of a family are applied, and what of that the journal keeps.

    Args:
        name: in paths of the journal, and among `Oracles`.
        open: makes it. Raises SandboxUnavailable, UsageError.
        request: what the journal knows a call by, from the limits and the arguments of the call.
        outcome: what the journal keeps of a result, from that and the arguments.
        result: the result that an outcome was made of.
        missing: what is raised where a session has its journal alone.
    """

    name: str
    open: Callable[[OracleSettings], Awaitable[OpenOracle]]
    request: Callable[..., Json]
    outcome: Callable[..., Outcome]
    result: Callable[[Outcome], Any]
    missing: Unavailable


class Sandbox(Protocol):
    """Untrusted Python over a set of inputs, under limits. `process` and `docker` answer alike."""

    async def put(self, inputs: InputSet) -> Digest: ...

    async def run(
        self,
        source: str,
        entry: str,
        inputs: Digest,
        keep: Keep,
        limits: Limits,
        equality: Json = None,
    ) -> Batch: ...

    def layers(self) -> Mapping[str, bool]: ...

    async def close(self) -> None: ...
