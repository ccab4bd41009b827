"""Reading what a model says about labelled text: hypotheses from a list or JSON, a judge's label,
yes or no, the number of a chosen pattern.

Nothing here raises, whatever the text, and the work is bounded by a small multiple of its length.
Traps that published readers fell into (notes, part i): years and decimals that look like the next
item of a list, bold and bracketed numbers, a preamble, reasoning blocks, an order that hangs on
hashes; markdown, braces, quotes and a sentence after a label, another case, two labels in one answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from typing import Final, TypeAlias

from .label_lists import items_in

ANSWER_CHARACTERS = 200_000  # of a judge's answer; only its end is read where it is longer
_LINE = 2_000  # characters of a line or sentence in which labels are looked for
_THOUGHT = re.compile(r"<(/?)(think|thinking|reasoning)>", re.IGNORECASE)
_MARKER = re.compile(
    r"(?:final\s+(?:answer|label|prediction|judge?ment|verdict)|answer|label|prediction)"
    r"[\"'*_` ]{0,4}(?::|=|\bis\b)[\"'*_` ]{0,6}",
    re.IGNORECASE,
)
_FINAL = re.compile(
    r"final[\s_-]+(?:answer|label|prediction|judge?ment|verdict)[\"'*_`\s]{0,4}(?::|=|\bis\b)?",
    re.IGNORECASE,
)
_NOT_APPLICABLE = re.compile(
    r"\b(?:(?:does|do|did)(?: not|n.t) apply|not applicable|inapplicable|n/a|not apply)(?!\w)",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"(?:\b(?:not|neither|nor|never|isn.t|aren.t|rather than)\W{1,3}(?:an? |the )?)\Z", re.I
)
_SENTENCE_END = re.compile(r"[.!?;](?=\s|$|[\"'*_`)\]}])")
_EDGES = " \t\r\n\"'`*_.,;:!?()[]{}<>|#-–—“”‘’«»\\$"


class _Unlabelled(Enum):
    NOT_APPLICABLE = "does_not_apply"


NOT_APPLICABLE: Final = _Unlabelled.NOT_APPLICABLE
Judgement: TypeAlias = str | _Unlabelled | None


def without_thoughts(text: str) -> str:
    """The text without its reasoning blocks; of a block that does not end, nothing after its
    beginning; of one that only ends, nothing before."""
    kept: list[str] = []
    at, depth = 0, 0
    for found in _THOUGHT.finditer(text):
        if not found.group(1):
            if depth == 0:
                kept.append(text[at : found.start()])
            depth += 1
        else:
            if depth == 0:
                kept = []
            depth = max(depth - 1, 0)
            at = found.end()
    return "".join(kept) if depth else "".join(kept) + text[at:]


def hypotheses_in(text: str, count: int) -> list[str]:
    """At most `count` hypotheses of an answer, in its order, each once: of JSON (a list of texts,
    an object with "hypotheses", objects with "hypothesis"), else of a numbered list, else of one
    with bullets; where one is asked for, also a bare sentence. Empty where there is none."""
    found = items_in(without_thoughts(text), count)
    return list(dict.fromkeys(item.sentence for item in found))[: max(count, 0)]


def sourced_in(text: str, count: int) -> list[tuple[str, int | None, str]]:
    """Like `hypotheses_in`, each with the number of the paper that it names and its quote; None
    and "" where it names none."""
    found: dict[str, tuple[str, int | None, str]] = {}
    for item in items_in(without_thoughts(text), count, sourced=True):
        found.setdefault(item.sentence, (item.sentence, item.source, item.quote))
    return list(found.values())[: max(count, 0)]


def judgement_in(text: str, labels: Sequence[str]) -> Judgement:
    """The label that a judge's answer gives, as it stands in `labels`; NOT_APPLICABLE where the
    answer says that the hypothesis does not apply; None where it gives none, or two.

    Read is what follows the last "final answer"; without one, what follows the last "answer:" or
    "label:"; without one, the last line that holds something, and where that names no label, the
    whole answer.
    """
    said = without_thoughts(text)[-ANSWER_CHARACTERS:]
    names = _Names(labels)
    for marker in (_FINAL, _MARKER):
        places = list(marker.finditer(said))
        if places:
            return names.judged(_after(said, places[-1].end()))
    lines = [line for line in said.splitlines() if line.strip(_EDGES)]
    if not lines:
        return None
    last = names.judged(lines[-1])
    if last is not None or len(lines) == 1 or names.mentioned(lines[-1][-_LINE:]):
        return last
    first = names.exact(lines[0])
    return first if first is not None else names.only(said[-_LINE:])


def yes_no_in(text: str) -> bool | None:
    """Whether the answer says yes; None where it says neither, or both."""
    said = judgement_in(text, ("yes", "no"))
    return None if not isinstance(said, str) else said == "yes"


def pattern_in(text: str, count: int) -> int | None:
    """The number, from 1 to `count`, of the pattern that an answer chooses; None where it names
    none of them."""
    said = without_thoughts(text)[-ANSWER_CHARACTERS:]
    for asked in (_CHOSEN, _PATTERN, _BARE):
        numbers = [int(found.group(1)) for found in asked.finditer(said)]
        if numbers:
            return numbers[-1] if 1 <= numbers[-1] <= count else None
    return None


_CHOSEN = re.compile(
    r"cho(?:sen|ose|ice)[\s_]*(?:of\s+)?(?:pattern|hypothesis)?[\"'*_` ]{0,4}(?::|=|\bis\b)?[\"'*_`\[({ ]{0,6}"
    r"(?:(?:pattern|hypothesis)\s*)?(?:number|no\.?|#)?[\"'*_`\[(< ]{0,4}(\d{1,6})\b",
    re.IGNORECASE,
)
_PATTERN = re.compile(
    r"\b(?:pattern|hypothesis)\s*(?:number|no\.?|#)?[\[(< ]{0,3}(\d{1,6})\b", re.I
)
_BARE = re.compile(r"\A[\s\"'*_`\[({<]{0,8}(\d{1,6})[\s\"'*_`\])}>.]{0,8}\Z")


def _after(text: str, at: int) -> str:
    """The rest of the line, or the next one where the rest holds nothing."""
    for line in text[at : at + 10 * _LINE].splitlines():
        if line.strip(_EDGES):
            return line
    return ""


class _Names:
    """Labels as they are found in an answer: any case, whole words, the longer one first."""

    def __init__(self, labels: Sequence[str]) -> None:
        self._of = {_plain(label): label for label in reversed(labels)}
        ordered = sorted((name for name in self._of if name), key=lambda n: (-len(n), n))
        pattern = "|".join(r"[\s_-]+".join(map(re.escape, name.split())) for name in ordered)
        self._words = re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.I) if ordered else None

    def exact(self, said: str) -> str | None:
        """The label that the whole text is."""
        return self._of.get(_plain(said[:_LINE])) if len(said) <= _LINE else None

    def judged(self, line: str) -> Judgement:
        """Of one line: the label that it is, or that its first sentence names alone."""
        whole = self.exact(line)
        if whole is not None:
            return whole
        line = line[:_LINE]
        named = self.mentioned(line)
        silent = _NOT_APPLICABLE.search(line)
        starts = [start for start, _, _ in named] + ([silent.start()] if silent else [])
        if not starts:
            return None
        end = self._sentence_end(line, min(starts), [(s, e) for s, e, _ in named])
        answers: set[Judgement] = {label for start, _, label in named if start < end}
        if silent and silent.start() < end:
            answers.add(NOT_APPLICABLE)
        return answers.pop() if len(answers) == 1 else None

    def only(self, text: str) -> str | None:
        """The one label that the text names."""
        named = {label for _, _, label in self.mentioned(text)}
        return named.pop() if len(named) == 1 else None

    def mentioned(self, text: str) -> list[tuple[int, int, str]]:
        """Where labels stand, each as (start, end, label); without those said not to be it, and
        without those of one character in prose, which may be a word or a number of it."""
        if self._words is None:
            return []
        found = []
        for place in self._words.finditer(text):
            if _NEGATED.search(text[max(0, place.start() - 24) : place.start()]):
                continue
            short = len(place.group()) == 1 and text[place.end() : place.end() + 2].strip(_EDGES)
            if short or (len(place.group()) == 1 and text[: place.start()].strip(_EDGES)):
                continue
            found.append((place.start(), place.end(), self._of[_plain(place.group())]))
        return found

    @staticmethod
    def _sentence_end(line: str, start: int, spans: list[tuple[int, int]]) -> int:
        for end in _SENTENCE_END.finditer(line, start):
            if not any(s <= end.start() < e for s, e in spans):
                return end.start()
        return len(line)


def _plain(said: str) -> str:
    return " ".join(re.split(r"[\s_-]+", said.strip(_EDGES).casefold())).strip(_EDGES)
