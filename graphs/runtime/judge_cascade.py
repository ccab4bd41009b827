"""A cascade of judges: when the second judge is asked about a text (`--judge-then`).

The first judge answers each question `repeats` times. The share of its majority answer says how sure
it is. The second judge is asked only where this share is below a threshold. The threshold is chosen on
the first questions of a problem, which both judges answer: the lowest share from which on the first
judge agrees with the second one on at least `MIN_AGREEMENT` of the questions. The agreement is the
plain share, not the lower end of an interval: with the default of 24 questions, the lower end of
Wilson's 95% interval is at most 0.86, so that no first judge could pass.

The functions of this module depend only on recorded answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...records import Json
from ...tasks.text.family import UNREADABLE

MIN_AGREEMENT = 0.95
MIN_QUESTIONS = 8  # questions on which the agreement at a threshold is measured


@dataclass(frozen=True)
class Vote:
    """The majority of the first judge's answers to one question.

    Args:
        code: The label code that most answers give; the earliest of equally frequent ones.
        share: The share of answers that give this code.
    """

    code: int
    share: float

    @property
    def certainty(self) -> float:
        """The share of the majority; 0.0 if most answers are unreadable, which is no certainty."""
        return 0.0 if self.code == UNREADABLE else self.share


def count_votes(codes: Sequence[int]) -> Vote:
    """Return the majority of the answers to one question."""
    code, count = Counter(codes).most_common(1)[0]
    return Vote(code, count / len(codes))


@dataclass(frozen=True)
class Calibration:
    """What both judges answered to the first questions of a problem.

    Args:
        questions: The number of questions that both judges answered with a label, or by saying that
            the sentence does not apply.
        agreed: The number of these questions with the same answer.
        threshold: The share of the majority from which on the first judge decides alone; None if
            the second judge is always asked.
        kept: The number of these questions at or above the threshold.
        kept_agreed: The number of questions at or above the threshold with the same answer.
    """

    questions: int
    agreed: int
    threshold: float | None
    kept: int = 0
    kept_agreed: int = 0

    def decides_alone(self, vote: Vote) -> bool:
        """Return whether the first judge's answer stands without the second judge."""
        return self.threshold is not None and vote.certainty >= self.threshold

    def to_json(self) -> Mapping[str, Json]:
        """Return the figures as the step records them."""
        return {
            "questions": self.questions,
            "agreed": self.agreed,
            "threshold": self.threshold,
            "kept": self.kept,
            "kept_agreed": self.kept_agreed,
        }


def choose_threshold(votes: Sequence[Vote], second: Sequence[int]) -> Calibration:
    """Choose the threshold from the answers of both judges to the same questions.

    Args:
        votes: The majority answers of the first judge.
        second: The label codes of the second judge, in the same order. Questions whose second
            answer is unreadable do not count.
    """
    pairs = [
        (vote, vote.code == code)
        for vote, code in zip(votes, second, strict=True)
        if code != UNREADABLE
    ]
    agreed = sum(same for _, same in pairs)
    for threshold in sorted({vote.certainty for vote, _ in pairs if vote.certainty > 0}):
        kept = [same for vote, same in pairs if vote.certainty >= threshold]
        if len(kept) >= MIN_QUESTIONS and sum(kept) >= MIN_AGREEMENT * len(kept):
            return Calibration(len(pairs), agreed, threshold, len(kept), sum(kept))
    return Calibration(len(pairs), agreed, None)
