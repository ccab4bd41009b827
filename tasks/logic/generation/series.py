"""Generate a series of instances, several at the same time where there are processes.

A template may only be used by a share of the instances of a series (`filters.TemplateUses`), so an
instance depends on those before it. An instance is generated in view of the instances that are
finished when it is begun. When its turn comes, the templates that it drew are compared with those
that it draws in view of all instances before it, and it is generated again if they differ.
Therefore the result does not depend on where the instances were generated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from ....records import Compute, Json, UsageError
from ....tools.logic.fast_path import REGIMES, Regime
from ....tools.logic.formula import Formula, format_sexpr
from ....tools.logic.parser import parse_formula
from ....tools.logic.theories import PUBLISHED_THEORIES, SIGNATURE, find_published
from ....tools.logic.worlds import parse_world
from ....tools.workers.computing import compute_here
from .candidates import Candidate
from .competitors import select_mined_rules
from .filters import Judgement, TemplateUses
from .holdouts import Holdout
from .instances import (
    Cheater,
    GeneratedInstance,
    Reference,
    draw_instance,
    draw_templates,
)
from .recipes import DIFFICULTIES, Difficulty, Recipe, get_recipe
from .templates import Template, template_library

FUNCTION = "tasks.logic.generation.series:generate_requested"
MinedRules = Mapping[str, Sequence[Formula]]


class _Turn(NamedTuple):
    """What is known of an instance before it is generated."""

    number: int
    regime: Regime
    difficulty: Difficulty
    recipe: Recipe
    first: str  # the name of the theory of the first draws


def generate_instances(
    count: int,
    seed: int,
    regime: Regime | None = None,
    difficulty: Difficulty | None = None,
    mined: dict[str, Sequence[str]] | None = None,
    compute: Compute = compute_here,
) -> Iterator[GeneratedInstance]:
    """Generate `count` instances.

    Instance k of a seed does not depend on the number of requested instances.

    Args:
        count: the number of instances.
        seed: the seed of the set of instances.
        regime: the regime of all instances, or None to use the regimes in turn.
        difficulty: the difficulty of all instances, or None to use the difficulties in turn.
        mined: by the name of a theory, formulas as texts from earlier answers to problems with this
            theory, which become competing rules.
        compute: where instances are generated.

    Raises:
        UsageError: `count` is below 1, or an instance cannot be made.
    """
    if count < 1:
        raise UsageError(f"{count} problems cannot be generated; at least 1")
    rules = {
        theory.names[0]: select_mined_rules((mined or {}).get(theory.names[0], ()), theory)
        for theory in PUBLISHED_THEORIES.values()
    }
    used = TemplateUses()
    turns = [_make_turn(number, regime, difficulty) for number in range(count)]
    requests = (_make_request(seed, turn, used, rules) for turn in turns)
    for turn, reply in zip(turns, compute(FUNCTION, requests), strict=True):
        if reply is not None and _draws_again(seed, turn, used, reply["drawn"]):
            found = instance_from_json(reply["instance"], turn.recipe)
        else:
            found = draw_instance(seed, turn.number, turn.recipe, turn.first, used, rules).instance
        recipe = found.recipe
        used.count(recipe.regime, recipe.difficulty, found.theory.names[0], found.template.id)
        yield found


def _make_turn(number: int, regime: Regime | None, difficulty: Difficulty | None) -> _Turn:
    regimes = REGIMES if regime is None else (regime,)
    difficulties = DIFFICULTIES if difficulty is None else (difficulty,)
    turn, which = divmod(number, len(regimes))
    chosen, hardness = regimes[which], difficulties[turn % len(difficulties)]
    recipe = get_recipe(chosen, hardness)
    return _Turn(number, chosen, hardness, recipe, recipe.theories[turn % len(recipe.theories)])


def _make_request(seed: int, turn: _Turn, used: TemplateUses, rules: MinedRules) -> Json:
    return {
        "seed": seed,
        "number": turn.number,
        "regime": turn.regime,
        "difficulty": turn.difficulty,
        "first": turn.first,
        "used": used.as_json(),
        "mined": {
            name: [format_sexpr(one) for one in rules[name]]
            for name in turn.recipe.theories
            if rules[name]
        },
    }


def generate_requested(request: Json) -> Json:
    """Return the instance of a request of `generate_instances`, and the templates that it drew.

    None if it cannot be made in view of the instances that the request counts.
    """
    rules = {name: [read_formula(one) for one in texts] for name, texts in request["mined"].items()}
    try:
        found, drawn = draw_instance(
            request["seed"],
            request["number"],
            get_recipe(request["regime"], request["difficulty"]),
            request["first"],
            TemplateUses.from_json(request["used"]),
            rules,
        )
    except UsageError:
        return None
    return {"instance": instance_to_json(found), "drawn": drawn}


def _draws_again(seed: int, turn: _Turn, used: TemplateUses, drawn: Sequence[list[str]]) -> bool:
    """Return whether the instance draws these templates in view of all instances before it."""
    draws = draw_templates(seed, turn.number, turn.recipe, turn.first, used)
    return all(
        [theory.names[0], "" if template is None else template.id] == known
        for known, (_, theory, template) in zip(drawn, draws, strict=False)
    )


# --- Instances as JSON.


def instance_to_json(one: GeneratedInstance) -> Json:
    """Return an instance as JSON, without its recipe."""
    return {
        "theory": one.theory.names[0],
        "template": one.template.id,
        "seed_reference": _reference_to_json(one.seed_reference),
        "reference": _reference_to_json(one.reference),
        "cheater": list(one.cheater),
        "worlds": [_candidate_to_json(candidate) for candidate in one.worlds],
        "holdouts": [
            [_candidate_to_json(held.candidate), held.attempts, held.duplicates]
            for held in one.holdouts
        ],
        **{name: getattr(one, name) for name in _PLAIN},
    }


def instance_from_json(data: Json, recipe: Recipe) -> GeneratedInstance:
    """Return the instance that `instance_to_json` converted, which had this recipe."""
    theory = find_published(data["theory"])
    assert theory is not None
    return GeneratedInstance(
        theory=theory,
        recipe=recipe,
        template=_templates()[data["template"]],
        seed_reference=_reference_from_json(data["seed_reference"]),
        reference=_reference_from_json(data["reference"]),
        cheater=Cheater(*data["cheater"]),
        worlds=tuple(map(_candidate_from_json, data["worlds"])),
        holdouts=tuple(
            Holdout(_candidate_from_json(candidate), attempts, duplicates)
            for candidate, attempts, duplicates in data["holdouts"]
        ),
        **{name: data[name] for name in _PLAIN},
    )


_PLAIN = ("id", "competitors", "seed", "number", "worlds_drawn", "templates_tried")


@cache
def _templates() -> dict[str, Template]:
    return {one.id: one for one in template_library()}


def _reference_to_json(one: Reference) -> Json:
    judgements = [list(judgement) for judgement in one.judgements]
    return [format_sexpr(one.formula), one.id, one.tier, one.source, judgements]


def _reference_from_json(data: Json) -> Reference:
    text, name, tier, source, judgements = data
    return Reference(
        read_formula(text), name, tier, source, tuple(Judgement(*one) for one in judgements)
    )


def read_formula(text: str) -> Formula:
    """Return the formula that `format_sexpr` wrote, over the predicates of published theories."""
    return parse_formula(text, tuple(SIGNATURE))


def _candidate_to_json(one: Candidate) -> Json:
    return [one.world.as_json(), list(one.judgement)]


def _candidate_from_json(data: Json) -> Candidate:
    world, judgement = data
    return Candidate(parse_world(world, SIGNATURE, "a world"), Judgement(*judgement))
