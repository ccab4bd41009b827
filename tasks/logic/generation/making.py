"""An instance from a seed and its number: planted, hardened, refined, with holdouts.

All of it follows from the text of its streams; no clock and no other instance bears on it but for
the count of templates used before (`diversity.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ....records import UsageError
from ....tools.logic.formula import Formula
from ....tools.logic.judging import REGIMES, Regime
from ....tools.logic.sampling import Stream
from ....tools.logic.theories import PUBLISHED, Theory, published
from .candidates import Candidate, Source
from .cheaters import Cheater, beaten, cheapest
from .competitors import behaviour, mined_rules, pool
from .diversity import Used
from .filters import set_fault
from .hardening import Pool, hardened, surviving
from .holdouts import Holdout, holdouts
from .recipes import DIFFICULTIES, Difficulty, Recipe, recipe
from .refining import Reference, refined
from .templates import Template, templates_of

TRIES = 400  # templates tried for an instance
TRIES_OF_A_THEORY = 10  # before others are tried as well


@dataclass(frozen=True)
class Instance:
    """seed_reference: as planted; reference: after refinement. drawn: worlds drawn for it; tries:
    templates tried. seed, number: of what it was made."""

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
    drawn: int
    tries: int

    @property
    def margin(self) -> int:
        return self.cheater.cost - self.reference.cost


def instances(
    count: int,
    seed: int,
    regime: Regime | None = None,
    difficulty: Difficulty | None = None,
    mined: dict[str, Sequence[str]] | None = None,
) -> Iterator[Instance]:
    """`count` of them, regimes and difficulties in turn unless one is named. mined: by name of a
    theory, texts of formulas that answered problems of it. Instance k is the same however many
    are asked for. Raises `UsageError` below 1, or where an instance cannot be made."""
    if count < 1:
        raise UsageError(f"{count} problems cannot be generated; at least 1")
    regimes = REGIMES if regime is None else (regime,)
    difficulties = DIFFICULTIES if difficulty is None else (difficulty,)
    rules = {
        theory.names[0]: mined_rules((mined or {}).get(theory.names[0], ()), theory)
        for theory in PUBLISHED.values()
    }
    used = Used()
    for number in range(count):
        turn, which = divmod(number, len(regimes))
        made = recipe(regimes[which], difficulties[turn % len(difficulties)])
        first = made.theories[turn % len(made.theories)]
        yield _instance(seed, number, made, first, used, rules)


def _instance(
    seed: int,
    number: int,
    made: Recipe,
    first: str,
    used: Used,
    mined: dict[str, list[Formula]],
) -> Instance:
    for attempt in range(TRIES):
        text = f"abd {seed} {number} {made.regime} {made.difficulty} {attempt}"
        stream = Stream(text)
        name = first
        if attempt >= TRIES_OF_A_THEORY:
            name = made.theories[int(stream.below(len(made.theories)))]
        theory = published(name)
        assert theory is not None
        template = template_for(theory, made, stream, used)
        if template is None:
            continue
        found = tried(text, theory, made, template, mined[name])
        if found is not None:
            used.count(made.regime, made.difficulty, name, template.id)
            code = theory.names[-1]
            name = f"{made.regime.upper()}_{code}_gen{seed}_{number:03d}"
            return replace(found, id=name, seed=seed, number=number, tries=attempt + 1)
    raise UsageError(
        f"problem {number} of seed {seed}: none of {TRIES} templates passed the filters;"
        " try another seed"
    )


def template_for(theory: Theory, made: Recipe, stream: Stream, used: Used) -> Template | None:
    """One of a tier drawn by the recipe's weights, among those that may be used again; never the
    theory's antecedent, which is a rule wherever there is one."""
    at = float(stream.uniform()) * sum(made.tiers.values())
    tier = max(made.tiers)
    for one, weight in made.tiers.items():
        if at < weight:
            tier = one
            break
        at -= weight
    assert theory.antecedent is not None  # of a published theory
    before = behaviour(theory.antecedent)
    open_ = [
        one
        for one in templates_of(theory, tier)
        if used.may(made.regime, made.difficulty, theory.names[0], one.id)
        and behaviour(one.formula) != before
    ]
    return open_[int(stream.below(len(open_)))] if open_ else None


def tried(
    text: str,
    theory: Theory,
    made: Recipe,
    template: Template,
    mined: Sequence[Formula] = (),
) -> Instance | None:
    """An instance planted with a template, without its name; None where a filter rejects it."""
    stream = Stream(f"{text} choices")
    least, most = made.sizes
    size = least + int(stream.below(most - least + 1)) if made.one_size else None
    wanted = made.worlds[0] + int(stream.below(made.worlds[1] - made.worlds[0] + 1))
    rivals = pool(theory, template.formula, stream, mined)
    source = Source(f"{text} prompts", theory, template.formula, made, size)
    worlds = Pool(source, rivals)
    chosen = hardened(worlds, made, wanted)
    if chosen is None:
        return None
    prompts = [
        one._replace(world=replace(one.world, id=f"W{place}"))
        for place, one in enumerate(worlds.candidates[k] for k in chosen)
    ]
    planted = Reference(
        template.formula, template.id, template.tier, "seed", tuple(one.judged for one in prompts)
    )
    if set_fault(planted.worths, made):
        return None
    reference = refined(planted, theory, [one.world for one in prompts], made, stream)
    costs = worlds.costs[:, chosen]
    if reference is not planted:
        prompts = [
            one._replace(judged=worth) for one, worth in zip(prompts, reference.worths, strict=True)
        ]
        mine = behaviour(reference.formula)
        others = [k for k, one in enumerate(rivals) if behaviour(one.formula) != mine]
        rivals, costs = [rivals[k] for k in others], costs[others]
        if len(surviving(costs, reference.cost)):
            return None
    cheater = cheapest(rivals, costs)
    if cheater is None or not beaten(cheater, reference.cost):
        return None
    hidden = Source(f"{text} holdouts", theory, reference.formula, made, size)
    kept = holdouts(hidden, prompts)
    if kept is None:
        return None
    return Instance(
        id="",
        theory=theory,
        recipe=made,
        template=template,
        seed_reference=planted,
        reference=reference,
        cheater=cheater,
        competitors=len(rivals),
        worlds=tuple(prompts),
        holdouts=tuple(kept),
        seed=0,
        number=0,
        drawn=source.drawn + hidden.drawn,
        tries=0,
    )
