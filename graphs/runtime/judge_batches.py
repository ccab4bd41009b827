"""Batches: one call to the judge about several texts of one sentence (`judge_batch`).

The calls have the path

    texts/<digest of the texts>/judge/<digest of the sentence>/batch/<number of the answer>

The first and the third answer are about the texts in their order, the second is about the reversed
order, and every further answer about another order. Labels that change with the order show that the
judge confuses the texts of a batch. With three answers or more, the share of labels that change in the
same order is subtracted, because a judge that samples its answers also changes labels without a
reason. The functions here depend only on recorded answers and on digests.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...records import Digest, Json, digest_of, digest_of_text
from ...tasks.text.family import UNREADABLE

MAX_ORDER_EFFECT = 0.10  # share of labels that may change with the order of the texts
CHECKED_BATCHES = 8  # one batch of so many is asked in a second order, chosen by its digest
DIGEST_DIGITS = 16  # hex digits of a digest in a path


@dataclass
class TextBatch:
    """Some texts that one call asks about, with the answers that were read so far.

    Args:
        sentence: The sentence that is applied.
        texts: The different texts.
        answers: The label codes of each answer by its number, in the order of `texts`.
    """

    sentence: str
    texts: Sequence[Mapping[str, Json]]
    answers: dict[int, list[int]] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self.digest: Digest = digest_of([self.sentence, *map(digest_of, self.texts)])
        self.places = {digest_of(text): place for place, text in enumerate(self.texts)}

    @property
    def is_checked(self) -> bool:
        """Whether this batch is asked in a second order, to measure the effect of the order."""
        return int(self.digest[:8], 16) % CHECKED_BATCHES == 0

    def path(self, number: int) -> str:
        """Return the path of an answer in the journal."""
        texts = digest_of([digest_of(text) for text in self.texts])[:DIGEST_DIGITS]
        sentence = digest_of_text(self.sentence)[:DIGEST_DIGITS]
        return f"texts/{texts}/judge/{sentence}/batch/{number}"

    def order(self, number: int) -> list[int]:
        """Return the indices of the texts in the order in which answer `number` is asked for."""
        places = list(range(len(self.texts)))
        if number == 1:
            places.reverse()
        elif number > 2:
            random.Random(f"{self.digest} {number}").shuffle(places)
        return places

    def compare(self, number: int) -> tuple[int, int]:
        """Return (labels that differ between answer 0 and answer `number`, labels that both have).

        Both are 0 if one of the answers is missing.
        """
        if not {0, number} <= self.answers.keys():
            return 0, 0
        both = [
            (first, second)
            for first, second in zip(self.answers[0], self.answers[number], strict=True)
            if UNREADABLE not in (first, second)
        ]
        return sum(first != second for first, second in both), len(both)


def split_texts(
    texts: Sequence[Mapping[str, Json]], size: int
) -> Iterator[Sequence[Mapping[str, Json]]]:
    """Yield the texts in batches of at most `size`; a last single text makes no batch."""
    for start in range(0, len(texts), size):
        part = texts[start : start + size]
        if len(part) > 1:
            yield part


@dataclass(frozen=True)
class OrderEffect:
    """How often labels changed with the order of the texts in a batch.

    Args:
        differing: The number of labels that differ between two orders.
        compared: The number of texts that got a label in both orders.
        texts: The number of texts that were asked about in two orders.
        noise: The share of labels that differ between two answers in the same order; 0.0 if there
            are no such answers.
    """

    differing: int = 0
    compared: int = 0
    texts: int = 0
    noise: float = 0.0

    @property
    def allows_batches(self) -> bool:
        """Whether labels rarely depend on the order, and most answers can be read."""
        readable = 2 * self.compared >= self.texts
        return readable and self.differing <= (MAX_ORDER_EFFECT + self.noise) * self.compared


def measure_order_effect(batches: Sequence[TextBatch]) -> OrderEffect:
    """Return how often labels changed with the order, over the batches with two answers."""
    checked = [one for one in batches if {0, 1} <= one.answers.keys()]
    differing, compared = _sum(one.compare(1) for one in checked)
    again, of = _sum(one.compare(2) for one in checked)
    texts = sum(len(one.texts) for one in checked)
    return OrderEffect(differing, compared, texts, again / of if of else 0.0)


def _sum(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    pairs = list(counts)
    return sum(first for first, _ in pairs), sum(second for _, second in pairs)
