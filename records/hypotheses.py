"""Hypotheses and what became of them: predictions, agreement with observations, verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from .values import Digest, Json, digest_of

if TYPE_CHECKING:  # the command line shows its help without numpy
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Hypothesis:
    """Anything that predicts: `text` is what the oracle takes (source, formula, sentence)."""

    text: str
    description: str = ""
    meta: Mapping[str, Json] = field(default_factory=dict)  # programs: {"entry": name of the def}
    breaches: tuple[str, ...] = ()  # of the answer contract, tolerated and reported

    @cached_property
    def digest(self) -> Digest:
        return digest_of([self.text, dict(self.meta)])


@dataclass(frozen=True)
class Malformed:
    """An answer, or a part of one, that gives no hypothesis; `reason` is a short stable name."""

    reason: str
    detail: str = ""


UNASKED = "not_asked"  # the verdict of predictions that nobody was asked for


@dataclass(frozen=True)
class Predictions:
    """Of one hypothesis over an `InputSet` of n inputs.

    codes: int64 (n,), an image of the prediction under the equality rule, 0 where undefined.
    reasons: uint8 (n,), 0 where defined, else 1 + an index into `reason_names`.
    verdict: "ok", or why the batch has no result as a whole ("too_slow", "memory", "crashed", …):
    then every input is undefined for that reason.
    limited: a limit touched the result.
    """

    codes: NDArray[np.int64]
    reasons: NDArray[np.uint8]
    reason_names: tuple[str, ...] = ()
    verdict: str = "ok"
    limited: bool = False

    @property
    def defined(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.reasons == 0
        return found

    @staticmethod
    def not_asked(count: int) -> Predictions:
        """Of a hypothesis over `count` inputs that nobody was asked about."""
        import numpy as np

        zeros, ones = np.zeros(count, np.int64), np.ones(count, np.uint8)
        return Predictions(zeros, ones, (UNASKED,), UNASKED)

    def undefined(self) -> dict[str, int]:
        """Counts of undefined inputs by reason, most frequent first."""
        import numpy as np

        counts = np.bincount(self.reasons, minlength=len(self.reason_names) + 1)[1:]
        pairs = [(name, int(c)) for name, c in zip(self.reason_names, counts, strict=False) if c]
        return dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))


@dataclass(frozen=True)
class Agreement:
    """Of one hypothesis with m observations: True, False or None (undefined) for each.

    got: m entries, {"value": Json} or {"undefined": reason}.
    """

    marks: tuple[bool | None, ...]
    got: tuple[Mapping[str, Json], ...]
    verdict: str = "ok"
    detail: Mapping[str, Json] = field(default_factory=dict)  # logic: "cost" and "bound", summed

    @property
    def gap(self) -> float | None:
        """Cost above the lower bound, an observation; None where either is not known."""
        cost, bound = self.detail.get("cost"), self.detail.get("bound")
        if cost is None or bound is None or not self.marks:
            return None
        return float(cost - bound) / len(self.marks)


class Verdict(StrEnum):
    """What became of a hypothesis. accepted: consistent and novel; redundant: consistent, but earlier
    answers gave most of its predictions over S (tools/gear/novelty.py)."""

    MALFORMED = "malformed"
    INCONSISTENT = "inconsistent"
    REDUNDANT = "redundant"
    ACCEPTED = "accepted"

    @property
    def consistent(self) -> bool:
        """The consistent hypotheses of a problem are the accepted and the redundant ones."""
        return self in (Verdict.REDUNDANT, Verdict.ACCEPTED)
