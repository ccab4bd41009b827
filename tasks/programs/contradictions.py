"""Problems whose shown pairs contradict each other: one input with two outputs, which no function
gives. They run as they are, and whoever starts a session is told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...records import Observation, Problem
from ...sandbox.inside.canonical import Unrepresentable, plain
from ...sandbox.inside.tolerance import normal_bytes, normaliser
from ..custom.words import EQUALITY
from ..io.messages import shorten, warn
from ..io.spaces import form_of


def warn_of_contradictions(problems: Iterable[Problem]) -> None:
    """A `DataWarning` that names the problems where no hypothesis can be consistent."""
    found = {problem.id: pairs for problem in problems if (pairs := contradiction(problem))}
    if not found:
        return
    (name, (one, other)), *more = found.items()
    others = ", ".join(other for other, _ in more)
    warn(
        f"no hypothesis can be consistent with problem {name!r}, which shows the input"
        f" {shorten(one.input)} with two outputs, {shorten(one.output, 40)} and"
        f" {shorten(other.output, 40)}{f'; nor with {len(more)} more: {shorten(others)}' * bool(more)}"
    )


def contradiction(problem: Problem) -> Sequence[Observation]:
    """The first two shown pairs with one input and two outputs under the equality of predictions,
    or that of the task; none where there are no such pairs, or a hypothesis is no function."""
    if problem.family != "programs":
        return ()
    normal = normaliser(problem.public.get(EQUALITY, {}))
    first: dict[bytes | str, tuple[bytes, Observation]] = {}
    for pair in problem.shown:
        try:
            output = normal_bytes(plain(pair.output), normal)
        except Unrepresentable:  # too large to be predicted at all
            continue
        before = first.setdefault(form_of(pair.input), (output, pair))
        if before[0] != output:
            return before[1], pair
    return ()
