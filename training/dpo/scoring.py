"""Log-probabilities of answers under the model in training and under its reference.

Imported late: it imports torch. Both pass through the same batches of the same code, so before the
first update they are equal to the last digit.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from accelerate.utils import gather_object
from numpy.typing import NDArray

from .tokens import Tokens

Key = tuple[int, int]  # places of a prompt and an answer


class Scorer:
    """trainer: the DPOTrainer whose model, reference and precision count. sequence: the tokens of
    prompt and answer of a key. rows: sequences of a batch."""

    def __init__(
        self, trainer: Any, sequence: Callable[[Key], tuple[Tokens, Tokens]], rows: int
    ) -> None:
        self._trainer = trainer
        self._sequence = sequence
        self._rows = rows

    def policy(self, keys: Sequence[Key]) -> NDArray[np.float64]:
        """Of each key the log-probability of its answer (nats), shape (len(keys),)."""
        return self._scored(keys, self._own())

    def reference(self, keys: Sequence[Key]) -> NDArray[np.float64]:
        """The same under the model as it was before training."""
        trainer = self._trainer
        if trainer.ref_model is not None:
            return self._scored(keys, trainer.ref_model)
        with self._own().disable_adapter():
            return self._scored(keys, self._own())

    def _own(self) -> Any:
        """The model itself: wrapped for several processes, a pass would wait for all of them, and
        they have different numbers of batches."""
        return self._trainer.accelerator.unwrap_model(self._trainer.model)

    def _scored(self, keys: Sequence[Key], model: Any) -> NDArray[np.float64]:
        accelerator = self._trainer.accelerator
        batches = list(self._batches(keys))
        mine = batches[accelerator.process_index :: accelerator.num_processes]
        found: list[tuple[int, float]] = []
        with _evaluating(model), torch.no_grad(), accelerator.autocast():
            for places in mine:
                scores = self._batch_scores(model, [self._sequence(keys[one]) for one in places])
                found += zip(places, scores, strict=True)
        if accelerator.num_processes > 1:
            found = gather_object(found)
        values = np.empty(len(keys))
        for place, score in found:
            values[place] = score
        return values

    def _batches(self, keys: Sequence[Key]) -> Iterator[list[int]]:
        """Places of keys, the longest first, so that a batch holds sequences of about one length
        and what does not fit the memory is known at once."""
        lengths = [sum(map(len, self._sequence(key))) for key in keys]
        order = sorted(range(len(keys)), key=lambda place: (-lengths[place], keys[place]))
        for start in range(0, len(order), self._rows):
            yield order[start : start + self._rows]

    def _batch_scores(self, model: Any, rows: Sequence[tuple[Tokens, Tokens]]) -> list[float]:
        device = self._trainer.accelerator.device
        width = max(len(prompt) + len(answer) for prompt, answer in rows)
        shape = (len(rows), width)
        ids = np.full(shape, self._trainer._tokenizer.pad_token_id, np.int64)
        seen, labels = np.zeros(shape, np.int64), np.full(shape, -100, np.int64)
        for row, (prompt, answer) in enumerate(rows):
            end = len(prompt) + len(answer)
            ids[row, : len(prompt)], ids[row, len(prompt) : end] = prompt, answer
            seen[row, :end] = 1
            labels[row, len(prompt) : end] = answer
        output = model(
            input_ids=torch.from_numpy(ids).to(device),
            attention_mask=torch.from_numpy(seen).to(device),
            labels=torch.from_numpy(labels).to(device),
            use_cache=False,
            fused_lm_head=True,
        )
        scores: list[float] = output.log_probs.double().sum(dim=1).cpu().tolist()
        return scores


@contextlib.contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """In evaluation mode, and as it was afterwards."""
    was = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was)


class References:
    """Log-probabilities under the reference, once for each prompt and answer: what was computed is
    kept, and saved with the checkpoints, so that a resume goes on with the same digits."""

    def __init__(self) -> None:
        self.known: dict[Key, float] = {}

    def learn(self, keys: Sequence[Key], scorer: Scorer) -> int:
        """Computes those that are missing, and says how many these were."""
        missing = sorted(set(keys) - self.known.keys())
        if missing:
            values = scorer.reference(missing).tolist()
            self.known.update(zip(missing, values, strict=True))
        return len(missing)

    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Keys (n, 2) and values (n,)."""
        keys = np.array(list(self.known), np.int32).reshape(-1, 2)
        return keys, np.array(list(self.known.values()), np.float64)

    def restore(self, keys: NDArray[np.int32], values: NDArray[np.float64]) -> None:
        pairs = ((int(prompt), int(answer)) for prompt, answer in keys)
        self.known = dict(zip(pairs, values.tolist(), strict=True))
