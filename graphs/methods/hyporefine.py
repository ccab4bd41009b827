"""`hyporefine`: HypoGeniC with literature (HypoRefine; notes on the reference, section b).

The first hypotheses are proposed from rows and papers together, and are not rewritten. Later
hypotheses are proposed from wrongly predicted rows, and are rewritten `rewrites` times before they
are judged: alternately in view of the literature and in view of these rows. If a rewriting returns
fewer hypotheses, the missing hypotheses are kept unchanged. If a rewriting changes nothing, no
further rewriting follows. The calls have paths such as

    step/5/propose/0      new hypotheses, from the wrong rows
    step/5/rewrite/0      rewritten by the literature;  /1 by the rows;  /2 by the literature ...
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from ...config import RowBankSettings
from ...records import Hypothesis, Json, Malformed
from .. import Method
from ..bank.papers import parse_cited_hypotheses, parse_hypotheses, summarise
from ..bank.steps import (
    admit,
    after_record_bank,
    after_visit,
    ask_again,
    ask_first,
    make_row_view,
    parse_new_hypotheses,
    record_bank,
    visit,
)
from ..forecast import CallsByRole, Sizes, Span, forecast_through_rows
from ..runtime.case import Case, Runtime
from ..runtime.queries import LITERATURE, PROPOSER, query_model
from ..runtime.steps import END, START, State, compile_graph, new_graph

Item = Hypothesis | Malformed


async def rewrite(state: State, runtime: Runtime) -> dict[str, Json]:
    """Rewrite the new hypotheses, alternately in view of the literature and of the wrong rows."""
    case = runtime.context
    if case.reply.finish == "exhausted":
        return {}
    items: list[Item] = [one for one in parse_new_hypotheses(case) if isinstance(one, Hypothesis)]
    counts = []
    for number in range(case.text.rewrites if items else 0):
        written = await _rewritten(case, state, number, items)
        counts.append(sum(isinstance(one, Hypothesis) for one in written))
        following = _merged(items, written, number)
        if {one.text for one in following if isinstance(one, Hypothesis)} == {
            one.text for one in items if isinstance(one, Hypothesis)
        }:
            break
        items = following
    case.rewritten = items or None
    case.step_fields["rewrites"] = counts
    return {}


async def _rewritten(case: Case, state: State, number: int, items: Sequence[Item]) -> list[Item]:
    by_papers = number % 2 == 0
    path = f"step/{state['step']}/rewrite/{number}"
    view = make_row_view(case, () if by_papers else case.wrong_rows)
    texts = [one.text for one in items if isinstance(one, Hypothesis)]
    count = len(texts)
    if by_papers:
        messages = case.prompts.refine_with_papers(view, texts, case.summaries, count)
        reply = await query_model(case, LITERATURE, path, view, messages)
        found = parse_cited_hypotheses(case, reply, with_rows=True)
    else:
        reply = await query_model(
            case, PROPOSER, path, view, case.prompts.refine_with_data(view, texts, count)
        )
        found = parse_hypotheses(case, reply)
    return found[:count]


def _merged(items: Sequence[Item], written: Sequence[Item], number: int) -> list[Item]:
    """Return the hypotheses after a rewriting.

    An unchanged hypothesis keeps its metadata. A new one replaces the first one that the rewriting
    does not repeat, and records the number of the rewriting. An unreadable one leaves that one in
    place, and those that nothing replaces stay.
    """
    before = {one.text: one for one in items if isinstance(one, Hypothesis)}
    texts = {one.text for one in written if isinstance(one, Hypothesis)}
    left = iter([one for text, one in before.items() if text not in texts])
    merged: dict[str, Item] = {}
    for one in written:
        if not isinstance(one, Hypothesis):
            merged.update((old.text, old) for old in islice(left, 1))
        elif one.text in before:
            merged[one.text] = before[one.text]
        elif one.text not in merged:
            next(left, None)
            about = {"from": "both", **one.meta, "rewrite": number}
            merged[one.text] = replace(one, meta=about)
    merged.update((old.text, old) for old in left)
    return list(merged.values())


def build() -> Any:
    """Build the graph of `hyporefine`.

    summarise -> ask_first -> admit -> record_bank -> visit -> (ask_again -> rewrite -> admit) ->
    ...
    """
    graph = new_graph()
    for node in (summarise, ask_first, admit, record_bank, visit, ask_again, rewrite):
        graph.add_node(node)
    graph.add_edge(START, "summarise")
    graph.add_edge("summarise", "ask_first")
    graph.add_edge("ask_first", "admit")
    graph.add_edge("admit", "record_bank")
    graph.add_conditional_edges("record_bank", after_record_bank, ["visit", END])
    graph.add_conditional_edges("visit", after_visit, ["ask_again", "record_bank"])
    graph.add_edge("ask_again", "rewrite")
    graph.add_edge("rewrite", "admit")
    return compile_graph(graph)


def forecast(sizes: Sizes) -> CallsByRole:
    """Count the calls of HypoGeniC and the calls that rewrite hypotheses."""
    calls, again, rewrites = forecast_through_rows(sizes), sizes.regenerations, sizes.text.rewrites
    return {
        **calls,
        "proposer": calls["proposer"] + Span(0, again * (rewrites // 2)),
        "literature": calls["literature"] + Span(0, again * ((rewrites + 1) // 2)),
    }


METHOD = Method(
    "hyporefine",
    "hypogenic with literature: new hypotheses are rewritten by papers and data in turn",
    ("text",),
    build,
    settings=RowBankSettings,
    reads=frozenset({"literature"}),
    forecast=forecast,
)
