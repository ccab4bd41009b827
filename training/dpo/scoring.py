"""Log-probabilities of answers under the model in training and under its reference model.

The reference model is the model before the training. Import this module only when a training
starts, because it imports torch. The same code scores the same batches with both models, so before
the first update their values are exactly equal.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..stages import STAGES, Stage
from .pair_tokens import PairTokens, Tokens, shuffle_pairs
from .processes import divide_batches, gather

if TYPE_CHECKING:
    from ..pair_table import PairTable


SequenceKey = tuple[int, int]  # positions of a prompt and an answer


class Scorer:
    """Computes log-probabilities of answers under the model in training and its reference model.

    Args:
        trainer: The DPOTrainer whose model, reference model and precision are used.
        sequence: Returns the tokens of the prompt and of the answer for a key.
        rows: The number of sequences per batch.
    """

    def __init__(
        self, trainer: Any, sequence: Callable[[SequenceKey], tuple[Tokens, Tokens]], rows: int
    ) -> None:
        self._trainer = trainer
        self._sequence = sequence
        self._rows = rows

    def policy_logps(self, keys: Sequence[SequenceKey]) -> NDArray[np.float64]:
        """Return the log-probability of each answer under the model in training.

        Args:
            keys: The position of the prompt and the position of the answer, for each answer.

        Returns:
            Log-probabilities in nats, of shape (len(keys),).
        """
        return self._scored(keys, self._own())

    def reference_logps(self, keys: Sequence[SequenceKey]) -> NDArray[np.float64]:
        """Return the log-probability of each answer under the model as it was before training.

        Args:
            keys: The position of the prompt and the position of the answer, for each answer.

        Returns:
            Log-probabilities in nats, of shape (len(keys),).
        """
        trainer = self._trainer
        if trainer.ref_model is not None:
            return self._scored(keys, trainer.ref_model)
        with self._own().disable_adapter():
            return self._scored(keys, self._own())

    def _own(self) -> Any:
        """Return the unwrapped model; DistributedDataParallel would prepare a backward pass."""
        return self._trainer.accelerator.unwrap_model(self._trainer.model)

    def _scored(self, keys: Sequence[SequenceKey], model: Any) -> NDArray[np.float64]:
        accelerator = self._trainer.accelerator
        batches = list(self._batches(keys))
        found: dict[int, float] = {}
        with _evaluating(model), torch.no_grad(), accelerator.autocast():
            # With FSDP2 a pass is a collective operation, so every process takes part in each round.
            for turn in divide_batches(len(batches), accelerator.num_processes):
                places = batches[turn[accelerator.process_index]]
                scores = self._batch_scores(model, [self._sequence(keys[one]) for one in places])
                found |= zip(places, scores, strict=True)
        values = np.empty(len(keys))
        for places_and_scores in gather(found, accelerator.num_processes):
            for place, score in places_and_scores.items():
                values[place] = score
        return values

    def _batches(self, keys: Sequence[SequenceKey]) -> Iterator[list[int]]:
        """Yield positions of keys in batches, longest sequences first.

        A batch then holds sequences of similar length, and running out of memory shows at once.
        """
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
    """Switch to evaluation mode, and restore the previous mode afterwards."""
    was = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was)


class ReferenceLogps:
    """A cache of log-probabilities under the reference model, by prompt and answer.

    The values are saved with the checkpoints, so a resumed training continues with identical
    values.
    """

    def __init__(self) -> None:
        self.logps: dict[SequenceKey, float] = {}

    def compute_missing(self, keys: Sequence[SequenceKey], scorer: Scorer) -> int:
        """Compute the log-probabilities that the cache does not contain, and return their
        number.
        """
        missing = sorted(set(keys) - self.logps.keys())
        if missing:
            values = scorer.reference_logps(missing).tolist()
            self.logps.update(zip(missing, values, strict=True))
        return len(missing)

    def to_arrays(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the keys, int32 of shape (n, 2), and the log-probabilities, float64 of shape
        (n,).
        """
        keys = np.array(list(self.logps), np.int32).reshape(-1, 2)
        return keys, np.array(list(self.logps.values()), np.float64)

    def load_arrays(self, keys: NDArray[np.int32], values: NDArray[np.float64]) -> None:
        """Replace the contents of the cache with the arrays of a checkpoint."""
        pairs = ((int(prompt), int(answer)) for prompt, answer in keys)
        self.logps = dict(zip(pairs, values.tolist(), strict=True))


# --- The probe of GEAR, section 6.2: measurements on validation pairs of each stage.
#
# Every probe of every schedule uses the same pairs of a stage: `probe_pairs` validation pairs,
# drawn by the seed among those that fit the length.


def draw_pools(
    table: PairTable, tokens: PairTokens, split: str, limit: int, seed: int
) -> dict[str, list[int]]:
    """Return the ids of up to `limit` pairs of each stage that fit the length limit.

    A training draws at most `limit` pairs of a stage, so a larger pool is not needed.

    Args:
        table: The preference pairs.
        tokens: The tokens of the pairs, which know the length limit.
        split: The split to draw from: train or validation.
        limit: The maximum number of pairs per stage.
        seed: The seed of the order in which pairs are drawn.
    """
    found = {}
    for stage in STAGES:
        places = table.positions(Stage[stage.upper()], split)
        found[stage] = tokens.select_fitting(shuffle_pairs(places, seed, f"{split}/{stage}"), limit)
    return found


class Probe:
    """Measures the loss and the accuracy of a model on validation pairs (GEAR, section 6.2).

    Args:
        pairs: The ids of the validation pairs of each stage.
        tokens: The tokens of the pairs.
        scorer: Computes the log-probabilities of the answers.
        beta: The parameter beta of the DPO loss.
    """

    def __init__(
        self, pairs: Mapping[str, Sequence[int]], tokens: PairTokens, scorer: Scorer, beta: float
    ) -> None:
        self._scorer = scorer
        self._beta = beta
        self._keys: list[SequenceKey] = []
        place: dict[SequenceKey, int] = {}
        self._rows: dict[str, np.ndarray[tuple[int, int], np.dtype[np.int64]]] = {}
        for stage, ids in pairs.items():
            tokens.tokenize(ids)
            rows = []
            for pair in ids:
                prompt, *answers = tokens.positions(pair)
                for key in ((prompt, answer) for answer in answers):
                    if key not in place:
                        place[key] = len(self._keys)
                        self._keys.append(key)
                rows.append([place[prompt, answer] for answer in answers])
            self._rows[stage] = np.array(rows, np.int64)
        self._reference: NDArray[np.float64] | None = None

    def score_reference(self) -> None:
        """Compute the log-probabilities under the reference model, unless that is done already."""
        if self._reference is None:
            self._reference = self._scorer.reference_logps(self._keys)

    def measure(self) -> dict[str, dict[str, float]]:
        """Return the values of `progress.PROBE_METRICS`, by stage and then by name.

        Call `score_reference` first.
        """
        assert self._reference is not None
        ratios = self._scorer.policy_logps(self._keys) - self._reference
        return {stage: self._summary(ratios[rows]) for stage, rows in self._rows.items()}

    def _summary(
        self, ratios: np.ndarray[tuple[int, int], np.dtype[np.float64]]
    ) -> dict[str, float]:
        """Summarise log-ratios (n, 2) of chosen and rejected answers, policy over reference."""
        margins = self._beta * (ratios[:, 0] - ratios[:, 1])
        return {
            "probe_loss": float(np.logaddexp(0.0, -margins).mean()),
            "probe_accuracy": float(((margins > 0) + 0.5 * (margins == 0)).mean()),
            "probe_margin": float(margins.mean()),
            "chosen_logratio": float(ratios[:, 0].mean()),
            "rejected_logratio": float(ratios[:, 1].mean()),
        }
