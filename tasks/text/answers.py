"""Parsers for a model's answers about labelled text.

They read hypotheses from a list or from JSON (`list_items.py` finds the items), the label that a
judge chose, a yes or no, and the number of a chosen pattern. No function here raises, whatever the
text, and the work is bounded by a small multiple of the text's length.

The parsers handle texts on which published parsers failed. In lists, these are years and decimals
that look like the next item, bold or bracketed numbers, a preamble and reasoning blocks. In labels,
these are Markdown, braces, quotes, a sentence after the label, another case, and two labels in one
answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

from .label_names import normalize_label
from .list_items import parse_items

MAX_ANSWER_CHARACTERS = 200_000  # of a judge's answer; only the end of a longer one is read
_LINE = 2_000  # characters of a line or sentence that are searched for labels
_EDGES = " \t\r\n\"'`*_.,;:!?()[]{}<>|#-–—“”‘’«»\\$"
_FRAME = " \t\r\n\"'`*_()[]{}#"  # a line with only these characters has no content
_NAMED = r"(?:answer|label|prediction|judge?ment|verdict)"
_THOUGHT = re.compile(r"<(/?)(think|thinking|reasoning)>", re.IGNORECASE)
_MARKERS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (  # the text before a label, most reliable first
        rf"final[\s_-]{{1,3}}{_NAMED}[\"'*_`\s]{{0,4}}(?:\([^)\n]{{0,60}}\))?[\"'*_`\s]{{0,4}}(?:[:=]|\bis\b)",
        rf"(?:^|\n)[^\w\n]{{0,12}}{_NAMED}[\"'*_` ]{{0,4}}[:=]|[\"']{_NAMED}[\"']\s{{0,4}}:",
        rf"\bfinal[\s_-]{{1,3}}{_NAMED}\b|\b(?:the|my)\s{_NAMED}\sis\b",
    )
)
_SILENT = re.compile(
    r"\b(?:(?:does|do|did|is)(?: not|n.t) appl\w+|not appl(?:y|ies|icable)|inapplicable|n/a)(?!\w)"
)
_NEGATED = re.compile(
    r"(?:\b(?:not|neither|nor|never|hardly|cannot|(?:is|are|was|were|do|does|ca)n.t|rather than"
    r"|instead of|opposed to|unlike|without|un|non|anti)"
    r"(?:\W{1,3}(?:an?|the|at all|really|very|be|being|clearly|likely|necessarily|so))?\W{1,3}"
    r"|\bno )\Z"
)
_SENTENCE_END = re.compile(
    r"[.!?;](?=\s|$|[\"'*_`)\]}])"
    r"|\b(?:because|since|whereas|while|although|though|given that|as (?:the|it|this))\b"
)
_CLAUSE_END = re.compile(r"[.!?;,:–—]| - |\b(?:because|since|as)\b")
_QUOTED = re.compile(r"\s*([\"“'‘`*_]{1,3})([^\"”'’`*_\n]{1,200})[\"”'’`*_]")
_POINTED = re.compile(r"(?:\A|\b(?:label|option|class|category|choice|group|answer|is)\b)\W*\Z")


class _Unlabelled(Enum):
    NOT_APPLICABLE = "does_not_apply"


NOT_APPLICABLE: Final = _Unlabelled.NOT_APPLICABLE
Judgement: TypeAlias = str | _Unlabelled | None


def strip_reasoning(text: str) -> str:
    """Return a model's answer without its reasoning blocks.

    If a block is opened but not closed, the text after the opening tag is dropped. If a block is
    closed but was not opened, the text before the closing tag is dropped.
    """
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


def parse_hypotheses(text: str, count: int) -> list[str]:
    """Return at most `count` distinct hypotheses from an answer, in the order of the answer.

    Three forms are tried in turn: JSON (a list of strings, an object with "hypotheses", objects
    with "hypothesis"), a numbered list, and a bulleted list. If `count` is 1, a single paragraph is
    also accepted. If no form fits, the result is empty.
    """
    found = parse_items(strip_reasoning(text), count)
    return list(dict.fromkeys(item.sentence for item in found))[: max(count, 0)]


def parse_sourced_hypotheses(text: str, count: int) -> list[tuple[str, int | None, str]]:
    """Return hypotheses from an answer, each with the paper that it cites.

    The answer may have the same forms as for `parse_hypotheses`.

    Returns:
        Tuples (sentence, number of the paper, quote). If a hypothesis cites no paper, the number is
        None and the quote is "".
    """
    found: dict[str, tuple[str, int | None, str]] = {}
    for item in parse_items(strip_reasoning(text), count, sourced=True):
        found.setdefault(item.sentence, (item.sentence, item.source, item.quote))
    return list(found.values())[: max(count, 0)]


def parse_judgement(text: str, labels: Sequence[str]) -> Judgement:
    """Return the label that a judge's answer names, spelt as in `labels`.

    The text after the last "final answer:" is read. Without this phrase, the text after the last
    "answer:" or "label:" is read, and otherwise the last line that is not blank. If no label is
    found there, the first line is read, and then the end of the answer.

    Returns:
        The label; `NOT_APPLICABLE` if the answer says that the hypothesis does not apply; None if
        the answer names no label or two labels.
    """
    return _read(text, _LabelMatcher(labels, _SENTENCE_END))


def parse_yes_no(text: str) -> bool | None:
    """Return True for an answer that says yes, False for no, and None if it says neither or both."""
    said = _read(text, _LabelMatcher(("yes", "no"), _CLAUSE_END, silent=False))
    return None if said is None else said == "yes"


def _read(text: str, names: _LabelMatcher) -> Judgement:
    said = strip_reasoning(text)[-MAX_ANSWER_CHARACTERS:]
    for marker in _MARKERS:
        places = list(marker.finditer(said))
        if places:
            found = names.judge_line(_after(said, places[-1].end()))
            if found is not None or marker is not _MARKERS[-1]:
                return found
    lines = [line for line in said.splitlines() if line.strip(_FRAME)] or [""]
    last = names.judge_line(lines[-1])
    if last is not None or len(lines) == 1 or names.mentions_label(lines[-1]):
        return last
    first = names.match_exactly(lines[0])
    return first if first is not None else names.find_only_label(said[-_LINE:])


def parse_pattern_number(text: str, count: int) -> int | None:
    """Return the number of the pattern that an answer chooses, from 1 to `count`.

    Returns:
        The number, or None if the answer names no number in this range.
    """
    said = strip_reasoning(text)[-MAX_ANSWER_CHARACTERS:]
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
    """Return the rest of the line, or the next line with content if the rest is empty."""
    rest = text[at : at + 10 * _LINE].splitlines()
    return next((line for line in rest if line.strip(_FRAME)), "")


class _Mention(NamedTuple):
    start: int
    end: int
    label: str


class _LabelMatcher:
    """A matcher that finds labels in an answer.

    It ignores case, matches whole words and prefers the longer label.

    Args:
        labels: The labels to find.
        ends: Pattern for the end of the part of a line that may name a label.
        silent: Whether an answer may say that a hypothesis does not apply.
    """

    def __init__(self, labels: Sequence[str], ends: re.Pattern[str], silent: bool = True) -> None:
        self._labels = {normalize_label(label): label for label in reversed(labels)}
        loose = [_loose(form) for form in self._labels]
        self._loosely = {
            form: label
            for form, label in zip(loose, self._labels.values(), strict=True)
            if loose.count(form) == 1
        }
        self._ends = ends
        self._silent = silent
        forms = sorted((form for form in self._labels if form), key=lambda f: (-len(f), f))
        self._order = [self._labels[form] for form in forms]
        self._words = re.compile("|".join(map(_as_words, forms))) if forms else None

    def match_exactly(self, said: str) -> str | None:
        """Return the label that equals the entire text, or None."""
        if len(said) > _LINE:
            return None
        form = normalize_label(said)
        return self._labels.get(form) or self._loosely.get(_loose(form))

    def judge_line(self, line: str) -> Judgement:
        """Return the judgement of one line.

        The line is the label, or begins with it in quotes, or its first sentence names that label
        alone and is not a question.
        """
        whole = self.match_exactly(line)
        if whole is None and (quoted := _QUOTED.match(line[:_LINE])):
            whole = self.match_exactly(quoted.group(2))
        if whole is not None:
            return whole
        line = _fold(line)
        named = self._mentioned(line)
        silent = _SILENT.search(line) if self._silent else None
        starts = [one.start for one in named] + ([silent.start()] if silent else [])
        if not starts:
            return None
        end = self._end(line, min(starts), named)
        if line[end : end + 1] == "?":  # a question is no judgement
            return None
        answers: set[Judgement] = {one.label for one in named if one.start < end}
        if silent and silent.start() < end:
            answers.add(NOT_APPLICABLE)
        return answers.pop() if len(answers) == 1 else None

    def mentions_label(self, line: str) -> bool:
        """Return whether a line mentions a label."""
        return bool(self._mentioned(_fold(line)))

    def find_only_label(self, text: str) -> str | None:
        """Return the label that the text mentions if it mentions exactly one."""
        named = {one.label for one in self._mentioned(_fold(text))}
        return named.pop() if len(named) == 1 else None

    def _mentioned(self, text: str) -> list[_Mention]:
        """Return the mentions of labels, without negated ones.

        A label of one character counts only if the text points to it, because it may be a word or a
        number.
        """
        found = []
        for place in self._words.finditer(text) if self._words else ():
            before = text[max(0, place.start() - 40) : place.start()]
            if _NEGATED.search(before):
                continue
            if place.end() - place.start() == 1:
                follows = text[place.end() : place.end() + 2].strip(_EDGES)
                if follows or not _POINTED.search(before):
                    continue
            found.append(
                _Mention(place.start(), place.end(), self._order[(place.lastindex or 1) - 1])
            )
        return found

    def _end(self, line: str, start: int, named: Sequence[_Mention]) -> int:
        """Return where the sentence that begins at `start` ends, ignoring ends inside a label."""
        for end in self._ends.finditer(line, start):
            if not any(one.start <= end.start() < one.end for one in named):
                return end.start()
        return len(line)


def _fold(line: str) -> str:
    """Normalise case and blanks for comparison, and cut a very long line."""
    return " ".join(unicodedata.normalize("NFKC", line[:_LINE]).casefold().split())


def _parts(form: str) -> list[str]:
    """Split a label at blanks, hyphens and underscores between words."""
    return re.split(r"(?<=\w)[\s_-]+(?=\w)", form)


def _loose(form: str) -> str:
    return " ".join(_parts(form))


def _as_words(form: str) -> str:
    """Return a regex group that matches a label as whole words.

    A number does not match inside a longer number.
    """
    before = r"(?<![\w.,+-])" if form[0].isdigit() else r"(?<!\w)"
    after = r"(?!\w|[.,]\d)" if form[-1].isdigit() else r"(?!\w)"
    return f"{before}({'[ _-]+'.join(map(re.escape, _parts(form)))}){after}"
