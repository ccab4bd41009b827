"""Compute the agreement of hypotheses on new inputs by a vote in which each hypothesis counts
once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def agreement_shares(
    codes: NDArray[np.int64], defined: NDArray[np.bool_], decided: Sequence[int | None]
) -> list[float | None]:
    """Return, for each of n inputs, the share of hypotheses that predict the decided output.

    A hypothesis that predicts nothing for an input does not count for this input.

    Args:
        codes: codes of the predictions of m hypotheses, of shape (m, n).
        defined: whether each hypothesis predicts something, of shape (m, n).
        decided: the code of the decided output for each input; None if there is no prediction.

    Returns:
        For each input a share from 0 to 1, or None if there is no decided output or no hypothesis
        predicts something.
    """
    voters = defined.sum(axis=0).tolist()
    shares: list[float | None] = []
    for place, code in enumerate(decided):
        if code is None or not voters[place]:
            shares.append(None)
            continue
        same = int((defined[:, place] & (codes[:, place] == code)).sum())
        shares.append(same / voters[place])
    return shares
