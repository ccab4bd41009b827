"""Problems of exception rules for the tests of search/logic: generated ones, and odd ones of a
user's own. What is dear is made once a process.

Internals: an engine is fed problems directly, without the worker process that a proposer starts.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from peirce.records import Problem
from peirce.search.engines import SearchService
from peirce.search.logic.features import Features
from peirce.search.logic.formula_writer import FormulaWriter
from peirce.search.logic.ranking import CandidateRules
from peirce.tasks import load_task
from peirce.tools.logic import (
    SIGNATURE,
    Formula,
    PreparedWorlds,
    Regime,
    Theory,
    World,
    parse_theory,
    parse_world,
    theory_from_json,
)

from ..tools.logic.worlds_at_random import world

BUDGET = 20_000


@lru_cache(maxsize=1)
def generated() -> tuple[Problem, ...]:
    """Twelve, four of each regime."""
    return tuple(load_task("abd").generate(12, 11))


def of_regime(regime: Regime) -> Problem:
    return next(p for p in generated() if p.public["theory"]["regime"] == regime)


@lru_cache(maxsize=16)
def space_of(name: str) -> Any:
    return load_task("abd").space(next(p for p in generated() if p.id == name), 0)


def prepared_of(problem: Problem, hidden: bool = False) -> PreparedWorlds:
    said = problem.public["theory"]
    theory = theory_from_json(said)
    some = problem.hidden if hidden else problem.shown
    worlds = tuple(parse_world(o.input, theory.signature, "") for o in some)
    return PreparedWorlds(theory, worlds, said["regime"])


@lru_cache(maxsize=16)
def found_of(name: str, budget: int = BUDGET) -> CandidateRules:
    """The candidates of a generated problem."""
    problem = next(p for p in generated() if p.id == name)
    return CandidateRules(prepared_of(problem), name, budget)


def default(before: str, after: str, signature: Mapping[str, int], allowed: str = "") -> Theory:
    """A theory with one axiom. allowed: names of predicates; all where it is empty."""
    axiom = f"(forall x (implies (and {before} (not (Ab x))) {after}))"
    return parse_theory(("own",), [axiom], signature, allowed.split() or list(signature), "own")


def worlds_of(
    seed: str, sizes: Sequence[int], unknown: int = 0, signature: Mapping[str, int] = SIGNATURE
) -> tuple[World, ...]:
    draw = random.Random(seed)
    return tuple(world(draw, n, unknown, dict(signature), f"W{k}") for k, n in enumerate(sizes))


def request(
    theory: Theory,
    worlds: Sequence[World],
    regime: Regime,
    *,
    earlier: Sequence[str] = (),
    inputs: Sequence[Any] | None = None,
    budget: int = BUDGET,
    **more: Any,
) -> dict[str, Any]:
    """What a worker is asked. inputs: of the sample space; None: the worlds themselves."""
    shown = [[one.as_json(), True] for one in worlds]
    own = [[one.as_json(), name] for one in worlds for name in one.names]
    return {
        "shown": shown,
        "family": "logic",
        "told": {"theory": theory.as_json() | {"regime": regime}, "trade_off": ""},
        "space": "own",
        "inputs": own if inputs is None else list(inputs),
        "expansions": budget,
        "earlier": list(earlier),
        "skip": [],
        **more,
    }


def answered(*args: Any, **more: Any) -> dict[str, Any]:
    """The reply of a fresh worker."""
    return SearchService().propose(request(*args, **more))


def formula_of(features: Features, place: int) -> Formula:
    writer = FormulaWriter(features)
    return writer.builder.formula(writer.write(place))
