"""Statistics of the problems of the task `abd`: tables 1 and F.1 of the paper, and densities of
worlds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from ....records import Json, Observation, Problem
from ....tasks.logic.measures import RuleMeasures, WorldResults
from ....tools.logic.fast_path import REGIMES
from ....tools.logic.formula import format_infix
from ....tools.logic.theories import Theory, theory_from_json
from ...files.tables import Cell, Table
from .records import Facts

SIDES = ("prompt", "holdout")


@dataclass(frozen=True)
class WorldStatistics:
    """Statistics of the prompt worlds or of the holdouts of a problem, with one value per world.

    Args:
        sizes: Number of elements of each world.
        true: For each predicate, the share of the possible atoms that are true in each world.
        unknown: For each predicate, the share of the possible atoms that are unknown in each world.
        unknown_atoms: Number of unknown atoms of each world.
        bounds: Lower bound of the cost of a valid rule in each world.
        costs: Cost of the planted rule in each world; None for a world in which the rule is not
            valid. Empty if the problem has no planted rule.
    """

    sizes: tuple[int, ...]
    true: Mapping[str, tuple[float, ...]]
    unknown: Mapping[str, tuple[float, ...]]
    unknown_atoms: tuple[int, ...]
    bounds: tuple[int | None, ...]
    costs: tuple[int | None, ...]


@dataclass(frozen=True)
class ProblemStatistics:
    """A problem with the statistics of its worlds.

    Args:
        in_scope: Whether an answer may contain the planted rule; None if the problem has no planted
            rule.
    """

    facts: Facts
    theory: Theory
    in_scope: bool | None
    prompt: WorldStatistics
    holdout: WorldStatistics

    def get_side(self, name: str) -> WorldStatistics:
        """Return the statistics of the prompt worlds if `name` is "prompt", otherwise of the
        holdouts.
        """
        return self.prompt if name == "prompt" else self.holdout


def describe_problem(
    problem: Problem, facts: Facts, measures: RuleMeasures, reference: bool, in_scope: bool
) -> ProblemStatistics:
    """Return a problem with the statistics of its worlds.

    Args:
        problem: The problem of the task `abd`.
        facts: Regime, theory and other properties of the problem.
        measures: Validity and cost of a rule in each world. If `reference` is False, this may be
            any rule, because only the lower bounds are used.
        reference: Whether `measures` belongs to the planted rule, from which the problem was made.
        in_scope: Whether an answer may contain the planted rule; False if it uses a forbidden
            predicate.
    """
    theory = theory_from_json(problem.public["theory"])
    return ProblemStatistics(
        facts,
        theory,
        in_scope if reference else None,
        _side(problem.shown, theory, measures.prompt, reference),
        _side(problem.hidden, theory, measures.holdout, reference),
    )


def _side(
    worlds: Sequence[Observation], theory: Theory, part: WorldResults, reference: bool
) -> WorldStatistics:
    data = [one.input for one in worlds]
    sizes = tuple(len(world["domain"]) for world in data)

    def shares(key: str) -> dict[str, tuple[float, ...]]:
        return {
            name: tuple(_share(world, key, name, places) for world in data)
            for name, places in theory.signature.items()
        }

    return WorldStatistics(
        sizes=sizes,
        true=shares("true"),
        unknown=shares("unknown"),
        unknown_atoms=tuple(
            sum(len(atoms) for atoms in world.get("unknown", {}).values()) for world in data
        ),
        bounds=tuple(world["lower_bound"] for world in part.worlds),
        costs=tuple(world["cost"] for world in part.worlds) if reference else (),
    )


def _share(world: Json, key: str, name: str, places: int) -> float:
    return len(world.get(key, {}).get(name, ())) / float(len(world["domain"]) ** places)


# --- tables --------------------------------------------------------------------------


def table_1a(problems: Sequence[ProblemStatistics]) -> Table:
    """Return table 1a: the problems, worlds per problem, elements and theories of each regime."""
    rows: list[tuple[Cell, ...]] = []
    for regime, some in group_by_regime(problems):
        sizes = [n for one in some for side in (one.prompt, one.holdout) for n in side.sizes]
        theories = dict.fromkeys(sorted((one.facts.theory for one in some), key=_natural))
        rows.append(
            (
                regime, len(some),
                fmean(one.facts.prompt_worlds for one in some),
                fmean(one.facts.holdout_worlds for one in some),
                min(sizes), max(sizes), ", ".join(theories),
            )
        )  # fmt: skip
    heads = ("regime", "problems", "prompt worlds", "holdouts", "elements least", "elements most",
             "theories")  # fmt: skip
    return Table(heads, tuple(rows))


def table_1b(problems: Sequence[ProblemStatistics]) -> Table:
    """Return table 1b: the axioms, allowed and forbidden predicates, and problems of each
    theory.
    """
    rows: list[tuple[Cell, ...]] = []
    theories = {one.facts.theory: one.theory for one in problems}
    for name in sorted(theories, key=_natural):
        theory = theories[name]
        counts = Counter(one.facts.regime for one in problems if one.facts.theory == name)
        rows.append(
            (
                name,
                "; ".join(map(format_infix, theory.axioms)),
                " ".join(sorted(theory.allowed)),
                " ".join(theory.forbidden),
                *(counts[regime] for regime in REGIMES),
            )
        )
    return Table(("theory", "axioms", "allowed", "forbidden", *REGIMES), tuple(rows))


def table_f1(problems: Sequence[ProblemStatistics]) -> Table:
    """Return table F.1, which compares prompt worlds with holdouts.

    Each value is a mean over the worlds of a problem, and then over problems. The cost of the
    planted rule covers only problems in which this rule is valid in all prompt worlds (or in all
    holdouts).
    """
    rows: list[tuple[Cell, ...]] = []
    for regime, some in group_by_regime(problems):
        for name in SIDES:
            sides = [one.get_side(name) for one in some if one.get_side(name).sizes]
            costed = [side for side in sides if side.costs and None not in side.costs]
            bounded = [side for side in sides if None not in side.bounds]
            both = [side for side in costed if None not in side.bounds]
            rows.append(
                (
                    regime, name, len(sides), _mean(len(side.sizes) for side in sides),
                    _mean(_per_world(side.costs) for side in costed), len(costed),
                    _mean(_per_world(side.bounds) for side in bounded),
                    _mean(_per_world(side.costs) - _per_world(side.bounds) for side in both),
                )
            )  # fmt: skip
    heads = ("regime", "worlds", "problems", "worlds a problem", "reference cost",
             "problems where it is valid", "lower bound", "reference gap")  # fmt: skip
    return Table(heads, tuple(rows))


def worlds_table(problems: Sequence[ProblemStatistics]) -> Table:
    """Return the mean, minimum and maximum of each statistic over worlds, by regime.

    Prompt worlds and holdouts have separate rows. Statistics of planted rules are over problems.
    """
    rows: list[tuple[Cell, ...]] = []

    def add(regime: str, side: str, name: str, values: Iterable[float | None]) -> None:
        kept = [value for value in values if value is not None]
        if kept:
            rows.append((regime, side, name, fmean(kept), min(kept), max(kept), len(kept)))

    for regime, some in group_by_regime(problems):
        for name in SIDES:
            sides = [one.get_side(name) for one in some]
            add(regime, name, "elements", _all(sides, lambda side: side.sizes))
            for predicate in dict.fromkeys(p for one in some for p in one.theory.signature):
                for key in ("true", "unknown"):
                    shares = [getattr(side, key).get(predicate, ()) for side in sides]
                    values = [value for share in shares for value in share]
                    if key == "true" or any(values):
                        add(regime, name, f"share of {predicate} {key}", values)
            if regime != "full":
                add(regime, name, "unknown atoms", _all(sides, lambda side: side.unknown_atoms))
            add(regime, name, "lower bound", _all(sides, lambda side: side.bounds))
            add(regime, name, "reference cost", _all(sides, lambda side: side.costs))
        sizes = [one.facts.reference_size for one in some]
        add(regime, "", "reference AST size", sizes)
        legal = [None if one.in_scope is None else float(one.in_scope) for one in some]
        add(regime, "", "reference in scope", legal)
    heads = ("regime", "worlds", "statistic", "mean", "least", "most", "n")
    return Table(heads, tuple(rows))


def group_by_regime(
    problems: Sequence[ProblemStatistics],
) -> list[tuple[str, list[ProblemStatistics]]]:
    """Return (regime, problems) for each regime that occurs, in the order of `REGIMES`.

    If several regimes occur, a last group contains all problems.
    """
    found: list[tuple[str, list[ProblemStatistics]]] = []
    for regime in REGIMES:
        if some := [one for one in problems if one.facts.regime == regime]:
            found.append((regime, some))
    return [*found, ("all", list(problems))] if len(found) > 1 else found


def _all(
    sides: Sequence[WorldStatistics], of: Callable[[WorldStatistics], Sequence[float | None]]
) -> list[float | None]:
    return [value for side in sides for value in of(side)]


def _mean(values: Iterable[float]) -> float | None:
    kept = list(values)
    return fmean(kept) if kept else None


def _per_world(numbers: Sequence[int | None]) -> float:
    return sum(number or 0 for number in numbers) / len(numbers)


def _natural(name: str) -> tuple[int, str]:
    """Return a sort key that puts T2 before T10, and other names in alphabetical order."""
    digits = "".join(c for c in name.partition(" ")[0] if c.isdigit())
    return int(digits or 0), name
