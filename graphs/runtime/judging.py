"""Nodes that judge answers: `judge` as in GEAR, and `judge_with_feedback` and `repair` for
refining.

Like the nodes in steps.py, which also lists the paths of calls, a node can run again with the same
result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ...agents.prompts import protocol
from ...records import (
    IS_LAST,
    NOT_REQUESTED,
    REPAIR_KIND,
    Agreement,
    Digest,
    Hypothesis,
    Json,
    JudgedAnswer,
    JudgedHypothesis,
    Malformed,
    MeasuresHypotheses,
    Outcome,
    PastAnswer,
    Predictions,
    PreparesAnswers,
    Reply,
    Unavailable,
    Verdict,
    View,
    digest_of,
)
from ...tasks.io.answer_repair import describe_breach, read_leniently
from ...tools.gear.scores import is_redundant
from .case import Case, Runtime
from .naming import name_themes
from .queries import check_reply, decode_outcome, reply_from_outcome, reply_to_json
from .steps import State


async def judge(state: State, runtime: Runtime) -> dict[str, Json]:
    """Parse the model's reply and give each of its hypotheses a verdict (GEAR, section 4.1).

    Each hypothesis is applied to the shown and hidden observations and to the sample space S.

    Args:
        state: The state of the graph.
        runtime: The runtime, whose context is the `Case` of the problem.

    Returns:
        The changes of the state: "answers" is one higher, and "bad" grows by the number of bad
        hypotheses (malformed, inconsistent or redundant). "stop" is set if the proposer has nothing
        to add to this reply.
    """
    return await judge_reply(state, runtime.context)


async def judge_reply(state: State, case: Case, *, goes_on: bool = True) -> dict[str, Json]:
    """Judge the reply as `judge` does.

    Args:
        state: The state of the graph.
        case: The working data of the problem.
        goes_on: Whether the next request follows from this answer, so that the proposer may begin
            with it (`PreparesAnswers`). It does not if this may be the last answer.
    """
    method = case.settings.method
    goes_on = goes_on and state["answers"] + 1 < method.max_answers
    goes_on = goes_on and (method.max_bad is None or state["bad"] + 1 < method.max_bad)
    judged = await _judge(case, state["step"], case.reply, case.reply_path, goes_on=goes_on)
    case.past_answers.append(_earlier(case, case.make_view(), judged))
    _end_of_turns(case)
    return {
        "answers": state["answers"] + 1,
        "bad": state["bad"] + sum(one.bad for one in judged),
        **({"stop": "all_found"} if _is_last(case) else {}),
    }


def _is_last(case: Case) -> bool:
    """Return whether the proposer has nothing to add to its reply, and all of the reply was judged."""
    if not case.reply.meta.get(IS_LAST):
        return False
    most = None if case.settings.text is None else case.settings.text.hypotheses
    items = case.family.parse(case.make_view(), case.reply.text, case.answer_format)
    return most is None or len(items) <= most


async def judge_with_feedback(state: State, runtime: Runtime) -> dict[str, Json]:
    """Judge the model's reply as `judge` does, and keep feedback on every answer for later prompts.

    No answer counts as bad, because a refined hypothesis is expected to make nearly the same
    predictions as the hypothesis before.
    """
    case = runtime.context
    reached = await _judge_and_tell(case, state["step"], case.reply, case.reply_path)
    _end_of_turns(case)
    case.step_fields["feedback"] = True
    return {"answers": state["answers"] + 1, **reached}


async def repair(state: State, runtime: Runtime) -> dict[str, Json]:
    """Let the repairer improve the hypothesis that was just judged, and judge the repaired
    hypothesis.
    """
    case = runtime.context
    found = await _ask_repairer(state, case)
    if found is None:
        return {}
    reply, path, name = found
    return await _judge_and_tell(case, state["step"], reply, path, by=name)


async def repair_inconsistent(state: State, runtime: Runtime) -> dict[str, Json]:
    """Let the repairer improve the answer that was just judged, if it was wrong on shown
    observations.

    The repaired hypothesis is judged as the answers of `judge` are, but it is never bad.
    """
    case = runtime.context
    if case.past_answers[-1].verdict is not Verdict.INCONSISTENT:
        return {}
    found = await _ask_repairer(state, case)
    if found is not None:
        reply, path, name = found
        await judge_of_search(case, state["step"], reply, path, name)
    return {}


async def judge_of_search(
    case: Case,
    step: int,
    reply: Reply,
    path: str,
    by: str,
    *,
    seeded: bool = False,
    most: int | None = None,
) -> list[JudgedHypothesis]:
    """Judge an answer that a search gave, which never counts as bad, and keep it for later prompts.

    Args:
        case: The working data of the problem.
        step: The number of the step.
        reply: The reply of the search.
        path: The path of the reply in the journal.
        by: The name of the search.
        seeded: Whether the search found the answer before the first request.
        most: The maximum number of hypotheses of the reply that are judged; None for all.
    """  # fmt: skip
    judged = [replace(one, bad=False) for one in await _judge(case, step, reply, path, by, most)]
    case.judged_answers[-1] = replace(case.judged_answers[-1], judged=tuple(judged))
    kept = _earlier(case, case.make_view(), judged)
    case.past_answers.append(replace(kept, answer=reply.text, author=by, seeded=seeded))
    return judged


def _format_of(case: Case, by: str) -> str:
    """Return the answer format of a reply. The built-in search writes the family's default format."""
    return case.family.answer_formats[0] if by.partition(":")[0] == "search" else case.answer_format


async def _ask_repairer(state: State, case: Case) -> tuple[Reply, str, str] | None:
    """Return the repairer's reply to the last answer, its path and the repairer's name; None if it
    found nothing.
    """
    path, view = f"step/{state['step']}/repair/0", case.make_view()
    text = _to_mend(case, view)
    request = {
        "role": "repairer",
        "model": case.repairer_model,
        "text": text,
        "view": digest_of_view(view),
    }

    async def make() -> Outcome:
        if case.repairer is None:
            raise Unavailable("There is nobody here who repairs, only the session's journal.")
        reply = await case.repairer.repair(view, text)
        check_reply(reply, case.repairer, "repair")
        return Outcome(reply_to_json(reply), usage=reply.usage, retries=reply.retries)

    # the cache is for answers of endpoints
    outcome = await case.record_once(path, "model", request, make, cached=False)
    reply = decode_outcome(path, reply_from_outcome, outcome)
    name = str(case.repair_settings.repair or "")
    case.step_fields["repair"] = name
    if REPAIR_KIND in reply.meta:
        case.step_fields[REPAIR_KIND] = reply.meta[REPAIR_KIND]
    return None if reply.finish == "exhausted" else (reply, path, name)


def digest_of_view(view: View) -> Digest:
    """Return the digest of everything that a search sees, because it gets no messages."""
    shown = [[one.input, one.output] for one in view.shown]
    earlier = [[one.answer, one.feedback, one.author] for one in view.past_answers]
    return digest_of([shown, dict(view.public), view.space.digest, earlier])


def _to_mend(case: Case, view: View) -> str:
    """Return the hypothesis of the last answer, or the text in its place."""
    last = view.past_answers[-1]
    return last.hypotheses[0].text if last.hypotheses else _extract_text(case, view, last.answer)


def _extract_text(case: Case, view: View, answer: str) -> str:
    return (
        case.family.extract_hypothesis(view, answer)
        if isinstance(case.family, MeasuresHypotheses)
        else ""
    )


def _end_of_turns(case: Case) -> None:
    case.tool_turns.clear()
    case.step_fields.update(case.reply.meta.get("fields", {}))


async def _judge(
    case: Case,
    step: int,
    reply: Reply,
    reply_path: str,
    by: str = "",
    most: int | None = None,
    *,
    goes_on: bool = False,
) -> list[JudgedHypothesis]:
    """Judge the hypotheses of a reply, at most `most`.

    Args:
        case: The working data of the problem.
        step: The number of the step.
        reply: The reply.
        reply_path: The path of the reply in the journal.
        by: Who gave the reply if not a proposer.
        most: The maximum number of hypotheses that are judged; None for all.
        goes_on: Whether the proposer may begin its next answer meanwhile.
    """
    number = len(case.judged_answers)
    view = case.make_view()
    judged = []
    parsed = _parse(case, view, reply, by)[:most]
    items = await name_themes(case, view, parsed, f"step/{step}/name/{number}")
    if goes_on and not reply.meta.get(IS_LAST):
        _prepare_next(case, view, reply, items)
    if case.settings.text is not None:
        await case.row_judge.announce([one.text for one in items if isinstance(one, Hypothesis)])
    for ordinal, item in enumerate(items):
        if isinstance(item, Malformed):
            judged.append(judge_malformed(item))
        else:
            path = f"step/{step}/judge/{number}/{ordinal}"
            judged.append(await examine(case, view, item, path))
    case.judged_answers.append(JudgedAnswer(reply_path, reply.text, tuple(judged)))
    return judged


def _prepare_next(
    case: Case, view: View, reply: Reply, items: Sequence[Hypothesis | Malformed]
) -> None:
    """Let a proposer that can do so begin its next answer, as if this one was accepted."""
    proposer: object = case.get_role(case.asked_role).proposer
    if isinstance(proposer, PreparesAnswers):
        hypotheses = tuple(one for one in items if isinstance(one, Hypothesis))
        past = PastAnswer(reply.text, hypotheses, Verdict.ACCEPTED)
        proposer.prepare_answer(replace(view, past_answers=(*view.past_answers, past)))


async def _judge_and_tell(
    case: Case, step: int, reply: Reply, path: str, by: str = ""
) -> dict[str, Json]:
    """Judge the reply, keep the feedback, and return whether the target is reached.

    The result is a change of the graph's state.
    """
    judged = [replace(one, bad=False) for one in await _judge(case, step, reply, path, by)]
    case.judged_answers[-1] = replace(case.judged_answers[-1], judged=tuple(judged))
    view = case.make_view()
    hypotheses = tuple(one.hypothesis for one in judged if one.hypothesis is not None)
    said = "" if hypotheses else _extract_text(case, view, reply.text)
    told = [
        protocol.describe_unreadable(one.reason, said)
        if one.shown is None
        else case.words.show_feedback(view, one.shown)
        for one in judged
    ]
    case.past_answers.append(
        PastAnswer(
            reply.text, hypotheses, judged[0].verdict, "\n".join(told), by, _verdicts(judged)
        )
    )
    return {"stop": "target"} if any(reaches_target(case, one) for one in judged) else {}


def reaches_target(case: Case, judged: JudgedHypothesis) -> bool:
    """Return whether an answer reaches the target of refining.

    The target is a hypothesis that is right on every shown observation. Where a gap is set, in a
    family with costs, it is a consistent hypothesis whose cost is at most that much above its lower
    bound.
    """
    target = (
        case.repair_settings.target_gap if isinstance(case.family, MeasuresHypotheses) else None
    )
    if not judged.verdict.consistent or judged.shown is None:
        return False
    if target is None:  # the family's threshold of consistency is not enough
        return all(mark is True for mark in judged.shown.marks)
    return judged.shown.gap is not None and judged.shown.gap <= target


def _parse(case: Case, view: View, reply: Reply, by: str) -> Sequence[Hypothesis | Malformed]:
    """Return the hypotheses in a reply, and count the faults of its form.

    Args:
        case: The working data of the problem.
        view: The problem, as the model sees it.
        reply: The reply.
        by: The search that gave the reply, whose form is its own; empty for a proposer.
    """
    if reply.finish == "length":
        return [Malformed("cut", "the answer was cut at the token limit")]
    if reply.tool_calls:
        return [Malformed("no_answer", "tools were called to the end of the step's limit")]
    method = case.settings.method
    form = _format_of(case, by) if by else case.answer_format
    parse = partial(case.family.parse, view, answer_format=form)
    if not by and method.lenient:
        schema = case.words.schema(form)
        items, faults = read_leniently(parse, reply.text, schema)
        faults = (*case.reply_faults, *faults)
        case.count_faults(faults)
        if faults and method.strict_contract:
            return [describe_breach(faults)]
    else:
        items = parse(reply.text)
    if case.settings.text is not None:
        items = items[: case.settings.text.hypotheses]
    return items or [Malformed("empty", "the answer holds no hypothesis")]


async def examine(case: Case, view: View, hypothesis: Hypothesis, path: str) -> JudgedHypothesis:
    """Judge one hypothesis.

    Consistency comes first: an answer that is both inconsistent and redundant counts as
    inconsistent. Coverage counts all earlier parsable answers. An undefined prediction is never
    covered.
    """
    family, hidden = case.family, case.problem.hidden
    opens = family.opens_hidden and bool(hidden)
    if not case.judges_space(hypothesis):  # this would cost a call for each text of S
        shown = await family.measure_agreement(
            hypothesis, case.shown, view, case.make_oracles(f"{path}/shown")
        )
        judged = give_verdict(case, hypothesis, shown, Predictions.unevaluated(len(case.space)))
        return replace(judged, bad=judged.verdict is not Verdict.ACCEPTED)
    shown, unseen, predicted = await asyncio.gather(
        family.measure_agreement(hypothesis, case.shown, view, case.make_oracles(f"{path}/shown")),
        family.measure_agreement(hypothesis, hidden, view, case.make_oracles(f"{path}/hidden"))
        if opens
        else _nothing(),
        family.predict([hypothesis], case.space, view, case.make_oracles(f"{path}/space")),
    )
    judged = give_verdict(case, hypothesis, shown, predicted[0], unseen)
    return replace(judged, bad=judged.verdict is not Verdict.ACCEPTED)


def give_verdict(
    case: Case,
    hypothesis: Hypothesis,
    shown: Agreement,
    space: Predictions,
    hidden: Agreement | None = None,
) -> JudgedHypothesis:
    """Return a hypothesis with its verdict according to GEAR (section 4.1).

    The predictions of the hypothesis on the sample space S count as covered from now on. If the
    hypothesis was not applied to S, its coverage is None and it is never redundant. The result does
    not say whether the hypothesis counts as bad; the method decides this.

    Args:
        case: The working data of the problem.
        hypothesis: The hypothesis.
        shown: The agreement with the shown observations.
        space: The predictions on the sample space S.
        hidden: The agreement with the hidden observations; None if it was not measured.
    """
    coverage = None
    if space.verdict != NOT_REQUESTED:
        coverage = case.covered.add(space)
    verdict, reason = Verdict.ACCEPTED, ""
    if not case.family.is_consistent(shown):
        verdict, reason = Verdict.INCONSISTENT, _why_inconsistent(shown.verdict, shown.marks)
    elif coverage is not None and is_redundant(coverage):
        verdict, reason = Verdict.REDUNDANT, f"{coverage:.1%} of its predictions were made before"
    return JudgedHypothesis(verdict, reason, hypothesis, coverage, shown, hidden, space)


def judge_malformed(item: Malformed) -> JudgedHypothesis:
    """Return the judgement of an answer that contains no readable hypothesis."""
    reason = f"{item.reason}: {item.detail}" if item.detail else item.reason
    return JudgedHypothesis(Verdict.MALFORMED, reason, bad=True)


async def _nothing() -> None:
    return None


def _why_inconsistent(verdict: str, marks: Sequence[bool | None]) -> str:
    if verdict != "ok":
        return verdict
    wrong = sum(mark is False for mark in marks)
    undefined = sum(mark is None for mark in marks)
    parts = [f"{wrong} wrong"] if wrong else []
    parts += [f"{undefined} undefined"] if undefined else []
    return f"{' and '.join(parts) or 'not consistent'} of {len(marks)} shown"


def _earlier(case: Case, view: View, judged: Sequence[JudgedHypothesis]) -> PastAnswer:
    """Return what later prompts may show of an answer (`Case.gives_feedback`)."""
    hypotheses = tuple(one.hypothesis for one in judged if one.hypothesis is not None)
    feedback = next(
        (
            case.words.show_feedback(view, one.shown)
            for one in judged
            if case.gives_feedback and one.shown is not None and one.verdict is Verdict.INCONSISTENT
        ),
        "",
    )
    return PastAnswer(
        case.reply.text, hypotheses, judged[0].verdict, feedback, verdicts=_verdicts(judged)
    )


def _verdicts(judged: Sequence[JudgedHypothesis]) -> tuple[Verdict, ...]:
    """Return the verdict of each hypothesis of an answer, without its malformed parts."""
    return tuple(one.verdict for one in judged if one.hypothesis is not None)
