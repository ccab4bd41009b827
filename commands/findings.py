"""The findings of a session: its best hypotheses, checked on held-out observations.

    found = peirce.run("examples", data="pairs.csv").findings()
    found[0].reading, found[0].shown.right
    found.to_pandas()

`reports/findings.py` ranks the hypotheses from the store alone. Here the oracle of the session's
family (the sandbox, the solver, or exact rules; never a model) also applies the best ones to held-out
observations that the session did not open, and to one input on which the best two disagree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..graphs.runtime.case import Case
from ..graphs.runtime.memory import make_case
from ..records import (
    Agreement,
    InputSet,
    LabelsRows,
    NamesCodes,
    Observation,
    OracleSettings,
    Problem,
    Unavailable,
)
from ..reports.findings import RankedHypothesis, find_disagreement, rank_problems
from ..tasks import load_family
from .oracles import open_oracles
from .session.results import Disagreement, Finding, Findings, RightOf

if TYPE_CHECKING:
    from ..store import ProblemRow, Store

FINDINGS_PER_PROBLEM = 3


async def find_findings(
    store: Store,
    session: str,
    rows: Sequence[ProblemRow],
    limit: int | None = FINDINGS_PER_PROBLEM,
) -> Findings:
    """Return the best hypotheses of each problem in `rows`.

    Args:
        store: the open store.
        session: id of the session.
        rows: problems of the session.
        limit: most findings per problem; None for all.
    """
    settings = store.settings(session)
    family = load_family(settings["family"])
    found: list[Finding] = []
    async with open_oracles(family, _oracle_settings(settings)) as opened:
        for row, ranked in rank_problems(store, session, rows):
            space = store.input_set(row.space)
            case = make_case(row.problem, None, opened.oracle, space=space)
            for rank, one in enumerate(ranked[:limit], 1):
                other = ranked[1] if rank == 1 and len(ranked) > 1 else None
                found.append(await _finding(case, rank, one, other))
    return Findings(found)


def _oracle_settings(settings: Mapping[str, Any]) -> OracleSettings:
    """Return the settings that the session's own oracle was opened with, with a single worker."""
    operational = settings.get("operational") or {}
    recorded = {**operational, **(operational.get("config") or {}).get("sandbox", {})}
    return OracleSettings(
        recorded.get("sandbox") or "process", 1, solver=recorded.get("solver") or "fast"
    )


async def _finding(
    case: Case, rank: int, one: RankedHypothesis, other: RankedHypothesis | None
) -> Finding:
    shown = one.judged.shown
    assert shown is not None
    return Finding(
        problem=case.problem.id,
        rank=rank,
        hypothesis=one.hypothesis.text,
        reading=" ".join((one.hypothesis.description or one.hypothesis.text).split()),
        shown=_counted(shown),
        held_out=await _held_out(case, one),
        consistent=one.judged.verdict.consistent,
        bits=round(one.bits, 1),
        disagreement=None if other is None else await _disagreement(case, one, other),
    )


def _counted(agreement: Agreement) -> RightOf:
    return RightOf(right=agreement.right, of=len(agreement.marks))


async def _held_out(case: Case, one: RankedHypothesis) -> RightOf | None:
    if one.judged.hidden is not None:
        return _counted(one.judged.hidden)
    hidden = _held_out_observations(case.problem)
    if not hidden:
        return None
    view = case.problem.make_view(case.space)
    try:
        found = await case.family.measure_agreement(
            one.hypothesis, hidden, view, case.make_oracles()
        )
    except Unavailable:
        return None
    return None if found.verdict == "needs_model" else _counted(found)


def _held_out_observations(problem: Problem) -> Sequence[Observation]:
    """Return the hidden observations; of labelled rows, those of the test split where there is one."""
    family = load_family(problem.family)
    if isinstance(family, LabelsRows):
        return family.get_split(problem, "ind") or problem.hidden
    return problem.hidden


async def _disagreement(
    case: Case, one: RankedHypothesis, other: RankedHypothesis
) -> Disagreement | None:
    place = find_disagreement(one, other, case.space)
    if place is None:
        return None
    outputs = [await _output(case, each, place) for each in (one, other)]
    return Disagreement(input=case.space.inputs[place], outputs=outputs)


async def _output(case: Case, one: RankedHypothesis, place: int) -> str:
    """Return what a hypothesis predicts for an input of S, as text."""
    predicted = one.judged.space
    assert predicted is not None
    if reason := int(predicted.reasons[place]):
        return f"undefined ({predicted.reason_names[reason - 1]})"
    if isinstance(case.family, NamesCodes):
        return str(case.family.code_names(case.problem)[int(predicted.codes[place])])
    asked = Observation(case.space.inputs[place], None)
    view = case.problem.make_view(InputSet("one", (asked.input,)))
    try:
        found = await case.family.measure_agreement(
            one.hypothesis, [asked], view, case.make_oracles()
        )
    except Unavailable:
        return "another output"
    got = found.got[0]
    return str(got.get("value", got.get("undefined")))
