"""Protocols of task families: what GEAR needs from a domain, and the wording of its prompts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from .hypotheses import Agreement, Hypothesis, Malformed, Predictions
from .oracles import OracleKind, Oracles
from .problems import InputSet, Observation, Problem, View
from .values import Json


class FamilyWords(Protocol):
    """The texts in prompts that depend on the family. They name no model."""

    @property
    def instructions(self) -> str:
        """Return a few lines for prompts that say what a hypothesis of this family is."""
        ...

    def contract(self, answer_format: str) -> str:
        """Return the answer contract: the rules for an answer in this format."""
        ...

    def schema(self, answer_format: str) -> Mapping[str, Json] | None:
        """Return the JSON schema of a complete answer, or None for a format other than JSON."""
        ...

    def show_observation(self, number: int, observation: Observation) -> str:
        """Return an observation with its number, as prompts show it."""
        ...

    def show_hypothesis(self, hypothesis: Hypothesis) -> str:
        """Return a hypothesis as prompts show it."""
        ...

    def show_feedback(self, view: View, agreement: Agreement) -> str:
        """Return the first failing observations with the expected and the actual output."""
        ...

    def compact(self) -> FamilyWords:
        """Return shorter prompt texts for small models.

        The answer format, an observation, a hypothesis and feedback take one line each. The
        description of the problem says only what the observations do not show.
        """
        ...


class Family(Protocol):
    """A kind of hypothesis: how answers are parsed, and how hypotheses are applied and compared.

    S is the sample space: the inputs on which hypotheses are compared.
    """

    name: str
    words: FamilyWords
    answer_formats: tuple[str, ...]  # The first is the default.
    oracle: str  # The oracle that applies its hypotheses: execute, solve, judge, or its own.
    opens_hidden: bool  # False: hidden parts wait for `check` and `eval` (logic).

    def with_strict_contract(self) -> Family:
        """Return a copy in which a breach of the answer contract makes an answer malformed.

        The reason is `breach_` followed by the name of the breach, as in breach_import. By default,
        `Hypothesis.breaches` lists the breaches, and the hypothesis is judged as usual.
        """
        ...

    def parse(
        self, view: View, answer: str, answer_format: str
    ) -> Sequence[Hypothesis | Malformed]:
        """Return the hypotheses and malformed parts of an answer."""
        ...

    def parse_hypothesis(self, text: str, view: View) -> Hypothesis | Malformed:
        """Parse a hypothesis that a user wrote without an answer around it (`check`)."""
        ...

    async def measure_agreement(
        self,
        hypothesis: Hypothesis,
        observations: Sequence[Observation],
        view: View,
        oracles: Oracles,
    ) -> Agreement:
        """Apply a hypothesis to observations, and return on which observations it is right."""
        ...

    async def predict(
        self, hypotheses: Sequence[Hypothesis], inputs: InputSet, view: View, oracles: Oracles
    ) -> Sequence[Predictions]:
        """Return the predictions of each hypothesis over a set of inputs."""
        ...

    def is_consistent(self, agreement: Agreement) -> bool:
        """Return whether a hypothesis with this agreement is consistent."""
        ...

    def make_tools(self, view: View, oracles: Oracles) -> Sequence[Any]:
        """Return the LangChain tools that a model may call before it answers."""
        ...


@runtime_checkable
class MeasuresHypotheses(Protocol):
    """A family that measures the cost of a hypothesis in addition to its consistency."""

    def with_evaluator(self, evaluator: str) -> Family:
        """Return a copy of the family that reads hypotheses as this evaluator does.

        Raises:
            UsageError: The evaluator is unknown.
        """
        ...

    def adapt_problem(self, problem: Problem, evaluator: str) -> Problem:
        """Return the problem with the data that this evaluator uses."""
        ...

    def extract_hypothesis(self, view: View, answer: str) -> str:
        """Return the hypothesis in a raw answer, as the model wrote it, or "" if the answer has
        none.
        """
        ...

    def compute_measures(
        self,
        problem: Problem,
        text: str,
        shown: Agreement | None,
        hidden: Agreement | None,
        evaluator: str,
    ) -> dict[str, Json]:
        """Return the measured figures of a hypothesis by name.

        Args:
            problem: The problem.
            text: The hypothesis as it was written.
            shown, hidden: The agreement with the shown and the hidden observations; None if the
                hypothesis could not be parsed.
            evaluator: Name of the evaluator.
        """
        ...


@dataclass(frozen=True)
class SearchStyle:
    """How the embedded search writes answers to problems of a family.

    Attributes:
        answer: Returns the text of an answer from a description and a hypothesis in the form that
            the oracle takes.
        tool, argument: Name and argument of the tool that tests a hypothesis; "" if the search
            calls no tool.
        repairs: Whether the search also repairs hypotheses of other proposers.
        facts: Returns what the search engine needs in addition to the shown pairs, such as the
            theory; None if it needs nothing. The arguments are `View.public` and the name of the
            trade-off that the user chose, such as tight.
    """

    answer: Callable[[str, str], str]
    tool: str = ""
    argument: str = ""
    repairs: bool = False
    facts: Callable[[Mapping[str, Json], str], Mapping[str, Json] | None] = (
        lambda public, trade_off: None
    )


@runtime_checkable
class HasSearch(Protocol):
    """A family for which the embedded search proposes hypotheses."""

    @property
    def search_style(self) -> SearchStyle:
        """Return how the embedded search writes answers for this family."""
        ...


@runtime_checkable
class HasTaskWording(Protocol):
    """A family whose wording depends on the problem: a theory, the labels, or a user's own task."""

    def with_task_wording(self, public: Mapping[str, Json]) -> Family:
        """Return the family with the wording of a problem, from its `View.public`."""
        ...


@runtime_checkable
class ToleratesErrors(Protocol):
    """A family in which a hypothesis may be consistent although it is wrong on some inputs.

    It may be wrong on a limited share of the inputs to which it applies.
    """

    def with_tau(self, tau: float) -> Family:
        """Return a copy with another threshold of consistency.

        Args:
            tau: Least share of right observations, among the observations to which a consistent
                hypothesis applies.
        """
        ...


@runtime_checkable
class FindsContradictions(Protocol):
    """A family in which shown observations may contradict each other."""

    def find_contradiction(self, problem: Problem) -> Sequence[Observation]:
        """Return two shown observations that contradict each other, or an empty sequence.

        No hypothesis can be right on both.
        """
        ...


@runtime_checkable
class LabelsRows(Protocol):
    """A family whose observations are labelled rows of a data set.

    The hidden rows belong to splits. Sessions have the settings `text`, a judge, and a bank that is
    evaluated on the splits.
    """

    def get_split(self, problem: Problem, split: str) -> tuple[Observation, ...]:
        """Return the hidden rows of "val", "ind" or "ood"; empty where the split is missing."""
        ...

    def data_set_name(self, problem: Problem) -> str:
        """Return the name of the data set that the problem is a sample of."""
        ...


@runtime_checkable
class NamesCodes(Protocol):
    """A family whose prediction codes (`Predictions.codes`) have names, such as labels."""

    def code_names(self, problem: Problem) -> Sequence[str]:
        """Return the name of each prediction code."""
        ...


@runtime_checkable
class SplitsObservations(Protocol):
    """A family whose observations consist of several inputs, as a world consists of elements."""

    def read_observations(self, path: Path, problem: Problem) -> Problem:
        """Read a file of observations to which hypotheses of `problem` are to be applied.

        Returns:
            A problem with these observations.

        Raises:
            DataError: The file cannot be read, or its observations are of another kind.
        """
        ...

    def split_observation(
        self, observation: Observation
    ) -> Sequence[tuple[Mapping[str, Json], Json]]:
        """Return (columns, input) for each input of an observation.

        The columns describe the input in a table of predictions, such as world and element.
        """
        ...

    def summarize_agreement(self, result: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the table columns about one observation, such as the cost of the rule there.

        Args:
            result: The entry of the observation in `Agreement.got`.
        """
        ...


@runtime_checkable
class SetsMethodDefaults(Protocol):
    """A family with its own defaults for the settings of methods."""

    @property
    def method_settings(self) -> Mapping[str, Mapping[str, Json]]:
        """Return the defaults of settings by method."""
        ...


@runtime_checkable
class RanksFindings(Protocol):
    """A family that measures how much a hypothesis explains and how simple it is."""

    def description_bits(self, text: str, problem: Problem) -> float:
        """Return the description length of a hypothesis in bits (tools/description_length.py)."""
        ...

    def count_explained(self, agreement: Agreement, problem: Problem) -> tuple[int, int]:
        """Return how many of the shown facts a hypothesis explains, and how many facts there are.

        Args:
            agreement: The agreement of the hypothesis with the shown observations.
        """
        ...


@runtime_checkable
class HasRecordedFormat(Protocol):
    """A family whose published records hold answers in another format than its default."""

    recorded_format: str


@runtime_checkable
class HasEvaluation(Protocol):
    """A family with its own evaluation, the default for its sessions (otherwise `gear`)."""

    evaluation: str


@runtime_checkable
class OpensOracle(Protocol):
    """A family that opens an oracle for a session, such as a sandbox.

    In other families, a model or code in this process applies the hypotheses.
    """

    @property
    def oracle_kind(self) -> OracleKind:
        """Return how the oracle is opened and recorded."""
        ...
