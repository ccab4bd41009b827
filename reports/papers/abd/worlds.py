"""Statistics of the problems of task `abd`: tables 1 and F.1 of the paper, and the shares of true
and unknown atoms of their worlds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from ....records import Json, Observation, Problem
from ....tasks.logic.measures import Measured, Part
from ....tools.logic.formula import usual
from ....tools.logic.judging import REGIMES
from ....tools.logic.theories import Theory, theory_from
from ...files.tables import Cell, Table
from .records import Facts

SIDES = ("prompt", "holdout")


@dataclass(frozen=True)
class Side:
    """Prompt worlds, or holdouts; a value each world. sizes: of the domains; true, unknown: by
    predicate, shares of the possible atoms; unknown_atoms: their number; bounds: lower bounds;
    costs: of the planted rule, None where it is not valid, empty where there is none."""

    sizes: tuple[int, ...]
    true: Mapping[str, tuple[float, ...]]
    unknown: Mapping[str, tuple[float, ...]]
    unknown_atoms: tuple[int, ...]
    bounds: tuple[int | None, ...]
    costs: tuple[int | None, ...]


@dataclass(frozen=True)
class Described:
    """A problem. in_scope: whether the planted rule is legal; None where there is none."""

    facts: Facts
    theory: Theory
    in_scope: bool | None
    prompt: Side
    holdout: Side

    def side(self, name: str) -> Side:
        return self.prompt if name == "prompt" else self.holdout


def described(
    problem: Problem, facts: Facts, of_rule: Measured, reference: bool, in_scope: bool
) -> Described:
    """of_rule: the planted rule, or with `reference` False any rule, of which only the bounds
    count."""
    theory = theory_from(problem.public["theory"])
    return Described(
        facts,
        theory,
        in_scope if reference else None,
        _side(problem.shown, theory, of_rule.prompt, reference),
        _side(problem.hidden, theory, of_rule.holdout, reference),
    )


def _side(worlds: Sequence[Observation], theory: Theory, part: Part, reference: bool) -> Side:
    data = [one.input for one in worlds]
    sizes = tuple(len(world["domain"]) for world in data)

    def shares(key: str) -> dict[str, tuple[float, ...]]:
        return {
            name: tuple(_share(world, key, name, places) for world in data)
            for name, places in theory.signature.items()
        }

    return Side(
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


def table_1a(problems: Sequence[Described]) -> Table:
    """By regime: problems, worlds a problem, elements, theories."""
    rows: list[tuple[Cell, ...]] = []
    for regime, some in by_regime(problems):
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


def table_1b(problems: Sequence[Described]) -> Table:
    """The theories: axioms, what a rule may hold, problems by regime."""
    rows: list[tuple[Cell, ...]] = []
    theories = {one.facts.theory: one.theory for one in problems}
    for name in sorted(theories, key=_natural):
        theory = theories[name]
        counts = Counter(one.facts.regime for one in problems if one.facts.theory == name)
        rows.append(
            (
                name,
                "; ".join(map(usual, theory.axioms)),
                " ".join(sorted(theory.allowed)),
                " ".join(theory.forbidden),
                *(counts[regime] for regime in REGIMES),
            )
        )
    return Table(("theory", "axioms", "allowed", "forbidden", *REGIMES), tuple(rows))


def table_f1(problems: Sequence[Described]) -> Table:
    """Prompt worlds beside holdouts: means over problems of what they have a world. The planted
    rule's cost is of the problems where it is valid in all worlds of the side."""
    rows: list[tuple[Cell, ...]] = []
    for regime, some in by_regime(problems):
        for name in SIDES:
            sides = [one.side(name) for one in some if one.side(name).sizes]
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


def worlds_table(problems: Sequence[Described]) -> Table:
    """Each statistic over worlds (over problems of planted rules), by regime and side: mean, least
    and most."""
    rows: list[tuple[Cell, ...]] = []

    def add(regime: str, side: str, name: str, values: Iterable[float | None]) -> None:
        kept = [value for value in values if value is not None]
        if kept:
            rows.append((regime, side, name, fmean(kept), min(kept), max(kept), len(kept)))

    for regime, some in by_regime(problems):
        for name in SIDES:
            sides = [one.side(name) for one in some]
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


def by_regime(problems: Sequence[Described]) -> list[tuple[str, list[Described]]]:
    """The regimes that occur, in one order; where there are several, all together at the end."""
    found: list[tuple[str, list[Described]]] = []
    for regime in REGIMES:
        if some := [one for one in problems if one.facts.regime == regime]:
            found.append((regime, some))
    return [*found, ("all", list(problems))] if len(found) > 1 else found


def _all(sides: Sequence[Side], of: Callable[[Side], Sequence[float | None]]) -> list[float | None]:
    return [value for side in sides for value in of(side)]


def _mean(values: Iterable[float]) -> float | None:
    kept = list(values)
    return fmean(kept) if kept else None


def _per_world(numbers: Sequence[int | None]) -> float:
    return sum(number or 0 for number in numbers) / len(numbers)


def _natural(name: str) -> tuple[int, str]:
    """T2 before T10, and names of other kinds by the alphabet."""
    digits = "".join(c for c in name.partition(" ")[0] if c.isdigit())
    return int(digits or 0), name
