"""Generate problems that have different rules, several at the same time where there are processes.

Problem k of a seed is the first of its random stream whose rule behaves differently from the rules
of the problems before it. The problems are first generated without regard to each other, in parts.
If one of the rules that were examined for a problem repeats an earlier rule, the problem is
generated again with the earlier rules in view. Therefore the result does not depend on where the
parts were generated.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from itertools import chain
from typing import TypeAlias

from ...records import Compute, Json, Problem, UsageError

PROBLEMS_PER_PART = 16

# draw(k, seen) returns problem k, whose rule has no behaviour in `seen`, and the behaviours of the
# rules that were examined, as texts, of which the last is that of its rule
DrawProblem: TypeAlias = Callable[[int, Container[str]], tuple[Problem, list[str]]]


def generate_distinct(
    count: int, compute: Compute, function: str, request: dict[str, Json], draw: DrawProblem
) -> list[Problem]:
    """Return `count` problems.

    Args:
        count: the number of problems.
        compute: where parts are generated.
        function: the function that generates a part (`records.Compute`), by calling `draw_part`.
        request: the request to `function`, without "start" and "stop".
        draw: draws one problem.

    Raises:
        UsageError: `count` is below 1.
    """
    if count < 1:
        raise UsageError(f"{count} problems cannot be generated; at least 1")
    parts = (
        {**request, "start": start, "stop": min(count, start + PROBLEMS_PER_PART)}
        for start in range(0, count, PROBLEMS_PER_PART)
    )
    seen: set[str] = set()
    made = []
    for index, (data, behaviours) in enumerate(chain.from_iterable(compute(function, parts))):
        problem = Problem.from_json(data)
        if not seen.isdisjoint(behaviours):
            problem, behaviours = draw(index, seen)
        seen.add(behaviours[-1])
        made.append(problem)
    return made


def draw_part(request: Json, draw: DrawProblem) -> Json:
    """Return the problems from "start" to "stop" as [problem, behaviours], without regard to
    others.
    """
    drawn = (draw(index, ()) for index in range(request["start"], request["stop"]))
    return [[problem.as_json(), behaviours] for problem, behaviours in drawn]
