"""The nodes ask_first, ask_again, admit, visit and record_bank, for methods with a bank.

The nodes follow HypoGeniC (notes on the reference, section a). The calls have paths such as

    step/1/propose/0            the first hypotheses, from the first rows
    step/5/propose/0            new hypotheses, from the wrong rows collected up to step 5
    texts/..., text/...         judgements of sentences (judge_calls.py)

A visit judges the best hypotheses of the bank on a row. A wrong row is a row that many of these
hypotheses predict wrongly. One step visits at most `ROWS_PER_STEP` rows, and ends earlier when
enough wrong rows are collected to ask for new hypotheses. The fields of the recorded step say which
rows were visited, and which wrong rows led to new hypotheses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...records import (
    Agreement,
    BankEvent,
    EventKind,
    Hypothesis,
    Json,
    JudgedAnswer,
    JudgedHypothesis,
    Malformed,
    Predictions,
    StepRecord,
    Summary,
    View,
)
from ...store.bank import sum_visits
from ...tasks.text.family import NEEDS_MODEL, NOT_ASKED, UNREADABLE, compute_agreement
from ..runtime.case import Case, Runtime
from ..runtime.judge_calls import predictions_from_codes
from ..runtime.judging import give_verdict, judge_malformed
from ..runtime.observation_choice import TOO_LONG, fit_rows
from ..runtime.queries import PROPOSER, gather_or_cancel, query_model
from ..runtime.steps import END, State
from ..runtime.stopping import find_reason_to_stop
from .papers import get_papers, parse_cited_hypotheses, parse_hypotheses

ROWS_PER_STEP = 10  # rows of one step, which is how often a running session shows progress


async def ask_first(state: State, runtime: Runtime) -> dict[str, Json]:
    """Ask the proposer for the first hypotheses, from the first rows and the papers, if there are
    any.
    """
    case = runtime.context
    return await ask_for_new(case, state, range(len(case.shown)), case.summaries)


async def ask_again(state: State, runtime: Runtime) -> dict[str, Json]:
    """Ask the proposer for new hypotheses, from the collected wrong rows."""
    case = runtime.context
    return await ask_for_new(case, state, case.wrong_rows, ())


async def ask_for_new(
    case: Case, state: State, rows: Sequence[int], papers: Sequence[Summary]
) -> dict[str, Json]:
    """Ask the proposer for hypotheses.

    Args:
        case: The working data of the problem.
        state: The state of the graph.
        rows: The indices of the shown observations to include in the prompt.
        papers: The summaries of papers to include in the prompt.
    """
    view = make_row_view(case, rows)
    listed = case.make_prompt_view(view)
    turn, finish = state["turn"], TOO_LONG
    while finish == TOO_LONG:
        messages, may_shorten = fit_rows(
            case, listed, lambda one: case.prompts.propose(one, case.text.hypotheses, papers)
        )
        case.reply_path = f"step/{state['step']}/propose/{turn}"
        may_shorten = may_shorten and case.settings.method.fit == "auto"
        case.reply = await query_model(
            case, PROPOSER, case.reply_path, view, messages, may_shorten=may_shorten
        )
        turn, finish = turn + 1, case.reply.finish
        if finish == TOO_LONG:
            case.limit_prompt(messages)
    of_papers = papers or (not rows and get_papers(case))  # also where no paper has a summary
    case.rewritten = parse_cited_hypotheses(case, case.reply, bool(rows)) if of_papers else None
    return {"turn": turn}


def make_row_view(case: Case, rows: Sequence[int]) -> View:
    """Return a view of the problem that shows only these rows, and no earlier answers.

    Args:
        case: The working data of the problem.
        rows: The indices of the shown observations to include.
    """
    shown = tuple(case.problem.shown[row] for row in rows)
    return replace(case.make_view(), shown=shown, past_answers=())


async def admit(state: State, runtime: Runtime) -> dict[str, Json]:
    """Judge new hypotheses on the rows from which they were proposed, and add them to the bank.

    The first hypotheses are all kept. After later hypotheses are added, the bank is reduced to its
    best `capacity` hypotheses. Verdicts are recorded but exclude no hypothesis (GEAR, section 4.1).
    """
    case = runtime.context
    first = not state["answers"]
    rows = list(range(len(case.shown))) if first else list(case.wrong_rows)
    items = [] if case.reply.finish == "exhausted" else parse_new_hypotheses(case)
    at = len(rows) if first else state["row"]
    judged = await judge_rows(case, items, rows)
    case.judged_answers.append(JudgedAnswer(case.reply_path, case.reply.text, tuple(judged)))
    for one in judged:
        if one.hypothesis is not None and one.shown is not None:
            add_to_bank(case, one.hypothesis, one.shown, rows, at)
    log_event(case, BankEvent("", "", "", -1 if first else case.text.capacity, None, at, "cut"))
    if not first:
        case.step_fields["wrong"] = rows
        case.wrong_rows.clear()
    exhausted = first and case.reply.finish == "exhausted"
    return {
        "row": len(rows) if first else state["row"],
        "answers": state["answers"] + 1,
        "stop": "exhausted" if exhausted else "",
    }


def parse_new_hypotheses(case: Case) -> list[Hypothesis | Malformed]:
    """Return the hypotheses of the last reply, or the rewritten hypotheses if they were rewritten.

    The result has at most as many hypotheses as were requested.
    """
    items = parse_hypotheses(case, case.reply) if case.rewritten is None else case.rewritten
    return items[: case.text.hypotheses] or [Malformed("empty", "the answer holds no hypothesis")]


async def judge_rows(
    case: Case, items: Sequence[Hypothesis | Malformed], rows: Sequence[int]
) -> list[JudgedHypothesis]:
    """Judge hypotheses on shown observations, and return the judgements in the order of `items`.

    Different hypotheses are judged concurrently.

    Args:
        case: The working data of the problem.
        items: The hypotheses, and malformed parts of the answer.
        rows: The indices of the shown observations.
    """
    new = [item for item in items if isinstance(item, Hypothesis)]
    await case.row_judge.announce([one.text for one in new])
    shown = await gather_or_cancel([measure_agreement(case, one.text, rows) for one in new])
    spaces = await gather_or_cancel([predict_space(case, one) for one in new])
    found = iter(zip(shown, spaces, strict=True))
    return [
        judge_malformed(item)
        if isinstance(item, Malformed)
        else give_verdict(case, item, *next(found))
        for item in items
    ]


async def measure_agreement(case: Case, sentence: str, rows: Sequence[int]) -> Agreement:
    """Return on which shown observations a sentence is right.

    Only the observations with indices in `rows` are judged. All others are marked as not requested.
    """
    codes = dict(zip(rows, await case.row_judge.judge_rows(sentence, rows), strict=True))
    shown = case.problem.shown
    whole = [codes.get(row, NOT_ASKED) for row in range(len(shown))]
    found = predictions_from_codes(np.array(whole, np.int64))
    return compute_agreement(found, shown, case.problem.public["labels"])


async def predict_space(case: Case, hypothesis: Hypothesis) -> Predictions:
    """Return the predictions of a hypothesis on the sample space S.

    If a model would have to label S, all predictions are undefined (see `Case.judges_space`).
    """
    if not case.judges_space(hypothesis):
        return Predictions.unevaluated(len(case.space))
    return predictions_from_codes(await case.row_judge.judge_texts(hypothesis.text, case.space))


def add_to_bank(
    case: Case, hypothesis: Hypothesis, shown: Agreement, rows: Sequence[int], t: int
) -> None:
    """Add a hypothesis to the bank, unless the bank already contains it.

    Args:
        case: The working data of the problem.
        hypothesis: The hypothesis.
        shown: The agreement with the shown observations.
        rows: The indices of the observations on which the hypothesis was judged. Each counts as a
            visit.
        t: The time of the event, counted in visited rows.
    """
    if case.bank.contains_text(hypothesis.text):
        return
    if shown.verdict != "ok" or not rows:
        log_event(case, _event(hypothesis, -1, None, t, "enter"))
    elif case.sums_visits(len(rows)):
        marks = [shown.marks[row] for row in rows]
        for event in sum_visits(hypothesis.digest, hypothesis.text, "", marks, t):
            log_event(case, event)
    else:
        for row in rows:
            log_event(case, _event(hypothesis, row, shown.marks[row], t))


def _event(
    hypothesis: Hypothesis, row: int, right: bool | None, t: int, kind: EventKind = "visit"
) -> BankEvent:
    return BankEvent(hypothesis.digest, hypothesis.text, "", row, right, t, kind)


def log_event(case: Case, event: BankEvent) -> None:
    """Apply an event to the bank, and keep the event for the record of the step."""
    case.events.append(event)
    case.bank.apply(event)


async def close(state: State, runtime: Runtime) -> dict[str, Json]:
    """End the problem with the reason "answered", for a method that does not go through the
    rows.
    """
    return {} if state["stop"] else {"stop": "answered"}


async def visit(state: State, runtime: Runtime) -> dict[str, Json]:
    """Judge the best hypotheses of the bank on the next rows, one row after the other.

    The hypotheses are judged concurrently on each row.
    """
    case = runtime.context
    settings, shown = case.text, case.problem.shown
    start = row = state["row"]
    while (
        row < len(shown) and row - start < ROWS_PER_STEP and len(case.wrong_rows) < settings.wrong
    ):
        best = case.bank.top(settings.top)
        found = await gather_or_cancel([case.row_judge.judge_rows(one.text, [row]) for one in best])
        expected, labels = shown[row].output, case.problem.public["labels"]
        not_right = 0
        for entry, (code,) in zip(best, found, strict=True):
            right = mark_code(code, labels, expected)
            not_right += right is not True
            if code != NEEDS_MODEL:  # a sentence that nothing can judge is not visited
                about = (entry.hypothesis, entry.text, entry.description)
                log_event(case, BankEvent(*about, row, right, row + 1))
        if not best or not_right >= settings.scale * len(best) * row / len(shown):
            case.wrong_rows.append(row)
        row += 1
    case.step_fields["rows"] = [start, row]
    return {"row": row}


def mark_code(code: int, labels: Sequence[str], expected: Json) -> bool | None:
    """Return whether a label code is right; None if the sentence does not apply to the row.

    An answer of the judge that names no label counts as wrong.

    Args:
        code: The index of the predicted label, or a negative code.
        labels: The names of the labels.
        expected: The true label.
    """
    if code >= 0:
        return bool(labels[code] == expected)
    return False if code == UNREADABLE else None


async def after_visit(state: State, runtime: Runtime) -> str:
    """Return the name of the node that follows a visit.

    The node asks for new hypotheses when enough wrong rows are collected.
    """
    full = len(runtime.context.wrong_rows) >= runtime.context.text.wrong
    return "ask_again" if full else "record_bank"


async def record_bank(state: State, runtime: Runtime) -> dict[str, Json]:
    """Write the finished step to the ledger: answers with their verdicts, and the events of the
    bank.
    """
    case = runtime.context
    if case.judged_answers or case.events or case.step_fields:
        record = StepRecord(
            case.problem.id, state["step"], tuple(case.judged_answers),
            {**case.step_fields, **case.row_judge.summarize()}, tuple(case.events),
        )  # fmt: skip
        await case.ledger.record_step(record)
    verdicts = [str(one.verdict) for answer in case.judged_answers for one in answer.judged]
    case.emit({"type": "step", "problem": case.problem.id, "step": state["step"],
               "verdicts": verdicts})  # fmt: skip
    case.judged_answers.clear()
    case.step_fields.clear()
    case.events.clear()
    forward: dict[str, Json] = {"step": state["step"] + 1, "turn": 0}
    if not case.text.rounds and not state["stop"]:
        forward["stop"] = "trained"
    elif not state["stop"] and (reason := find_reason_to_stop(case)):
        forward["stop"] = reason
    elif state["row"] >= len(case.problem.shown) and not state["stop"]:
        case.wrong_rows.clear()  # too few are left at the end of an epoch for a prompt
        forward |= {"row": 0, "epoch": state["epoch"] + 1}
        if state["epoch"] + 1 >= case.text.rounds:
            forward["stop"] = "trained"
    return forward


async def after_record_bank(state: State, runtime: Runtime) -> str:
    """Return the name of the node that follows a recorded step."""
    return END if state["stop"] or runtime.context.stopping.is_set() else "visit"
