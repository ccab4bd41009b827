"""Which model of a session proposed a hypothesis, where the session has a second proposer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..records import Json, StepRecord

PROPOSED_BY = "proposed_by"  # of the fields of a step: the role that proposed its answers
THEN = "then"  # the role of the second proposer


def find_proposers(settings: Mapping[str, Json], steps: Iterable[StepRecord]) -> dict[str, str]:
    """Return the name of the model that first proposed each hypothesis, by its text.

    The result is empty for a session without a second proposer.

    Args:
        settings: The settings of the session.
        steps: The steps of one problem, in order.
    """
    found: dict[str, str] = {}
    operational = settings.get("operational") or {}
    first = str(operational.get("model_name") or settings.get("model"))
    second = str(((operational.get("players") or {}).get(THEN) or [THEN])[0])
    for step in steps:
        if (role := step.fields.get(PROPOSED_BY)) is None:
            continue
        for answer in step.answers:
            for one in answer.judged:
                if one.hypothesis is not None:
                    found.setdefault(one.hypothesis.text, second if role == THEN else first)
    return found
