"""`zero-shot-gen`: hypotheses from the model's own knowledge (HypoBench, section 3).

The first labelled rows are used only to rank the hypotheses in the bank; the model does not see
them.
"""

from __future__ import annotations

from functools import partial

from ...config import BankSettings
from ...records import Json
from .. import Method
from ..bank.steps import admit, ask_for_new, close, record_bank
from ..forecast import forecast_one_prompt, propose_without_rows
from ..runtime.case import Runtime
from ..runtime.steps import State, build_chain


async def ask(state: State, runtime: Runtime) -> dict[str, Json]:
    """Ask the proposer for hypotheses, without showing rows or papers."""
    return await ask_for_new(runtime.context, state, (), ())


METHOD = Method(
    "zero-shot-gen",
    "hypotheses without data, from what the model knows (HypoBench)",
    ("text",),
    partial(build_chain, ask, admit, close, record_bank),
    settings=BankSettings,
    text={"hypotheses": 20},
    forecast=forecast_one_prompt,
    first_prompt=propose_without_rows,
)
