"""Which engine of the embedded search serves a problem: one for each kind of input.

An engine is a module with `serves(shown) -> bool` and `Engine()`, whose `propose(request)` gives
the next hypothesis (worker.py and pool.py say what a request holds). The first that serves the
shown pairs answers. A new kind of input is a module more in `ENGINES`.
"""

from __future__ import annotations

from typing import Any

from . import acre, list_functions

ENGINES = (list_functions, acre)
NOTHING = (
    "search knows functions of a list of integers, and scenes of objects that are on or off (acre)"
)


class Engine:
    """State of one worker process: that of each engine which was needed."""

    def __init__(self) -> None:
        self.engines: dict[str, Any] = {}

    def propose(self, request: dict[str, Any]) -> dict[str, Any]:
        for module in ENGINES:
            if module.serves(request["shown"]):
                if module.__name__ not in self.engines:
                    self.engines[module.__name__] = module.Engine()
                found: dict[str, Any] = self.engines[module.__name__].propose(request)
                return found
        return {"reason": NOTHING}
