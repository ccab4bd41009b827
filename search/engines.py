"""Which engine of the embedded search serves a problem: one for each kind of input.

An engine is a module with

    serves(shown) -> bool            whether it knows problems with such pairs [input, output]
    prepared(inputs) -> space        the sample space as it wants it, made once
    Problem(shown, space, expansions, told).next(earlier, skip) -> following.Answer or None

and, where it mends what others gave, `Problem.mend(text) -> following.Answer or None`. Both may raise
`following.NotSearched`. told: what is said of the problem beside its pairs (View.public), and the name
of the "trade_off" that was asked for.

The first that serves the shown pairs answers; a new kind of input is a module more in `ENGINES`.
`earlier` holds the texts of all earlier answers in their order, `skip` those that are not to be
given again. A problem is a pure function of its arguments: what it remembers saves time only.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import Any

from . import acre, grids, lists, logic, text
from .following import Answer, NotSearched

ENGINES = (lists, acre, grids, logic, text)
NOTHING = (
    "search knows functions of a list of integers, of scenes of objects that are on or off (acre),"
    " of grids of colours to grids, rules about finite worlds (abd), and records or texts with a label"
)
_KEPT_PROBLEMS = 12  # of 30 to 100 MB each


class Engine:
    """State of one worker process: the spaces and the latest problems it was asked about."""

    def __init__(self) -> None:
        self.inputs: dict[str, list[Any]] = {}
        self.spaces: dict[tuple[str, str], Any] = {}
        self.problems: OrderedDict[str, Any] = OrderedDict()

    def propose(self, request: dict[str, Any]) -> dict[str, Any]:
        """request: shown, told, space (a digest), inputs (of the space, where they may be new),
        expansions; earlier and skip, or what to `mend`. The answer: source, description and meta, or
        `exhausted`, or the `reason` why such problems are not searched, or `need` of the inputs."""
        shown, digest = request["shown"], request["space"]
        module = next((one for one in ENGINES if one.serves(shown)), None)
        if module is None:
            return {"reason": NOTHING}
        if request.get("inputs") is not None:
            self.inputs[digest] = list(request["inputs"])
        if digest not in self.inputs:
            return {"need": "inputs"}
        if (module.__name__, digest) not in self.spaces:
            self.spaces[module.__name__, digest] = module.prepared(self.inputs[digest])
        problem = self._problem(module, request)
        try:
            return _said(_answer(problem, request))
        except NotSearched as error:
            return {"reason": str(error)}

    def _problem(self, module: Any, request: dict[str, Any]) -> Any:
        shown, digest = request["shown"], request["space"]
        expansions, told = request["expansions"], request.get("told")
        key = json.dumps([module.__name__, shown, digest, expansions, told])
        if key not in self.problems:
            space = self.spaces[module.__name__, digest]
            self.problems[key] = module.Problem(shown, space, expansions, told)
            if len(self.problems) > _KEPT_PROBLEMS:
                self.problems.popitem(last=False)
        self.problems.move_to_end(key)
        return self.problems[key]


def _answer(problem: Any, request: dict[str, Any]) -> Answer | None:
    found: Answer | None
    if "mend" in request:
        found = problem.mend(request["mend"])
    else:
        earlier = [text.strip() for text in request["earlier"]]
        skip = frozenset([*earlier, *(text.strip() for text in request["skip"])])
        found = problem.next(earlier, skip)
    return found


def _said(answer: Answer | None) -> dict[str, Any]:
    return answer._asdict() if answer else {"exhausted": True}
