"""The front of size against error among the hypotheses of a problem.

It has those hypotheses for which no other one is smaller and has a smaller error. They are taken from
all answers, also inconsistent ones, and from what a search names in its first answer without proposing
it. All are measured in the same way, on all shown observations.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..records import FRONT_FIELD, FrontPoint, MeasuresSizeAndError, Problem, StepRecord
from ..tasks import load_family
from ..tools.fronts import find_front
from .findings import RankedHypothesis
from .metrics.results import list_judged


def find_front_points(
    problem: Problem, steps: Sequence[StepRecord], ranked: Sequence[RankedHypothesis]
) -> list[FrontPoint]:
    """Return the front, from the smallest to the largest hypothesis.

    The best hypothesis is always listed. The result is empty if hypotheses of the problem's family have
    no size and error.

    Args:
        problem: The problem.
        steps: The steps of the problem.
        ranked: The hypotheses of the problem, best first.
    """
    family = load_family(problem.family)
    if not isinstance(family, MeasuresSizeAndError):
        return []
    best = ranked[0].hypothesis.text if ranked else None
    judged = [one.hypothesis.text for one in list_judged(steps) if one.hypothesis is not None]
    named = [text for step in steps for text in step.fields.get(FRONT_FIELD, ())]
    measured = {}
    for text in dict.fromkeys([*judged, *named]):
        found = family.measure_size_and_error(text, problem)
        if found is not None:
            measured[text] = found
    texts = list(measured)
    kept = {texts[place] for place in find_front(list(measured.values()))}
    return [
        FrontPoint(text, *measured[text], chosen=text == best)
        for text in sorted(texts, key=lambda one: measured[one])
        if text in kept or text == best
    ]
