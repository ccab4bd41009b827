"""Problems to explain, and the view of a problem that a model may see."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from .hypotheses import Hypothesis, Verdict
from .values import Digest, Json, digest_of


@dataclass(frozen=True)
class Observation:
    """One observation to explain.

    For programs, an observation is an input with its output. For logic, `input` is a world, a
    finite structure with facts. For text, an observation is a text with its label.
    """

    input: Json
    output: Json


@dataclass(frozen=True)
class InputSet:
    """A named list of inputs, with optional weights."""

    name: str
    inputs: tuple[Json, ...]
    weights: tuple[float, ...] | None = None

    def __len__(self) -> int:
        return len(self.inputs)

    @cached_property
    def digest(self) -> Digest:
        """Return the SHA-256 digest of the inputs and weights, regardless of the name."""
        return digest_of([self.inputs, self.weights])

    def count_characters(self, index: int) -> int:
        """Return the number of characters of an input as JSON; it is measured once."""
        known = self._characters.get(index)
        if known is None:
            text = json.dumps(self.inputs[index], default=str)
            known = self._characters[index] = len(text)
        return known

    @cached_property
    def _characters(self) -> dict[int, int]:
        return {}


@dataclass(frozen=True)
class Problem:
    """A set of observations to explain, with everything known about them.

    Models and other agents receive only a `View` of the problem, which contains no hidden
    observations and no reference solution.
    """

    id: str
    task: str
    family: str
    shown: tuple[Observation, ...]
    hidden: tuple[Observation, ...] = ()
    # Data that belongs to the family: a theory, the labels.
    public: Mapping[str, Json] = field(default_factory=dict)
    # A reference rule; never part of a view.
    secret: Mapping[str, Json] = field(default_factory=dict)
    group: str = ""  # Problems of one group stay in one split; the id where empty.

    @cached_property
    def digest(self) -> Digest:
        """Return the SHA-256 digest of this problem's JSON form."""
        return digest_of(self.as_json())

    def as_json(self) -> Json:
        """Return this problem as a JSON object."""

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
        """Build a problem from the JSON object that `as_json` returns."""

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

    def make_view(self, space: InputSet, past_answers: Sequence[PastAnswer] = ()) -> View:
        """Return the view of this problem that a model or another agent may see.

        The view contains the shown observations, the public data of the problem, the sample space
        and the earlier answers.

        Args:
            space: The sample space: the inputs on which hypotheses are compared.
            past_answers: The earlier answers to this problem, oldest first.
        """
        return View(
            self.id, self.task, self.family, self.shown, self.public, space, tuple(past_answers)
        )


@dataclass(frozen=True)
class View:
    """The data of a problem that a model or another agent may see at one step."""

    problem: str
    task: str
    family: str
    shown: tuple[Observation, ...]
    public: Mapping[str, Json]
    space: InputSet  # The sample space S: inputs without outputs.
    past_answers: tuple[PastAnswer, ...] = ()

    @property
    def own_answer_count(self) -> int:
        """Return the number of earlier answers that the proposer itself gave, excluding repairs by
        others.
        """
        return sum(not one.author for one in self.past_answers)


@dataclass(frozen=True)
class PastAnswer:
    """An earlier answer to the same problem, with the data that later prompts may show."""

    answer: str
    hypotheses: tuple[Hypothesis, ...]  # Empty if the answer was malformed.
    verdict: Verdict
    feedback: str = ""
    # The author if not the proposer: "search" repaired the answer before, or found a seed.
    author: str = ""
    verdicts: tuple[Verdict, ...] = ()  # One per hypothesis; empty: `verdict` holds for all.
    seeded: bool = False  # Whether a search found it before the first request.


@dataclass(frozen=True)
class Summary:
    """The summary of a paper, as prompts show it.

    Attributes:
        source: The file name of the paper.
    """

    source: str
    title: str
    summary: str
