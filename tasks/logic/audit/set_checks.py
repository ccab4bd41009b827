"""Check each instance as a whole and all instances together, and compute statistics.

The checks concern ids, counts, duplicates, competing rules and the use of rule templates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from ....records import Json
from ....tools.logic.evaluation import TableTooLarge
from ....tools.logic.fast_path import REGIMES, BeyondFastPath, PreparedWorlds
from ....tools.logic.rules import InvalidRule, read_rule
from ....tools.logic.theories import SIGNATURE
from ....tools.logic.worlds import World
from ...io.messages import shorten
from ..generation.competitors import behaviour, simple_competitors
from ..generation.filters import SET_CONDITIONS, max_uses
from ..generation.holdouts import are_equal_worlds
from ..generation.recipes import HOLDOUTS, MARGIN
from .checks import Check, CheckCounter
from .reading import AuditedInstance, AuditedSet, AuditedWorld, judge_with_fallback

# --- Statistics of a set by regime, for prompt worlds and for holdouts: the figures of the paper's
# tables 1 and F.1, and the shares of true and of masked atoms.


def compute_statistics(found: AuditedSet) -> list[dict[str, Json]]:
    """Return statistics of a set, with one row for each regime, kind of worlds and statistic."""
    made: list[dict[str, Json]] = []
    for regime in REGIMES:
        some = [one for one in found.instances if one.regime == regime]
        for side in ("prompt", "holdout"):
            for name, values in _figures(some, side):
                kept = [value for value in values if isinstance(value, (int, float))]
                if kept:
                    made.append(
                        {
                            "regime": regime, "worlds": side, "statistic": name,
                            "mean": fmean(kept), "least": min(kept), "most": max(kept),
                            "n": len(kept),
                        }
                    )  # fmt: skip
    return made


def _figures(
    some: Sequence[AuditedInstance], side: str
) -> Iterator[tuple[str, Iterable[float | None]]]:
    sides = [one.prompts if side == "prompt" else one.holdouts for one in some]
    worlds = [audited for part in sides for audited in part]
    yield "worlds an instance", [len(part) for part in sides]
    yield "elements", [len(one.world.names) for one in worlds]
    for name, places in SIGNATURE.items():
        yield f"{name} true", [len(one.world.true[name]) / _atoms(one, places) for one in worlds]
    for name in ("R", "S"):
        yield (
            f"{name} unknown",
            [len(one.world.unknown.get(name, ())) / _atoms(one, 2) for one in worlds],
        )
    yield "unknown atoms", [len(one.world.unknown_atoms) for one in worlds]
    yield "lower bound", [one.judgement.bound if one.judgement else None for one in worlds]
    yield "reference cost", [one.judgement.cost if one.judgement else None for one in worlds]
    yield "slack", [_slack(one) for one in worlds]
    yield "reference valid", [None if _cost(one) is _NONE else float(_cost(one) is not None)
                              for one in worlds]  # fmt: skip
    if side == "prompt":
        yield "cheater margin", [one.gold.get("cheaterMargin") for one in some]
        yield "reference AST", [one.reference.size if one.reference else None for one in some]


_NONE = -1


def _cost(one: AuditedWorld) -> int | None:
    return _NONE if one.judgement is None else one.judgement.cost


def _slack(one: AuditedWorld) -> int | None:
    if one.judgement is None or one.judgement.cost is None:
        return None
    return one.judgement.cost - one.judgement.bound


def _atoms(one: AuditedWorld, places: int) -> int:
    return int(len(one.world.names) ** places)


INSTANCES = "instances"
MAX_COST_DIFFERENCE = (
    0.25  # largest difference of the mean costs per world of holdouts and prompt worlds
)
MIN_EASY_WORLDS = 6  # fewest prompt worlds: some public easy instances have 6 or 7


def check_files(found: AuditedSet) -> Iterable[Check]:
    """Check that the files can be read, ids are unique and each holdout belongs to an instance."""
    both = "is both true and unknown"
    made = CheckCounter()
    for some, what in ((found.unread, INSTANCES), (found.unread_holdouts, "holdouts")):
        count = (
            len(found.instances)
            if what == INSTANCES
            else sum(len(one.holdouts) for one in found.instances)
        )
        read, single = f"{what}: can be read", f"{what}: no atom is both true and unknown"
        for _ in range(count):
            made.count(read, what, True, "")
            made.count(single, what, True, "")
        for sentence in some:
            made.count(single if both in sentence else read, what, False, sentence)
    for one in found.instances:
        made.count("ids are unique", INSTANCES, one.name not in found.duplicates, one.name)
    for name in found.strays:
        made.count("holdouts: belong to an instance", "holdouts", False, name)
    return made.all()


def check_instances(found: AuditedSet) -> Iterable[Check]:
    """Check each instance as a whole, and how often the set uses each rule template."""
    made = CheckCounter()
    for one in found.instances:
        _reference(made, one)
        _worlds(made, one)
        _totals(made, one)
        _duplicates(made, one)
        _holdouts(made, one)
        _competitors(made, one)
    _templates(made, found.instances)
    return made.all()


def _reference(made: CheckCounter, one: AuditedInstance) -> None:
    text = one.gold.get("alpha")
    reason = "there is none"
    if isinstance(text, str):
        read = read_rule(text, one.theory)
        reason = read.detail if isinstance(read, InvalidRule) else ""
    made.count("the reference is a rule within the scope of its theory", INSTANCES, not reason,
               one.name, reason)  # fmt: skip
    made.count("the regime has the difficulty", INSTANCES, one.difficulty == one.recipe.difficulty,
               one.name, shorten(one.difficulty))  # fmt: skip
    fits = one.code in one.recipe.theories
    made.count("the regime has the theory", INSTANCES, fits, one.name, one.code)
    tier = one.description.get("alphaTier", one.gold.get("alphaTier"))
    made.count(
        "the tier of the template is one of the regime's and difficulty's", INSTANCES,
        tier in list(one.recipe.tiers), one.name, f"tier {shorten(tier)}",
    )  # fmt: skip
    seed = one.problem.get("seedAlpha")
    if isinstance(seed, dict) and "goldChanged" in one.description:
        changed = seed.get("alpha") != text
        made.count(
            "goldChanged says whether the planted formula was replaced", INSTANCES,
            one.description["goldChanged"] is changed, one.name,
        )  # fmt: skip


def _worlds(made: CheckCounter, one: AuditedInstance) -> None:
    count, most = len(one.prompts), one.recipe.worlds[1]
    least = MIN_EASY_WORLDS if one.recipe.difficulty == "easy" else one.recipe.worlds[0]
    made.count(
        "as many prompt worlds as regime and difficulty have", INSTANCES, least <= count <= most,
        one.name, f"{count} of {least} to {most}",
    )  # fmt: skip
    if one.recipe.one_size:
        sizes = sorted({len(audited.world.names) for audited in one.prompts})
        made.count("skeptical: prompt worlds of one size", INSTANCES, len(sizes) == 1, one.name,
                   str(sizes))  # fmt: skip


def _totals(made: CheckCounter, one: AuditedInstance) -> None:
    worths = [audited.judgement for audited in one.prompts if audited.judgement is not None]
    if len(worths) < len(one.prompts):
        return
    for said, holds in SET_CONDITIONS.items():
        bound, cost = sum(w.bound for w in worths), sum(w.cost or 0 for w in worths)
        made.count(said, INSTANCES, holds(worths, one.recipe), one.name,
                   f"bound {bound}, cost {cost}")  # fmt: skip
    if all(worth.cost is not None for worth in worths):
        due, there = sum(w.cost or 0 for w in worths), one.gold.get("totalGoldAlphaCost")
        made.count("totalGoldAlphaCost is the reference's exact cost", INSTANCES, due == there,
                   one.name, f"{shorten(there)}, and it is {due}")  # fmt: skip
    stored = [audited.data.get("optCost") for audited in one.prompts]
    known = [bound for bound in stored if type(bound) is int]
    there = one.gold.get("totalOptCost")
    fits = len(known) == len(stored) and sum(known) == there
    made.count("totalOptCost is the sum of the optCosts", INSTANCES, fits, one.name, shorten(there))
    due_of = {
        "numTrainWorlds": len(stored), "perWorldOptCosts": stored, "aggregateOptCost": there
    }  # fmt: skip
    wrong = [key for key, due in due_of.items() if one.description.get(key, due) != due]
    made.count("the description agrees with the worlds", INSTANCES, not wrong, one.name,
               ", ".join(wrong))  # fmt: skip


def _duplicates(made: CheckCounter, one: AuditedInstance) -> None:
    prompts = [audited.world for audited in one.prompts]
    hidden = [audited.world for audited in one.holdouts]
    for what, some, others in (
        ("no prompt world stands there twice", prompts, prompts),
        ("no holdout stands there twice", hidden, hidden),
        ("no prompt world is among the holdouts", prompts, hidden),
    ):
        pair = _pair(some, others, are_equal_worlds)
        made.count(what, INSTANCES, not pair, one.name, pair)
    if one.regime != "full":
        pairs = sum(
            are_maskings_of_one_world(a, b) for k, a in enumerate(prompts) for b in prompts[k + 1 :]
        )
        made.count("no two prompt worlds can be maskings of one world", INSTANCES, not pairs,
                   one.name, f"{pairs} pairs")  # fmt: skip


def _pair(some: Sequence[World], others: Sequence[World], alike) -> str:  # type: ignore[no-untyped-def]
    for place, a in enumerate(some):
        for b in others[place + 1 :] if some is others else others:
            if alike(a, b):
                return f"{a.id} and {b.id}"
    return ""


def are_maskings_of_one_world(one: World, other: World) -> bool:
    """Return whether two worlds may be the same world with different unknown atoms.

    This is the case if the worlds have equal sizes and agree on all atoms that are known in both.
    """
    if len(one.names) != len(other.names):
        return False
    return all(
        not set(a.true[name]) - set(b.true[name]) - set(b.unknown.get(name, ()))
        for a, b in ((one, other), (other, one))
        for name in a.true
    )


def _holdouts(made: CheckCounter, one: AuditedInstance) -> None:
    count = len(one.holdouts)
    made.count(f"{HOLDOUTS} holdouts", INSTANCES, count == HOLDOUTS, one.name, str(count))
    costs = [
        [audited.judgement.cost if audited.judgement else None for audited in side]
        for side in (one.prompts, one.holdouts)
    ]
    if count and not any(None in side for side in costs):
        here, there = (sum(side) / len(side) for side in costs)  # type: ignore[arg-type]
        made.count(
            f"the mean cost of the holdouts is that of the prompt worlds, to {MAX_COST_DIFFERENCE}",
            INSTANCES, abs(here - there) <= MAX_COST_DIFFERENCE, one.name, f"{here:.2f} and {there:.2f}",
        )  # fmt: skip


def _competitors(made: CheckCounter, one: AuditedInstance) -> None:
    """Judge the rules of tiers 0 and 1 again; the cheaters of the first tier are among them."""
    recorded = one.gold.get("cheaterMargin")
    if recorded is not None:
        cost, total = one.gold.get("bestCheaterCost"), one.gold.get("totalGoldAlphaCost")
        fits = isinstance(cost, int) and isinstance(total, int) and cost - total == recorded > 0
        made.count("the recorded cheater costs more than the reference", INSTANCES, fits, one.name,
                   f"{shorten(cost)} and {shorten(total)}")  # fmt: skip
    worths = [audited.judgement for audited in one.prompts]
    if one.reference is None or any(w is None or w.cost is None for w in worths):
        return
    total = sum(w.cost or 0 for w in worths if w is not None)
    worlds = [audited.world for audited in one.prompts]
    prepared = PreparedWorlds(one.theory, tuple(worlds), one.regime)
    try:
        own = behaviour(one.reference)
    except TableTooLarge:
        own = b""
    within, cheaper = [], []
    for rival in simple_competitors(one.code):
        if behaviour(rival.formula) == own:
            continue
        try:
            costs = [worth.cost for worth in prepared.judge(rival.formula)]
        except BeyondFastPath:
            found = judge_with_fallback(one.theory, worlds, one.regime, rival.formula)
            costs = [worth.cost for worth in found]
        if None not in costs:
            sum_ = sum(cost or 0 for cost in costs)
            within += [f"{rival.id} {sum_} to {total}"] * (sum_ < total + MARGIN)
            cheaper += [f"{rival.id} {sum_} to {total}"] * (sum_ <= total)
    made.count(f"no rule of tier 0 or 1 is valid at less than {MARGIN} above the reference",
               INSTANCES, not within, one.name, ", ".join(within[:3]))  # fmt: skip
    made.count("no rule of tier 0 or 1 is as cheap as the reference", INSTANCES, not cheaper,
               one.name, ", ".join(cheaper[:3]))  # fmt: skip


def _templates(made: CheckCounter, some: Sequence[AuditedInstance]) -> None:
    """Check the uses of planted templates by regime, theory and difficulty."""
    uses: dict[tuple[str, str, str], Counter[str]] = {}
    for one in some:
        key = (one.regime, one.code, one.recipe.difficulty)
        template = one.description.get("templateId", one.gold.get("alphaTemplateId"))
        uses.setdefault(key, Counter())[str(template)] += 1
    for (regime, code, difficulty), counted in uses.items():
        most = max_uses(sum(counted.values()))
        over = [f"{name} {count}" for name, count in counted.items() if count > most]
        made.count("no template is used more often than its limit", "regime, theory, difficulty",
                   not over, f"{regime} {code} {difficulty}", f"{', '.join(over)} of {most}")  # fmt: skip
