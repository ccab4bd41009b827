"""How a model stands at validation pairs of each stage: the probe of GEAR, section 6.2.

A stage's probe is the same at every probe of every schedule: `probe_pairs` validation pairs of it,
drawn by the seed among those that fit the length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..stages import STAGES, Stage
from .tokens import PairTokens, shuffled

if TYPE_CHECKING:
    from ..pair_table import PairTable
    from .scoring import Key, Scorer


def pools(
    table: PairTable, tokens: PairTokens, split: str, most: int, seed: int
) -> dict[str, list[int]]:
    """Ids of pairs by stage: of each stage of a split as many as fit the length, `most` at most,
    drawn by the seed. No stage is drawn more than `most` times, so a pool needs no more."""
    found = {}
    for stage in STAGES:
        places = table.where(Stage[stage.upper()], split)
        found[stage] = tokens.fitting(shuffled(places, seed, f"{split}/{stage}"), most)
    return found


class Probe:
    """pairs: by stage, ids of validation pairs; beta: of DPO. The reference is scored when it is
    made."""

    def __init__(
        self, pairs: Mapping[str, Sequence[int]], tokens: PairTokens, scorer: Scorer, beta: float
    ) -> None:
        self._scorer = scorer
        self._beta = beta
        self._keys: list[Key] = []
        place: dict[Key, int] = {}
        self._rows: dict[str, np.ndarray[tuple[int, int], np.dtype[np.int64]]] = {}
        for stage, ids in pairs.items():
            rows = []
            for pair in ids:
                prompt, *answers = tokens.places(pair)
                for key in ((prompt, answer) for answer in answers):
                    if key not in place:
                        place[key] = len(self._keys)
                        self._keys.append(key)
                rows.append([place[prompt, answer] for answer in answers])
            self._rows[stage] = np.array(rows, np.int64)
        self._reference = scorer.reference(self._keys)

    def measure(self) -> dict[str, dict[str, float]]:
        """By stage, then by name of `log.PROBES`, in its meaning."""
        ratios = self._scorer.policy(self._keys) - self._reference
        return {stage: self._summary(ratios[rows]) for stage, rows in self._rows.items()}

    def _summary(
        self, ratios: np.ndarray[tuple[int, int], np.dtype[np.float64]]
    ) -> dict[str, float]:
        """ratios (n, 2): of the chosen and the rejected answers, policy over reference."""
        margins = self._beta * (ratios[:, 0] - ratios[:, 1])
        return {
            "probe_loss": float(np.logaddexp(0.0, -margins).mean()),
            "probe_accuracy": float(((margins > 0) + 0.5 * (margins == 0)).mean()),
            "probe_margin": float(margins.mean()),
            "chosen_logratio": float(ratios[:, 0].mean()),
            "rejected_logratio": float(ratios[:, 1].mean()),
        }
