"""Search engines: choose the engine for a problem, and keep the state of one worker process.

An engine is a `SearchEngine` in the registry (records/registry.py). The first engine that supports
the example pairs is used, and later engines are not imported. A search may raise
`novelty.UnsupportedProblem`. The answers of a search depend only on its arguments: cached state
saves time but does not change any answer.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from ..records import UsageError, digest_of_text, registry
from .novelty import Answer, NeedsVectors, UnsupportedProblem

UNSUPPORTED_REASON = (
    "search knows programs from inputs to outputs, laws of numbers, rules about finite worlds (abd), and"
    " sentences about records or texts with a label"
)
_KEPT_PROBLEMS = 12  # each takes 30 to 100 MB; of lists and grids, less after the search has ended


class SearchedProblem(Protocol):
    """A search for hypotheses about one problem."""

    def propose(self, earlier: list[str], skip: frozenset[str]) -> Answer | None:
        """Return the next hypothesis, or None if the search finds no further hypothesis within its
        budget.

        Args:
            earlier: Texts of all earlier answers to the problem, in order.
            skip: Texts that must not be proposed again.
        """
        ...


@runtime_checkable
class HypothesisRepairer(Protocol):
    """A search on one problem that can also improve hypotheses from other sources."""

    def repair(self, text: str, earlier: Sequence[str] = ()) -> Answer | None:
        """Return a better hypothesis than `text`, or None if the search finds none.

        Args:
            text: The text of the hypothesis.
            earlier: Texts of all earlier answers to the problem, in order.
        """
        ...


class Progress(NamedTuple):
    """How far the search on one problem got.

    Args:
        expansions: Number of expansions that the search has spent.
        right: Number of shown pairs on which the best program is right that is wrong on others; 0
            if there is none worth mentioning.
        best: Its source, in one line.
    """

    expansions: int
    right: int = 0
    best: str = ""


@runtime_checkable
class ReportsProgress(Protocol):
    """A search on one problem that can say how far it got."""

    def progress(self) -> Progress:
        """Return how far the search got."""
        ...


@runtime_checkable
class UsesVectors(Protocol):
    """A search that can group terms by vectors from elsewhere, such as a sentence encoder."""

    def use_vectors(self, vectors: Mapping[str, Sequence[float]]) -> None:
        """Use these vectors, by term. `propose` raises `NeedsVectors` if some are missing."""
        ...


class ProblemFactory(Protocol):
    """A function that creates the search for one problem."""

    def __call__(
        self, shown: list[list[Any]], space: Any, expansions: float, public: Any, /
    ) -> SearchedProblem:
        """Create the search for one problem.

        Args:
            shown: The example pairs [input, output], which every hypothesis must reproduce.
            space: The sample space (the inputs on which hypotheses are compared), in the form that
                the engine's `prepare_space` returned.
            expansions: Budget of the search, in expansions (`budget.Budget`).
            public: Public information about the problem besides its pairs (`View.public`). The key
                "trade_off" may hold the name of the requested trade-off.
        """
        ...


class SupportCheck(Protocol):
    """A function that decides whether an engine supports a problem."""

    def __call__(self, shown: list[list[Any]], /) -> bool:
        """Return whether the engine supports problems with example pairs [input, output] like
        `shown`.
        """
        ...


class SpacePreparer(Protocol):
    """A function that converts a sample space into the form that an engine needs."""

    def __call__(self, inputs: list[Any], /) -> Any:
        """Return the sample space in the form that the engine needs.

        Args:
            inputs: The sample space: the inputs on which hypotheses are compared.
        """
        ...


@dataclass(frozen=True)
class SearchEngine:
    """A search engine for problems with one kind of input.

    Args:
        name: Name of the engine in the registry.
        supports: Function that takes the example pairs [input, output] of a problem and returns
            whether the engine supports the problem.
        prepare_space: Function that converts a sample space into the form that the engine needs. A
            worker process calls this function once per sample space.
        create_problem: Function that creates the search for one problem.
        family: The family whose hypotheses the engine writes; None for any.
    """

    name: str
    supports: SupportCheck
    prepare_space: SpacePreparer
    create_problem: ProblemFactory
    family: str | None = None


def find_engine(shown: list[list[Any]], family: str | None = None) -> SearchEngine | None:
    """Return the first engine that supports the pairs `shown` of a family, or None if none does."""
    for engine in _engines():
        if (family is None or engine.family in (None, family)) and engine.supports(shown):
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
    """A service that answers search requests in a worker process.

    The service keeps the sample spaces and the most recent problems, so that later requests need
    less work.
    """

    def __init__(self) -> None:
        self.inputs: dict[str, list[Any]] = {}
        self.spaces: dict[tuple[str, str], Any] = {}
        self.problems: OrderedDict[str, SearchedProblem] = OrderedDict()

    def propose(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the next hypothesis for a problem, or improve a hypothesis.

        Args:
            request: A mapping with the keys "shown" (the example pairs), "family" (that of
                the problem), "told" (public information about the problem), "space" (the digest of the sample space), "inputs" (the inputs
                of the sample space, or None if the worker already has the inputs) and "expansions"
                (the budget). To get the next hypothesis, add the keys "earlier" and "skip" of
                `SearchedProblem.propose`. To improve a hypothesis, add the key "mend" with the text
                of the hypothesis, and "earlier". With the key "vectors", a mapping from texts to vectors, an engine that
            groups terms uses these vectors and asks for those that are missing.

        Returns:
            A mapping. A hypothesis has the keys "source", "description" and "meta". Without a
            hypothesis, the mapping is {"exhausted": True}, with the fields of `Progress` if the engine
            reports them, or has the key "reason" with the reason why such problems cannot be searched.
            The mapping is {"need": "inputs"} if the worker does not have the inputs of the sample
            space, and {"need": "vectors", "terms": [text, …]} if it needs further vectors.
        """
        shown, digest = request["shown"], request["space"]
        try:
            engine = find_engine(shown, request.get("family"))
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
        if "vectors" in request and isinstance(problem, UsesVectors):
            problem.use_vectors(request["vectors"])
        try:
            answer = _answer(problem, request)
            return answer._asdict() if answer else {"exhausted": True, **_progress(problem)}
        except UnsupportedProblem as error:
            return {"reason": str(error)}
        except NeedsVectors as needed:
            return {"need": "vectors", "terms": needed.terms}

    def _problem(self, engine: SearchEngine, request: dict[str, Any]) -> SearchedProblem:
        shown, digest = request["shown"], request["space"]
        expansions, told = request["expansions"], request.get("told")
        parts = [engine.name, shown, digest, expansions, told, "vectors" in request]
        key = digest_of_text(json.dumps(parts))
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
        return problem.repair(request["mend"], [text.strip() for text in request["earlier"]])
    earlier = [text.strip() for text in request["earlier"]]
    skip = frozenset([*earlier, *(text.strip() for text in request["skip"])])
    return problem.propose(earlier, skip)


def _progress(problem: SearchedProblem) -> dict[str, Any]:
    return problem.progress()._asdict() if isinstance(problem, ReportsProgress) else {}
