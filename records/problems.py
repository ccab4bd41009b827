"""Problems, and what an agent sees of one and reads beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from .hypotheses import Hypothesis, Verdict
from .values import Digest, Json, digest_of


@dataclass(frozen=True)
class Observation:
    """An input with its output (programs), a world (logic), a text with its label (text)."""

    input: Json
    output: Json


@dataclass(frozen=True)
class InputSet:
    """A named list of inputs, known elsewhere by its digest (the name does not count)."""

    name: str
    inputs: tuple[Json, ...]
    weights: tuple[float, ...] | None = None

    def __len__(self) -> int:
        return len(self.inputs)

    @cached_property
    def digest(self) -> Digest:
        return digest_of([self.inputs, self.weights])


@dataclass(frozen=True)
class Problem:
    """All that is known of a problem. Agents see `view()` alone, which has no hidden part."""

    id: str
    task: str
    family: str
    shown: tuple[Observation, ...]
    hidden: tuple[Observation, ...] = ()
    public: Mapping[str, Json] = field(default_factory=dict)  # of the family: a theory, the labels
    secret: Mapping[str, Json] = field(default_factory=dict)  # a reference rule; never in a view
    group: str = ""  # what must stay in one split; the id where empty

    @cached_property
    def digest(self) -> Digest:
        return digest_of(self.as_json())

    def as_json(self) -> Json:
        def pairs(some: Sequence[Observation]) -> list[list[Json]]:
            return [[o.input, o.output] for o in some]

        return {
            "id": self.id,
            "task": self.task,
            "family": self.family,
            "shown": pairs(self.shown),
            "hidden": pairs(self.hidden),
            "public": dict(self.public),
            "secret": dict(self.secret),
            "group": self.group,
        }

    @staticmethod
    def from_json(data: Json) -> Problem:
        def pairs(some: Json) -> tuple[Observation, ...]:
            return tuple(Observation(i, o) for i, o in some)

        return Problem(
            data["id"],
            data["task"],
            data["family"],
            pairs(data["shown"]),
            pairs(data["hidden"]),
            data["public"],
            data["secret"],
            data["group"],
        )

    def view(self, space: InputSet, earlier: Sequence[Earlier] = ()) -> View:
        return View(self.id, self.task, self.family, self.shown, self.public, space, tuple(earlier))


@dataclass(frozen=True)
class View:
    """What an agent sees of a problem at one step."""

    problem: str
    task: str
    family: str
    shown: tuple[Observation, ...]
    public: Mapping[str, Json]
    space: InputSet  # the sample space S: inputs without outputs
    earlier: tuple[Earlier, ...] = ()

    @property
    def answers(self) -> int:
        """How many of the earlier answers are the proposer's own."""
        return sum(not one.by for one in self.earlier)


@dataclass(frozen=True)
class Earlier:
    """One earlier answer of the problem, as later steps may be shown it."""

    answer: str
    hypotheses: tuple[Hypothesis, ...]  # empty where the answer was malformed
    verdict: Verdict
    feedback: str = ""
    by: str = ""  # who gave it, where it was not the proposer: "search" mended the one before it


@dataclass(frozen=True)
class Summary:
    """What a paper came to, for prompts. source: its file's name."""

    source: str
    title: str
    summary: str
