"""Convert preference pairs to the token ids of one model.

A prompt is converted to tokens with the model's chat template, exactly as `hf:` models receive it,
followed by what the template writes before an answer without reasoning
(`agents/local/example_format.py`). These tokens are not trained. An answer is tokenized as their
continuation, followed by the token that ends an answer.

A pair is left out and counted if its prompt and its longer answer together have more than
`max_length` tokens. No text is ever truncated. Each prompt and answer is tokenized once, however
many pairs use it. Which pairs fit must be known before the first draw, so all pairs that may be drawn
are tokenized first. If all pairs are known to fit, only those that are drawn are tokenized.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...agents.local.example_format import ExampleFormat
from ...records import DataError, Unavailable
from ..draws import hash_key

if TYPE_CHECKING:
    from ...agents.local.chat import ChatFormat
    from ..pair_table import PairTable

Tokens = NDArray[np.int32]
_BLOCK = 4_096  # pairs that are tokenized at once


class PairTokens:
    """The pairs of a table as tokens. Indexing with a pair's id returns an example for TRL's
    collator.

    Only pairs that `select_fitting` returned have examples.

    Args:
        table: The preference pairs.
        wording: The chat template and the tokenizer.
        end: The id of the token that ends an answer (`answer_end_token`).
        max_length: The maximum number of tokens of a prompt and an answer together.
        all_fit: Whether all pairs are known to fit (`reproduction.limit_holds`).

    Attributes:
        too_long: The ids of pairs that exceed `max_length`.
        reference_logps: Log-probabilities under the reference model, by (prompt, answer). If the
            mapping is not empty, examples include these values.
    """

    def __init__(
        self,
        table: PairTable,
        wording: ChatFormat,
        end: int,
        max_length: int,
        all_fit: bool = False,
    ) -> None:
        self._table = table
        self._all_fit = all_fit
        self._format = ExampleFormat(wording)
        self._end = end
        self._max_length = max_length
        self._prompts: dict[int, Tokens] = {}
        self._answers: dict[int, Tokens] = {}
        self.too_long: set[int] = set()
        self.reference_logps: Mapping[tuple[int, int], float] = {}

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, pair: int) -> dict[str, Any]:
        self.tokenize([pair])
        prompt, chosen, rejected = self.positions(pair)
        example = {
            "prompt_ids": self._prompts[prompt].tolist(),
            "chosen_ids": self._answers[chosen].tolist(),
            "rejected_ids": self._answers[rejected].tolist(),
        }
        if self.reference_logps:
            example["ref_chosen_logps"] = self.reference_logps[prompt, chosen]
            example["ref_rejected_logps"] = self.reference_logps[prompt, rejected]
        return example

    def positions(self, pair: int) -> tuple[int, int, int]:
        """Return the positions of a pair's prompt, chosen answer and rejected answer in the
        table.
        """
        table = self._table
        return int(table.prompt[pair]), int(table.chosen[pair]), int(table.rejected[pair])

    def sequence(self, key: tuple[int, int]) -> tuple[Tokens, Tokens]:
        """Return the tokens of a prompt and of an answer, which must be tokenized already.

        Args:
            key: The position of the prompt and the position of the answer in the table.
        """
        return self._prompts[key[0]], self._answers[key[1]]

    def select_fitting(self, pairs: Sequence[int] | NDArray[np.int64], limit: int) -> list[int]:
        """Return the first `limit` ids of `pairs` that do not exceed the length limit, in their
        order.
        """
        if self._all_fit:
            return [int(pair) for pair in pairs[:limit]]
        found: list[int] = []
        at = 0
        while at < len(pairs) and len(found) < limit:
            block = [int(pair) for pair in pairs[at : at + min(_BLOCK, limit - len(found))]]
            at += len(block)
            self.tokenize(block)
            for pair in block:
                if self._length(pair) > self._max_length:
                    self.too_long.add(pair)
                else:
                    found.append(pair)
        return found

    def _length(self, pair: int) -> int:
        prompt, *answers = self.positions(pair)
        return len(self._prompts[prompt]) + max(len(self._answers[one]) for one in answers)

    @property
    def tokenized(self) -> tuple[int, int]:
        """The numbers of prompts and of answers that were tokenized so far."""
        return len(self._prompts), len(self._answers)

    def tokenize(self, pairs: Sequence[int]) -> None:
        """Tokenize the prompts and answers of pairs that are not tokenized yet.

        Raises:
            DataError: The chat template refuses a prompt.
        """
        table = self._table
        prompts = sorted({int(table.prompt[pair]) for pair in pairs} - self._prompts.keys())
        answers = sorted(
            {int(column[pair]) for pair in pairs for column in (table.chosen, table.rejected)}
            - self._answers.keys()
        )
        try:
            starts = self._format.tokenize_starts([table.prompts[place] for place in prompts])
            texts = self._format.tokenize_answers([table.answers[place] for place in answers])
        except Unavailable as error:  # outside a session, waiting would not help
            raise DataError(f"A prompt of the pairs cannot be worded: {error}") from None
        for place, ids in zip(prompts, starts, strict=True):
            self._prompts[place] = np.array(ids, np.int32)
        for place, ids in zip(answers, texts, strict=True):
            self._answers[place] = np.array([*ids, self._end], np.int32)


def answer_end_token(wording: ChatFormat, ends: Sequence[int]) -> int:
    """Return the id of the token that the chat template writes after an answer.

    Args:
        wording: The chat template and the tokenizer.
        ends: The end tokens in the model's generation configuration. The result is one of them. If
            the template writes none of them, or rejects a conversation with an answer, the result
            is the first.
    """
    from ...agents.local.chat import PLAIN

    if wording.template == PLAIN or len(ends) == 1:
        return ends[0]
    mark = "An answer 7301"
    asked = {"role": "user", "content": "?"}
    try:
        said = wording.render_conversation([asked, {"role": "assistant", "content": mark}])
    except Unavailable:
        return ends[0]
    after = said.rpartition(mark)[2]
    ids = wording.tokenizer(after, add_special_tokens=False)["input_ids"] if after else []
    return next((one for one in ids if one in ends), ends[0])


def shuffle_pairs(pairs: NDArray[np.int64], seed: int, purpose: str) -> NDArray[np.int64]:
    """Return `pairs` in a shuffled order.

    The permutation depends only on the number of pairs, the seed and the text `purpose`.
    """
    words = np.random.Philox(key=hash_key("order of pairs", seed, purpose)).random_raw(len(pairs))
    return pairs[np.argsort(words, kind="stable")]
