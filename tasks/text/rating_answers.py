"""Parse a rater's answer about a hypothesis: a number on a scale, and the reason.

No function here raises. Published parsers failed on "Score: 0.5", read "Yes." as no, and replaced
unreadable answers by 1. Here the result is None for an unreadable answer, and for an answer with
two different numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .answers import MAX_ANSWER_CHARACTERS, strip_reasoning

QUALITIES = ("novelty", "plausibility", "clarity")
QUARTER_SCALE = (0.0, 0.25, 0.5, 0.75, 1.0)
FIVE_POINT_SCALE = (1.0, 2.0, 3.0, 4.0, 5.0)

_NUMBER = r"(?<![\w.,\-\u2212])(\d*\.\d+|\d+(?:\.\d+)?)(?![\w%]|[.,]\d)"
_OF_SCALE = re.compile(_NUMBER + r"\s*(?:/|out of)\s*(\d+(?:\.\d+)?)")
_MARKED = re.compile(
    rf"\b(?:score|rating|grade|mark)\b[\"'*_`\]\s]*(?:[:=]|\bis\b)[\"'*_`\[(\s]*{_NUMBER}",
    re.IGNORECASE,
)
_ALONE = re.compile(_NUMBER)
_REASON = re.compile(r"\b(?:reasoning|reason|explanation|because)\b[\"'*_`\s]*:?", re.IGNORECASE)
_REASON_CHARACTERS = 2_000
_CHARACTERS = 20_000


def parse_rating(text: str, scale: Sequence[float]) -> float | None:
    """Return the rating in an answer as one of the values in `scale`, or None.

    The number after "Score:" or a similar word is used. Otherwise a first line that is a single
    number is used, and otherwise the only number in the answer. "4/5" and "4 out of 5" mean 4 on a
    scale up to 5.
    """
    said = strip_reasoning(text)[-MAX_ANSWER_CHARACTERS:][:_CHARACTERS]
    said = _OF_SCALE.sub(lambda of: of[1] if float(of[2]) == scale[-1] else of[0], said)
    first = next((line for line in said.splitlines() if line.strip(" *_`#\"'")), "")
    for found in (_MARKED.findall(said), _whole_line(first), _ALONE.findall(said)):
        values = {float(one) for one in found}
        if values:
            value = values.pop()
            return value if not values and value in scale else None
    return None


def _whole_line(line: str) -> list[str]:
    bare = line.strip(" *_`#\"'[]()").rstrip(".")
    return [bare] if re.fullmatch(r"\d*\.\d+|\d+", bare) else []


def parse_reason(text: str) -> str:
    """Return the reason in an answer, on one line.

    The reason is the text after "Reasoning:" or a similar word. Without such a word, it is the
    complete answer without the score.
    """
    said = strip_reasoning(text)[-MAX_ANSWER_CHARACTERS:][:_CHARACTERS]
    found = _REASON.search(said)
    told = said[found.end() :] if found else _MARKED.sub("", said)
    return " ".join(told.split()).strip("*_` ")[:_REASON_CHARACTERS]
