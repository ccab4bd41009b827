"""The oracle `judge` of a session (records.Judge), which applies exact rules and queries a model.

An exact rule is one tool call over a whole input set. Other sentences go to a model, which is asked
about one text at a time, at the path

    text/<digest of the input>/judge/<digest of the sentence>/0

so a pair of sentence and text is asked once per session, whichever step needs it first, and a
replay finds it.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...records import (
    Digest,
    InputSet,
    Json,
    Outcome,
    Predictions,
    Unavailable,
    View,
    digest_of,
    digest_of_text,
)
from ...tasks.text.answers import NOT_APPLICABLE, parse_judgement
from ...tasks.text.family import DOES_NOT_APPLY, NEEDS_MODEL, REASONS, UNREADABLE
from ...tools.sentence_rules.prepared_rows import PreparedRows
from ...tools.sentence_rules.rules import NotExact, Rule
from ...tools.sentence_rules.sentence_compiler import compile_sentence
from .queries import JUDGE, decode_outcome, gather_or_cancel, query_model

if TYPE_CHECKING:
    from .case import Case

_NAMED = 16  # hex digits of a digest in a path
_KEPT = 8  # number of prepared input sets kept in memory


class RowJudge:
    """The judge of one problem, to be used as `records.Judge`."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._rules: dict[str, Rule | NotExact] = {}
        self._prepared: OrderedDict[Digest, PreparedRows] = OrderedDict()
        self._of_shown: dict[str, NDArray[np.int64]] = {}
        # share of the majority answer, by question
        self._agreed: dict[tuple[str, Digest], float] = {}

    async def __call__(
        self, sentence: str, texts: InputSet, told: Mapping[str, Json]
    ) -> Predictions:
        return predictions_from_codes(await self.judge_texts(sentence, texts))

    async def judge_exactly(
        self, sentence: str, texts: InputSet, public: Mapping[str, Json]
    ) -> Predictions:
        """Return the predictions of an exact rule, without a model and without the journal.

        Tools that a model calls use this. A sentence that is no exact rule is undefined everywhere.
        """
        rule = self.find_rule(sentence)
        if rule is None:
            return predictions_from_codes(np.full(len(texts), NEEDS_MODEL, np.int64))
        return predictions_from_codes(rule.codes(self._ready(texts)))

    def find_rule(self, sentence: str) -> Rule | None:
        """Compile a sentence to an exact rule, if it is an exact sentence.

        It is None where the sentence is no exact rule, or where a model judges every sentence.
        """
        if self._case.text.judge == "model":
            return None
        if sentence not in self._rules:
            self._rules[sentence] = compile_sentence(sentence, self._case.problem.public)
        found = self._rules[sentence]
        return None if isinstance(found, NotExact) else found

    @property
    def queries_model(self) -> bool:
        """Whether a model judges sentences that are no exact rules."""
        return self._case.text.judge != "exact"

    async def judge_texts(self, sentence: str, texts: InputSet) -> NDArray[np.int64]:
        """Return the label of each text as an int64 array of shape (n,).

        A value is the index of a label, or one of the negative codes of `tasks.text.family`.
        """
        rule = self.find_rule(sentence)
        if rule is not None:
            return await self._executed(sentence, rule, texts)
        if not self.queries_model:
            return np.full(len(texts), NEEDS_MODEL, np.int64)
        answers = [self._label_text(sentence, one) for one in texts.inputs]
        return np.array(await gather_or_cancel(answers), np.int64)

    async def judge_rows(self, sentence: str, rows: Sequence[int]) -> list[int]:
        """Return the codes for shown observations with these indices.

        An exact rule is executed once over all shown observations.
        """
        shown = self._case.problem.shown
        if self.find_rule(sentence) is None:
            inputs = InputSet("rows", tuple(shown[row].input for row in rows))
            return [int(code) for code in await self.judge_texts(sentence, inputs)]
        if sentence not in self._of_shown:
            inputs = InputSet("shown", tuple(one.input for one in shown))
            self._of_shown[sentence] = await self.judge_texts(sentence, inputs)
        return [int(self._of_shown[sentence][row]) for row in rows]

    @property
    def agreement(self) -> float | None:
        """The mean share of repeated answers that match the majority; None without repetition."""
        shares = self._agreed.values()
        return math.fsum(shares) / len(shares) if shares else None

    def _ready(self, texts: InputSet) -> PreparedRows:
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
            return Outcome({}, {"codes": rule.codes(self._ready(texts))})

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

    async def _label_text(self, sentence: str, text: Json) -> int:
        repeats = self._case.text.repeats
        answers = [self._label_once(sentence, text, number) for number in range(repeats)]
        codes = await gather_or_cancel(answers)
        if repeats == 1:
            return codes[0]
        code, count = Counter(codes).most_common(1)[0]  # the earliest of equally frequent answers
        self._agreed[sentence, digest_of(text)] = count / repeats
        return code

    async def _label_once(self, sentence: str, text: Json, number: int) -> int:
        case = self._case
        labels = case.problem.public["labels"]
        view = make_bare_view(case)
        where = f"{digest_of(text)[:_NAMED]}/judge/{digest_of_text(sentence)[:_NAMED]}"
        messages = case.prompts.infer(view, sentence, text)
        reply = await query_model(case, JUDGE, f"text/{where}/{number}", view, messages)
        if reply.finish == "exhausted":
            raise Unavailable("The model that judges texts has nothing left to say.")
        said = parse_judgement(reply.text, labels)
        if said is None:
            return UNREADABLE
        return DOES_NOT_APPLY if said is NOT_APPLICABLE else labels.index(said)


def make_bare_view(case: Case) -> View:
    """Return the view that a judge gets: the problem's public fields, and no observation."""
    return View(
        case.problem.id, case.problem.task, case.problem.family, (), case.problem.public,
        InputSet("none", ()),
    )  # fmt: skip


def predictions_from_codes(codes: NDArray[np.int64]) -> Predictions:
    """Return the predictions for codes of labels. A negative code is undefined for its reason."""
    reasons = np.where(codes < 0, -codes, 0).astype(np.uint8)
    names = REASONS if reasons.any() else ()
    return Predictions(np.where(codes < 0, 0, codes).astype(np.int64), reasons, names)
