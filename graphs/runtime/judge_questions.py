"""The questions of one problem to its judge models: single, in batches, and to a second judge.

Calls have these paths:

    text/<digest of the text>/judge/<digest of the sentence>/<number>      first judge, one text
    texts/<digest of the texts>/judge/<digest of the sentence>/batch/<n>   first judge, a batch
    text/<digest of the text>/judge2/<digest of the sentence>/0            second judge, one text

With a second judge or with batches, the first questions of a problem calibrate the judges: whether
batches can be used (judge_batches.py), and from which share of the majority on the first judge
decides alone (judge_cascade.py). The calibration questions are chosen by digests among the first
sentences and the shown rows, so that they do not depend on which answer arrives first. Until there are
enough of them, texts are asked about one by one, and of both judges. Thus a resumed session and a
replay make the same decisions from the recorded answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...agents.prompts.judge_batches import ask_about_batch, batch_schema
from ...records import (
    Digest,
    InputSet,
    Json,
    Reply,
    Unavailable,
    View,
    digest_of,
    digest_of_text,
)
from ...tasks.text.answers import NOT_APPLICABLE, Judgement, parse_judgement
from ...tasks.text.batch_answers import parse_batch
from ...tasks.text.family import DOES_NOT_APPLY, UNREADABLE
from .judge_batches import (
    DIGEST_DIGITS,
    OrderEffect,
    TextBatch,
    measure_order_effect,
    split_texts,
)
from .judge_cascade import Calibration, Vote, choose_threshold, count_votes
from .queries import JUDGE, SECOND_JUDGE, gather_or_cancel, query_model

if TYPE_CHECKING:
    from .case import Case

MAX_CALIBRATION_TEXTS = 200  # texts of each kind among which calibration questions are chosen
Text = Mapping[str, Json]
Question = tuple[Digest, Digest]  # digests of a sentence and of a text


class JudgeQuestions:
    """Ask the judge models of a problem what sentences say about texts.

    Args:
        case: The working data of the problem.
    """

    def __init__(self, case: Case) -> None:
        self._case = case
        self._lock = asyncio.Lock()
        self._announced: set[str] = set()
        self._batches: list[TextBatch] = []
        self._batch_of: dict[Question, TextBatch] = {}
        self._calibration_questions: dict[Question, tuple[str, Text]] = {}
        self._calibrated = not (self._has_second or self._size > 1)
        self._effect: OrderEffect | None = None
        self._cascade: Calibration | None = None
        self._votes: dict[Question, Vote] = {}
        self._second: dict[Question, int] = {}
        self._read_singly = 0

    @property
    def _size(self) -> int:
        return self._case.text.judge_batch

    @property
    def _has_second(self) -> bool:
        return SECOND_JUDGE in self._case.others

    @property
    def shares(self) -> list[float]:
        """The share of the majority answer of each question that was asked more than once."""
        repeated = self._case.text.repeats > 1
        return [vote.share for vote in self._votes.values()] if repeated else []

    async def label_texts(self, sentence: str, texts: Sequence[Text]) -> list[int]:
        """Return the label code that the judges give to each text according to a sentence.

        Raises:
            Unavailable: A judge gave no answer.
        """
        await self.calibrate([sentence])
        different = {digest_of(text): text for text in texts}
        if self._effect is not None and self._effect.allows_batches:
            self._make_batches(sentence, different)
        codes = await gather_or_cancel(
            [self._label(sentence, text, name) for name, text in different.items()]
        )
        by_text = dict(zip(different, codes, strict=True))
        return [by_text[digest_of(text)] for text in texts]

    def _make_batches(self, sentence: str, different: Mapping[Digest, Text]) -> None:
        """Assign the texts that were never asked about to batches.

        There is no pause in here, so that concurrent questions never share a text.
        """
        key = digest_of_text(sentence)
        new = [
            text
            for name, text in different.items()
            if (key, name) not in self._batch_of and (key, name) not in self._votes
        ]
        for part in split_texts(new, self._size):
            self._batches.append(TextBatch(sentence, part))
            self._assign(self._batches[-1])

    def _assign(self, batch: TextBatch) -> None:
        key = digest_of_text(batch.sentence)
        for name in batch.places:
            self._batch_of[key, name] = batch

    async def _label(self, sentence: str, text: Text, name: Digest) -> int:
        question = digest_of_text(sentence), name
        vote = await self._vote(sentence, text, question)
        if not self._has_second:
            return vote.code
        alone = self._cascade is not None and self._cascade.decides_alone(vote)
        if alone and question not in self._calibration_questions:
            return vote.code
        second = await self._ask_second(sentence, text, question)
        return vote.code if second == UNREADABLE else second

    async def _vote(self, sentence: str, text: Text, question: Question) -> Vote:
        """Return the majority of the first judge's answers, from a batch if the text is in one."""
        batch = self._batch_of.get(question)
        if question in self._votes:
            return self._votes[question]
        repeats = self._case.text.repeats
        if batch is not None:
            place = batch.places[question[1]]
            numbers = range(max(repeats, 2) if batch.is_checked else repeats)
            answers = await gather_or_cancel([self._ask_batch(batch, n) for n in numbers])
            codes = [codes[place] for codes in answers[:repeats]]
        else:
            codes = [UNREADABLE] * repeats
        unread = [number for number, code in enumerate(codes) if code == UNREADABLE]
        alone = await gather_or_cancel([self._ask_once(sentence, text, n) for n in unread])
        for number, code in zip(unread, alone, strict=True):
            codes[number] = code
        if question not in self._votes:
            self._read_singly += bool(batch is not None and unread)
            self._votes[question] = count_votes(codes)
        return self._votes[question]

    async def _ask_once(self, sentence: str, text: Text, number: int) -> int:
        return await self._ask_about(JUDGE, sentence, text, number)

    async def _ask_second(self, sentence: str, text: Text, question: Question) -> int:
        if question not in self._second:
            self._second[question] = await self._ask_about(SECOND_JUDGE, sentence, text, 0)
        return self._second[question]

    async def _ask_about(self, role: str, sentence: str, text: Text, number: int) -> int:
        case = self._case
        view = make_bare_view(case)
        sentence_digest = digest_of_text(sentence)[:DIGEST_DIGITS]
        path = f"text/{digest_of(text)[:DIGEST_DIGITS]}/{role}/{sentence_digest}/{number}"
        messages = case.prompts.infer(view, sentence, text)
        reply = await query_model(case, role, path, view, messages)
        _check_left(reply)
        labels = case.problem.public["labels"]
        return _code(parse_judgement(reply.text, labels), labels)

    async def _ask_batch(self, batch: TextBatch, number: int) -> list[int]:
        """Return the codes of a batch's texts, in the order of `batch.texts`, from one answer."""
        case = self._case
        labels = case.problem.public["labels"]
        async with batch.lock:
            if number not in batch.answers:
                order = batch.order(number)
                view, inputs = make_bare_view(case), [batch.texts[place] for place in order]
                messages = ask_about_batch(view, batch.sentence, inputs)
                reply = await query_model(
                    case, JUDGE, batch.path(number), view, messages,
                    schema=batch_schema(labels, len(inputs)),
                )  # fmt: skip
                _check_left(reply)
                codes = [UNREADABLE] * len(inputs)
                read = parse_batch(reply.text, labels, len(inputs))
                for place, said in zip(order, read, strict=True):
                    codes[place] = _code(said, labels)
                batch.answers[number] = codes
            return batch.answers[number]

    # --- Calibration.

    async def calibrate(self, sentences: Sequence[str]) -> None:
        """Ask the calibration questions about sentences that a model will judge next.

        Code that is about to judge several sentences at once announces them here, so that the
        questions are drawn from all of them. Nothing happens once there are enough questions.
        """
        async with self._lock:
            if self._calibrated:
                return
            new = [one for one in dict.fromkeys(sentences) if one not in self._announced]
            if not new:
                return
            left = self._case.text.judge_calibration - len(self._calibration_questions)
            chosen = self._choose_questions(new, left)
            batches = [TextBatch(one, texts) for one, texts in chosen if len(texts) > 1]
            if batches:
                numbers = range(min(max(self._case.text.repeats, 2), 3))
                await gather_or_cancel(
                    [self._ask_batch(one, n) for one in batches for n in numbers]
                )
            whole = [*self._batches, *batches]
            questions = dict(self._calibration_questions)
            for sentence, texts in chosen:
                key = digest_of_text(sentence)
                questions |= {(key, digest_of(text)): (sentence, text) for text in texts}
            complete = len(questions) >= self._case.text.judge_calibration
            effect = measure_order_effect(whole) if self._size > 1 else None
            self._batches = whole
            if complete and effect is not None and effect.allows_batches:
                for one in whole:
                    self._assign(one)
            cascade = None
            if self._has_second and complete:
                cascade = await self._calibrate_cascade(questions)
            # only now, so that an interrupted calibration begins anew
            self._announced.update(new)
            self._calibration_questions = questions
            if complete:
                self._effect, self._cascade, self._calibrated = effect, cascade, True

    async def _calibrate_cascade(
        self, questions: Mapping[Question, tuple[str, Text]]
    ) -> Calibration:
        votes = await gather_or_cancel(
            [self._vote(*about, question) for question, about in questions.items()]
        )
        second = await gather_or_cancel(
            [self._ask_second(*about, question) for question, about in questions.items()]
        )
        return choose_threshold(votes, second)

    def _choose_questions(
        self, sentences: Sequence[str], count: int
    ) -> list[tuple[str, Sequence[Text]]]:
        """Choose questions about at least `count` texts, or all that exist.

        Questions about rows that are judged anyway come before questions about other rows of the
        problem. Among equals, the digests decide.
        """
        chosen: list[tuple[str, Sequence[Text]]] = []
        for texts in self._iter_calibration_texts():
            if sum(len(part) for _, part in chosen) >= count:
                break
            if self._size > 1:
                parts = list(split_texts(texts, self._size))
            else:
                parts = [[text] for text in texts]
            units = [(sentence, part) for sentence in sentences for part in parts]
            units.sort(key=lambda unit: digest_of([unit[0], *unit[1]]))
            while units and sum(len(part) for _, part in chosen) < count:
                chosen.append(units.pop(0))
        return chosen

    def _iter_calibration_texts(self) -> Iterator[Sequence[Text]]:
        """Yield the texts of shown rows: first those that every sentence is judged on."""
        case, seen = self._case, set[Digest]()
        shown = len(case.shown)
        rows: Iterable[Iterable[Text]] = (
            (one.input for one in case.problem.shown[:shown]),
            (one.input for one in case.problem.shown[shown:]),
            case.space.inputs,
        )
        for some in rows:
            texts = []
            for text in some:
                if (name := digest_of(text)) not in seen:
                    texts.append(text)
                    seen.add(name)
                if len(texts) == MAX_CALIBRATION_TEXTS:
                    break
            yield texts

    # --- Figures.

    def summarize(self) -> dict[str, Json]:
        """Return the figures on the judges so far, as steps record them; {} if one judge is asked
        about one text at a time.

        "questions" counts different pairs of sentence and text. "second" counts those that the second
        judge answered, and "overruled" those of them whose label it changed. "calls" counts calls of
        the first judge, and "single_calls" those that it would take without batches.
        """
        if not (self._has_second or self._size > 1) or not self._votes:
            return {}
        repeats = self._case.text.repeats
        found: dict[str, Json] = {"questions": len(self._votes)}
        if self._has_second:
            answered = {q: code for q, code in self._second.items() if code != UNREADABLE}
            found |= {
                "second": len(self._second),
                "overruled": sum(self._votes[q].code != code for q, code in answered.items()),
                "calibration": None if self._cascade is None else self._cascade.to_json(),
            }
        if self._size > 1:
            effect = measure_order_effect(self._batches)
            found["batches"] = {
                "batches": len(self._batches),
                "texts": len(self._batch_of),
                "differing": effect.differing,
                "compared": effect.compared,
                "noise": effect.noise,
                "used": self._effect is not None and self._effect.allows_batches,
                "calibrated": self._calibrated,
                "unreadable": self._read_singly,
                "calls": sum(len(one.answers) for one in self._batches),
                "single_calls": len(self._batch_of) * repeats,
            }
        return found


def _check_left(reply: Reply) -> None:
    if reply.finish == "exhausted":
        raise Unavailable("The model that judges texts has nothing left to say.")


def _code(said: Judgement, labels: Sequence[str]) -> int:
    if said is None:
        return UNREADABLE
    return DOES_NOT_APPLY if said is NOT_APPLICABLE else labels.index(said)


def make_bare_view(case: Case) -> View:
    """Return a view of the problem with its public data but without observations."""
    return View(
        case.problem.id, case.problem.task, case.problem.family, (), case.problem.public,
        InputSet("none", ()),
    )  # fmt: skip
