"""Check conditions on each world of an instance, and count how often each condition holds.

The conditions concern sizes, densities, unknown atoms, the reference rule and recorded numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import floor

from ....records import Json
from ....tools.logic.worlds import World
from ...io.messages import shorten
from ..generation.filters import HOLDOUT_CONDITIONS, WORLD_CONDITIONS, prompt_ranges
from ..generation.recipes import MAX_HOLDOUT_ATTEMPTS, Recipe
from .reading import AuditedInstance, AuditedSet, AuditedWorld

MAX_OFFENDERS = 5  # offenders that a check keeps


@dataclass
class Check:
    """A condition that an audit checks many times, with the numbers of passes and failures.

    Args:
        check: the condition, as text.
        of: the objects on which the condition is checked, such as "prompt world".
        passed: the number of objects for which the condition holds.
        failed: the number of objects for which the condition does not hold.
        offenders: the first failures, each with the value that was found.
    """

    check: str
    of: str
    passed: int = 0
    failed: int = 0
    offenders: list[str] = field(default_factory=list)

    def count(self, holds: bool, where: str, found: str = "") -> None:
        """Record one pass or failure of this check.

        Args:
            holds: whether the condition holds.
            where: the object that was checked, for the list of failures.
            found: the value that was found, for the list of failures.
        """
        if holds:
            self.passed += 1
            return
        self.failed += 1
        if len(self.offenders) < MAX_OFFENDERS:
            self.offenders.append(f"{where}: {found}" if found else where)

    def as_json(self) -> dict[str, Json]:
        """Return the check as JSON."""
        return {
            "check": self.check,
            "of": self.of,
            "passed": self.passed,
            "failed": self.failed,
            "offenders": list(self.offenders),
        }


class CheckCounter:
    """The checks of an audit by name, in the order in which they were first counted."""

    def __init__(self) -> None:
        self.by_name: dict[str, Check] = {}

    def count(self, check: str, case: str, holds: bool, where: str, found: str = "") -> None:
        """Record one pass or failure of the check with this name; a new check is created if needed.

        Args:
            check: the condition, as text, which is the name of the check.
            case: the kind of object that is checked, such as "prompt world".
            holds: whether the condition holds.
            where: the object that was checked, for the list of failures.
            found: the value that was found, for the list of failures.
        """
        self.by_name.setdefault(check, Check(check, case)).count(holds, where, found)

    def all(self) -> Iterable[Check]:
        """Return all checks with their numbers of passes and failures."""
        return self.by_name.values()


PROMPTS, HOLDOUTS = "prompt worlds", "holdouts"


def check_worlds(found: AuditedSet) -> Iterable[Check]:
    """Check all worlds of the audited instances and return the checks."""
    made = CheckCounter()
    for one in found.instances:
        for side, some in ((PROMPTS, one.prompts), (HOLDOUTS, one.holdouts)):
            for world in some:
                where = f"{one.name} {world.world.id}"
                _as_drawn(made, one, world, side, where)
                _recorded(made, world, side, where)
        _filtered(made, one)
        _range(made, one)
    return made.all()


def _as_drawn(
    made: CheckCounter, one: AuditedInstance, audited: AuditedWorld, side: str, where: str
) -> None:
    world, recipe = audited.world, one.recipe
    size = len(world.names)
    least, most = recipe.sizes
    fits = least <= size <= most and world.names == tuple(f"a{place}" for place in range(size))
    made.count(
        f"{side}: elements a0, a1, …, as many as the regime has", side, fits, where,
        f"{size} of {least} to {most}",
    )  # fmt: skip
    wrong = list(_wrong_counts(world, recipe))
    made.count(
        f"{side}: shares of true atoms within the ranges of the sampler", side, not wrong, where,
        ", ".join(wrong),
    )  # fmt: skip
    unary = [name for name in world.unknown if name not in ("R", "S")]
    made.count(f"{side}: P and Q are never masked", side, not unary, where, ", ".join(unary))
    if recipe.regime == "partial":
        wrong = [
            f"{name} {len(world.unknown.get(name, ()))} of {size}²"
            for name, share in recipe.masked.items()
            if len(world.unknown.get(name, ())) != floor(share * size**2 + 1e-9)
        ]
        said = " and ".join(f"{share:.2f} of {name}" for name, share in recipe.masked.items())
        made.count(f"{side}, partial: {said} are masked", side, not wrong, where, ", ".join(wrong))
    if recipe.regime == "skeptical":
        low, high = recipe.unknown
        count = len(world.unknown_atoms)
        made.count(
            f"{side}, skeptical: {low} to {high} atoms of R and S are masked", side,
            low <= count <= high, where, str(count),
        )  # fmt: skip


def _wrong_counts(world: World, recipe: Recipe) -> Iterator[str]:
    """Yield the predicates whose number of true atoms is outside of the recipe's range.

    The number before masking is between the true atoms and the true and unknown atoms together.
    """
    for name, (low, high) in recipe.densities.items():
        atoms = len(world.names) ** (2 if name in ("R", "S") else 1)
        true, unknown = len(world.true[name]), len(world.unknown.get(name, ()))
        if true + unknown < floor(low * atoms) or true > floor(high * atoms):
            yield f"{name} {true / atoms:.2f}"


def _recorded(made: CheckCounter, audited: AuditedWorld, side: str, where: str) -> None:
    if audited.judgement is None:
        return
    for key, due in (
        ("optCost", audited.judgement.bound),
        ("goldAlphaCost", audited.judgement.cost),
    ):
        what = "lower bound" if key == "optCost" else "cost of the reference"
        is_there = audited.data.get(key)
        made.count(
            f"{side}: {key} is the exact {what}", side, is_there == due, where,
            f"{shorten(is_there)}, and it is {due}",
        )  # fmt: skip


def _filtered(made: CheckCounter, one: AuditedInstance) -> None:
    for audited in one.prompts:
        if audited.judgement is None:
            continue
        where = f"{one.name} {audited.world.id}"
        for said, holds in WORLD_CONDITIONS.items():
            found = f"cost {audited.judgement.cost}, bound {audited.judgement.bound}"
            made.count(
                f"{PROMPTS}: {said}", PROMPTS, holds(audited.judgement, one.recipe), where, found
            )


def _range(made: CheckCounter, one: AuditedInstance) -> None:
    worths = [audited.judgement for audited in one.prompts if audited.judgement is not None]
    known = len(worths) == len(one.prompts) and all(worth.cost is not None for worth in worths)
    limits = prompt_ranges(worths) if known else None
    for audited in one.holdouts:
        where, attempts = f"{one.name} {audited.world.id}", audited.meta.get("attempts")
        made.count(
            f"{HOLDOUTS}: at most {MAX_HOLDOUT_ATTEMPTS} attempts", HOLDOUTS,
            isinstance(attempts, int) and 1 <= attempts <= MAX_HOLDOUT_ATTEMPTS, where,
            shorten(attempts),
        )  # fmt: skip
        if audited.judgement is None:
            continue
        worth, found = (
            audited.judgement,
            f"cost {audited.judgement.cost}, bound {audited.judgement.bound}",
        )
        if limits is not None:
            found += f"; prompt worlds: cost {limits.cost[0]} to {limits.cost[1]}"
            found += f", gap {limits.gap[0]} to {limits.gap[1]}"
        for said, holds in HOLDOUT_CONDITIONS.items():
            if limits is not None:
                made.count(f"{HOLDOUTS}: {said}", HOLDOUTS, holds(worth, limits), where, found)
            elif "range" not in said:
                made.count(f"{HOLDOUTS}: {said}", HOLDOUTS, worth.cost is not None, where, found)
