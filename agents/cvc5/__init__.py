"""The SyGuS solver of cvc5 as a proposer (`--model cvc5`), a peer of the embedded search.

The module proposer.py is imported only when the model is opened. docs/explanation/search.md
describes how the solver is asked, and on which problems.
"""

from __future__ import annotations

from ...records import Proposer
from ..model_settings import ModelKind
from .settings import Cvc5Settings


async def open_model(settings: Cvc5Settings) -> Proposer:
    """Return the solver as a proposer. No process starts before the first request.

    Raises:
        UsageError: The package cvc5 is not installed.
    """
    from .proposer import open_cvc5

    return open_cvc5(settings)


CVC5 = ModelKind("cvc5", Cvc5Settings, open_model)
