"""What ratings come to: the two discovery scores that a rater gives, and the mean quality of a bank.

rows: as `peirce rate` writes them, of one problem and one rater. `released` and `paper` are defined in
tools/discovery/scores.py; of the latter the variables are those that `variable` rows name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum, nan

import numpy as np

from ....records import Json
from ....tasks.text.rating_answers import QUALITIES
from ....tools.discovery.scores import Discovery, paper, released


def summed(
    rows: Sequence[Mapping[str, Json]],
    truths: Sequence[str],
    bank: Sequence[str],
    about: Mapping[str, Sequence[str]],
) -> dict[str, Json]:
    """{"released": {fdr, rc, hdr, missing}, "paper": …, "novelty": {mean, n, missing}, …}, each where
    something was rated. about: the variables of each true sentence, as far as they are known."""
    given = {(r["kind"], r.get("true"), r["hypothesis"]): r["score"] for r in rows}
    found: dict[str, Json] = {}
    kinds = {kind for kind, _, _ in given}
    if truths and ("feature" in kinds or not bank):
        ratings = _matrix(given, "relationship", truths, bank)
        found["released"] = _told(released(_matrix(given, "feature", truths, bank), ratings))
        names = list(dict.fromkeys(name for one in truths for name in about.get(one, ())))
        if names:
            true = np.array([[name in about.get(one, ()) for name in names] for one in truths])
            said = _matrix(given, "variable", names, bank).T
            found["paper"] = _told(paper(true.astype(np.float64), said, ratings))
    for kind in QUALITIES:
        scores = [score for (which, _, _), score in given.items() if which == kind]
        known = [score for score in scores if score is not None]
        if scores:
            mean = fsum(known) / len(known) if known else None
            found[kind] = {"mean": mean, "n": len(known), "missing": len(scores) - len(known)}
    return found


def _matrix(
    given: Mapping[tuple[str, Json, Json], Json], kind: str, rows: Sequence[str], bank: Sequence[str]
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:  # fmt: skip
    """(rows, bank); NaN where a rating is missing or was not asked for."""
    found = np.full((len(rows), len(bank)), nan)
    for n, one in enumerate(rows):
        for m, other in enumerate(bank):
            score = given.get((kind, one, other))
            found[n, m] = nan if score is None else score
    return found


def _told(found: Discovery) -> dict[str, Json]:
    return {"fdr": found.fdr, "rc": found.rc, "hdr": found.hdr, "missing": found.missing}
