"""The oracle `solve`, which decides exactly whether a rule is valid in finite worlds.

The oracle belongs to the task family `logic` and has the type `records.Solve`. A direct computation
with NumPy, the fast path (`logic/fast_path.py`), answers first. If the fast path cannot answer, the
question goes to Z3 (`logic/z3_solver.py`) in a separate process. With the solver `z3`, every
question goes to Z3, which serves to test the fast path. Z3 has a limit in its internal resource
count, and is killed after a limit of wall-clock time. If a limit is reached, the answer gives this
as a reason and contains no verdict.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..records import (
    InputSet,
    Json,
    Limits,
    OracleKind,
    OracleSettings,
    Outcome,
    Solution,
    SolveMode,
    Unavailable,
    UsageError,
    digest_of,
)
from .line_process import LineProcess, ProcessDied
from .logic.explanations import explain_rule
from .logic.fast_path import BeyondFastPath, PreparedWorlds
from .logic.formula import Formula
from .logic.parser import parse_formula
from .logic.theories import Theory, theory_from_json
from .logic.worlds import World, parse_world
from .logic.z3_solver import LIMITED, MAX_RESOURCES, SOLVER_LIMIT

if TYPE_CHECKING:
    from langchain_core.tools import StructuredTool
    from pydantic import BaseModel

SOLVERS = ("fast", "z3")
WALL_S = 300.0  # for one question; Z3 gets there only if it fails to count its resources
TIMED_OUT = "solver_time"  # the reason reported when Z3 exceeds the wall clock
_KEPT = 64  # prepared sets of worlds, about a megabyte each
_MODULE = "peirce.tools.logic.z3_worker"


def check_solver(name: str) -> None:
    """Raise UsageError if `name` is not in `SOLVERS`."""
    if name not in SOLVERS:
        raise UsageError(f"there is no solver {name!r}; choose one of {', '.join(SOLVERS)}")


class _Inputs:
    """A prepared input set: worlds, or pairs [world, element]."""

    def __init__(self, theory: Theory, regime: Any, inputs: InputSet, pairs: bool) -> None:
        raw: list[Json] = []
        self.rows: list[tuple[int, int]] = []  # for each pair, the index of its world and element
        if pairs:
            places: dict[int | str, int] = {}
            for world, element in inputs.inputs:
                # Equal worlds are stored once. Pairs of one world usually share one object, so the
                # identity is tried before the digest.
                place = places.get(id(world))
                if place is None:
                    place = places.setdefault(digest_of(world), len(raw))
                    places[id(world)] = place
                    if place == len(raw):
                        raw.append(world)
                self.rows.append((place, raw[place]["domain"].index(element)))
        else:
            raw = list(inputs.inputs)
        self.worlds: tuple[World, ...] = tuple(
            parse_world(one, theory.signature, f"world {number}")
            for number, one in enumerate(raw, 1)
        )
        self.raw = raw
        self.prepared = PreparedWorlds(theory, self.worlds, regime)


class Solver:
    """The oracle that judges rules exactly. Call it as a `records.Solve`.

    Args:
        solver: "fast" asks Z3 only if the fast path cannot answer; "z3" always asks Z3.
        workers: Number of Z3 processes. `close` ends these processes.
        resources: Limit for one question, in units of Z3's internal resource count.
        wall_s: Limit for one question, in seconds of wall-clock time.
    """

    def __init__(
        self,
        solver: str = "fast",
        workers: int = 1,
        resources: int = MAX_RESOURCES,
        wall_s: float = WALL_S,
    ) -> None:
        check_solver(solver)
        self.solver = solver
        self.resources, self.wall_s = resources, wall_s
        self.prepared_inputs: OrderedDict[tuple[str, str, bool], _Inputs] = OrderedDict()
        self.processes = [LineProcess(_MODULE) for _ in range(max(1, workers))]
        self.locks = [asyncio.Lock() for _ in self.processes]

    def with_limits(self, limits: Limits) -> Solver:
        """Return this solver unchanged; its own limits do not depend on `limits`."""
        return self

    def layers(self) -> Mapping[str, bool]:
        """Return an empty mapping, because rules are judged without a sandbox."""
        return {}

    async def __call__(
        self, theory: Json, rule: str, inputs: InputSet, wanted: SolveMode
    ) -> Solution:
        known = theory_from_json(theory)
        formula = parse_formula(rule, known.predicates)
        pairs = wanted == "extension"
        key = (digest_of(theory), inputs.digest, pairs)
        ready = self._ready(key, known, theory["regime"], inputs, pairs)
        if self.solver == "fast":
            try:
                return _fast(ready, formula, wanted)
            except BeyondFastPath:
                pass
        told = _explain_by_fast_path(ready, formula) if wanted == "explained" else None
        if told is None:
            return await self._by_z3(key, theory, rule, ready, wanted)
        solved = await self._by_z3(key, theory, rule, ready, "worth")
        return Solution(tuple({**one, **why} for one, why in zip(solved.worlds, told, strict=True)))

    def _ready(
        self, key: tuple[str, str, bool], theory: Theory, regime: Any, inputs: InputSet, pairs: bool
    ) -> _Inputs:
        if key not in self.prepared_inputs:
            self.prepared_inputs[key] = _Inputs(theory, regime, inputs, pairs)
            if len(self.prepared_inputs) > _KEPT:
                self.prepared_inputs.popitem(last=False)
        self.prepared_inputs.move_to_end(key)
        return self.prepared_inputs[key]

    async def _by_z3(
        self, key: tuple[str, str, bool], theory: Json, rule: str, ready: _Inputs, wanted: SolveMode
    ) -> Solution:
        name = digest_of(list(key))
        request = {
            "key": name, "theory": theory, "regime": theory["regime"], "worlds": ready.raw,
            "rule": rule, "wanted": wanted, "resources": self.resources,
        }  # fmt: skip
        place = int(name[:8], 16) % len(self.processes)
        process = self.processes[place]
        async with self.locks[place]:
            for _ in range(2):
                try:
                    return _solution(await process.ask(request, self.wall_s), ready, wanted)
                except ProcessDied:
                    await process.close()
                except TimeoutError:
                    await process.close()
                    return _limited_solution(ready, wanted, TIMED_OUT)
                except asyncio.CancelledError:
                    await process.close()
                    raise
        raise Unavailable("The solver's process died twice on one rule.")

    async def close(self) -> None:
        """End the Z3 processes of this solver."""
        await asyncio.gather(*(process.close() for process in self.processes))


def _explain_by_fast_path(ready: _Inputs, rule: Formula) -> list[dict[str, Json]] | None:
    """Return the fast path's explanation of each world; None if it is beyond the fast path.

    Z3 does not name elements and is asked only where the fast path ends. No verdict rests on this.
    """
    try:
        return [one.as_json() for one in explain_rule(ready.prepared, rule)]
    except BeyondFastPath:
        return None


def _fast(ready: _Inputs, rule: Formula, wanted: SolveMode) -> Solution:
    if wanted == "extension":
        return _extension_solution(ready.prepared.extension(rule), ready)
    worths = [worth._asdict() for worth in ready.prepared.judge(rule)]
    if wanted == "explained":
        told = [one.as_json() for one in explain_rule(ready.prepared, rule)]
        worths = [worth | one for worth, one in zip(worths, told, strict=True)]
    return Solution(tuple(worths))


def _solution(reply: Any, ready: _Inputs, wanted: SolveMode) -> Solution:
    if wanted == "extension":
        return _extension_solution(np.array(reply, np.int8), ready)
    return Solution(tuple(reply))


def _extension_solution(marks: Any, ready: _Inputs) -> Solution:
    codes = np.array([marks[at] for at in ready.rows], np.int64)
    limited = codes == LIMITED
    names = (SOLVER_LIMIT,) if limited.any() else ()
    return Solution((), np.where(limited, 0, codes), limited.astype(np.uint8), names)


def _limited_solution(ready: _Inputs, wanted: SolveMode, reason: str) -> Solution:
    if wanted == "extension":
        count = len(ready.rows)
        return Solution((), np.zeros(count, np.int64), np.ones(count, np.uint8), (reason,))
    nothing: dict[str, Json] = {"valid": None, "cost": None, "bound": None, "reason": reason}
    if wanted == "explained":
        nothing |= {"breaches": [], "needless": []}
    return Solution((nothing,) * len(ready.worlds))


@cache
def _arguments() -> type[BaseModel]:
    from pydantic import BaseModel, Field

    class SolveArguments(BaseModel):
        formula: str = Field(description="alpha(x) as an S-expression.")

    return SolveArguments


def build_solve_tool(attempt: Callable[[str], Awaitable[str]]) -> StructuredTool:
    """Return the LangChain tool `solve(formula)`.

    Args:
        attempt: A function that judges a rule in the worlds of the prompt and returns JSON text. An
            exception that `attempt` raises also leaves the tool, because an outage is not an
            answer.
    """
    from langchain_core.tools import StructuredTool

    async def solve(formula: str) -> str:
        return await attempt(formula)

    tool: Any = StructuredTool.from_function(
        coroutine=solve,
        name="solve",
        description=(
            "Judge a candidate rule alpha(x) exactly in all worlds shown. Returns JSON: consistent"
            " (bool), in how many worlds it is valid, its cost, the lower bound of any rule's cost,"
            " its size, and where it fails: the world, the element or completion that breaks it,"
            " and the elements that it marks without need. Use it before you answer."
        ),
        args_schema=_arguments(),
    )
    return tool  # type: ignore[no-any-return]


async def open_oracle(settings: OracleSettings) -> Solver:
    """Create the solver that `settings` name.

    Raises:
        UsageError: There is no solver with this name.
    """
    return Solver(settings.solver, settings.workers or 1)


def _request(limits: Limits, theory: Json, rule: str, inputs: InputSet, wanted: SolveMode) -> Json:
    return {
        "tool": "solve",
        "theory": theory,
        "rule": rule,
        "inputs": inputs.digest,
        "wanted": wanted,
    }


def _outcome(
    found: Solution, theory: Json, rule: str, inputs: InputSet, wanted: SolveMode
) -> Outcome:
    response = {
        "worlds": [dict(one) for one in found.worlds],
        "reason_names": list(found.reason_names),
    }
    if wanted != "extension":
        return Outcome(response)
    return Outcome(response, {"codes": found.codes, "reasons": found.reasons})


def _solution_from_outcome(outcome: Outcome) -> Solution:
    response, vectors = outcome.response, outcome.vectors
    worlds = tuple(response["worlds"])
    if not vectors:
        return Solution(worlds)
    names = tuple(response["reason_names"])
    return Solution(worlds, vectors["codes"], vectors["reasons"], names)


SOLVE = OracleKind(
    name="solve",
    open=open_oracle,
    request=_request,
    outcome=_outcome,
    result=_solution_from_outcome,
    missing=Unavailable("This session has no solver, only its journal: no rule can be judged."),
    untrusted=False,
)
