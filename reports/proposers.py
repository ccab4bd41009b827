"""Who found a hypothesis: the model, a second model, or the embedded search.

The search finds hypotheses in three ways besides being the model itself: it gives some before the
first request (`--seed-hypotheses`), it repairs answers of the model (`--repair search`), and it
continues where the model found nothing (`--then search`). A session in which only one model answers
names nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..records import FOUND_ANEW, REPAIR_KIND, Json, JudgedAnswer, StepRecord

PROPOSED_BY = "proposed_by"  # of the fields of a step: the role that proposed its answers
THEN = "then"  # the role of the second proposer


def find_proposers(settings: Mapping[str, Json], steps: Iterable[StepRecord]) -> dict[str, str]:
    """Return who first found each hypothesis, by its text.

    Examples are "openai:NAME", "search", "search, before the first request" and "search, which
    repaired an answer of openai:NAME". The result is empty for a session in which only one model
    answers.

    Args:
        settings: The settings of the session.
        steps: The steps of one problem, in order.
    """
    if not has_several_proposers(settings):
        return {}
    found: dict[str, str] = {}
    for step in steps:
        for answer in step.answers:
            for one in answer.judged:
                if one.hypothesis is not None:
                    found.setdefault(one.hypothesis.text, describe_proposer(settings, step, answer))
    return found


def has_several_proposers(settings: Mapping[str, Json]) -> bool:
    """Return whether hypotheses of a session may come from more than one model or search."""
    players = (settings.get("operational") or {}).get("players") or {}
    return THEN in players or bool(settings.get("repair") or settings.get("seed_hypotheses"))


def describe_proposer(settings: Mapping[str, Json], step: StepRecord, answer: JudgedAnswer) -> str:
    """Return who gave an answer of a step, as a part of a sentence.

    Args:
        settings: The settings of the session.
        step: The step.
        answer: One of its answers.
    """
    operational = settings.get("operational") or {}
    model = str(operational.get("model_name") or settings.get("model"))
    if step.fields.get(PROPOSED_BY) == THEN:
        second = str(((operational.get("players") or {}).get(THEN) or [THEN])[0])
        model = f"{model}, the second proposer" if second == operational.get("model") else second
    kind = answer.path.split("/")
    if kind[0] == "seed":
        return f"{step.fields.get('seeder', 'search')}, before the first request"
    if kind[2:3] != ["repair"]:
        return model
    repairer = str(step.fields.get("repair") or settings.get("repair"))
    if step.fields.get(REPAIR_KIND) == FOUND_ANEW:
        return f"{repairer}, in place of an answer of {model}"
    return f"{repairer}, which repaired an answer of {model}"


def add_proposers(
    settings: Mapping[str, Json], steps: Iterable[StepRecord], bank: Iterable[Mapping[str, Json]]
) -> list[dict[str, Json]]:
    """Return the rows of a bank, with who found each hypothesis under the key "found_by".

    Args:
        settings: The settings of the session.
        steps: The steps of the problems of the bank, in order.
        bank: The rows of the bank (`Store.bank`).
    """
    by_problem: dict[str, list[StepRecord]] = {}
    for step in steps:
        by_problem.setdefault(step.problem, []).append(step)
    names = {problem: find_proposers(settings, one) for problem, one in by_problem.items()}
    found = []
    for row in bank:
        name = names.get(row["problem"], {}).get(row["text"])
        found.append(dict(row) if name is None else {**row, "found_by": name})
    return found
