"""Hypotheses and the results of evaluating them: predictions, agreement with observations,
verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from .values import Digest, Json, digest_of

if TYPE_CHECKING:  # The command line shows its help without numpy.
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Hypothesis:
    """A hypothesis about the observations of a problem.

    Attributes:
        text: The executable form: source code, a formula or a sentence.
        description: A description in natural language.
    """

    text: str
    description: str = ""
    # For programs: {"entry": name of the function}.
    meta: Mapping[str, Json] = field(default_factory=dict)
    breaches: tuple[str, ...] = ()  # Breaches of the answer contract that were tolerated.

    @cached_property
    def digest(self) -> Digest:
        """Return the SHA-256 digest of `text` and `meta`."""
        return digest_of([self.text, dict(self.meta)])


@dataclass(frozen=True)
class Malformed:
    """A model answer, or part of an answer, from which no hypothesis could be parsed.

    Attributes:
        reason: A short stable identifier of the error, such as "syntax".
        detail: A sentence about the error, or "".
    """

    reason: str
    detail: str = ""


@dataclass(frozen=True)
class FrontPoint:
    """A hypothesis on the front of size against error (`MeasuresSizeAndError`).

    Attributes:
        hypothesis: Its text.
        size: Its size, such as the number of nodes of a formula.
        rms: Its root mean square error in the shown observations, in the unit of the outputs.
        chosen: Whether it is the best hypothesis of the problem. This one is listed even if another one
            is smaller and has a smaller error.
    """

    hypothesis: str
    size: int
    rms: float
    chosen: bool = False


NOT_REQUESTED = "not_asked"  # The verdict of predictions that were never requested.


@dataclass(frozen=True)
class Predictions:
    """The predictions of one hypothesis for the n inputs of an `InputSet`.

    Attributes:
        codes: int64 array of shape (n,). Equal predictions have equal codes; the code is 0 if the
            prediction is undefined.
        reasons: uint8 array of shape (n,). The value is 0 if the prediction is defined, otherwise 1
            plus the index of the reason in `reason_names`.
        reason_names: Names of the reasons why predictions are undefined.
        verdict: "ok", or the reason why the run on all inputs failed ("too_slow", "memory",
            "crashed", …). After such a failure, every prediction is undefined for that reason.
        limited: Whether a limit affected the result.
    """

    codes: NDArray[np.int64]
    reasons: NDArray[np.uint8]
    reason_names: tuple[str, ...] = ()
    verdict: str = "ok"
    limited: bool = False

    @property
    def defined(self) -> NDArray[np.bool_]:
        """Return a boolean array of shape (n,) that is True where the prediction is defined."""
        found: NDArray[np.bool_] = self.reasons == 0
        return found

    @staticmethod
    def unevaluated(count: int) -> Predictions:
        """Return `count` undefined predictions, for a hypothesis that was never applied to the
        inputs.
        """
        import numpy as np

        zeros, ones = np.zeros(count, np.int64), np.ones(count, np.uint8)
        return Predictions(zeros, ones, (NOT_REQUESTED,), NOT_REQUESTED)

    def count_undefined(self) -> dict[str, int]:
        """Return the number of undefined predictions for each reason, most frequent first."""
        import numpy as np

        if not self.reasons.any():
            return {}
        counts = np.bincount(self.reasons, minlength=len(self.reason_names) + 1)[1:]
        pairs = [(name, int(c)) for name, c in zip(self.reason_names, counts, strict=False) if c]
        return dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))


@dataclass(frozen=True)
class Agreement:
    """The result of comparing the predictions of a hypothesis with m observations.

    Attributes:
        marks: m values, one per observation: True if the prediction is right, False if it is wrong,
            None if it is undefined.
        got: The m predictions, each {"value": Json} or {"undefined": reason}.
        verdict: "ok", or the reason why the run on all inputs failed, as in `Predictions`.
    """

    marks: tuple[bool | None, ...]
    got: tuple[Mapping[str, Json], ...]
    verdict: str = "ok"
    # For logic: the sums "cost" and "bound".
    detail: Mapping[str, Json] = field(default_factory=dict)

    @property
    def right(self) -> int:
        """Return the number of observations that the hypothesis predicts correctly."""
        return sum(mark is True for mark in self.marks)

    @property
    def gap(self) -> float | None:
        """Return (cost - lower bound) / number of observations, for rules about worlds.

        The result is None if the cost or the bound is unknown, or if there are no observations.
        """
        cost, bound = self.detail.get("cost"), self.detail.get("bound")
        if cost is None or bound is None or not self.marks:
            return None
        return float(cost - bound) / len(self.marks)


class Verdict(StrEnum):
    """The verdict on a hypothesis: accepted, redundant, inconsistent or malformed.

    An accepted hypothesis is consistent with the shown observations and novel. A redundant
    hypothesis is consistent, but earlier answers already make the same predictions on at least 80%
    of the sample space, which is the set of inputs on which hypotheses are compared
    (tools/gear/novelty.py).
    """

    MALFORMED = "malformed"
    INCONSISTENT = "inconsistent"
    REDUNDANT = "redundant"
    ACCEPTED = "accepted"

    @property
    def consistent(self) -> bool:
        """Return whether the hypothesis is consistent, which means accepted or redundant."""
        return self in (Verdict.REDUNDANT, Verdict.ACCEPTED)
