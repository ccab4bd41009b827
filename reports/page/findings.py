"""The findings on the page: the best hypotheses of the first problems of a session.

Hypotheses are ranked with data from the store alone. `peirce report` passes in results that only a
sandbox or solver can compute; `peirce view` shows the findings without them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...records import (
    DrawsFigures,
    Family,
    InputSet,
    Json,
    JudgedHypothesis,
    LabelsRows,
    Problem,
    StepRecord,
)
from ...tasks import load_family
from ..findings import (
    FINDINGS_PER_PROBLEM,
    CheckedFindings,
    RankedHypothesis,
    find_disagreement,
    proposed_likeliest_first,
    rank_hypotheses,
    summarize_hypothesis,
)
from ..hints import find_hints, find_hints_by_hypothesis
from ..metrics.results import SpaceCache, list_judged, pair_with_steps
from ..papers.hypobench.metrics import summarize_first_split
from ..proposers import find_proposers
from ..screen.findings import describe_together
from .problem import KnownValues, known_values, truncate

if TYPE_CHECKING:
    from ...store import ProblemRow, Store

MAX_PROBLEMS = 20  # of each session
MAX_CHARS = 4_000  # of a hypothesis
MAX_NAME = 200  # characters of what says who found a hypothesis
NOT_CHECKED = CheckedFindings()


def describe_findings(
    store: Store,
    session: str,
    rows: Sequence[ProblemRow],
    spaces: SpaceCache,
    checked: Mapping[str, CheckedFindings],
) -> list[dict[str, Json]]:
    """Return the best hypotheses of the first `MAX_PROBLEMS` problems as JSON, in stored order.

    "hypotheses" has at most `FINDINGS_PER_PROBLEM` hypotheses, best first, each with the numbers of
    observations on which it is right and wrong. "count" is the number of all ranked hypotheses.
    "disagreement" is an input for which the best two hypotheses make different predictions, with
    both predictions; None if there is no such input. "summary" is a hypothesis with long lists shortened,
    and absent if no list is long. "found_by" says who found a hypothesis, and is absent if only one
    model answers in the session. "after_hint" is the newest hint of a person that the model had read,
    and absent without one. "together" is a sentence on how well the bank of labelled rows
    predicts held-out rows, or "". "figures" says whether the problem has figures, "effects"
    whether it has effects of sentences.

    Args:
        store: The open store.
        session: Id of the session.
        rows: The problems of the session.
        spaces: A cache of the sample spaces in the store.
        checked: Results that only a sandbox or solver can compute, by problem.
    """
    first = rows[:MAX_PROBLEMS]
    records = store.steps(session, [row.problem.id for row in first], spaces="consistent")
    settings = store.settings(session)
    in_order = proposed_likeliest_first(settings)
    hints, found = find_hints(store, session), []
    for row, steps in pair_with_steps(first, records):
        judged = list_judged(steps)
        ranked = rank_hypotheses(row.problem, judged, in_order=in_order)
        known = checked.get(row.problem.id, NOT_CHECKED)
        numbers = {id(one): number for number, one in enumerate(judged, 1)}
        proposers = find_proposers(settings, steps)
        after = find_hints_by_hypothesis(hints.get(row.problem.id, {}), steps)
        found.append({
            "problem": row.problem.id,
            "hypotheses": [
                {
                    "number": numbers[id(one.judged)],
                    **_finding(one, known, load_family(row.problem.family)),
                    **_found_by(one, proposers, after),
                }
                for one in ranked[:FINDINGS_PER_PROBLEM]
            ],
            "count": len(ranked),
            "disagreement": _disagreement(
                row.problem, judged, ranked, spaces.get_space(row.space), known
            ),
            "together": _describe_bank(row.problem, steps),
            "figures": isinstance(load_family(row.problem.family), DrawsFigures) and bool(ranked),
            "effects": isinstance(load_family(row.problem.family), LabelsRows) and bool(ranked)
            and row.status != "open",
        })  # fmt: skip
    return found


def _describe_bank(problem: Problem, steps: Sequence[StepRecord]) -> str:
    if not isinstance(load_family(problem.family), LabelsRows):
        return ""
    found = summarize_first_split(problem, steps)
    return "" if found is None else describe_together(found)


def _found_by(
    one: RankedHypothesis, proposers: Mapping[str, str], after: Mapping[str, str]
) -> dict[str, Json]:
    text = one.hypothesis.text
    told = {"found_by": proposers.get(text), "after_hint": after.get(text)}
    return {key: truncate(name, MAX_NAME) for key, name in told.items() if name is not None}


def _finding(one: RankedHypothesis, checked: CheckedFindings, family: Family) -> dict[str, Json]:
    summary = summarize_hypothesis(family, one.hypothesis)
    shown = one.judged.shown
    held_out = one.judged.hidden or checked.held_out.get(one.hypothesis.text)
    return {
        "text": truncate(one.hypothesis.text, MAX_CHARS),
        "description": truncate(one.hypothesis.description, MAX_CHARS),
        **({} if summary is None else {"summary": summary}),
        **{
            name: {
                "right": each.right,
                "wrong": each.marks.count(False),
                "of": len(each.marks),
                **({"rms": each.detail["rms"]} if "rms" in each.detail else {}),
            }
            for name, each in (("shown", shown), ("held_out", held_out))
            if each is not None
        },
    }


def _disagreement(
    problem: Problem,
    judged: Sequence[JudgedHypothesis],
    ranked: Sequence[RankedHypothesis],
    space: InputSet,
    checked: CheckedFindings,
) -> dict[str, Json] | None:
    place = (
        find_disagreement(ranked[0], ranked[1], space, load_family(problem.family))
        if len(ranked) > 1
        else None
    )
    if place is None:
        return None
    values = known_values(problem, judged, checked)
    return {
        "input": space.inputs[place],
        "outputs": [_output(one, place, values) for one in ranked[:2]],
    }


def _output(one: RankedHypothesis, place: int, values: KnownValues) -> dict[str, Json]:
    """Return {"value"}, {"undefined": reason}, or {} where the value is not known."""
    predicted = one.judged.space
    assert predicted is not None
    if reason := int(predicted.reasons[place]):
        return {"undefined": predicted.reason_names[reason - 1]}
    code = int(predicted.codes[place])
    return {"value": values.by_code[code]} if code in values.by_code else {}
