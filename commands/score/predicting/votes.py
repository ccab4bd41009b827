"""The agreement of hypotheses on new inputs: a plain vote, in which each hypothesis counts once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def agreement_shares(
    codes: NDArray[np.int64], defined: NDArray[np.bool_], decided: Sequence[int | None]
) -> list[float | None]:
    """Return the share of the hypotheses that predict what was decided, for each of n inputs.

    Hypotheses that predict nothing for an input do not vote on it.

    Args:
        codes: the predictions of m hypotheses, (m, n).
        defined: whether each hypothesis predicts something, (m, n).
        decided: the code that was decided for each input; None where nothing was predicted.

    Returns:
        For each input, a share from 0 to 1; None where nothing was decided or nobody votes.
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
