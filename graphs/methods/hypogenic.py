"""`hypogenic`: HypoGeniC (HypoBench, section 3; the notes on the reference describe the algorithm).

The first hypotheses are proposed from the first rows. Then the best `top` hypotheses of the bank
are judged on every row of the sample in order, and their rewards are updated. A row that many of
these hypotheses predict wrongly is collected. When `wrong` rows are collected, a prompt shows these
rows and asks for new hypotheses. The bank keeps the hypotheses with the highest rewards.
"""

from __future__ import annotations

from typing import Any

from ...config import RowBankSettings
from .. import Method
from ..bank.steps import (
    admit,
    after_record_bank,
    after_visit,
    ask_again,
    ask_first,
    record_bank,
    visit,
)
from ..forecast import forecast_through_rows
from ..runtime.steps import END, START, compile_graph, new_graph


def build() -> Any:
    """Build the graph of `hypogenic`.

    ask_first -> admit -> record_bank -> visit -> (ask_again -> admit) -> record_bank -> visit ...
    """
    graph = new_graph()
    for node in (ask_first, admit, record_bank, visit, ask_again):
        graph.add_node(node)
    graph.add_edge(START, "ask_first")
    graph.add_edge("ask_first", "admit")
    graph.add_edge("admit", "record_bank")
    graph.add_conditional_edges("record_bank", after_record_bank, ["visit", END])
    graph.add_conditional_edges("visit", after_visit, ["ask_again", "record_bank"])
    graph.add_edge("ask_again", "admit")
    return compile_graph(graph)


METHOD = Method(
    "hypogenic",
    "a bank of sentences, rewarded row by row and renewed from what it gets wrong (HypoGeniC)",
    ("text",),
    build,
    settings=RowBankSettings,
    forecast=forecast_through_rows,
)
