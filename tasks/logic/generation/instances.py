"""Generate an instance of the task `abd` from a seed and a number.

A rule from the template library is planted. Prompt worlds are chosen in which competing rules do
worse, the planted rule is replaced if a better rule is found, and holdouts are added. An instance
depends only on the seed of its random streams and on the number of earlier uses of each template
(`filters.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ....records import UsageError
from ....tools.logic.formula import Formula, format_sexpr
from ....tools.logic.sampling import RandomStream
from ....tools.logic.theories import Theory, find_published
from ....tools.logic.worlds import World
from .candidates import Candidate, CandidateSource
from .competitors import Competitor, behaviour, build_pool
from .filters import Judgement, TemplateUses, judge_rule, set_fault, world_fault
from .hardening import INVALID_COST, CandidatePool, Costs, choose_worlds, find_survivors
from .holdouts import Holdout, choose_holdouts
from .mutants import mutants
from .recipes import Recipe
from .templates import Template, templates_in_tier

# --- The cheapest rule that needs no knowledge of the reference (ABD, appendix D.4), in two tiers.
#
# The first tier has constants, atoms and other rules without a quantifier, the second rules with one
# quantifier step and those mined from earlier answers. An instance where such a rule is valid at no
# more than the reference's cost is rejected.

CHEATER_TIERS: tuple[tuple[str, ...], ...] = (("tier0",), ("tier1", "mined"))


class Cheater(NamedTuple):
    """A simple rule that is valid in all prompt worlds, with its total cost there."""

    id: str
    tier: int
    cost: int


def find_cheapest_cheater(rivals: Sequence[Competitor], costs: Costs) -> Cheater | None:
    """Return the cheapest competitor with at most one quantifier that is valid in all prompt
    worlds.

    The result is None if there is no such competitor. Among rules of equal cost, rules without a
    quantifier come first.

    Args:
        rivals: the competitors.
        costs: the cost of each competitor in each prompt world, shape (rivals, worlds).
    """
    found = [
        Cheater(one.id, tier, int(total))
        for tier, kinds in enumerate(CHEATER_TIERS, 1)
        for one, total in zip(rivals, costs.sum(axis=1), strict=True)
        if one.kind in kinds and total < INVALID_COST
    ]
    return min(found, key=lambda one: one.cost, default=None)


def beats_cheater(cheater: Cheater | None, reference: int) -> bool:
    """Return whether the reference rule costs less than the cheapest simple rule.

    Args:
        cheater: the cheapest simple rule, or None if there is none; the result is then True.
        reference: the total cost of the reference rule.
    """
    return cheater is None or cheater.cost > reference


# --- A better reference than the planted one, where there is one (ABD, appendix D.4).
#
# The alternatives are templates of the recipe's tiers and mutants of the seed. An alternative that
# passes all filters in the chosen worlds and costs less replaces the seed. Of several, the cheapest is
# taken, which is also furthest from the cheaters, and then the shortest.

MAX_TEMPLATES = 24
MAX_MUTANTS = 24


class Reference(NamedTuple):
    """The reference rule of an instance, with validity and cost in the prompt worlds.

    Args:
        formula: the rule.
        id: the id of the template or mutant that the rule comes from.
        tier: the tier of the template, which is its number of nested quantifiers.
        source: "seed", "template" or "mutant".
        judgements: the results of the rule in each prompt world.
    """

    formula: Formula
    id: str
    tier: int
    source: str
    judgements: tuple[Judgement, ...]

    @property
    def text(self) -> str:
        """The rule as it is written in files."""
        return format_sexpr(self.formula)

    @property
    def cost(self) -> int:
        """The sum of the costs of the rule in all prompt worlds."""
        return sum(one.cost or 0 for one in self.judgements)

    @property
    def bound(self) -> int:
        """The sum of the lower bounds in all prompt worlds."""
        return sum(one.bound for one in self.judgements)


def refine_reference(
    seed: Reference, theory: Theory, worlds: Sequence[World], recipe: Recipe, stream: RandomStream
) -> Reference:
    """Return the rule that becomes the reference of an instance: `seed`, or a cheaper rule if one
    exists.

    The alternatives are templates and small changes of `seed`.

    Args:
        seed: the planted rule.
        theory: the theory.
        worlds: the prompt worlds.
        recipe: the sizes and limits that the alternatives must meet.
        stream: the source of random numbers.
    """
    best = seed
    for formula, name, tier, source in _alternatives(seed, theory, recipe, stream):
        worths = tuple(judge_rule(theory, worlds, recipe.regime, formula))
        if any(world_fault(one, recipe) for one in worths) or set_fault(worths, recipe):
            continue
        one = Reference(formula, name, tier, source, worths)
        if (one.cost, one.formula.size) < (best.cost, best.formula.size) and one.cost < seed.cost:
            best = one
    return best


def _alternatives(
    seed: Reference, theory: Theory, recipe: Recipe, stream: RandomStream
) -> list[tuple[Formula, str, int, str]]:
    of_library = [one for tier in recipe.tiers for one in templates_in_tier(theory, tier)]
    changed = mutants(seed.formula, theory)
    some: list[Template] = [
        of_library[place] for place in stream.permutation(len(of_library))[:MAX_TEMPLATES]
    ]
    others = [changed[place] for place in stream.permutation(len(changed))[:MAX_MUTANTS]]
    return [
        *((one.formula, one.id, one.tier, "template") for one in some),
        *((one, f"{seed.id} changed", seed.tier, "mutant") for one in others),
    ]


MAX_TRIES = 400  # templates tried for an instance
TRIES_PER_THEORY = 10  # templates tried before other theories are tried as well


@dataclass(frozen=True)
class GeneratedInstance:
    """A generated instance of the task `abd`: its theory, reference rule, prompt worlds and
    holdouts.

    Args:
        id: the id of the instance.
        theory: the theory of the instance.
        recipe: the sizes and limits for the regime and difficulty of the instance.
        template: the template from which the planted rule comes.
        seed_reference: the rule that was planted first, which `refine_reference` may replace.
        reference: the reference rule; equal to `seed_reference` if nothing better was found.
        cheater: the cheapest valid rule with at most one quantifier.
        competitors: the number of other rules that the worlds were chosen to rule out.
        worlds: the prompt worlds.
        holdouts: the holdouts.
        seed: the seed of the set of instances.
        number: the number of the instance in the set.
        worlds_drawn: the number of worlds that were drawn to make the instance.
        templates_tried: the number of templates that were tried to make the instance.
    """

    id: str
    theory: Theory
    recipe: Recipe
    template: Template
    seed_reference: Reference
    reference: Reference
    cheater: Cheater
    competitors: int
    worlds: tuple[Candidate, ...]
    holdouts: tuple[Holdout, ...]
    seed: int
    number: int
    worlds_drawn: int
    templates_tried: int

    @property
    def margin(self) -> int:
        """Cost of the cheapest simple rule minus cost of the reference rule, in all prompt worlds
        together.
        """
        return self.cheater.cost - self.reference.cost


class DrawnInstance(NamedTuple):
    """A generated instance, and the templates that were drawn until one of them passed the filters.

    Args:
        instance: the instance.
        drawn: the name of the theory and the id of the template of each draw; the id is "" where no
            template of the drawn tier could be used.
    """

    instance: GeneratedInstance
    drawn: list[list[str]]


def draw_instance(
    seed: int,
    number: int,
    recipe: Recipe,
    first: str,
    used: TemplateUses,
    mined: Mapping[str, Sequence[Formula]],
) -> DrawnInstance:
    """Draw templates until one makes an instance that passes the filters.

    Args:
        seed: the seed of the set of instances.
        number: the number of the instance in the set.
        recipe: the recipe of the instance.
        first: the name of the theory of the first draws.
        used: how often the instances before this one use each template.
        mined: rules from earlier answers by the name of a theory; they compete with the planted rule.

    Raises:
        UsageError: the instance cannot be made.
    """
    drawn: list[list[str]] = []
    for text, theory, template in draw_templates(seed, number, recipe, first, used):
        name = theory.names[0]
        drawn.append([name, "" if template is None else template.id])
        if template is None:
            continue
        found = try_template(text, theory, recipe, template, mined.get(name, ()))
        if found is not None:
            code = theory.names[-1]
            title = f"{recipe.regime.upper()}_{code}_gen{seed}_{number:03d}"
            tried = len(drawn)
            return DrawnInstance(
                replace(found, id=title, seed=seed, number=number, templates_tried=tried), drawn
            )
    raise UsageError(
        f"problem {number} of seed {seed}: none of {MAX_TRIES} templates passed the filters;"
        " try another seed"
    )


def draw_templates(
    seed: int, number: int, recipe: Recipe, first: str, used: TemplateUses
) -> Iterator[tuple[str, Theory, Template | None]]:
    """Yield the seed of each draw of an instance, its theory and its template.

    The arguments are those of `draw_instance`.
    """
    for attempt in range(MAX_TRIES):
        text = f"abd {seed} {number} {recipe.regime} {recipe.difficulty} {attempt}"
        stream = RandomStream(text)
        name = first
        if attempt >= TRIES_PER_THEORY:
            name = recipe.theories[int(stream.integers(len(recipe.theories)))]
        theory = find_published(name)
        assert theory is not None
        yield text, theory, draw_template(theory, recipe, stream, used)


def draw_template(
    theory: Theory, recipe: Recipe, stream: RandomStream, used: TemplateUses
) -> Template | None:
    """Draw a rule from the template library as the planted rule of a new instance.

    A template is a rule of the library, and its tier is the number of its nested quantifiers (0 to
    3). The tier is drawn with the weights of the recipe, then the template within the tier.
    Templates that earlier instances used too often are not drawn. A template that means the same as
    the condition of the theory ("x is a bird" in "birds fly") is not drawn either, because that
    condition is valid in every world in which some rule is valid.

    Args:
        theory: The theory of the instance.
        recipe: The weights of the tiers, and the regime and difficulty.
        stream: The source of random numbers.
        used: Counts of how often each template has been used.

    Returns:
        The template, or None if no template of the drawn tier may be used.
    """
    at = float(stream.uniform()) * sum(recipe.tiers.values())
    tier = max(recipe.tiers)
    for one, weight in recipe.tiers.items():
        if at < weight:
            tier = one
            break
        at -= weight
    assert theory.antecedent is not None  # of a published theory
    before = behaviour(theory.antecedent)
    open_ = [
        one
        for one in templates_in_tier(theory, tier)
        if used.allows(recipe.regime, recipe.difficulty, theory.names[0], one.id)
        and behaviour(one.formula) != before
    ]
    return open_[int(stream.integers(len(open_)))] if open_ else None


def try_template(
    text: str,
    theory: Theory,
    recipe: Recipe,
    template: Template,
    mined: Sequence[Formula] = (),
) -> GeneratedInstance | None:
    """Generate an instance whose planted rule is `template`, or return None if a filter rejects it.

    In the result, `id` is empty, and `seed`, `number` and `templates_tried` are 0; the caller sets
    them.

    Args:
        text: the seed of all random choices.
        theory: the theory of the instance.
        recipe: the regime, the difficulty, and the numbers and sizes of the worlds.
        template: the rule from the template library.
        mined: rules from earlier answers, which compete with the planted rule.
    """
    stream = RandomStream(f"{text} choices")
    least, most = recipe.sizes
    size = least + int(stream.integers(most - least + 1)) if recipe.one_size else None
    wanted = recipe.worlds[0] + int(stream.integers(recipe.worlds[1] - recipe.worlds[0] + 1))
    rivals = build_pool(theory, template.formula, stream, mined)
    source = CandidateSource(f"{text} prompts", theory, template.formula, recipe, size)
    worlds = CandidatePool(source, rivals)
    chosen = choose_worlds(worlds, recipe, wanted)
    if chosen is None:
        return None
    prompts = [
        one._replace(world=replace(one.world, id=f"W{place}"))
        for place, one in enumerate(worlds.candidates[k] for k in chosen)
    ]
    planted = Reference(
        template.formula,
        template.id,
        template.tier,
        "seed",
        tuple(one.judgement for one in prompts),
    )
    if set_fault(planted.judgements, recipe):
        return None
    reference = refine_reference(planted, theory, [one.world for one in prompts], recipe, stream)
    costs = worlds.costs[:, chosen]
    if reference is not planted:
        prompts = [
            one._replace(judgement=worth)
            for one, worth in zip(prompts, reference.judgements, strict=True)
        ]
        mine = behaviour(reference.formula)
        others = [k for k, one in enumerate(rivals) if behaviour(one.formula) != mine]
        rivals, costs = [rivals[k] for k in others], costs[others]
        if len(find_survivors(costs, reference.cost)):
            return None
    cheater = find_cheapest_cheater(rivals, costs)
    if cheater is None or not beats_cheater(cheater, reference.cost):
        return None
    hidden = CandidateSource(f"{text} holdouts", theory, reference.formula, recipe, size)
    kept = choose_holdouts(hidden, prompts)
    if kept is None:
        return None
    return GeneratedInstance(
        id="",
        theory=theory,
        recipe=recipe,
        template=template,
        seed_reference=planted,
        reference=reference,
        cheater=cheater,
        competitors=len(rivals),
        worlds=tuple(prompts),
        holdouts=tuple(kept),
        seed=0,
        number=0,
        worlds_drawn=source.worlds_drawn + hidden.worlds_drawn,
        templates_tried=0,
    )
