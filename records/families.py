"""Task families: what GEAR needs of a domain, and how prompts speak of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from .hypotheses import Agreement, Hypothesis, Malformed, Predictions
from .oracles import OracleKind, Oracles
from .problems import InputSet, Observation, Problem, View
from .values import Json


class FamilyWords(Protocol):
    """A family's part of every prompt. Pure text, no model's name."""

    @property
    def instructions(self) -> str:
        """What a hypothesis is, in a few lines."""
        ...

    def contract(self, answer_format: str) -> str: ...
    def schema(self, answer_format: str) -> Mapping[str, Json] | None:
        """The JSON schema of a whole answer; None for a format that is no JSON."""
        ...

    def show_observation(self, number: int, observation: Observation) -> str: ...
    def show_hypothesis(self, hypothesis: Hypothesis) -> str: ...
    def show_feedback(self, view: View, agreement: Agreement) -> str:
        """The first failing observations with what was expected and what came."""
        ...

    def compact(self) -> FamilyWords:
        """The same in few words, for small models: how an answer is written in one line, an
        observation, a hypothesis and a feedback in one line each, and of what is said of the
        problem only what its observations leave open."""
        ...


class Family(Protocol):
    """What GEAR needs of a domain: S, an oracle, equality of predictions, a size measure."""

    name: str
    words: FamilyWords
    answer_formats: tuple[str, ...]  # the first is the default
    oracle: str  # the name of what applies its hypotheses: execute, solve, judge, or its own
    opens_hidden: bool  # False: hidden parts wait for `check` and `eval` (logic)

    def strictly(self) -> Family:
        """The same family, for which a breach of the answer contract makes an answer malformed
        (reason `breach_` and the breach); by default breaches are noted in the hypothesis."""
        ...

    def parse(
        self, view: View, answer: str, answer_format: str
    ) -> Sequence[Hypothesis | Malformed]: ...

    def read(self, text: str, view: View) -> Hypothesis | Malformed:
        """A hypothesis that a user brings bare (`check`): the source, the formula, the sentence."""
        ...

    async def agree(
        self,
        hypothesis: Hypothesis,
        observations: Sequence[Observation],
        view: View,
        oracles: Oracles,
    ) -> Agreement: ...

    async def predict(
        self, hypotheses: Sequence[Hypothesis], inputs: InputSet, view: View, oracles: Oracles
    ) -> Sequence[Predictions]: ...

    def consistent(self, agreement: Agreement) -> bool: ...

    def tools(self, view: View, oracles: Oracles) -> Sequence[Any]:
        """LangChain tools that a model may call before it answers."""
        ...


@runtime_checkable
class Measuring(Protocol):
    """A family that says more of a hypothesis than whether it is consistent: what it costs."""

    def by(self, evaluator: str) -> Family:
        """The same family as an evaluator reads hypotheses. Raises UsageError for another name."""
        ...

    def seen(self, problem: Problem, evaluator: str) -> Problem:
        """The problem as an evaluator reads it."""
        ...

    def said(self, view: View, answer: str) -> str:
        """The hypothesis of a raw answer as it was given; "" where there is none."""
        ...

    def measures(
        self,
        problem: Problem,
        text: str,
        shown: Agreement | None,
        hidden: Agreement | None,
        evaluator: str,
    ) -> dict[str, Json]:
        """text: the hypothesis as it was given; shown, hidden: None where it was not read."""
        ...


@dataclass(frozen=True)
class SearchManner:
    """How the embedded search speaks for a family.

    Args:
        answer: the text of an answer, from a description and what the oracle takes.
        tool, argument: of the tool that it tries a hypothesis with; "" where it calls none.
        mends: whether it also makes better hypotheses of those of others.
        facts: what its engine is told beside the shown pairs, from `View.public` and the trade-off that
            was asked for; None where that is nothing.
    """

    answer: Callable[[str, str], str]
    tool: str = ""
    argument: str = ""
    mends: bool = False
    facts: Callable[[Mapping[str, Json], str], Mapping[str, Json] | None] = (
        lambda public, trade_off: None
    )


@runtime_checkable
class Searched(Protocol):
    """A family for which the embedded search proposes hypotheses."""

    @property
    def search(self) -> SearchManner: ...


@runtime_checkable
class Worded(Protocol):
    """A family whose words depend on the problem: on a theory, the labels, a task of a user's own."""

    def told(self, public: Mapping[str, Json]) -> Family:
        """The same family in the words of a problem. public: of that problem."""
        ...


@runtime_checkable
class Tolerant(Protocol):
    """A family whose consistent hypotheses may be wrong on a share of what they cover."""

    def with_tau(self, tau: float) -> Family:
        """The same family. tau: the share of the covered observations that a consistent hypothesis is
        right on at least."""
        ...


@runtime_checkable
class FindsContradictions(Protocol):
    """A family of which shown observations may rule each other out."""

    def contradiction(self, problem: Problem) -> Sequence[Observation]:
        """Two shown observations that no hypothesis can both be right on; none where there are none."""
        ...


@runtime_checkable
class LabelsRows(Protocol):
    """A family whose observations are rows of a data set with a label each, some of them kept in
    splits. Its sessions have the settings `text`, a judge, and a bank that is read on the splits."""

    def of_split(self, problem: Problem, split: str) -> tuple[Observation, ...]:
        """The hidden rows of "val", "ind" or "ood"; none where the data set lacks the split."""
        ...

    def data_set(self, problem: Problem) -> str:
        """The data set that the problem is a sample of."""
        ...


@runtime_checkable
class NamesCodes(Protocol):
    """A family whose codes of predictions have names."""

    def code_names(self, problem: Problem) -> Sequence[str]: ...


@runtime_checkable
class SetsMethods(Protocol):
    """A family with defaults of its own for settings of methods, by method."""

    @property
    def method_settings(self) -> Mapping[str, Mapping[str, Json]]: ...


@runtime_checkable
class RecordedForm(Protocol):
    """A family whose published records hold answers in another format than its default."""

    recorded_format: str


@runtime_checkable
class Evaluated(Protocol):
    """A family with an evaluation of its own, which is the default for its sessions (else `gear`)."""

    evaluation: str


@runtime_checkable
class OpensOracle(Protocol):
    """A family whose oracle is opened for a session; another's hypotheses are applied by a model's
    role, or by rules that run here."""

    @property
    def opens(self) -> OracleKind: ...
