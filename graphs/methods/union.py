"""`union`: combine hypotheses from data and from literature in one bank, without duplicates.

This is the union of HypoBench, section 3. The hypotheses come from two stored banks (`--bank DATA
--bank LITERATURE`). With `--literature` alone, this session runs the methods hypogenic and
literature one after the other to build both banks.

A hypothesis is dropped as a duplicate of a more accurate hypothesis in three situations: both have
the same text; both are exact rules that give all shown rows the same labels; or a model says that
both mean the same. Each bank fills half of the combined bank. If one bank leaves places free, the
other bank may fill them. The calls have paths such as

    step/1/same/12-3      asks whether candidate 12 means the same as candidate 3
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...config import BankSettings
from ...records import NOT_REQUESTED, Agreement, BankEvent, Hypothesis, Json, JudgedAnswer, Message
from ...tasks.text.answers import parse_yes_no
from .. import Method
from ..bank.papers import summarise
from ..bank.steps import (
    add_to_bank,
    admit,
    after_record_bank,
    after_visit,
    ask_again,
    ask_for_new,
    judge_rows,
    log_event,
    parse_new_hypotheses,
    record_bank,
    visit,
)
from ..forecast import CallsByRole, Sizes, Span, forecast_through_rows, propose_from_rows
from ..inference import Entry
from ..runtime.case import Case, Runtime
from ..runtime.judge_questions import make_bare_view
from ..runtime.queries import JUDGE, gather_or_cancel, query_model
from ..runtime.steps import END, START, State, compile_graph, new_graph
from .infer import make_entry


@dataclass(frozen=True)
class Candidate:
    """A sentence that may enter the combined bank.

    Args:
        hypothesis: The hypothesis.
        accuracy: The accuracy of the hypothesis, by which candidates are ranked.
        side: The bank that the hypothesis comes from: 0 for data, 1 for literature; for stored
            banks, the index of the bank.
        entry: The hypothesis with its figures in the stored bank; None if this session proposed it.
        shown: The agreement with the shown observations, if this session proposed the hypothesis
            from literature; otherwise None.
    """

    hypothesis: Hypothesis
    accuracy: float
    side: int
    entry: Entry | None = None
    shown: Agreement | None = None


async def ask_papers(state: State, runtime: Runtime) -> dict[str, Json]:
    """Ask the proposer for hypotheses from the summaries of the papers."""
    return await ask_for_new(runtime.context, state, (), runtime.context.summaries)


async def set_aside(state: State, runtime: Runtime) -> dict[str, Json]:
    """Judge the hypotheses from literature on the first rows, without adding them to the bank.

    The node `merge` adds them later.
    """
    case = runtime.context
    judged = await judge_rows(case, parse_new_hypotheses(case), range(len(case.shown)))
    case.judged_answers.append(JudgedAnswer(case.reply_path, case.reply.text, tuple(judged)))
    case.literature_candidates = [one for one in judged if one.hypothesis is not None]
    return {}


async def ask_data(state: State, runtime: Runtime) -> dict[str, Json]:
    """Ask the proposer for hypotheses from the first rows."""
    case = runtime.context
    return await ask_for_new(case, state, range(len(case.shown)), ())


async def merge(state: State, runtime: Runtime) -> dict[str, Json]:
    """Combine two banks: drop duplicates, then fill half of the combined bank from each bank."""
    case = runtime.context
    stored = "banks" in case.problem.public
    candidates = _of_banks(case) if stored else _of_session(case)
    kept = balance_sides(await _different(case, state, candidates), case.text.capacity)
    case.step_fields["union"] = {"candidates": len(candidates), "kept": len(kept)}
    if stored:
        case.stored_entries = [one.entry for one in kept if one.entry is not None]
        for one in kept:
            about = (one.hypothesis.digest, one.hypothesis.text, "")
            log_event(case, BankEvent(*about, -1, None, 0, "enter"))
        return {"stop": "opened"}
    staying = {one.hypothesis.text for one in kept}
    for held in case.bank.top():
        if held.text not in staying:
            log_event(
                case, BankEvent(held.hypothesis, held.text, "", -1, None, state["row"], "drop")
            )
    for one in kept:
        if one.shown is not None:
            add_to_bank(case, one.hypothesis, one.shown, range(len(case.shown)), len(case.shown))
    return {}


def _of_banks(case: Case) -> list[Candidate]:
    found = []
    for side, bank in enumerate(case.problem.public["banks"]):
        for row in bank:
            read = case.family.parse_hypothesis(row["text"], case.make_view())
            if isinstance(read, Hypothesis):
                entry = make_entry(read.text, row, len(case.problem.shown))
                found.append(Candidate(read, entry.accuracy, side, entry))
    return found


def _of_session(case: Case) -> list[Candidate]:
    chance = case.bank.chance
    data = [
        Candidate(Hypothesis(one.text), one.accuracy(chance) or 0.0, 0) for one in case.bank.top()
    ]
    return data + [
        Candidate(one.hypothesis, _accuracy(one.shown, chance), 1, None, one.shown)
        for one in case.literature_candidates
        if one.hypothesis is not None and one.shown is not None
    ]


def _accuracy(shown: Agreement, chance: float) -> float:
    """Return the accuracy on the judged rows as the bank counts it; 0 where nothing was judged.

    A row that the hypothesis does not apply to counts as a guess.
    """
    judged = [
        mark
        for mark, got in zip(shown.marks, shown.got, strict=True)
        if got.get("undefined") != NOT_REQUESTED
    ]
    right = sum(chance if mark is None else mark for mark in judged)
    return right / len(judged) if judged and shown.verdict == "ok" else 0.0


async def _different(case: Case, state: State, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that repeat no more accurate one, the most accurate first."""
    ranked = sorted(candidates, key=lambda one: -one.accuracy)
    kept: list[tuple[int, Candidate]] = []
    for place, one in enumerate(ranked):
        if not await _said_before(case, state, place, one, kept):
            kept.append((place, one))
    return [one for _, one in kept]


async def _said_before(
    case: Case,
    state: State,
    place: int,
    one: Candidate,
    kept: Sequence[tuple[int, Candidate]],
) -> bool:
    if any(other.hypothesis.text == one.hypothesis.text for _, other in kept):
        return True
    mine = await _labels(case, one)
    open_: list[tuple[int, Candidate]] = []
    for number, other in kept:
        theirs = await _labels(case, other)
        if mine is None or theirs is None:
            open_.append((number, other))
        elif mine == theirs:
            return True
    if not case.row_judge.queries_model:
        return False
    paths = [f"step/{state['step']}/same/{place}-{number}" for number, _ in open_]
    asks = [_same(case, path, one, other) for path, (_, other) in zip(paths, open_, strict=True)]
    return any(await gather_or_cancel(asks))


async def _labels(case: Case, one: Candidate) -> list[int] | None:
    """Return what an exact rule says of the shown rows; None for another sentence."""
    if case.row_judge.find_rule(one.hypothesis.text) is None:
        return None
    return await case.row_judge.judge_rows(one.hypothesis.text, range(len(case.problem.shown)))


async def _same(case: Case, path: str, one: Candidate, other: Candidate) -> bool:
    """Return whether a model considers two hypotheses to be the same.

    An answer that is neither yes nor no counts as no, so an unreadable answer drops nothing.
    """
    view = make_bare_view(case)
    messages = case.prompts.compare_hypotheses(view, one.hypothesis.text, other.hypothesis.text)
    return parse_yes_no((await query_model(case, JUDGE, path, view, messages)).text) is True


def balance_sides(candidates: Sequence[Candidate], capacity: int) -> list[Candidate]:
    """Return at most `capacity` candidates, taken in equal numbers from each bank.

    If one bank has too few candidates, candidates of the other bank fill the free places. Within a
    bank, earlier candidates are preferred. The order of `candidates` is kept.
    """
    sides = sorted({one.side for one in candidates})
    share = capacity // len(sides) if sides else 0
    best = {
        id(one)
        for side in sides
        for one in [each for each in candidates if each.side == side][:share]
    }
    spare = [one for one in candidates if id(one) not in best][: capacity - len(best)]
    taken = best | {id(one) for one in spare}
    return [one for one in candidates if id(one) in taken]


async def begin(state: State, runtime: Runtime) -> str:
    """Return the name of the first node: `merge` if there are stored banks, otherwise
    `summarise`.
    """
    return "merge" if "banks" in runtime.context.problem.public else "summarise"


async def after_rows(state: State, runtime: Runtime) -> str:
    """Return the name of the node that follows a recorded step.

    The banks are merged after the last row, and also if the model proposed nothing from the data.
    """
    return "merge" if state["stop"] else await after_record_bank(state, runtime)


def build() -> Any:
    """Build the graph of `union`.

    summarise -> ask_papers -> set_aside -> ask_data -> admit -> (nodes of hypogenic) -> merge. With
    stored banks, only merge runs.
    """
    graph = new_graph()
    for node in (
        summarise,
        ask_papers,
        set_aside,
        ask_data,
        admit,
        record_bank,
        visit,
        ask_again,
        merge,
    ):
        graph.add_node(node)
    graph.add_node("record_union", record_bank)
    graph.add_conditional_edges(START, begin, ["summarise", "merge"])
    graph.add_edge("summarise", "ask_papers")
    graph.add_edge("ask_papers", "set_aside")
    graph.add_edge("set_aside", "ask_data")
    graph.add_edge("ask_data", "admit")
    graph.add_edge("admit", "record_bank")
    graph.add_conditional_edges("record_bank", after_rows, ["visit", "merge", END])
    graph.add_conditional_edges("visit", after_visit, ["ask_again", "record_bank"])
    graph.add_edge("ask_again", "admit")
    graph.add_edge("merge", "record_union")
    graph.add_edge("record_union", END)
    return compile_graph(graph)


def forecast(sizes: Sizes) -> CallsByRole:
    """Count the calls of the method `union`, by role.

    For stored banks, the calls compare pairs of hypotheses and label rows. Otherwise, the calls of
    `hypogenic` and the calls that propose hypotheses from literature are added.
    """
    if sizes.stored_bank_sizes:
        n = sum(sizes.stored_bank_sizes)
        same = sizes.count_judgements(0, n * (n - 1) // 2, times=1)
        bank = Span(1, min(n, sizes.text.capacity))
        return {"judge": same + sizes.count_reading_calls(bank), "literature": sizes.summary_calls}
    calls, text = forecast_through_rows(sizes), sizes.text
    judge = calls["judge"]
    if text.rounds:
        n = sizes.estimate_bank_size(1 + sizes.regenerations).most + text.hypotheses
        judge += sizes.count_judgements(
            0, text.hypotheses * (sizes.first_rows + sizes.judged_space)
        )
        judge += sizes.count_judgements(0, n * (n - 1) // 2, times=1)
    return {**calls, "proposer": calls["proposer"] + Span(1, 1), "judge": judge}


def first_prompt(case: Case) -> Sequence[Message]:
    """Return the first prompt; empty if stored banks are combined."""
    return () if "banks" in case.problem.public else propose_from_rows(case)


METHOD = Method(
    "union",
    "hypotheses of data and of literature in one bank, each thing said once (HypoBench)",
    ("text",),
    build,
    settings=BankSettings,
    reads=frozenset({"literature", "bank"}),
    optional=frozenset({"literature", "bank"}),
    forecast=forecast,
    first_prompt=first_prompt,
)
