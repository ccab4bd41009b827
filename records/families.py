"""Protocols of task families: how a domain parses, applies and compares hypotheses, and its
prompts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from .figures import Figure
from .hypotheses import Agreement, FrontPoint, Hypothesis, Malformed, Predictions
from .oracles import OracleKind, Oracles
from .problems import InputSet, Observation, Problem, View
from .values import Json


class FamilyWords(Protocol):
    """The texts in prompts that depend on the family of tasks.

    The texts are the same for all models.
    """

    @property
    def instructions(self) -> str:
        """Return a few lines for a prompt that explain what a hypothesis of this family is."""
        ...

    def contract(self, answer_format: str) -> str:
        """Return the answer contract: the rules that an answer in `answer_format` must follow."""
        ...

    def schema(self, answer_format: str) -> Mapping[str, Json] | None:
        """Return the JSON schema of a complete answer, or None if `answer_format` is not a JSON
        format.
        """
        ...

    def show_observation(self, number: int, observation: Observation) -> str:
        """Return the text that shows an observation and its number in a prompt.

        The text is empty if a prompt leaves the observation out, because there are too many.
        """
        ...

    def show_hypothesis(self, hypothesis: Hypothesis) -> str:
        """Return the text that shows a hypothesis in a prompt."""
        ...

    def show_feedback(self, view: View, agreement: Agreement) -> str:
        """Return the first failing observations, each with its expected and its actual output."""
        ...

    def compact(self) -> FamilyWords:
        """Return shorter prompt texts for small models.

        The answer contract, each observation, each hypothesis and the feedback take one line each.
        The description of the problem contains only what the observations do not show.
        """
        ...


class Family(Protocol):
    """A kind of hypothesis, with the code that parses, applies and compares hypotheses.

    Hypotheses are compared by their predictions on the sample space S, a set of inputs.
    """

    name: str
    words: FamilyWords
    answer_formats: tuple[str, ...]  # The first is the default.
    oracle: str  # The oracle that applies its hypotheses: execute, solve, judge, or its own.
    opens_hidden: bool  # False: hidden parts wait for `check` and `eval` (logic).

    def with_strict_contract(self) -> Family:
        """Return a copy of this family that treats a breach of the answer contract as a malformed
        answer.

        The reason of the malformed answer is `breach_` followed by the name of the breach, for
        example "breach_import". By default, breaches are only listed in `Hypothesis.breaches`, and
        the hypothesis is judged as usual.
        """
        ...

    def parse(
        self, view: View, answer: str, answer_format: str
    ) -> Sequence[Hypothesis | Malformed]:
        """Parse an answer into hypotheses. Parts that cannot be parsed become `Malformed` objects.

        Args:
            view: The problem, as the model sees it.
            answer: The answer of the model.
            answer_format: The format of the answer, one of `answer_formats`.
        """
        ...

    def parse_hypothesis(self, text: str, view: View) -> Hypothesis | Malformed:
        """Parse a hypothesis that a user wrote, such as the input of `peirce check`.

        The text contains only the hypothesis, without the surrounding text of a model's answer.
        """
        ...

    async def measure_agreement(
        self,
        hypothesis: Hypothesis,
        observations: Sequence[Observation],
        view: View,
        oracles: Oracles,
    ) -> Agreement:
        """Apply a hypothesis to observations, and return which observations it predicts correctly.

        Args:
            hypothesis: The hypothesis to test.
            observations: The observations to compare with.
            view: The problem, as a model sees it.
            oracles: The sandbox, solver and judge that can apply hypotheses.
        """
        ...

    async def predict(
        self, hypotheses: Sequence[Hypothesis], inputs: InputSet, view: View, oracles: Oracles
    ) -> Sequence[Predictions]:
        """Return the predictions of each hypothesis for all `inputs`, in the order of `hypotheses`.

        Args:
            hypotheses: The hypotheses to apply.
            inputs: The n inputs to predict.
            view: The problem, as a model sees it.
            oracles: The sandbox, solver and judge that can apply hypotheses.
        """
        ...

    def is_consistent(self, agreement: Agreement) -> bool:
        """Return whether a hypothesis with this agreement counts as consistent with the
        observations.
        """
        ...

    def make_tools(self, view: View, oracles: Oracles) -> Sequence[Any]:
        """Return the LangChain tools that a model may call before it answers."""
        ...


@runtime_checkable
class MeasuresHypotheses(Protocol):
    """A family that measures figures of a hypothesis, such as its cost, in addition to its
    consistency.
    """

    def with_evaluator(self, evaluator: str) -> Family:
        """Return a copy of this family that parses hypotheses in the same way as the named
        evaluator.

        An evaluator is a published program that scores hypotheses.

        Raises:
            UsageError: The evaluator is unknown.
        """
        ...

    def adapt_problem(self, problem: Problem, evaluator: str) -> Problem:
        """Return the problem with the data that the named evaluator uses."""
        ...

    def extract_hypothesis(self, view: View, answer: str) -> str:
        """Return the hypothesis in `answer` exactly as the model wrote it, or "" if there is
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
        """Return the measured figures of a hypothesis, by the name of the figure.

        Args:
            problem: The problem that the hypothesis explains.
            text: The hypothesis as the model wrote it.
            shown, hidden: The agreement with the shown and the hidden observations; None if the
                hypothesis could not be parsed.
            evaluator: The name of the evaluator.
        """
        ...


@dataclass(frozen=True)
class SearchStyle:
    """How the built-in search (`--model search`) interacts with a family of tasks.

    Attributes:
        answer: Function (description, hypothesis) that returns the text of an answer. The
            hypothesis is in its executable form.
        tool, argument: The name of the tool that tests a hypothesis, and the name of the argument
            that takes the hypothesis; "" if the search calls no tool.
        repairs: Whether the search also repairs hypotheses of other models.
        facts: Function (`View.public`, trade-off) that returns data which the search needs in
            addition to the shown observations, such as the theory, or None. The trade-off is a name
            that the user chose, such as "tight".
        likeliest_first: Whether the search proposes likely hypotheses before unlikely ones, so that
            findings keep its order (reports/findings.py).
        observations: The number of observations of each problem that a session shows to the search
            if the user sets no number; None for the number of the task.
        answers_once: Whether the first answer of the search contains all hypotheses that it finds.
    """

    answer: Callable[[str, str], str]
    tool: str = ""
    argument: str = ""
    repairs: bool = False
    facts: Callable[[Mapping[str, Json], str], Mapping[str, Json] | None] = (
        lambda public, trade_off: None
    )
    likeliest_first: bool = False
    observations: int | None = None
    answers_once: bool = False


@runtime_checkable
class HasSearch(Protocol):
    """A family for which the built-in search (`--model search`) can propose hypotheses."""

    @property
    def search_style(self) -> SearchStyle:
        """Return how the built-in search writes answers for this family."""
        ...


@runtime_checkable
class HasTaskWording(Protocol):
    """A family whose prompts depend on the problem: on its theory, its labels, or a user's own
    task.
    """

    def with_task_wording(self, public: Mapping[str, Json]) -> Family:
        """Return a copy of this family with the prompt texts of one problem.

        Args:
            public: The public data of the problem (`View.public`).
        """
        ...


@runtime_checkable
class ToleratesErrors(Protocol):
    """A family in which a consistent hypothesis may be wrong on a limited share of the
    observations.

    The share is measured among the observations to which the hypothesis applies.
    """

    def with_tau(self, tau: float) -> Family:
        """Return a copy of this family with another threshold of consistency.

        Args:
            tau: The smallest share of correct predictions that makes a hypothesis consistent, among
                the observations to which the hypothesis applies.
        """
        ...


@runtime_checkable
class FindsContradictions(Protocol):
    """A family in which two shown observations can contradict each other."""

    def find_contradiction(self, problem: Problem | View) -> Sequence[Observation]:
        """Return two shown observations that contradict each other, or an empty sequence.

        No hypothesis can be right on both observations.
        """
        ...


@runtime_checkable
class LabelsRows(Protocol):
    """A family whose observations are labelled rows of a data set.

    The hidden rows are divided into splits. A session on such a family uses the `text` settings, a
    judge, and a bank of hypotheses that is evaluated on the splits.
    """

    def get_split(self, problem: Problem, split: str) -> tuple[Observation, ...]:
        """Return the hidden rows of one split: "val", "ind" or "ood".

        The result is empty if the problem has no such split.
        """
        ...

    def data_set_name(self, problem: Problem) -> str:
        """Return the name of the data set from which the problem was sampled."""
        ...


@runtime_checkable
class WeighsHypotheses(Protocol):
    """A family whose hypotheses each apply to some observations, and are weighed together.

    A bank takes every hypothesis that can be weighed, whether it is consistent or not. What it is
    worth is decided by the inference that applies the bank.
    """

    def can_weigh(self, agreement: Agreement) -> bool:
        """Return whether a hypothesis with this agreement belongs into a bank."""
        ...


@runtime_checkable
class SummarizesHypotheses(Protocol):
    """A family whose hypotheses may be too long to read, and are then shown shortened."""

    def summarize_hypothesis(self, text: str, name: str = "") -> str:
        """Return a hypothesis as a person reads it; `text` itself if it is short.

        Args:
            text: The text of the hypothesis.
            name: A name for what is shortened; "" for one that is derived from the text.
        """
        ...

    def strongest_terms(self, text: str) -> Sequence[str]:
        """Return the first terms of the list for which a name is needed; () if there is none."""
        ...


@runtime_checkable
class NamesCodes(Protocol):
    """A family whose integer prediction codes (`Predictions.codes`) have names, such as labels."""

    def code_names(self, problem: Problem) -> Sequence[str]:
        """Return the names of the prediction codes; the name of code i is the item at index i."""
        ...


@runtime_checkable
class OrdersCodes(Protocol):
    """A family whose prediction codes are ordered, such as rounded numbers."""

    @property
    def least_difference(self) -> int:
        """Return the smallest difference of two codes that cannot come from rounding alone."""
        ...

    def encode_prediction(self, value: Json, problem: Problem) -> int | None:
        """Return the code of a prediction; None if the value is no prediction."""
        ...


@runtime_checkable
class SplitsObservations(Protocol):
    """A family in which one observation consists of several inputs, as a world consists of
    elements.
    """

    def read_observations(self, path: Path, problem: Problem) -> Problem:
        """Read a file of observations on which to test hypotheses about `problem`.

        Returns:
            A copy of `problem` with the observations from the file.

        Raises:
            DataError: The file cannot be read, or its observations do not fit `problem`.
        """
        ...

    def split_observation(
        self, observation: Observation
    ) -> Sequence[tuple[Mapping[str, Json], Json]]:
        """Return one pair (columns, input) for each input in an observation.

        The columns describe the input in a table of predictions, for example by world and element.
        """
        ...

    def summarize_agreement(self, result: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the table columns for one observation, such as the cost of the rule on this
        observation.

        Args:
            result: The item of `Agreement.got` that belongs to the observation.
        """
        ...


@runtime_checkable
class SetsMethodDefaults(Protocol):
    """A family that changes the default settings of methods."""

    @property
    def method_settings(self) -> Mapping[str, Mapping[str, Json]]:
        """Return the changed defaults as {method: {setting: value}}."""
        ...


@runtime_checkable
class RanksFindings(Protocol):
    """A family that can rank hypotheses by how much they explain and how simple they are."""

    def description_bits(self, text: str, problem: Problem) -> float:
        """Return the description length of a hypothesis in bits (tools/description_length.py)."""
        ...

    def count_explained(self, agreement: Agreement, problem: Problem) -> tuple[int, int]:
        """Return (number of shown facts that a hypothesis explains, number of shown facts).

        Args:
            agreement: The agreement of the hypothesis with the shown observations.
            problem: The problem that the hypothesis explains.
        """
        ...


THEME_NAME = "theme"  # key of `Hypothesis.meta`: what a model calls the long list of a sentence
FRONT_FIELD = "front"  # of a step: the texts of hypotheses that a search puts on its front


@runtime_checkable
class MeasuresSizeAndError(Protocol):
    """A family in which larger hypotheses may have smaller errors, such as formulas.

    The findings list the front of size against error: the hypotheses for which no other one is smaller
    and has a smaller error. A search can name hypotheses for the front that it does not propose, by
    putting their texts into the field `FRONT_FIELD` of a step (`Reply.meta["fields"]`).
    """

    def measure_size_and_error(self, text: str, problem: Problem) -> tuple[int, float] | None:
        """Return (size, root mean square error in the shown observations) of a hypothesis.

        The result is None if the text is no hypothesis, or if it predicts too few observations.
        """
        ...


@runtime_checkable
class DrawsFigures(Protocol):
    """A family that draws figures of the best hypotheses of a problem."""

    def draw_figures(
        self, problem: Problem, hypotheses: Sequence[str], front: Sequence[FrontPoint]
    ) -> Sequence[Figure]:
        """Return the figures of a problem, the most important one first.

        Args:
            problem: The problem.
            hypotheses: The texts of the best hypotheses, best first.
            front: The front of size against error.
        """
        ...


@runtime_checkable
class HasRecordedFormat(Protocol):
    """A family whose published answers use another answer format than the default of the family.

    Attributes:
        recorded_format: The answer format of the published answers.
    """

    recorded_format: str


@runtime_checkable
class HasEvaluation(Protocol):
    """A family whose sessions are evaluated by default with the evaluation named here instead of
    `gear`.

    Attributes:
        evaluation: The name of the evaluation.
    """

    evaluation: str


@runtime_checkable
class OpensOracle(Protocol):
    """A family whose hypotheses are applied by an external program, such as a sandbox or solver.

    In other families, a model or code in this process applies the hypotheses.
    """

    @property
    def oracle_kind(self) -> OracleKind:
        """Return how to open the sandbox or solver, and how the journal records its calls."""
        ...
