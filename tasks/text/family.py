"""Family `text`: a hypothesis is a sentence about what makes a text get its label (HypoBench, section 2).

The oracle is `judge`: an exact rule, or a model that the runner brings. An observation is a text with
its label; the sample space S holds unlabelled texts. A sentence that does not apply to a text predicts
nothing there; an answer of a judge that names no label is wrong. Consistent is a sentence that is
right on at least `tau` of the shown texts it covers (GEAR's own is 1.0). Validation, test and OOD rows
are hidden and wait for inference, `check` and `eval`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from ...records import (
    UNASKED,
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
    SearchManner,
    Unavailable,
    View,
)
from .answers import hypotheses_in
from .words import ANSWER_FORMATS, TextWords

if TYPE_CHECKING:
    from pydantic import BaseModel

TAU = 0.7
DOES_NOT_APPLY, UNREADABLE, NEEDS_MODEL, NOT_ASKED = -1, -2, -3, -4  # codes that are no label
REASONS = ("does_not_apply", "unreadable", "needs_model", UNASKED)  # of code -1, -2, …
MOST_CHARACTERS = 4_000  # of a sentence; the longest published hypotheses have some 600
MOST_HYPOTHESES = 100  # of one answer


_SEARCHED = ("labels", "columns", "shape", "description")  # what the search is told
_SAMPLE = re.compile(r"#\d+\Z")


def _search_facts(public: Mapping[str, Json], trade_off: str) -> Mapping[str, Json]:
    return {name: public[name] for name in _SEARCHED if name in public}


@dataclass(frozen=True)
class Text:
    """tau: share of the covered texts that a consistent hypothesis is right on."""

    tau: float = TAU
    words: FamilyWords = TextWords()  # noqa: RUF009 - frozen

    name = "text"
    answer_formats = ANSWER_FORMATS
    oracle = "judge"
    evaluation = "hypobench"
    opens_hidden = False
    search = SearchManner(lambda description, sentences: sentences, facts=_search_facts)
    # Of refine the published three rounds after the first answer.
    method_settings: ClassVar[Mapping[str, Mapping[str, Json]]] = {"refine": {"max_answers": 4}}

    def strictly(self) -> Text:
        return self  # the contract asks for sentences, and anything is one

    def with_tau(self, tau: float) -> Text:
        return replace(self, tau=tau)

    def of_split(self, problem: Problem, split: str) -> tuple[Observation, ...]:
        return of_split(problem, split)

    def data_set(self, problem: Problem) -> str:
        """Of a problem `NAME#K`, a sample of rows, the name."""
        return _SAMPLE.sub("", problem.id)

    def code_names(self, problem: Problem) -> Sequence[str]:
        return tuple(problem.public.get("labels", ()))

    def told(self, public: Mapping[str, Json]) -> Text:
        """The same family in the words of a data set."""
        return replace(self, words=TextWords.of(public))

    def parse(
        self, view: View, answer: str, answer_format: str
    ) -> Sequence[Hypothesis | Malformed]:
        found = hypotheses_in(answer, MOST_HYPOTHESES) or hypotheses_in(answer, 1)
        return [self.read(one, view) for one in found]

    def read(self, text: str, view: View) -> Hypothesis | Malformed:
        sentence = " ".join(text.split())
        if not sentence:
            return Malformed("empty", "there is no sentence")
        if len(sentence) > MOST_CHARACTERS:
            return Malformed(
                "too_long", f"{len(sentence):,} characters; a sentence has {MOST_CHARACTERS:,}"
            )
        return Hypothesis(sentence)

    async def agree(
        self,
        hypothesis: Hypothesis,
        observations: Sequence[Observation],
        view: View,
        oracles: Oracles,
    ) -> Agreement:
        """True, False, or None where the sentence does not apply. verdict: "needs_model" where no
        exact rule says what it says and no model judges. Raises Unavailable."""
        inputs = InputSet("observations", tuple(one.input for one in observations))
        found = await _judge(oracles)(hypothesis.text, inputs, view.public)
        return agreement_of(found, observations, view.public["labels"])

    async def predict(
        self, hypotheses: Sequence[Hypothesis], inputs: InputSet, view: View, oracles: Oracles
    ) -> Sequence[Predictions]:
        """Codes are indices of the labels. Raises Unavailable."""
        judge = _judge(oracles)
        return [await judge(one.text, inputs, view.public) for one in hypotheses]

    def consistent(self, agreement: Agreement) -> bool:
        covered = [mark for mark in agreement.marks if mark is not None]
        return bool(covered) and sum(covered) >= self.tau * len(covered) - 1e-9

    def tools(self, view: View, oracles: Oracles) -> Sequence[Any]:
        """`judge`, on the shown texts, for sentences that are exact rules."""
        if oracles.judge is None:
            return ()
        return (_judge_tool(lambda sentence: self.attempt(sentence, view, oracles)),)

    async def attempt(self, sentence: str, view: View, oracles: Oracles) -> str:
        """What the tool `judge` answers, as JSON text."""
        read = self.read(sentence, view)
        if isinstance(read, Malformed):
            return json.dumps({"error": f"{read.reason}: {read.detail}"})
        agreement = await self.agree(read, view.shown, view, oracles)
        if agreement.verdict != "ok":
            return json.dumps({"error": "no exact rule: it needs a model to be judged"})
        right = sum(mark is True for mark in agreement.marks)
        covered = sum(mark is not None for mark in agreement.marks)
        said = {
            "right": right,
            "covered": covered,
            "of": len(agreement.marks),
            "consistent": self.consistent(agreement),
            "said": self.words.show_feedback(view, agreement),
        }
        return json.dumps(said, ensure_ascii=False)


def agreement_of(
    found: Predictions, observations: Sequence[Observation], labels: Sequence[str]
) -> Agreement:
    """Predictions of labels against those of the observations. detail: covered and right, counts."""
    marks: list[bool | None] = []
    got: list[dict[str, Json]] = []
    for observation, code, reason in zip(observations, found.codes, found.reasons, strict=True):
        name = found.reason_names[reason - 1] if reason else ""
        if not reason:
            label = labels[int(code)]
            marks.append(label == observation.output)
            got.append({"value": label})
        else:
            marks.append(False if name == "unreadable" else None)
            got.append({"undefined": name})
    needs = found.undefined().get("needs_model", 0)
    detail = {
        "right": sum(mark is True for mark in marks),
        "covered": sum(mark is not None for mark in marks),
    }
    return Agreement(tuple(marks), tuple(got), "needs_model" if needs else "ok", detail)


def of_split(problem: Problem, split: str) -> tuple[Observation, ...]:
    """The hidden rows of "val", "ind" or "ood"; none where the data set lacks the split."""
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
