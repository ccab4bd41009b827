"""Family `text`: a hypothesis is a sentence that says which texts get which label (HypoBench).

The oracle `judge` applies a sentence to texts. It executes sentences that are exact rules, and asks
a model about other sentences. An observation is a text with its label. The sample space S contains
unlabelled texts whose labels are predicted. A sentence predicts no label for texts that it does not
apply to. If a judge's answer contains no label, it counts as wrong. A hypothesis is consistent if
it is right on at least a share `tau` of the shown texts that it applies to (1.0 in GEAR).
Validation, test and out-of-distribution (OOD) rows are hidden and are used only for inference and
by the commands `check` and `eval`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from ...records import (
    NOT_REQUESTED,
    Agreement,
    FamilyWords,
    Hypothesis,
    InputSet,
    Json,
    Malformed,
    Observation,
    Oracles,
    Predictions,
    Problem,
    SearchStyle,
    Unavailable,
    View,
)
from ...tools.description_length import sentence_bits
from ...tools.sentence_rules import NotExact, compile_sentence
from ...tools.sentence_rules.wording import shorten_lists, strongest_terms
from .answers import parse_hypotheses
from .refusals import is_refusal
from .words import ANSWER_FORMATS, TextWords

if TYPE_CHECKING:
    from pydantic import BaseModel

TAU = 0.7
DOES_NOT_APPLY, UNREADABLE, NEEDS_MODEL, NOT_ASKED = -1, -2, -3, -4  # codes without a label
REASONS = ("does_not_apply", "unreadable", "needs_model", NOT_REQUESTED)  # of the codes -1, -2, …
# Per sentence that is no exact rule; the longest published hypotheses have about 600. An exact rule
# may list thousands of terms.
MAX_CHARACTERS = 4_000
MAX_HYPOTHESES = 100  # per answer
SEARCHED_ROWS = 50_000  # rows that a session shows to the built-in search by default


_SEARCHED = ("labels", "columns", "shape", "description")  # public facts that the search receives
_SAMPLE = re.compile(r"#\d+\Z")


def _search_facts(public: Mapping[str, Json], trade_off: str) -> Mapping[str, Json]:
    return {name: public[name] for name in _SEARCHED if name in public}


@dataclass(frozen=True)
class Text:
    """The family `text`: sentences about labelled text.

    Attributes:
        tau: A hypothesis is consistent if it is right on at least this share of the texts that it
            applies to.
        words: The prompt texts.
    """

    tau: float = TAU
    words: FamilyWords = TextWords()  # noqa: RUF009 - frozen
    _kept: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)

    name = "text"
    answer_formats = ANSWER_FORMATS
    oracle = "judge"
    evaluation = "hypobench"
    opens_hidden = False
    search_style = SearchStyle(
        lambda description, sentences: sentences,
        facts=_search_facts,
        observations=SEARCHED_ROWS,
        answers_once=True,
    )
    # The published `refine` runs three rounds after the first answer.
    method_settings: ClassVar[Mapping[str, Mapping[str, Json]]] = {"refine": {"max_answers": 4}}

    def with_strict_contract(self) -> Text:
        """Return this object unchanged. Answers are sentences, so no answer can breach the
        contract.
        """
        return self

    def with_tau(self, tau: float) -> Text:
        """Return a copy of this family with another value of `tau`."""
        return replace(self, tau=tau)

    def get_split(self, problem: Problem, split: str) -> tuple[Observation, ...]:
        """Return the hidden rows of a split of the data set; see the function `select_split`."""
        return select_split(problem, split)

    def data_set_name(self, problem: Problem) -> str:
        """Return the name of the data set of a problem, which is the id `NAME#K` without `#K`."""
        return _SAMPLE.sub("", problem.id)

    def code_names(self, problem: Problem) -> Sequence[str]:
        """Return the labels. A prediction code is an index into this list."""
        return tuple(problem.public.get("labels", ()))

    def with_task_wording(self, public: Mapping[str, Json]) -> Text:
        """Return a copy of this family whose prompt texts describe a data set.

        `public` holds the public facts of a problem, such as labels and columns.
        """
        return replace(self, words=TextWords.from_public(public))

    def parse(
        self, view: View, answer: str, answer_format: str
    ) -> Sequence[Hypothesis | Malformed]:
        """Return the hypotheses in a model's answer, at most `MAX_HYPOTHESES`; malformed parts as
        `Malformed`.
        """
        found = parse_hypotheses(answer, MAX_HYPOTHESES) or parse_hypotheses(answer, 1)
        return [self.parse_hypothesis(one, view) for one in found]

    def parse_hypothesis(self, text: str, view: View) -> Hypothesis | Malformed:
        """Return a sentence as a hypothesis, or `Malformed` if it is empty, too long or a refusal.

        Only an exact rule may have more than `MAX_CHARACTERS` characters.
        """
        sentence = " ".join(text.split())
        if not sentence:
            return Malformed("empty", "there is no sentence")
        if len(sentence) > MAX_CHARACTERS and isinstance(
            compile_sentence(sentence, view.public), NotExact
        ):
            return Malformed(
                "too_long", f"{len(sentence):,} characters; a sentence has {MAX_CHARACTERS:,}"
            )
        if is_refusal(sentence, view.public.get("labels", ())):
            return Malformed("refusal", "the sentence says that there is no hypothesis")
        return Hypothesis(sentence)

    async def measure_agreement(
        self,
        hypothesis: Hypothesis,
        observations: Sequence[Observation],
        view: View,
        oracles: Oracles,
    ) -> Agreement:
        """Apply a sentence to labelled rows and return on which rows it is right.

        Returns:
            For each row True, False, or None if the sentence predicts no label. The verdict is
            "needs_model" if only a model could judge the sentence and no model is available.

        Raises:
            Unavailable: The session has no judge.
        """
        found = await _judge(oracles)(hypothesis.text, self._inputs(observations), view.public)
        return compute_agreement(found, observations, view.public["labels"])

    def _inputs(self, observations: Sequence[Observation]) -> InputSet:
        """Return the inputs of observations, whose digest is computed only once for one object."""
        if not self._kept or self._kept[0] is not observations:
            self._kept[:] = [
                observations,
                InputSet("observations", tuple(one.input for one in observations)),
            ]
        found: InputSet = self._kept[1]
        return found

    async def predict(
        self, hypotheses: Sequence[Hypothesis], inputs: InputSet, view: View, oracles: Oracles
    ) -> Sequence[Predictions]:
        """Return the labels that each hypothesis predicts, as indices into the labels of the data
        set.

        Raises:
            Unavailable: The session has no judge.
        """
        judge = _judge(oracles)
        return [await judge(one.text, inputs, view.public) for one in hypotheses]

    def is_consistent(self, agreement: Agreement) -> bool:
        """Return whether the hypothesis is right on at least a share `tau` of the rows it applies
        to.
        """
        covered = [mark for mark in agreement.marks if mark is not None]
        return bool(covered) and sum(covered) >= self.tau * len(covered) - 1e-9

    def can_weigh(self, agreement: Agreement) -> bool:
        """Return whether a judge could apply the sentence. Every such sentence joins a bank."""
        return agreement.verdict == "ok"

    def summarize_hypothesis(self, text: str, name: str = "") -> str:
        """Return a sentence in which long lists of terms are shortened (`shorten_lists`)."""
        return shorten_lists(text, name=name)

    def strongest_terms(self, text: str) -> tuple[str, ...]:
        """Return the first terms of the theme of a sentence; () if its lists are short."""
        return strongest_terms(text)

    def description_bits(self, text: str, problem: Problem) -> float:
        """Return the description length of a sentence in bits."""
        return sentence_bits(text, problem.public)

    def count_explained(self, agreement: Agreement, problem: Problem) -> tuple[int, int]:
        """Return (number of shown rows to which the sentence gives their label, number of all shown
        rows).
        """
        return agreement.right, len(problem.shown)

    def make_tools(self, view: View, oracles: Oracles) -> Sequence[Any]:
        """Return the tool `judge`, which applies exact rules to the shown texts."""
        if oracles.judge is None:
            return ()
        return (_judge_tool(lambda sentence: self.attempt(sentence, view, oracles)),)

    async def attempt(self, sentence: str, view: View, oracles: Oracles) -> str:
        """Return the reply of the tool `judge` to a sentence, as JSON text."""
        read = self.parse_hypothesis(sentence, view)
        if isinstance(read, Malformed):
            return json.dumps({"error": f"{read.reason}: {read.detail}"})
        agreement = await self.measure_agreement(read, view.shown, view, oracles)
        if agreement.verdict != "ok":
            return json.dumps({"error": "no exact rule: it needs a model to be judged"})
        right = sum(mark is True for mark in agreement.marks)
        covered = sum(mark is not None for mark in agreement.marks)
        said = {
            "right": right,
            "covered": covered,
            "of": len(agreement.marks),
            "consistent": self.is_consistent(agreement),
            "said": self.words.show_feedback(view, agreement),
        }
        return json.dumps(said, ensure_ascii=False)


def compute_agreement(
    predictions: Predictions, observations: Sequence[Observation], labels: Sequence[str]
) -> Agreement:
    """Compare predicted labels with the labels of the observations.

    A prediction that could not be read counts as wrong. `detail` of the result has the number of
    observations with a prediction and the number of correct predictions.
    """
    marks: list[bool | None] = []
    got: list[dict[str, Json]] = []
    # equal values are one object, which saves memory with many rows
    values: dict[str, dict[str, Json]] = {label: {"value": label} for label in labels}
    undefined = {name: {"undefined": name} for name in predictions.reason_names}
    for observation, code, reason in zip(
        observations, predictions.codes, predictions.reasons, strict=True
    ):
        name = predictions.reason_names[reason - 1] if reason else ""
        if not reason:
            label = labels[int(code)]
            marks.append(label == observation.output)
            got.append(values[label])
        else:
            marks.append(False if name == "unreadable" else None)
            got.append(undefined[name])
    needs = predictions.count_undefined().get("needs_model", 0)
    detail = {
        "right": sum(mark is True for mark in marks),
        "covered": sum(mark is not None for mark in marks),
    }
    return Agreement(tuple(marks), tuple(got), "needs_model" if needs else "ok", detail)


def select_split(problem: Problem, split: str) -> tuple[Observation, ...]:
    """Return the hidden rows of the split "val", "ind" (test rows) or "ood".

    The result is empty if the data set has no such split.
    """
    start, stop = problem.secret.get("splits", {}).get(split, (0, 0))
    return problem.hidden[start:stop]


def _judge(oracles: Oracles) -> Any:
    if oracles.judge is None:
        raise Unavailable("There is no judge here: no sentence can be applied to a text.")
    return oracles.judge


@cache
def _arguments() -> type[BaseModel]:
    from pydantic import BaseModel, Field

    class JudgeArguments(BaseModel):
        sentence: str = Field(description="One hypothesis, in the form of an exact rule.")

    return JudgeArguments


def _judge_tool(attempt: Any) -> Any:
    from langchain_core.tools import StructuredTool

    async def judge(sentence: str) -> str:
        return str(await attempt(sentence))

    return StructuredTool.from_function(
        coroutine=judge,
        name="judge",
        description=(
            "Apply a candidate sentence to all texts shown. Returns JSON: on how many it is right,"
            " how many it covers, and some that it gets wrong. It knows sentences that are exact"
            " rules; for others it says so."
        ),
        args_schema=_arguments(),
    )


FAMILY = Text()
