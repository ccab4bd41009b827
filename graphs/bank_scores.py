"""GEAR's scores of a bank of sentences, over the unlabelled texts of its problem (GEAR, section 3).

Consistent is an entry that is right on at least `tau` of its visits that it applied to. The other scores
are those of the consistent entries over S; they are left out where a model would have to judge S and
`judge_space` does not say so.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..records import Json
from ..tools.gear.scores import set_scores
from .asking import side_by_side
from .case import Case
from .inference import Entry, Worth


async def bank_scores(case: Case, entries: Sequence[Entry]) -> dict[str, Json]:
    """{consistency, generalizability, beta, gamma, space}; None where there is no such score. space:
    how many texts S has."""
    good = [one for one in entries if _consistent(case, one)]
    found: dict[str, Json] = {
        "consistency": len(good) / len(entries) if entries else None,
        "generalizability": None,
        "beta": None,
        "gamma": None,
        "space": len(case.space),
    }
    asks = case.text.judge_space and case.judging.asks
    exact = all(case.judging.rule(one.text) is not None for one in good)
    if not good or not (exact or asks):
        return found
    rows = await side_by_side([case.judging.codes(one.text, case.space) for one in good])
    codes = np.stack(rows)
    scores = set_scores(np.maximum(codes, 0), codes >= 0, case.space.weights)
    return found | {
        "generalizability": scores.generalizability, "beta": scores.beta, "gamma": scores.gamma
    }  # fmt: skip


def _consistent(case: Case, entry: Entry) -> bool:
    worth = Worth.of_bank(entry, len(case.problem.public["labels"]))
    if worth.covered is None:
        return entry.visits > 0 and entry.accuracy >= case.text.tau
    return worth.covered > 0 and worth.right >= case.text.tau * worth.covered - 1e-9
