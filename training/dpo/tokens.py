"""Pairs as tokens of one model: the prompt by its chat template as `hf:` models are asked, the answer
as it goes on from there, and the token that ends it.

A pair that is longer than `max_length` tokens (prompt and the longer of its answers) is left out and
counted; nothing is ever cut. Prompts and answers are read once each, whatever number of pairs they
stand in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...records import DataError, Unavailable
from ..draws import key_of

if TYPE_CHECKING:
    from ...agents.local.chat import Wording
    from ..pair_table import PairTable

Tokens = NDArray[np.int32]
_BLOCK = 4_096  # pairs looked at together


class PairTokens:
    """The pairs of `table` as tokens; a sequence of examples for TRL's collator, by pair id.

    end: the token that ends an answer (`end_of_answer`). refused: ids of the pairs that were looked
    at and are too long. references: log-probabilities under the reference model, by (prompt,
    answer), where they are known (`examples` then hold them).
    """

    def __init__(self, table: PairTable, wording: Wording, end: int, max_length: int) -> None:
        self._table = table
        self._wording = wording
        self._end = end
        self._max_length = max_length
        try:
            self._lead = wording.text([{"role": "user", "content": "?"}])
        except Unavailable as error:
            raise DataError(str(error)) from None
        self._prompts: dict[int, Tokens] = {}
        self._answers: dict[int, Tokens] = {}
        self.refused: set[int] = set()
        self.references: Mapping[tuple[int, int], float] = {}

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, pair: int) -> dict[str, Any]:
        prompt, chosen, rejected = self.places(pair)
        example = {
            "prompt_ids": self._prompts[prompt].tolist(),
            "chosen_ids": self._answers[chosen].tolist(),
            "rejected_ids": self._answers[rejected].tolist(),
        }
        if self.references:
            example["ref_chosen_logps"] = self.references[prompt, chosen]
            example["ref_rejected_logps"] = self.references[prompt, rejected]
        return example

    def places(self, pair: int) -> tuple[int, int, int]:
        """Of its prompt, its chosen and its rejected answer."""
        table = self._table
        return int(table.prompt[pair]), int(table.chosen[pair]), int(table.rejected[pair])

    def sequence(self, key: tuple[int, int]) -> tuple[Tokens, Tokens]:
        """The tokens of the prompt and of the answer at these places."""
        return self._prompts[key[0]], self._answers[key[1]]

    def fitting(self, pairs: Sequence[int] | NDArray[np.int64], most: int) -> list[int]:
        """The first `most` of these pairs that are not too long, in their order."""
        found: list[int] = []
        at = 0
        while at < len(pairs) and len(found) < most:
            block = [int(pair) for pair in pairs[at : at + min(_BLOCK, most - len(found))]]
            at += len(block)
            self._learn(block)
            for pair in block:
                if self._length(pair) > self._max_length:
                    self.refused.add(pair)
                else:
                    found.append(pair)
        return found

    def _length(self, pair: int) -> int:
        prompt, *answers = self.places(pair)
        return len(self._prompts[prompt]) + max(len(self._answers[one]) for one in answers)

    def _learn(self, pairs: Sequence[int]) -> None:
        table, wording = self._table, self._wording
        prompts = sorted({int(table.prompt[pair]) for pair in pairs} - self._prompts.keys())
        answers = sorted(
            {int(column[pair]) for pair in pairs for column in (table.chosen, table.rejected)}
            - self._answers.keys()
        )
        try:
            texts = [wording.text(table.prompts[place]) for place in prompts]
        except Unavailable as error:  # outside a session there is nothing to wait for
            raise DataError(f"A prompt of the pairs cannot be worded: {error}") from None
        for place, ids in zip(prompts, wording.read(texts) if texts else [], strict=True):
            self._prompts[place] = np.array(ids, np.int32)
        lead = wording.read([self._lead])[0]
        texts = [self._lead + table.answers[place] for place in answers]
        for place, ids in zip(answers, wording.read(texts) if texts else [], strict=True):
            # Where the two grow together, the model has still to begin after the prompt's last token.
            rest = ids[len(lead) :] if ids[: len(lead)] == lead else self._alone(place)
            self._answers[place] = np.array([*rest, self._end], np.int32)

    def _alone(self, place: int) -> list[int]:
        said: list[int] = self._wording.tokenizer(
            self._table.answers[place], add_special_tokens=False
        )["input_ids"]
        return said


def end_of_answer(wording: Wording, ends: Sequence[int]) -> int:
    """Which of the tokens that end an answer the chat template writes after one; where it writes
    none of them, or no answer, the first. ends: of the model's generation_config."""
    from ...agents.local.chat import PLAIN

    if wording.template == PLAIN or len(ends) == 1:
        return ends[0]
    mark = "An answer 7301"
    asked = {"role": "user", "content": "?"}
    try:
        said = wording.ended([asked, {"role": "assistant", "content": mark}])
    except Unavailable:
        return ends[0]
    after = said.rpartition(mark)[2]
    ids = wording.tokenizer(after, add_special_tokens=False)["input_ids"] if after else []
    return next((one for one in ids if one in ends), ends[0])


def shuffled(pairs: NDArray[np.int64], seed: int, purpose: str) -> NDArray[np.int64]:
    """The pairs in an order that depends on them, the seed and the purpose alone."""
    words = np.random.Philox(key=key_of("order of pairs", seed, purpose)).random_raw(len(pairs))
    return pairs[np.argsort(words, kind="stable")]
