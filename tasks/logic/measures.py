"""What a rule comes to on a problem: validity, cost and gaps on prompt worlds and holdouts.

Two evaluators (notes on what the published one does stand in docs/abd.md):

- `exact`: validity, cost and lower bound as the regime has them (ABD, section 4), everywhere;
- `released`: what the published evaluator says as far as it is determined: names of objects may
  stand in rules, lower bounds are those stored with the worlds, and holdouts are read as if every
  unknown atom were false. In the partial regime its cost on prompt worlds is that of whatever
  completion Z3 returned; the least one, which is never more, stands here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...records import Agreement, Json, Observation, Problem, UsageError

EVALUATORS = ("exact", "released")


def check_evaluator(name: str) -> None:
    """Raises UsageError for a name that is none of `EVALUATORS`."""
    if name not in EVALUATORS:
        raise UsageError(f"no evaluator {name!r}; valid: {', '.join(EVALUATORS)}")


def seen_by(problem: Problem, evaluator: str) -> Problem:
    """The problem as an evaluator reads it: `released` takes unknown atoms of holdouts as false."""
    if evaluator == "exact":
        return problem
    closed = tuple(
        Observation({k: v for k, v in one.input.items() if k != "unknown"}, one.output)
        for one in problem.hidden
    )
    return replace(problem, hidden=closed)


@dataclass(frozen=True)
class Part:
    """A rule on the prompt worlds, or on the holdouts. valid: in all of them; None where a limit
    keeps it open, or there is no world. cost, bound: sums, None where not valid or not known.
    worlds: {"valid", "cost", "lower_bound"} each."""

    worlds: tuple[Mapping[str, Json], ...]
    valid: bool | None
    cost: int | None
    bound: int | None

    @property
    def gap(self) -> float | None:
        """Cost above the lower bound, a world (ABD, equation 5 and section 6)."""
        if self.cost is None or self.bound is None:
            return None
        return (self.cost - self.bound) / len(self.worlds)


def part(agreement: Agreement | None, stored: Sequence[Json], evaluator: str) -> Part:
    """agreement: of the rule with the worlds; None where it was not read. stored: the recorded
    lower bounds, for `released`."""
    if agreement is None:
        return Part((), None, None, None)
    worlds = []
    for place, (mark, got) in enumerate(zip(agreement.marks, agreement.got, strict=True)):
        value = got.get("value") or {}
        known = stored[place] if evaluator == "released" and place < len(stored) else None
        bound = value.get("bound") if known is None else known
        worlds.append({"valid": mark, "cost": value.get("cost"), "lower_bound": bound})
    marks = agreement.marks
    valid = None if not marks else False if False in marks else None if None in marks else True
    costs, bounds = ([one[key] for one in worlds] for key in ("cost", "lower_bound"))
    return Part(
        tuple(worlds),
        valid,
        _sum(costs) if valid else None,
        _sum(bounds) if valid else None,
    )


def _sum(numbers: Sequence[Json]) -> int | None:
    return None if None in numbers else sum(numbers)


@dataclass(frozen=True)
class Measured:
    """A rule on a problem. reference_cost: that of the planted rule on the prompt worlds."""

    evaluator: str
    prompt: Part
    holdout: Part
    reference_cost: int | None

    @property
    def gref(self) -> float | None:
        """Cost above the reference's, a prompt world; below 0 where the rule beats it."""
        if self.prompt.cost is None or self.reference_cost is None:
            return None
        return (self.prompt.cost - self.reference_cost) / len(self.prompt.worlds)

    @property
    def delta_gap(self) -> float | None:
        """What the gap grows by from the prompt worlds to the holdouts, of rules valid on both."""
        if self.prompt.gap is None or self.holdout.gap is None:
            return None
        return self.holdout.gap - self.prompt.gap

    def as_json(self) -> dict[str, Json]:
        return {
            "valid": self.prompt.valid,
            "cost": self.prompt.cost,
            "gap": self.prompt.gap,
            "gref": self.gref,
            "evaluator": self.evaluator,
            "worlds": [dict(one) for one in self.prompt.worlds],
            "holdouts": [dict(one) for one in self.holdout.worlds],
            "holdout_valid": self.holdout.valid,
            "holdout_gap": self.holdout.gap,
            "delta_gap": self.delta_gap,
        }


def measured(
    problem: Problem, shown: Agreement | None, hidden: Agreement | None, evaluator: str
) -> Measured:
    """shown, hidden: agreements with the worlds of `seen_by(problem, evaluator)`."""
    secret = problem.secret
    return Measured(
        evaluator,
        part(shown, secret.get("bounds") or (), evaluator),
        part(hidden, secret.get("hidden_bounds") or (), evaluator),
        secret.get("reference_cost"),
    )
