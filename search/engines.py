"""Search engines: choose the engine for a problem, and keep the state of one worker process.

An engine is a `SearchEngine` in the registry (records/registry.py). The first engine that supports
the shown pairs is used; the engines after it are not imported. A problem may raise
`following.UnsupportedProblem`. `earlier` lists the texts of all earlier answers in order, and `skip` holds
the texts that must not be proposed again. A problem's answers are a pure function of its arguments:
cached state only saves time.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from ..records import UsageError, registry
from .novelty import Answer, UnsupportedProblem

UNSUPPORTED_REASON = (
    "search knows functions of a list of integers, of scenes of objects that are on or off (acre),"
    " of grids of colours to grids, rules about finite worlds (abd), and records or texts with a label"
)
_KEPT_PROBLEMS = 12  # each takes 30 to 100 MB


class SearchedProblem(Protocol):
    """A problem that a search engine works on."""

    def propose(self, earlier: list[str], skip: frozenset[str]) -> Answer | None:
        """Return the next answer to the problem, or None if the budget of expansions has no further
        answer.
        """
        ...


@runtime_checkable
class HypothesisRepairer(Protocol):
    """A search on one problem that can also improve hypotheses from other sources."""

    def repair(self, text: str) -> Answer | None:
        """Return an answer better than the hypothesis `text`, or None if there is none."""
        ...


class ProblemFactory(Protocol):
    """Factory that starts the search of one problem."""

    def __call__(
        self, shown: list[list[Any]], space: Any, expansions: float, public: Any, /
    ) -> SearchedProblem:
        """Create the problem from its shown pairs.

        Args:
            shown: Pairs [input, output].
            space: The sample space, as the engine's `prepare_space` returned it.
            expansions: Budget of the search.
            public: Public information about the problem besides its pairs (`View.public`), and the
                name of the requested "trade_off".
        """
        ...


class SupportCheck(Protocol):
    """Predicate that decides whether an engine supports a problem."""

    def __call__(self, shown: list[list[Any]], /) -> bool:
        """Return whether the engine supports problems with such pairs [input, output]."""
        ...


class SpacePreparer(Protocol):
    """Function that converts a sample space into the form its engine needs."""

    def __call__(self, inputs: list[Any], /) -> Any:
        """Return the sample space in the engine's own form."""
        ...


@dataclass(frozen=True)
class SearchEngine:
    """An engine that searches problems with one kind of input.

    Args:
        name: Name in the registry.
        supports: Returns whether the engine supports problems with such pairs [input, output].
        prepare_space: Converts the sample space into the engine's form; called once per space.
        create_problem: Creates a problem under search.
    """

    name: str
    supports: SupportCheck
    prepare_space: SpacePreparer
    create_problem: ProblemFactory


def find_engine(shown: list[list[Any]]) -> SearchEngine | None:
    """Return the first engine that supports pairs of this form, or None."""
    for engine in _engines():
        if engine.supports(shown):
            return engine
    return None


def _engines() -> Iterator[SearchEngine]:
    """The built-in engines first, so that those of other packages are loaded only where none fits."""
    own = registry.BUILT_IN["search_engines"]
    for name in own:
        yield registry.load("search_engines", name)
    for name in registry.components("search_engines"):
        if name not in own:
            yield registry.load("search_engines", name)


class SearchService:
    """The state of a worker process: its sample spaces and the most recent problems."""

    def __init__(self) -> None:
        self.inputs: dict[str, list[Any]] = {}
        self.spaces: dict[tuple[str, str], Any] = {}
        self.problems: OrderedDict[str, SearchedProblem] = OrderedDict()

    def propose(self, request: dict[str, Any]) -> dict[str, Any]:
        """Search for the next answer to a problem, or repair a hypothesis, as a request says.

        Args:
            request: A mapping with "shown", "told", "space" (a digest), "inputs" (the inputs of the
                space, or None if the worker already has them) and "expansions"; and either
                "earlier" and "skip", or the text to "mend".

        Returns:
            A mapping with "source", "description" and "meta"; or {"exhausted": True}; or the
            "reason" why such problems are not searched; or {"need": "inputs"} if the worker does
            not have the inputs of this space.
        """
        shown, digest = request["shown"], request["space"]
        try:
            engine = find_engine(shown)
        except UsageError as error:  # an engine of another package
            return {"reason": str(error)}
        if engine is None:
            return {"reason": UNSUPPORTED_REASON}
        if request.get("inputs") is not None:
            self.inputs[digest] = list(request["inputs"])
        if digest not in self.inputs:
            return {"need": "inputs"}
        if (engine.name, digest) not in self.spaces:
            self.spaces[engine.name, digest] = engine.prepare_space(self.inputs[digest])
        problem = self._problem(engine, request)
        try:
            return _answer_to_json(_answer(problem, request))
        except UnsupportedProblem as error:
            return {"reason": str(error)}

    def _problem(self, engine: SearchEngine, request: dict[str, Any]) -> SearchedProblem:
        shown, digest = request["shown"], request["space"]
        expansions, told = request["expansions"], request.get("told")
        key = json.dumps([engine.name, shown, digest, expansions, told])
        if key not in self.problems:
            space = self.spaces[engine.name, digest]
            self.problems[key] = engine.create_problem(shown, space, expansions, told)
            if len(self.problems) > _KEPT_PROBLEMS:
                self.problems.popitem(last=False)
        self.problems.move_to_end(key)
        return self.problems[key]


def _answer(problem: SearchedProblem, request: dict[str, Any]) -> Answer | None:
    if "mend" in request:
        if not isinstance(problem, HypothesisRepairer):
            raise UnsupportedProblem("search mends no hypotheses of such problems")
        return problem.repair(request["mend"])
    earlier = [text.strip() for text in request["earlier"]]
    skip = frozenset([*earlier, *(text.strip() for text in request["skip"])])
    return problem.propose(earlier, skip)


def _answer_to_json(answer: Answer | None) -> dict[str, Any]:
    return answer._asdict() if answer else {"exhausted": True}
