"""The function `solve`: judge an exception rule in finite worlds, without a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...records import (
    Agreement,
    DataError,
    Hypothesis,
    InputSet,
    Json,
    Malformed,
    Observation,
    OracleSettings,
    Problem,
    UsageError,
)
from ..arguments import validate_call
from ..oracles import open_oracles
from ..session.event_loops import run_coroutine
from .oracle_results import Solved, WorldResult

MAX_WORLDS = 10_000
_NAME = "worlds"
_PLACE = f"problem {_NAME!r}, "  # in messages of the reader, before what is wrong


@validate_call
def solve(
    rule: str,
    worlds: Sequence[Mapping[str, Any]],
    *,
    theory: str | Mapping[str, Any] = "T1",
    regime: str = "full",
    solver: str = "fast",
) -> Solved:
    """Judge exactly in which worlds a rule about exceptions is valid, and what it costs.

    Args:
        rule: the rule alpha(x) as an S-expression, such as "(exists y (R x y))".
        worlds: the worlds, each {"domain": [names], "true": {predicate: [atoms]}} and optionally
            "id" and, outside the full regime, "unknown" (docs/tutorials/exception-rules.md).
        theory: the name of a published theory, T1 to T7, or {"axioms": [formulas], "signature":
            {predicate: number of arguments}, "allowed": [predicates]}.
        regime: how unknown atoms are treated: full (there are none), partial or skeptical.
        solver: fast (a direct computation, and Z3 where it does not suffice) or z3.

    Returns:
        A `Solved`. A rule that is no formula, or that uses a predicate which the theory forbids, is
        malformed.

    Raises:
        UsageError: there are no worlds or too many, or there is no such solver.
        DataError: a world, the theory or the regime is invalid.
    """
    from ...tools.solve import check_solver

    check_solver(solver)
    if not worlds or len(worlds) > MAX_WORLDS:
        raise UsageError(f"worlds must be a list of 1 to {MAX_WORLDS:,} worlds")
    problem = _read_problem(worlds, theory, regime)
    return run_coroutine(_solve(problem, rule, solver))


def _read_problem(
    worlds: Sequence[Mapping[str, Any]], theory: str | Mapping[str, Any], regime: str
) -> Problem:
    from ...tasks.io.table_files import open_data
    from ...tasks.logic.own_worlds import read_own_worlds

    row = {"id": _NAME, "regime": regime, "theory": theory, "worlds": list(worlds)}
    try:
        with open_data([row]) as path:
            return read_own_worlds(Path(path))[0]
    except DataError as error:  # without the place in a file that the caller did not write
        raise DataError(str(error).rpartition(_PLACE)[2]) from None


async def _solve(problem: Problem, text: str, solver: str) -> Solved:
    from ...tasks import problem_family

    family, view = problem_family(problem), problem.make_view(InputSet("none", ()))
    rule = family.parse_hypothesis(text, view)
    if isinstance(rule, Malformed):
        reason = f"{rule.reason}: {rule.detail}" if rule.detail else rule.reason
        return Solved(
            verdict="malformed", reason=reason, rule="", cost=None, lower_bound=None, worlds=[]
        )
    async with open_oracles(family, OracleSettings(workers=1, solver=solver)) as opened:
        found = await family.measure_agreement(rule, problem.shown, view, opened.make_oracles())
    return _summarize(rule, problem, found)


def _summarize(rule: Hypothesis, problem: Problem, found: Agreement) -> Solved:
    worlds = [_world(*one) for one in zip(problem.shown, found.marks, found.got, strict=True)]
    wrong = sum(mark is False for mark in found.marks)
    unknown = sum(mark is None for mark in found.marks)
    verdict = "inconsistent" if wrong else "undecided" if unknown else "consistent"
    reasons = {
        "inconsistent": f"not valid in {wrong} of {len(worlds)} worlds",
        "undecided": f"the solver reached a limit in {unknown} of {len(worlds)} worlds",
    }
    return Solved(
        verdict=verdict,
        reason=reasons.get(verdict, ""),
        rule=rule.text,
        cost=found.detail.get("cost"),
        lower_bound=found.detail.get("bound"),
        worlds=worlds,
    )


def _world(world: Observation, mark: bool | None, got: Mapping[str, Json]) -> WorldResult:
    value = got.get("value") or {}
    return WorldResult(
        world=world.input.get("id", ""),
        valid=mark,
        cost=value.get("cost"),
        lower_bound=value.get("bound"),
        reason=got.get("undefined"),
        breaches=list(value.get("breaches", ())),
        needless=list(value.get("needless", ())),
    )
