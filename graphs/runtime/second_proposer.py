"""The second proposer of a session (`--then`): it continues the problems that the first one leaves.

When a problem would end without an accepted hypothesis, the same graph goes on with the model of the
role `then`. The second proposer sees the same history. The counts of answers and of bad answers
start again, step numbers continue, and each step records which role proposed its answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...records import Json, Verdict
from .queries import THEN
from .stopping import PROBLEM_BUDGET

if TYPE_CHECKING:
    from .case import Case, Runtime

PROPOSED_BY = "proposed_by"  # of the fields of a step (reports/proposers.py reads it)
TARGET = "target"  # the reason to stop of a problem whose target is reached


def may_hand_over(case: Case, stop: str, solved_by: str) -> bool:
    """Return whether a problem that is about to end continues with the second proposer.

    Args:
        case: The working data of the problem.
        stop: Why the problem is about to end.
        solved_by: What solves the problem: an "accepted" hypothesis, or only a reached "target".
    """
    if THEN not in case.others or case.asked_role == THEN:
        return False
    return ends_unsolved(case, stop, solved_by)


def ends_unsolved(case: Case, stop: str, solved_by: str) -> bool:
    """Return whether a problem is about to end unsolved, and not because its tokens are spent.

    Args:
        case: The working data of the problem.
        stop: Why the problem is about to end.
        solved_by: As for `may_hand_over`.
    """
    if stop == PROBLEM_BUDGET:
        return False
    return stop != TARGET if solved_by == TARGET else not case.has_accepted


async def hand_over(state: Mapping[str, Any], runtime: Runtime) -> dict[str, Json]:
    """Let the second proposer continue the problem.

    The number of requests in the step is kept: if the first proposer was asked in vain in this step,
    that call has its path, and the next call needs another one.
    """
    case = runtime.context
    case.asked_role = THEN
    case.tools_refused = False
    case.tool_turns.clear()
    case.prompt_limit = None  # of the context of the first model
    case.progress.fruitless = 0
    case.emit({"type": "handed_over", "problem": case.problem.id, "cause": state["stop"]})
    return {"answers": 0, "bad": 0, "stop": ""}


def note_step(case: Case) -> None:
    """Note the verdicts of a finished step, and who proposed its answers, before it is recorded."""
    case.has_accepted |= any(
        one.verdict is Verdict.ACCEPTED for answer in case.judged_answers for one in answer.judged
    )
    if THEN in case.others:
        case.step_fields[PROPOSED_BY] = case.asked_role
