"""The judge of a session, which labels texts according to a sentence.

An exact rule is a sentence that can be compiled to code. It is applied to a complete input set in
one recorded call. For any other sentence, models are asked (judge_questions.py). The paths of their
calls name the sentence and the text. Therefore, a session asks about each pair of sentence and text
only once, and a replay finds the answer, whichever step needs it first.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...records import (
    Digest,
    InputSet,
    Json,
    Outcome,
    Predictions,
    digest_of_text,
)
from ...tasks.text.family import NEEDS_MODEL, REASONS
from ...tools.sentence_rules.prepared_rows import PreparedRows
from ...tools.sentence_rules.rules import NotExact, Rule
from ...tools.sentence_rules.sentence_compiler import compile_sentence
from .judge_questions import JudgeQuestions
from .queries import decode_outcome

if TYPE_CHECKING:
    from .case import Case

_NAMED = 16  # hex digits of a digest in a path
_KEPT = 8  # number of prepared input sets kept in memory


class RowJudge:
    """The judge of one problem, which implements `records.Judge`."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._rules: dict[str, Rule | NotExact] = {}
        self._prepared: OrderedDict[Digest, PreparedRows] = OrderedDict()
        self._of_shown: dict[str, list[int]] = {}
        self._questions = JudgeQuestions(case)

    async def __call__(
        self, sentence: str, texts: InputSet, told: Mapping[str, Json]
    ) -> Predictions:
        return predictions_from_codes(await self.judge_texts(sentence, texts))

    async def judge_exactly(
        self, sentence: str, texts: InputSet, public: Mapping[str, Json]
    ) -> Predictions:
        """Return the predictions of an exact rule, without a model and without recording the call.

        The tools that a model may call use this method. If the sentence is not an exact rule, every
        prediction is undefined.
        """
        rule = self.find_rule(sentence)
        if rule is None:
            return predictions_from_codes(np.full(len(texts), NEEDS_MODEL, np.int64))
        return predictions_from_codes(rule.codes(self.prepare(texts)))

    def find_rule(self, sentence: str) -> Rule | None:
        """Compile a sentence to an exact rule, if possible.

        The result is None if the sentence is not an exact rule, or if the setting `judge` says that
        a model judges every sentence.
        """
        if self._case.text.judge == "model":
            return None
        if sentence not in self._rules:
            self._rules[sentence] = compile_sentence(sentence, self._case.problem.public)
        found = self._rules[sentence]
        return None if isinstance(found, NotExact) else found

    @property
    def queries_model(self) -> bool:
        """Whether a model judges the sentences that are not exact rules."""
        return self._case.text.judge != "exact"

    async def judge_texts(self, sentence: str, texts: InputSet) -> NDArray[np.int64]:
        """Return the label that a sentence gives to each of n texts, as an int64 array of shape
        (n,).

        A value is the index of a label, or a negative code from `tasks.text.family` that says why
        there is no label.
        """
        rule = self.find_rule(sentence)
        if rule is not None:
            return await self._executed(sentence, rule, texts)
        if not self.queries_model:
            return np.full(len(texts), NEEDS_MODEL, np.int64)
        return np.array(await self._questions.label_texts(sentence, texts.inputs), np.int64)

    async def announce(self, sentences: Sequence[str]) -> None:
        """Prepare the judge models for sentences that are judged next (`JudgeQuestions.calibrate`).

        Exact rules need no model and are left out.
        """
        if self.queries_model:
            await self._questions.calibrate([one for one in sentences if not self.find_rule(one)])

    def summarize(self) -> dict[str, Json]:
        """Return {"judging": figures} on the judge models for the fields of a step, or {}."""
        found = self._questions.summarize()
        return {"judging": found} if found else {}

    async def judge_rows(self, sentence: str, rows: Sequence[int]) -> list[int]:
        """Return the label codes that a sentence gives to shown observations, as in `judge_texts`.

        An exact rule is applied once to all shown observations.

        Args:
            sentence: The sentence.
            rows: The indices of the shown observations.
        """
        shown = self._case.problem.shown
        if self.find_rule(sentence) is None:
            inputs = InputSet("rows", tuple(shown[row].input for row in rows))
            return [int(code) for code in await self.judge_texts(sentence, inputs)]
        if sentence not in self._of_shown:
            codes = await self.judge_texts(sentence, self._shown_inputs)
            self._of_shown[sentence] = codes.tolist()
        known = self._of_shown[sentence]
        return [known[row] for row in rows]

    @cached_property
    def _shown_inputs(self) -> InputSet:
        return InputSet("shown", tuple(one.input for one in self._case.problem.shown))

    @property
    def agreement(self) -> float | None:
        """The mean share of repeated answers that match the majority answer.

        The value is None if no question was repeated.
        """
        shares = self._questions.shares
        return math.fsum(shares) / len(shares) if shares else None

    def prepare(self, texts: InputSet) -> PreparedRows:
        """Return rows prepared for sentences. The last few input sets are prepared only once."""
        if texts.digest not in self._prepared:
            self._prepared[texts.digest] = PreparedRows(texts.inputs, self._case.problem.public)
            if len(self._prepared) > _KEPT:
                self._prepared.popitem(last=False)
        self._prepared.move_to_end(texts.digest)
        return self._prepared[texts.digest]

    async def _executed(self, sentence: str, rule: Rule, texts: InputSet) -> NDArray[np.int64]:
        path = f"texts/{texts.digest[:_NAMED]}/rule/{digest_of_text(sentence)[:_NAMED]}"
        request = {"tool": "judge", "sentence": sentence, "inputs": texts.digest}

        async def make() -> Outcome:
            return Outcome({}, {"codes": rule.codes(self.prepare(texts))})

        outcome = await self._case.record_once(path, "tool", request, make)
        most = len(self._case.problem.public["labels"])

        def read(told: Outcome) -> NDArray[np.int64]:
            codes = told.vectors["codes"].astype(np.int64)
            if codes.shape != (len(texts),):
                raise ValueError(f"it has {len(codes)} results for {len(texts)} texts")
            if len(codes) and not -len(REASONS) <= codes.min() <= codes.max() < most:
                raise ValueError("it has a code that stands for no label")
            return codes

        return decode_outcome(path, read, outcome)


def predictions_from_codes(codes: NDArray[np.int64]) -> Predictions:
    """Return the predictions for label codes.

    A negative code becomes an undefined prediction with the corresponding reason.
    """
    reasons = np.where(codes < 0, -codes, 0).astype(np.uint8)
    names = REASONS if reasons.any() else ()
    return Predictions(np.where(codes < 0, 0, codes).astype(np.int64), reasons, names)
