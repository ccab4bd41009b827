"""Convert an instance to the form of the published files: a record, and one row for each holdout.

The record has the fields of the public release that apply here. Times, batch numbers and estimates
of prompt lengths are left out. The fields `seed`, `number`, `worldsDrawn`, `templatesTried`,
`competitors` and `bestCheaterTier` are additional. Two values differ from the release in the
skeptical regime. `seedAlpha` and the best cheater are present as in the other regimes, and
`optCost` is the exact bound (the release stores a lower value in 46 of 506 worlds).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from ....records import Json
from ....tools.logic.fast_path import PreparedWorlds
from ....tools.logic.formula import Formula, format_infix, format_sexpr
from ....tools.logic.theories import SIGNATURE, Theory
from ....tools.logic.worlds import Tuples, World
from ...io.yaml_records import SetMembers
from .candidates import Candidate
from .instances import GeneratedInstance
from .recipes import HOLDOUTS, VERSION

SCENARIOS: Mapping[str, str] = {
    "full": "ABD_FULL", "partial": "ABD_PARTIAL", "skeptical": "ABD_SKEPTICAL"
}  # fmt: skip


def complete_world(world: World, filled: bool) -> World:
    """Return a copy of the world in which every unknown atom is true, or every unknown atom is
    false.

    Args:
        world: the world.
        filled: True to make the unknown atoms true, False to make them false.
    """
    if not filled:
        return World(world.id, world.names, world.true)
    true = {
        name: tuple(sorted((*atoms, *world.unknown.get(name, ()))))
        for name, atoms in world.true.items()
    }
    return World(world.id, world.names, true)


class _Extremes:
    """Covers and violations of a rule in worlds with all unknown atoms false or all true.

    The lists have index 0 for all false and 1 for all true.
    """

    def __init__(self, theory: Theory, worlds: Sequence[World], rule: Formula) -> None:
        self.covers: list[list[int]] = []
        self.violations: list[list[int]] = []
        for filled in (False, True):
            prepared = PreparedWorlds(
                theory, tuple(complete_world(one, filled) for one in worlds), "full"
            )
            violated, covered = prepared.full_extents(rule)
            self.covers.append(covered.sum(axis=1).tolist())
            self.violations.append(violated.sum(axis=1).tolist())
            if not filled:
                self.broken = [
                    tuple(name for name, at in zip(one.names, row, strict=False) if at)
                    for one, row in zip(worlds, violated.tolist(), strict=True)
                ]
                antecedent = theory.antecedent
                assert antecedent is not None  # of a published theory
                self.before = prepared.full_extents(antecedent)[1].sum(axis=1).tolist()


def instance_record(one: GeneratedInstance) -> dict[str, Json]:
    """Return an instance as a record in the published form."""
    prompts = [candidate.world for candidate in one.worlds]
    of_gold = _Extremes(one.theory, prompts, one.reference.formula)
    of_seed = _Extremes(one.theory, prompts, one.seed_reference.formula)
    worlds = [_prompt(one, place, of_gold) for place in range(len(prompts))]
    optimal = [candidate.judgement.bound for candidate in one.worlds]
    shares = [
        bound / len(candidate.world.names)
        for bound, candidate in zip(optimal, one.worlds, strict=True)
    ]
    allowed = sorted(one.theory.allowed)
    recipe = one.recipe
    described: dict[str, Json] = {
        "instanceId": one.id,
        "scenario": SCENARIOS[recipe.regime],
        "theoryId": one.theory.names[-1],
        "difficulty": recipe.difficulty,
        "numTrainWorlds": len(worlds),
        "allowedAlphaPredicates": allowed,
        "forbiddenAlphaPredicates": sorted(one.theory.forbidden),
        "alphaTier": one.reference.tier,
        "templateId": one.template.id,
        "templateFamily": one.template.family,
        "domainSizeMin": recipe.sizes[0],
        "domainSizeMax": recipe.sizes[1],
        "aggregateOptCost": sum(optimal),
        "perWorldOptCosts": optimal,
        "exceptionRateMean": round(fmean(shares), 3),
        "exceptionRateMax": round(max(shares), 3),
        "goldChanged": one.reference.source != "seed",
        "goldRefinementEnabled": True,
        "generatorVersion": VERSION,
        "seed": one.seed,
        "number": one.number,
        "worldsDrawn": one.worlds_drawn,
        "templatesTried": one.templates_tried,
        "competitors": one.competitors,
    }
    if recipe.one_size:
        described["domainSize"] = len(one.worlds[0].world.names)
    return {
        "schemaVersion": "abd_benchmark_record_v1",
        "instanceId": one.id,
        "problemDescription": described,
        "problem": {
            "schemaVersion": "abd_problem_v1",
            "instanceId": one.id,
            "scenario": SCENARIOS[recipe.regime],
            "theoryId": one.theory.names[-1],
            "axioms": [format_sexpr(axiom) for axiom in one.theory.axioms],
            "allowedAlphaPreds": allowed,
            "gold": _gold(one, worlds),
            "seedAlpha": _seed(one, of_seed),
            "trainWorlds": worlds,
        },
    }


def _prompt(one: GeneratedInstance, place: int, gold: _Extremes) -> dict[str, Json]:
    candidate, seed_worth = one.worlds[place], one.seed_reference.judgements[place]
    world = _world(candidate, gold, place, one.recipe.regime)
    if one.recipe.regime != "skeptical":
        world["_requiredAbCost"] = gold.violations[0][place]
        world["_requiredAbSet"] = SetMembers(gold.broken[place])
    if one.recipe.regime == "partial":
        world["seedAlphaBestCost"] = seed_worth.cost
        world["seedSlack"] = (seed_worth.cost or 0) - seed_worth.bound
    if one.recipe.regime == "skeptical":
        preds = one.reference.formula.predicates
        world["unknownInAlphaPreds"] = sum(
            len(some) for name, some in candidate.world.unknown.items() if name in preds
        )
        world["isHeldout"] = False
    return world


def _world(candidate: Candidate, of: _Extremes, place: int, regime: str) -> dict[str, Json]:
    """Return the fields that prompt worlds and holdouts have in common."""
    world, worth = candidate.world, candidate.judgement
    cost = worth.cost or 0
    made: dict[str, Json] = {
        "worldId": world.id,
        "observationMode": "full" if regime == "full" else "partial",
        "domain": list(world.names),
        "predicates": _predicates(world, regime == "full"),
        "optCost": worth.bound,
        "goldAlphaCost": cost,
        "gap": cost - worth.bound,
        "optCost_full": of.violations[0][place],
        "goldCost_full": of.covers[0][place],
        "goldSlack_full": of.covers[0][place] - of.violations[0][place],
    }
    if regime != "full":
        made["unknownAtoms"] = {
            name: [_atom(world, at) for at in world.unknown.get(name, ())] for name in SIGNATURE
        }
        made["totalUnknownAtoms"] = len(world.unknown_atoms)
    if regime == "partial":
        made |= {
            "optHypCost": worth.bound,
            "goldBestCost_partial": cost,
            "goldSlack_partial": cost - worth.bound,
        }
    if regime == "skeptical":
        made |= {
            "viol_false": of.violations[0][place],
            "viol_true": of.violations[1][place],
            "viol_extreme": worth.bound,
            "goldCost_allFalse": of.covers[0][place],
            "goldCost_allTrue": of.covers[1][place],
            "goldCostRobust": cost,
            "robustSpread": cost - min(of.covers[0][place], of.covers[1][place]),
            "anteCount": of.before[place],
            "fireCount": of.before[place] - of.violations[0][place],
        }
    return made


def _predicates(world: World, complements: bool) -> dict[str, Json]:
    made: dict[str, Json] = {}
    for name, places in SIGNATURE.items():
        made[name] = {"true": [_atom(world, at) for at in world.true[name]]}
        if complements:
            made[name]["false"] = [
                _atom(world, at) for at in _all(len(world.names), places)
                if at not in set(world.true[name])
            ]  # fmt: skip
    return made


def _all(size: int, places: int) -> Tuples:
    if places == 1:
        return tuple((one,) for one in range(size))
    return tuple((one, other) for one in range(size) for other in range(size))


def _atom(world: World, at: tuple[int, ...]) -> str:
    names = [world.names[place] for place in at]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def _gold(one: GeneratedInstance, worlds: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    reference, regime = one.reference, one.recipe.regime
    gold: dict[str, Json] = {
        "alpha": reference.text,
        "description": format_infix(reference.formula),
        "source": reference.source,
        "templateId": reference.id,
        "tier": reference.tier,
        "family": "".join(sorted(reference.formula.predicates)),
        "bestCheaterId": one.cheater.id,
        "bestCheaterTier": one.cheater.tier,
        "bestCheaterCost": one.cheater.cost,
        "cheaterMargin": one.margin,
        "totalGoldAlphaCost": reference.cost,
        "totalOptCost": reference.bound,
        "gap": reference.cost - reference.bound,
        "totalGoldCost_full": sum(world["goldCost_full"] for world in worlds),
        "totalGoldSlack_full": sum(world["goldSlack_full"] for world in worlds),
        "totalOptCost_full": sum(world["optCost_full"] for world in worlds),
        "perWorldGoldSlacks_full": [world["goldSlack_full"] for world in worlds],
    }
    if regime == "partial":
        slacks = [world["goldSlack_partial"] for world in worlds]
        gold |= {
            "perWorldGoldSlacks_partial": slacks,
            "perWorldSeedSlacks": [world["seedSlack"] for world in worlds],
            "totalGoldBestCost_partial": reference.cost,
            "totalGoldSlack_partial": sum(slacks),
            "totalOptHypCost": reference.bound,
            "totalSeedAlphaBestCost": one.seed_reference.cost,
            "totalSeedSlack": one.seed_reference.cost - one.seed_reference.bound,
        }
    if regime == "skeptical":
        gold |= {
            "alphaTemplateId": reference.id,
            "alphaTier": reference.tier,
            "totalGoldCostRobust": reference.cost,
            "avgRobustSpread": fmean(world["robustSpread"] for world in worlds),
            "avgViolExtreme": fmean(world["viol_extreme"] for world in worlds),
            "perWorld": [
                {
                    key: world[key]
                    for key in ("worldId", "goldCostRobust", "robustSpread", "totalUnknownAtoms",
                                "viol_extreme")
                }
                for world in worlds
            ],
        }  # fmt: skip
    return gold


def _seed(one: GeneratedInstance, of: _Extremes) -> dict[str, Json]:
    seed = one.seed_reference
    slacks = [cost - bound for cost, bound in zip(of.covers[0], of.violations[0], strict=True)]
    return {
        "alpha": seed.text,
        "description": format_infix(seed.formula),
        "templateId": seed.id,
        "tier": seed.tier,
        "family": one.template.family,
        "totalSeedAlphaCost": seed.cost,
        "totalSeedCost_full": sum(of.covers[0]),
        "totalSeedSlack_full": sum(slacks),
        "perWorldSeedSlacks_full": slacks,
    }


def holdout_rows(one: GeneratedInstance) -> list[dict[str, Json]]:
    """Return the holdouts of an instance as rows in the published form."""
    worlds = [holdout.candidate.world for holdout in one.holdouts]
    of = _Extremes(one.theory, worlds, one.reference.formula)
    prompt_mean = one.reference.cost / len(one.worlds)
    costs = [holdout.candidate.judgement.cost or 0 for holdout in one.holdouts]
    rows: list[dict[str, Json]] = []
    for place, holdout in enumerate(one.holdouts):
        worth = holdout.candidate.judgement
        rows.append(
            {
                "schemaVersion": "abd_holdout_record_v1",
                "instanceId": one.id,
                "holdoutIdx": place,
                "scenario": SCENARIOS[one.recipe.regime],
                "theoryId": one.theory.names[-1],
                "world": _world(holdout.candidate, of, place, one.recipe.regime),
                "meta": {
                    "status": "success",
                    "attempts": holdout.attempts,
                    "seed": one.seed,
                    "rejectedDuplicates": holdout.duplicates,
                    "domainSize": worth.elements,
                    "optCost": worth.bound,
                    "goldAlphaCost": costs[place],
                    "costMatching": {
                        "trainAvgCost": prompt_mean,
                        "targetAvgCost": prompt_mean,
                        "worldCost": costs[place],
                        "selectedAvgCost": sum(costs) / HOLDOUTS,
                        "selectionStatus": "success",
                    },
                },
            }
        )
    return rows
