"""Measures of a rule on a problem: validity, cost and gaps on prompt worlds and holdouts.

There are two evaluators (docs/explanation/exception-rules.md describes the published evaluator):

- `exact`: validity, cost and lower bound are those that the regime defines (ABD, section 4).
- `released`: the results of the published evaluator, where its code determines them. Rules may
  contain names of elements, lower bounds are those stored with the worlds, and every unknown atom
  of a holdout is false. In the partial regime, the published cost on prompt worlds depends on the
  completion of the unknown atoms that Z3 happened to return. Here the cost is the minimum over all
  completions, which is never higher.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...records import Agreement, Json, Observation, Problem, UsageError

EVALUATORS = ("exact", "released")


def check_evaluator(name: str) -> None:
    """Raise UsageError if `name` is not one of `EVALUATORS`."""
    if name not in EVALUATORS:
        raise UsageError(f"no evaluator {name!r}; valid: {', '.join(EVALUATORS)}")


def apply_evaluator(problem: Problem, evaluator: str) -> Problem:
    """Return the problem as an evaluator reads it.

    The evaluator "released" makes the unknown atoms of holdout worlds false.
    """
    if evaluator == "exact":
        return problem
    closed = tuple(
        Observation({k: v for k, v in one.input.items() if k != "unknown"}, one.output)
        for one in problem.hidden
    )
    return replace(problem, hidden=closed)


@dataclass(frozen=True)
class WorldResults:
    """Validity and cost of a rule in the prompt worlds, or in the holdouts.

    Args:
        worlds: {"valid", "cost", "lower_bound"} for each world.
        valid: whether the rule is valid in all worlds; None if a limit was reached or there are no
            worlds.
        cost: the sum of the costs; None if the rule is not valid in all worlds or a cost is
            unknown.
        bound: the sum of the lower bounds; None if the rule is not valid in all worlds or a lower
            bound is unknown.
    """

    worlds: tuple[Mapping[str, Json], ...]
    valid: bool | None
    cost: int | None
    bound: int | None

    @property
    def gap(self) -> float | None:
        """Cost minus lower bound, averaged over the worlds; None if unknown (ABD, equation 5,
        section 6).
        """
        if self.cost is None or self.bound is None:
            return None
        return (self.cost - self.bound) / len(self.worlds)


def summarize_worlds(
    agreement: Agreement | None, stored: Sequence[Json], evaluator: str
) -> WorldResults:
    """Return validity and cost of a rule over several worlds.

    Args:
        agreement: the results of the rule in each world, or None if the rule was not judged.
        stored: the recorded lower bound of each world, which the evaluator "released" uses.
        evaluator: "exact" or "released".
    """
    if agreement is None:
        return WorldResults((), None, None, None)
    worlds = []
    for place, (mark, got) in enumerate(zip(agreement.marks, agreement.got, strict=True)):
        value = got.get("value") or {}
        known = stored[place] if evaluator == "released" and place < len(stored) else None
        bound = value.get("bound") if known is None else known
        worlds.append({"valid": mark, "cost": value.get("cost"), "lower_bound": bound})
    marks = agreement.marks
    valid = None if not marks else False if False in marks else None if None in marks else True
    costs, bounds = ([one[key] for one in worlds] for key in ("cost", "lower_bound"))
    return WorldResults(
        tuple(worlds),
        valid,
        _sum(costs) if valid else None,
        _sum(bounds) if valid else None,
    )


def _sum(numbers: Sequence[Json]) -> int | None:
    return None if None in numbers else sum(numbers)


@dataclass(frozen=True)
class RuleMeasures:
    """Validity and cost of a rule in the prompt worlds and in the holdouts of a problem.

    Args:
        evaluator: "exact" or "released".
        prompt: the results in the prompt worlds.
        holdout: the results in the holdout worlds.
        reference_cost: the sum of the costs of the reference rule in the prompt worlds, or None.
    """

    evaluator: str
    prompt: WorldResults
    holdout: WorldResults
    reference_cost: int | None

    @property
    def gref(self) -> float | None:
        """Cost of the rule minus cost of the reference rule, averaged over the prompt worlds.

        The value may be negative. It is None if a cost is unknown.
        """
        if self.prompt.cost is None or self.reference_cost is None:
            return None
        return (self.prompt.cost - self.reference_cost) / len(self.prompt.worlds)

    @property
    def delta_gap(self) -> float | None:
        """Gap in the holdouts minus gap in the prompt worlds; None unless the rule is valid in
        both.
        """
        if self.prompt.gap is None or self.holdout.gap is None:
            return None
        return self.holdout.gap - self.prompt.gap

    def as_json(self) -> dict[str, Json]:
        """Return all measures as JSON."""
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


def measure_rule(
    problem: Problem, shown: Agreement | None, hidden: Agreement | None, evaluator: str
) -> RuleMeasures:
    """Return the measures of a rule on a problem.

    Args:
        problem: the problem.
        shown: the results in the prompt worlds, or None if the rule was not judged there.
        hidden: the results in the holdout worlds, or None if the rule was not judged there. Both
            results must come from the problem that `apply_evaluator(problem, evaluator)` returns.
        evaluator: "exact" or "released".
    """
    secret = problem.secret
    return RuleMeasures(
        evaluator,
        summarize_worlds(shown, secret.get("bounds") or (), evaluator),
        summarize_worlds(hidden, secret.get("hidden_bounds") or (), evaluator),
        secret.get("reference_cost"),
    )
