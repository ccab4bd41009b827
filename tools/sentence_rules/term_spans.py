"""Find the places in a text that a rule is about: the terms that its conditions look for.

    rule = compile_sentence('If the text mentions "luxur*", the label is deceptive.', public)
    find_term_spans(rule, "text", "A luxurious room", ("text",))     # [(2, 11)]

Terms count wherever they stand, also those that the rule denies or counts. A text that must begin or
end with a term has it only there. Lengths and columns of numbers or choices have no place in a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from .conditions import AllOf, AnyOf, Begins, Between, Comparison, Condition, MoreThan, Not
from .prepared_rows import WORD
from .quantities import Count, MentionedEntries, Quantity
from .rules import ConditionClause, Rule
from .terms import KINDS, TOKEN, Term, straighten_quotes

Span = tuple[int, int]
_Place = tuple[str, Term, str]  # a column, a term, and "first", "last" or "" for where it stands


def find_term_spans(rule: Rule, column: str, text: str, texts: Sequence[str]) -> list[Span]:
    """Return where terms of a rule occur in the text of a column: spans (start, end), in order.

    Spans that overlap are joined. The positions count the characters of `text`.

    Args:
        rule: The rule.
        column: The name of the column.
        text: The text.
        texts: The names of the text columns of the problem, as `find_text_columns` returns them.
    """
    wanted = {(term, edge) for name, term, edge in _places(rule, texts) if name == column}
    if not wanted:
        return []
    straight, origin = _map_characters(text, straighten_quotes)
    lower, lower_origin = _map_characters(text, lambda part: straighten_quotes(part).lower())
    tokens = [
        (match.group(), lower_origin[match.start()], lower_origin[match.end() - 1] + 1)
        for match in TOKEN.finditer(lower)
    ]
    found: list[Span] = []
    for term, edge in wanted:
        if term.kind:
            places = (match.span() for match in KINDS[term.kind].finditer(straight))
            found += ((origin[start], origin[end - 1] + 1) for start, end in places)
        else:
            found += _find_tokens(tokens, term, edge)
    return _join(found)


def _map_characters(text: str, change: Callable[[str], str]) -> tuple[str, list[int]]:
    """Return a changed text, and for each of its characters the place in `text` that it comes from.

    The change depends on single characters, with one exception: a Greek sigma at the end of a word has
    another lower case, which is as long.
    """
    parts = map(change, text)
    return change(text), [place for place, part in enumerate(parts) for _ in part]


def _find_tokens(tokens: Sequence[tuple[str, int, int]], term: Term, edge: str) -> Iterator[Span]:
    size = len(term.patterns)
    last = len(tokens)
    if edge == "last" and WORD.match(term.patterns[-1]):
        while last and not WORD.match(tokens[last - 1][0]):
            last -= 1
    starts = {"": range(last - size + 1), "first": range(1), "last": range(last - size, last)}[edge]
    for at in starts:
        if 0 <= at <= last - size and all(
            _matches(token[0], pattern)
            for token, pattern in zip(tokens[at : at + size], term.patterns, strict=True)
        ):
            yield tokens[at][1], tokens[at + size - 1][2]


def _matches(token: str, pattern: str) -> bool:
    if len(pattern) > 1 and pattern.endswith("*"):
        return token.startswith(pattern[:-1])
    return token == pattern


def _join(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _places(rule: Rule, texts: Sequence[str]) -> Iterator[_Place]:
    for clause in rule.clauses:
        if isinstance(clause, ConditionClause):
            yield from _terms(clause.condition, "".join(texts[:1]))
        else:
            for text in texts:
                yield from _terms(clause.by, text)


def _terms(part: Condition | Quantity, text: str) -> Iterator[_Place]:
    """Yield the terms of a condition; `text` is the column of "the text"."""
    match part:
        case Not(inner):
            yield from _terms(inner, text)
        case AllOf(parts) | AnyOf(parts):
            for one in parts:
                yield from _terms(one, text)
        case Comparison(quantity) | Between(quantity):
            yield from _terms(quantity, text)
        case MoreThan(left, right):
            yield from _terms(left, text)
            yield from _terms(right, text)
        case Begins(terms, name, last):
            yield from ((name or text, one, "last" if last else "first") for one in terms)
        case MentionedEntries(terms, name) | Count(terms, _, name):
            yield from ((name or text, one, "") for one in terms)
