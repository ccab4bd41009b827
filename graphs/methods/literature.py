"""`literature`: hypotheses from papers alone (HypoBench, section 3: literature-based generation).

Each paper is summarised. One prompt with all summaries asks for hypotheses, each with the name of
its paper and a quote. The first labelled rows are used only to rank the hypotheses in the bank; the
model does not see them.
"""

from __future__ import annotations

from functools import partial

from ...config import BankSettings
from ...records import Json
from .. import Method
from ..bank.papers import summarise
from ..bank.steps import admit, ask_for_new, close, record_bank
from ..forecast import forecast_one_prompt, propose_without_rows
from ..runtime.case import Runtime
from ..runtime.steps import State, build_chain


async def ask(state: State, runtime: Runtime) -> dict[str, Json]:
    """Ask the proposer for hypotheses from the summaries of the papers."""
    return await ask_for_new(runtime.context, state, (), runtime.context.summaries)


METHOD = Method(
    "literature",
    "hypotheses from papers, each with its source (HypoBench)",
    ("text",),
    partial(build_chain, summarise, ask, admit, close, record_bank),
    settings=BankSettings,
    reads=frozenset({"literature"}),
    forecast=forecast_one_prompt,
    first_prompt=propose_without_rows,
)
