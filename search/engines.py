"""Search engines: which one serves a problem, and the state of a worker process.

An engine is a `SearchEngine` of the registry (records/registry.py). The first that serves the shown
pairs answers; those that are asked after it are not imported. Its problems may raise
`following.NotSearched`. `earlier` holds the texts of all earlier answers in their order, `skip` those
that are not to be given again. A problem is a pure function of its arguments: what it remembers saves
time only.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from ..records import registry
from .following import Answer, NotSearched

NOTHING = (
    "search knows functions of a list of integers, of scenes of objects that are on or off (acre),"
    " of grids of colours to grids, rules about finite worlds (abd), and records or texts with a label"
)
_KEPT_PROBLEMS = 12  # of 30 to 100 MB each


class SearchedProblem(Protocol):
    """A problem under search."""

    def next(self, earlier: list[str], skip: frozenset[str]) -> Answer | None:
        """The next answer; None where nothing is left within the expansions."""
        ...


@runtime_checkable
class Mends(Protocol):
    """A problem under search that also makes better hypotheses of those of others."""

    def mend(self, text: str) -> Answer | None: ...


class MakesProblem(Protocol):
    def __call__(
        self, shown: list[list[Any]], space: Any, expansions: float, told: Any, /
    ) -> SearchedProblem:
        """told: what is said of the problem beside its pairs (View.public), and the name of the
        "trade_off" that was asked for."""
        ...


class Serves(Protocol):
    def __call__(self, shown: list[list[Any]], /) -> bool: ...


class Prepares(Protocol):
    def __call__(self, inputs: list[Any], /) -> Any: ...


@dataclass(frozen=True)
class SearchEngine:
    """Searches problems of one kind of input.

    Args:
        name: as in the registry.
        serves: whether it knows problems with such pairs [input, output].
        prepared: the sample space as it wants it, made once.
        problem: a problem under search.
    """

    name: str
    serves: Serves
    prepared: Prepares
    problem: MakesProblem


def engine_for(shown: list[list[Any]]) -> SearchEngine | None:
    """The first engine that serves such pairs."""
    engines = (registry.load("search_engines", name) for name in registry.parts("search_engines"))
    return next((engine for engine in engines if engine.serves(shown)), None)


class Searching:
    """State of one worker process: the spaces and the latest problems it was asked about."""

    def __init__(self) -> None:
        self.inputs: dict[str, list[Any]] = {}
        self.spaces: dict[tuple[str, str], Any] = {}
        self.problems: OrderedDict[str, SearchedProblem] = OrderedDict()

    def propose(self, request: dict[str, Any]) -> dict[str, Any]:
        """request: shown, told, space (a digest), inputs (of the space, where they may be new),
        expansions; earlier and skip, or what to `mend`. The answer: source, description and meta, or
        `exhausted`, or the `reason` why such problems are not searched, or `need` of the inputs."""
        shown, digest = request["shown"], request["space"]
        engine = engine_for(shown)
        if engine is None:
            return {"reason": NOTHING}
        if request.get("inputs") is not None:
            self.inputs[digest] = list(request["inputs"])
        if digest not in self.inputs:
            return {"need": "inputs"}
        if (engine.name, digest) not in self.spaces:
            self.spaces[engine.name, digest] = engine.prepared(self.inputs[digest])
        problem = self._problem(engine, request)
        try:
            return _said(_answer(problem, request))
        except NotSearched as error:
            return {"reason": str(error)}

    def _problem(self, engine: SearchEngine, request: dict[str, Any]) -> SearchedProblem:
        shown, digest = request["shown"], request["space"]
        expansions, told = request["expansions"], request.get("told")
        key = json.dumps([engine.name, shown, digest, expansions, told])
        if key not in self.problems:
            space = self.spaces[engine.name, digest]
            self.problems[key] = engine.problem(shown, space, expansions, told)
            if len(self.problems) > _KEPT_PROBLEMS:
                self.problems.popitem(last=False)
        self.problems.move_to_end(key)
        return self.problems[key]


def _answer(problem: SearchedProblem, request: dict[str, Any]) -> Answer | None:
    if "mend" in request:
        if not isinstance(problem, Mends):
            raise NotSearched("search mends no hypotheses of such problems")
        return problem.mend(request["mend"])
    earlier = [text.strip() for text in request["earlier"]]
    skip = frozenset([*earlier, *(text.strip() for text in request["skip"])])
    return problem.next(earlier, skip)


def _said(answer: Answer | None) -> dict[str, Any]:
    return answer._asdict() if answer else {"exhausted": True}
