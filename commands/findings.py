"""The findings of a session: its best hypotheses, checked on held-out observations.

    found = peirce.run("examples", data="pairs.csv").findings()
    found[0].reading, found[0].shown.right
    found.to_pandas()

`reports/findings.py` ranks the hypotheses with data from the store alone. This module adds results
of the oracle (the sandbox, the solver or exact rules, never a model). The oracle applies the best
hypotheses to held-out observations that the session did not use, and to one input on which the best
two hypotheses disagree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from ..graphs.runtime.case import Case
from ..graphs.runtime.memory import make_case
from ..records import (
    Agreement,
    FrontPoint,
    InputSet,
    Json,
    LabelsRows,
    NamesCodes,
    Observation,
    OracleSettings,
    Problem,
    StepRecord,
    Unavailable,
)
from ..reports.findings import (
    FINDINGS_PER_PROBLEM,
    CheckedFindings,
    RankedHypothesis,
    find_disagreement,
    held_out_observations,
    proposed_likeliest_first,
    rank_hypotheses,
    summarize_hypothesis,
)
from ..reports.front import find_front_points
from ..reports.hints import find_hints, find_hints_by_hypothesis
from ..reports.metrics.results import SpaceCache, list_judged, pair_with_steps
from ..reports.page.problem import MAX_COMPARED, choose_inputs
from ..reports.papers.hypobench.metrics import summarize_first_split
from ..reports.proposers import find_proposers
from ..tasks import load_family
from .oracles import OpenedOracle, open_oracles
from .session.finding_results import (
    Disagreement,
    Finding,
    Findings,
    FrontHypothesis,
    RightCount,
    Together,
)

if TYPE_CHECKING:
    from ..store import ProblemRow, Store


async def find_findings(
    store: Store,
    session: str,
    rows: Sequence[ProblemRow],
    limit: int | None = FINDINGS_PER_PROBLEM,
    opened: OpenedOracle | None = None,
) -> Findings:
    """Return the best hypotheses of each problem in `rows`, best first.

    If the oracle of the session (for example the sandbox) cannot be opened on this machine, the
    results that need the oracle are left out. Thus a finished session never fails because of its
    findings.

    Args:
        store: the open store.
        session: id of the session.
        rows: problems of the session.
        limit: maximum number of findings per problem; None for all hypotheses.
        opened: the oracle of the session, if it is still open.
    """
    settings = store.settings(session)
    family = load_family(settings["family"])
    records = store.steps(session, [row.problem.id for row in rows], spaces="consistent")
    in_order = proposed_likeliest_first(settings)
    hints, spaces = find_hints(store, session), SpaceCache(store)
    found: list[Finding] = []
    async with AsyncExitStack() as stack:
        with suppress(Unavailable):
            if opened is None:
                opening = open_oracles(family, _oracle_settings(settings))
                opened = await stack.enter_async_context(opening)
        oracle = None if opened is None else opened.oracle
        for row, steps in pair_with_steps(rows, records):
            ranked = rank_hypotheses(row.problem, list_judged(steps), in_order=in_order)
            space = spaces.get_space(row.space)
            case = make_case(row.problem, None, oracle, space=space)
            hidden = held_out_observations(row.problem)
            proposers = find_proposers(settings, steps)
            after = find_hints_by_hypothesis(hints.get(row.problem.id, {}), steps)
            for rank, one in enumerate(ranked[:limit], 1):
                other = ranked[1] if rank == 1 and len(ranked) > 1 else None
                front = find_front_points(row.problem, steps, ranked) if rank == 1 else ()
                together = _together(row.problem, steps) if rank == 1 else None
                each = await _finding(case, rank, one, other, front, together, hidden)
                text = one.hypothesis.text
                found.append(
                    replace(each, found_by=proposers.get(text), after_hint=after.get(text))
                )
    return Findings(found)


def _oracle_settings(settings: Mapping[str, Any]) -> OracleSettings:
    """Return the settings that the session's own oracle was opened with, with a single worker."""
    operational = settings.get("operational") or {}
    recorded = {**operational, **(operational.get("config") or {}).get("sandbox", {})}
    return OracleSettings(
        recorded.get("sandbox") or "process", 1, solver=recorded.get("solver") or "fast"
    )


async def _finding(
    case: Case,
    rank: int,
    one: RankedHypothesis,
    other: RankedHypothesis | None,
    front: Sequence[FrontPoint],
    together: Together | None,
    hidden: Sequence[Observation],
) -> Finding:
    shown = one.judged.shown
    assert shown is not None
    return Finding(
        problem=case.problem.id,
        rank=rank,
        hypothesis=one.hypothesis.text,
        reading=" ".join((one.hypothesis.description or one.hypothesis.text).split()),
        shown=_counted(case, shown),
        held_out=await _held_out(case, one, hidden),
        consistent=one.judged.verdict.consistent,
        bits=round(one.bits, 1),
        disagreement=None if other is None else await _disagreement(case, one, other),
        front=[FrontHypothesis(**asdict(each)) for each in front],
        together=together,
        summary=summarize_hypothesis(case.family, one.hypothesis),
    )


def _together(problem: Problem, steps: Sequence[StepRecord]) -> Together | None:
    """Return how well the bank of a problem predicts held-out rows; None without predictions."""
    if not isinstance(load_family(problem.family), LabelsRows):
        return None
    found = summarize_first_split(problem, steps)
    return None if found is None else Together(**found)


def _counted(case: Case, agreement: Agreement) -> RightCount:
    marks = agreement.marks
    covered = sum(mark is not None for mark in marks)
    partial = isinstance(case.family, LabelsRows) and covered < len(marks)
    return RightCount(
        right=agreement.right,
        of=len(marks),
        covered=covered if partial else None,
        rms=agreement.detail.get("rms"),
    )


async def _held_out(
    case: Case, one: RankedHypothesis, hidden: Sequence[Observation]
) -> RightCount | None:
    found = one.judged.hidden or await _apply_to_held_out(case, one, hidden)
    return None if found is None else _counted(case, found)


async def _apply_to_held_out(
    case: Case, one: RankedHypothesis, hidden: Sequence[Observation]
) -> Agreement | None:
    found = await _apply(case, one, hidden, case.space) if hidden else None
    return None if found is None or found.verdict == "needs_model" else found


async def _apply(
    case: Case, one: RankedHypothesis, observations: Sequence[Observation], space: InputSet
) -> Agreement | None:
    """Return the agreement of a hypothesis with observations; None if the oracle is not available."""
    view = case.problem.make_view(space)
    try:
        return await case.family.measure_agreement(
            one.hypothesis, observations, view, case.make_oracles()
        )
    except Unavailable:
        return None


async def _disagreement(
    case: Case, one: RankedHypothesis, other: RankedHypothesis
) -> Disagreement | None:
    place = find_disagreement(one, other, case.space, case.family)
    if place is None:
        return None
    outputs = [await _output(case, each, place) for each in (one, other)]
    return Disagreement(input=case.space.inputs[place], outputs=outputs)


async def _output(case: Case, one: RankedHypothesis, place: int) -> str | None:
    """Return what a hypothesis predicts for an input of S, as text; None if no oracle can say it.

    A label is returned as it is. Any other value is returned in Python notation, in which 24 and
    '24' differ.
    """
    predicted = one.judged.space
    assert predicted is not None
    if reason := int(predicted.reasons[place]):
        return _nothing(predicted.reason_names[reason - 1])
    if isinstance(case.family, NamesCodes):
        return str(case.family.code_names(case.problem)[int(predicted.codes[place])])
    found = await _apply_to_inputs(case, one, [place])
    if found is None:
        return None
    got = found.got[0]
    return repr(got["value"]) if "value" in got else _nothing(str(got.get("undefined")))


def _nothing(reason: str) -> str:
    return f"nothing ({reason.replace('_', ' ')})"


async def _apply_to_inputs(
    case: Case, one: RankedHypothesis, places: Sequence[int]
) -> Agreement | None:
    asked = [Observation(case.space.inputs[place], None) for place in places]
    return await _apply(case, one, asked, InputSet("few", tuple(each.input for each in asked)))


# --- What the report page adds to the findings that it ranks itself (reports/page/findings.py).


async def check_findings(
    store: Store, session: str, rows: Sequence[ProblemRow]
) -> dict[str, CheckedFindings]:
    """Apply the best hypotheses of each problem in `rows` with the session's oracle.

    The oracle is the sandbox, the solver, or exact rules.

    Returns:
        The results for each problem, by the problem's id.

    Raises:
        SandboxUnavailable: the sandbox of the session cannot be started here.
        UsageError: the settings of the session name an unknown sandbox.
    """
    settings = store.settings(session)
    family = load_family(settings["family"])
    records = store.steps(session, [row.problem.id for row in rows], spaces="consistent")
    in_order = proposed_likeliest_first(settings)
    found = {}
    spaces = SpaceCache(store)
    async with open_oracles(family, _oracle_settings(settings)) as opened:
        for row, steps in pair_with_steps(rows, records):
            judged = list_judged(steps)
            ranked = rank_hypotheses(row.problem, judged, in_order=in_order)
            case = make_case(row.problem, None, opened.oracle, space=spaces.get_space(row.space))
            places = choose_inputs(judged, ranked, case.space, family)
            found[row.problem.id] = CheckedFindings(
                await _check_held_out(case, ranked[:FINDINGS_PER_PROBLEM]),
                await _predicted_values(case, ranked, places),
            )
    return found


async def _check_held_out(case: Case, ranked: Sequence[RankedHypothesis]) -> dict[str, Agreement]:
    found = {}
    hidden = held_out_observations(case.problem)
    for one in ranked:
        if one.judged.hidden is None:
            agreement = await _apply_to_held_out(case, one, hidden)
            if agreement is not None:
                found[one.hypothesis.text] = agreement
    return found


async def _predicted_values(
    case: Case, ranked: Sequence[RankedHypothesis], places: Sequence[int]
) -> list[Json]:
    """Return the values that the compared hypotheses predict; none where codes have names."""
    if isinstance(case.family, NamesCodes) or not places:
        return []
    found: list[Json] = []
    for one in ranked[:MAX_COMPARED]:
        agreement = await _apply_to_inputs(case, one, places)
        found += [got["value"] for got in agreement.got if "value" in got] if agreement else []
    return found
