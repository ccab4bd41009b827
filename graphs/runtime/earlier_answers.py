"""Judge hypotheses that a caller brings, as if they were the earlier answers to a problem.

The next request then asks for a hypothesis that differs from them: prompts and searches see them, and
their predictions on the sample space count as covered.
"""

from __future__ import annotations

from ...records import JudgedAnswer, Malformed, PastAnswer, StepRecord, Verdict
from .case import Case
from .judging import examine, judge_malformed


async def add_earlier(case: Case, text: str, number: int) -> StepRecord:
    """Judge one hypothesis and remember it. A malformed one is judged and then forgotten.

    Args:
        case: The working data of the problem.
        text: The hypothesis: the source of a function, a formula or a sentence.
        number: The number of the hypothesis, from 1.

    Returns:
        The judgement in the form of a step.
    """
    view, path = case.make_view(), f"earlier/{number}"
    item = case.family.parse_hypothesis(text, view)
    if isinstance(item, Malformed):
        judged = judge_malformed(item)
    else:
        judged = await examine(case, view, item, path)
        feedback = ""
        shown = judged.shown
        if case.gives_feedback and shown is not None and judged.verdict is Verdict.INCONSISTENT:
            feedback = case.words.show_feedback(view, shown)
        case.past_answers.append(
            PastAnswer(text, (item,), judged.verdict, feedback, verdicts=(judged.verdict,))
        )
    return StepRecord(case.problem.id, number, (JudgedAnswer(path, text, (judged,)),), {}, ())
