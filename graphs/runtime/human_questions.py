"""Ask a person where a problem would end unsolved (`--ask-human`).

When a problem would end without an accepted hypothesis (with `refine`, without its target), and no
second proposer is left, the session asks a person. The answer is the next hint for the problem, and
the proposer goes on with it: the counts of answers and of bad answers start again, and step numbers
continue. An empty answer ends the problem as without this setting.

    step/4/human/0      the answer to the first question about a problem, which came before step 4
    step/9/human/1      the answer to the second one

A problem that waits makes no request. When the session stops, the problem stays open, and it asks
again when the session is resumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...records import CallKey, Json, Outcome, Unavailable
from .hints import HUMAN
from .queries import decode_outcome
from .second_proposer import ends_unsolved

if TYPE_CHECKING:
    from .case import Case, Runtime

CAUSES = {  # what a question says of the reason why the problem would end
    "cap": "the limit of answers is reached",
    "three_bad": "three answers were bad",
    "bad": "too many answers were bad",
    "exhausted": "the proposer has no further answer",
    "no_progress": "the last answers added nothing",
    "answered": "the one answer was not accepted",
}


def may_ask_human(case: Case, stop: str, solved_by: str) -> bool:
    """Return whether a problem that is about to end asks a person first.

    Args:
        case: The working data of the problem.
        stop: Why the problem is about to end.
        solved_by: What solves the problem: an "accepted" hypothesis, or only a reached "target".
    """
    return case.settings.method.ask_human and ends_unsolved(case, stop, solved_by)


async def ask_human(state: Mapping[str, Any], runtime: Runtime) -> dict[str, Json]:
    """Ask a person for a hint, and continue the problem with it.

    The reason to stop stays if the answer is empty. If the session stops first, the problem stays
    open. As in `hand_over`, the number of requests in the step is kept.
    """
    case = runtime.context
    path = f"step/{state['step']}/human/{case.questions}"
    recorded = case.journal.find_entry(CallKey(case.session, case.problem.id, path))
    given: str | None = None
    if recorded is None and case.mailbox is not None:
        question = write_question(case, state["stop"])
        event = {"type": "question", "problem": case.problem.id, "path": path, "question": question}
        given = await case.mailbox.wait_for_text(
            case.problem.id, case.hints_read, question, case.stopping,
            lambda: case.emit(event), case.on_waiting,
        )  # fmt: skip
        if given is None:
            return {"stop": ""}  # the session stops

    async def make() -> Outcome:
        if given is None:
            raise Unavailable("Nobody can be asked: there is only the journal of this session.")
        return Outcome({"text": given})

    request = {"role": HUMAN, "cause": state["stop"]}
    outcome = await case.record_once(path, HUMAN, request, make)
    text = decode_outcome(path, lambda told: str(told.response["text"]), outcome)
    case.questions += 1
    case.hints_read += 1
    case.emit({"type": "answered", "problem": case.problem.id, "path": path, "text": text})
    if not text:
        return {}
    case.tool_turns.clear()
    case.progress.fruitless = 0
    return {"answers": 0, "bad": 0, "stop": ""}


def write_question(case: Case, stop: str) -> str:
    """Return the question to a person about a problem that would end with the reason `stop`."""
    why = CAUSES.get(stop, stop.replace("_", " "))
    what = "reaches the target" if case.settings.method.method == "refine" else "was accepted"
    last = next((one for one in reversed(case.past_answers) if one.hypotheses), None)
    tried = ""
    if last is not None:
        shown = last.hypotheses[-1].description or last.hypotheses[-1].text
        tried = f" The last one was: {' '.join(shown.split())[:300]}."
    return (
        f"No hypothesis for problem {case.problem.id} {what}, and {why}.{tried} What should the model"
        " try next? (An empty answer gives the problem up.)"
    )
