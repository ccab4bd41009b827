"""A recursive-descent parser for conditions with "and", "or", "not" and brackets.

"and" binds more tightly than "or". Each position of a sentence is parsed only once for each
subject, so the time is proportional to the length of the sentence.

Every reading function takes the position `at` in the sentence. It returns the parsed object and the
position after it, or None if the words at `at` do not match.
"""

from __future__ import annotations

from typing import TypeAlias

from ...records import Json, UsageError
from . import text_conditions
from . import vocabulary as words
from .conditions import AllOf, AnyOf, Comparison, Condition, IsOneOf, Missing, MoreThan, Not
from .cursor import Cursor, Parsed
from .quantities import ColumnNumber, Count, Length, MentionedEntries, Quantity
from .subjects import ROW, Subject, read_in_text, read_subject
from .term_lists import read_list, read_mark
from .terms import Term

# --- Conditions on a column ("the math grade is A"), on a row by its columns ("they have more than
# 2 publications"), and on named quantities ("the number of words in the text").

LONGEST_VALUE = 4  # words
LONGEST_VALUES = 12  # pieces of "an A or B in math" before "in"


def read_column_condition(cursor: Cursor, at: int, column: str) -> Parsed[Condition]:
    """Read a condition on `column` that begins with its verb, such as "is at least 3"."""
    if cursor.word(at) in words.IS and cursor.word(at) != "=":
        at += 1
    elif not cursor.match_phrase(at, words.BOUNDS):
        return None
    no = cursor.word(at) == "not"
    got = read_column_comparison(cursor, at + no, column)
    return got and ((Not(got[0]) if no else got[0]), got[1])


def read_column_comparison(cursor: Cursor, at: int, column: str) -> Parsed[Condition]:
    """Read what follows the verb in a condition on `column`.

    This is a list of values, a bound, another column to compare with, or "missing".
    """
    if cursor.word(at) in words.ABSENT:
        return Missing(column), at + 1
    if cursor.word(at) in words.PRESENT:
        return Not(Missing(column)), at + 1
    bound = cursor.read_bound(at)
    relation = cursor.match_phrase(at, words.BOUNDS)
    if relation or (bound and (bound[0].relation != "exactly" or bound[0].high is not None)):
        compares = cursor.naming.is_numeric(column)
        got = read_quantity_comparison(cursor, at, ColumnNumber(column)) if compares else None
        if got or not relation or relation[0] != "exactly":
            return got if compares or cursor.check_numeric(at, column) else None
        at = relation[1]
    several = cursor.match_phrase(at, words.ANY_OF)
    if several and several[0] == "all":
        return None
    at = several[1] if several else cursor.skip_words(at, "either", "in", "among")
    found = read_values(cursor, cursor.skip_words(at, ":"), column)
    if found is None:
        cursor.record_failure(at, f"no value of {column!r} at {cursor.quote_from(at)}")
        return None
    condition = IsOneOf(column, found[0])
    return (Not(condition) if several and several[0] == "none" else condition), found[1]


def read_values(cursor: Cursor, at: int, column: str) -> Parsed[tuple[Json, ...]]:
    """Read values of `column` that are separated by commas and "or"."""
    found: list[Json] = []
    end = at
    while got := read_value(cursor, at, column):
        found.append(got[0])
        end = at = got[1]
        at += cursor.word(at) == ","
        if cursor.word(at) == "or":
            at += 1
        elif at == end:
            break
    return (tuple(found), end) if found else None


def read_value(cursor: Cursor, at: int, column: str) -> Parsed[Json]:
    """Read one value of `column`: a quoted text, a number, or unquoted words."""
    if cursor.kind(at) == "quoted":
        text = cursor.pieces[at].text
        return (text, at + 1) if text.strip() else None
    if cursor.kind(at) == "number":
        number = float(cursor.pieces[at].text)
        return (int(number) if number.is_integer() and abs(number) < 1e15 else number), at + 1
    for start in (at + (cursor.word(at) in ("a", "an", "the")), at):  # In "a B" the value is B.
        for end in range(min(start + LONGEST_VALUE, len(cursor.pieces)), start, -1):
            if any(cursor.kind(n) not in ("word", "number") for n in range(start, end)):
                continue
            text = " ".join(cursor.pieces[n].raw for n in range(start, end))
            if (found := cursor.naming.find_value(column, text)) is not None:
                return found, end
    if cursor.word(at) in ("true", "false"):
        return cursor.word(at) == "true", at + 1
    return None


# --- rows ----------------------------------------------------------------------


def read_row_condition(cursor: Cursor, at: int) -> Parsed[Condition]:
    """Read a condition on a row, after its subject.

    Examples are "have more than 2 publications", "have an A in math", "have no criminal record",
    "are a legacy student" and "applied to Science or Medicine".
    """
    verb = cursor.word(at)
    if verb in words.HAS or verb == "no":
        at += verb != "no"
        for way in (
            read_bounded_column,
            read_absent_column,
            read_value_in_column,
            read_column_with_value,
        ):
            if got := way(cursor, at):
                return got
        return None
    if got := read_bounded_column(cursor, at):
        return got
    no = verb in words.IS and cursor.word(at + 1) == "not"
    got = (
        read_column_with_value(cursor, at + 1 + no)
        if verb in words.IS
        else read_column_with_value(cursor, at)
    )
    return got and ((Not(got[0]) if no else got[0]), got[1])


def read_bounded_column(cursor: Cursor, at: int) -> Parsed[Condition]:
    """Read a bound and a column of numbers, such as "at least 2 publications"."""
    bound = cursor.read_bound(at)
    column = bound and cursor.read_column(bound[1])
    if not bound or not column or cursor.naming.kind(column[0]) != "number":
        return None
    return bound[0].apply_to(ColumnNumber(column[0])), column[1]


def read_absent_column(cursor: Cursor, at: int) -> Parsed[Condition]:
    """Read "no" and a column, such as "no criminal record" or "no publications"."""
    if cursor.word(at) != "no" and cursor.word(at - 1) != "no":
        return None
    column = cursor.read_column(at + (cursor.word(at) == "no"))
    if column is None:
        return None
    match cursor.naming.kind(column[0]):
        case "truth":
            return IsOneOf(column[0], (False,)), column[1]
        case "number":
            return Comparison(ColumnNumber(column[0]), "exactly", 0), column[1]
    return None


def read_value_in_column(cursor: Cursor, at: int) -> Parsed[Condition]:
    """Read values and a column, such as "an A or B in math"."""
    for place in range(at + 1, at + LONGEST_VALUES):
        if cursor.word(place) in ("in", "for", "on"):
            column = cursor.read_column(cursor.skip_determiner(place + 1))
            found = column and read_values(cursor, at, column[0])
            if column and found and found[1] == place:
                return IsOneOf(column[0], found[0]), column[1]
            return None
    return None


def read_column_with_value(cursor: Cursor, at: int) -> Parsed[Condition]:
    """Read a column followed by its value or by a bound.

    Examples are "a math grade of A", "applied to Science", "donated to the school" and "a wealth
    index greater than 8".
    """
    article = cursor.word(at) in ("a", "an", "the", "any")
    column = cursor.read_column(at + article)
    if column is None:
        return None
    name, end = column
    kind = cursor.naming.kind(name)
    if kind == "truth":
        return IsOneOf(name, (True,)), end
    if kind == "number" and cursor.word(at) == "any":
        return Comparison(ColumnNumber(name), "at least", 1), end
    end = cursor.skip_words(end, "of", "to", "for", "in", "as", "from", "is", "are")
    got = read_quantity_comparison(cursor, end, ColumnNumber(name)) if kind == "number" else None
    if got is None and kind in ("choice", "number"):
        some = read_values(cursor, end, name)
        got = some and (IsOneOf(name, some[0]), some[1])
    return got


def read_quantity_condition(cursor: Cursor, at: int) -> Parsed[Condition]:
    """Read a condition such as "the number of words in the text is at least 3"."""
    if cursor.match_words(at, "the", "number", "of") is None:
        return None
    left = read_quantity(cursor, at)
    if left is None or cursor.word(left[1]) not in words.IS:
        return None
    at = left[1] + 1
    no = cursor.word(at) == "not"
    got = read_quantity_comparison(cursor, at + no, left[0])
    return got and ((Not(got[0]) if no else got[0]), got[1])


def read_quantity_comparison(cursor: Cursor, at: int, quantity: Quantity) -> Parsed[Condition]:
    """Read a comparison of `quantity` with a number or another quantity."""
    bound = cursor.read_bound(at)
    if bound and cursor.is_percentage(at, bound[1]) and not isinstance(quantity, ColumnNumber):
        return None
    if bound:
        return bound[0].apply_to(quantity), bound[1]
    relation = cursor.match_phrase(at, words.BOUNDS)
    if relation is None or relation[0] not in ("more than", "less than"):
        return None
    other = read_quantity(cursor, relation[1])
    if other is None:
        return None
    more = relation[0] == "more than"
    return (MoreThan(quantity, other[0]) if more else MoreThan(other[0], quantity)), other[1]


def read_quantity(cursor: Cursor, at: int) -> Parsed[Quantity]:
    """Read a quantity: "the number of …", or the name of a column of numbers."""
    after = cursor.match_words(at, "the", "number", "of")
    if after is None:
        column = cursor.read_numeric_column(cursor.skip_determiner(at))
        return column and (ColumnNumber(column[0]), column[1])
    unit = cursor.match_phrase(after, words.UNITS)
    entries = cursor.match_words(after, "entries", "of")
    occurrences = cursor.match_phrase(after, words.OCCURRENCES)
    terms: Parsed[tuple[Term, ...]] = None
    if named := read_mark(cursor, after):
        terms = (named[0],), named[1]
    elif unit:
        text = read_in_text(cursor, unit[1])
        return text and (Length(unit[0], text[0]), text[1])
    elif entries is not None:
        terms = read_list(cursor, entries, announced=True)
        text = terms and read_in_text(cursor, terms[1])
        return text and terms and (MentionedEntries(terms[0], text[0]), text[1])
    elif occurrences:
        terms = read_list(cursor, occurrences[1], announced=True)
    if terms is None:
        column = cursor.read_numeric_column(after)
        return column and (ColumnNumber(column[0]), column[1])
    share = cursor.skip_per_100_words(terms[1])
    text = read_in_text(cursor, share or terms[1])
    return text and (Count(terms[0], share is not None, text[0]), text[1])


MAX_DEPTH = 40  # levels of nested brackets and negations

# A condition, the place after it, and the subject that "it" refers to from there on.
ReadCondition: TypeAlias = "tuple[Condition, int, Subject | None] | None"


class ConditionReader:
    """A parser of the conditions in one sentence, which can start at any position."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.seen: dict[tuple[int, Subject | None], ReadCondition] = {}
        self.depth = 0
        self.denied: set[int] = set()  # the places at which a predicate with "does not" ends

    def read_condition(self, at: int, about: Subject | None = None) -> ReadCondition:
        """Read a condition from position `at` on.

        Args:
            at: Position of the first word.
            about: The subject that applies if the condition does not name one; None if there is
                none.

        Returns:
            The condition, the position after it and its last subject. None if no condition begins
            at `at`.
        """
        return self.read_joined(at, about, "or")

    def read_joined(self, at: int, about: Subject | None, by: str) -> ReadCondition:
        """Read conditions that are joined by the word `by`, which is "or" or "and".

        The arguments `at` and `about` and the result are those of `read_condition`.
        """
        parts: list[Condition] = []
        end = at
        at = self.cursor.skip_words(at, "either", "both")
        while True:
            got = self.read_joined(at, about, "and") if by == "or" else self.read_part(at, about)
            if got is None:
                break
            parts.append(got[0])
            end, about = got[1], got[2]
            after = self.cursor.skip_words(end, ",")
            link = self.cursor.word(after)
            if link != by and not (by == "and" and link == "but"):
                break
            if (
                link != "but"
                and end in self.denied
                and self.cursor.word(after + 1) in words.BARE_VERBS
            ):
                self.cursor.record_failure(
                    end, f"is that denied too? {self.cursor.quote_from(after)}"
                )
                return None
            at = self.cursor.skip_words(
                after + 1, ",", "also", "if", "when", "that", "additionally", "either"
            )
        if not parts:
            return None
        if len(parts) == 1:
            return parts[0], end, about
        return (AllOf(tuple(parts)) if by == "and" else AnyOf(tuple(parts))), end, about

    def read_part(self, at: int, about: Subject | None) -> ReadCondition:
        """Read one operand of "and", using a cache.

        The arguments and the result are those of `read_condition`.
        """
        key = (at, about)
        if key not in self.seen:
            self.seen[key] = None
            self.depth += 1
            if self.depth > MAX_DEPTH:
                self.cursor.record_failure(at, f"conditions nested more than {MAX_DEPTH} deep")
            else:
                self.seen[key] = self.parse_part(at, about)
            self.depth -= 1
        return self.seen[key]

    def parse_part(self, at: int, about: Subject | None) -> ReadCondition:
        """Read one operand of "and": a negated condition, a condition in brackets, or a simple one.

        The arguments and the result are those of `read_condition`.
        """
        for denial in (("it", "is", "not", "the", "case", "that"), ("not",)):
            after = self.cursor.match_words(at, *denial)
            if after is not None:
                got = self.read_part(after, about)
                return got and (Not(got[0]), got[1], got[2])
        if self.cursor.word(at) == "(":
            got = self.read_condition(at + 1, about)
            closed = got is not None and self.cursor.word(got[1]) == ")"
            return (got[0], got[1] + 1, got[2]) if got and closed else None
        return self.read_atom(at, about)

    def read_atom(self, at: int, about: Subject | None) -> ReadCondition:
        """Read a condition without "and", "or" and "not", or return None if there is none.

        If the condition is invalid, the reason is recorded. The arguments and the result are those
        of `read_condition`.
        """
        try:
            return self.parse_atom(at, about)
        except UsageError as error:
            self.cursor.record_failure(at, str(error))
            return None

    def parse_atom(self, at: int, about: Subject | None) -> ReadCondition:
        """Read a condition without "and", "or" and "not".

        The arguments and the result are those of `read_condition`.

        Raises:
            UsageError: The condition is invalid.
        """
        number = read_quantity_condition(self.cursor, at)
        if number:
            return number[0], number[1], about
        for who, after in self.find_subjects(at, about):
            got = self.read_predicate(after, who)
            if got:
                return got[0], got[1], who
        self.cursor.record_failure(
            at, f"no condition of the grammar begins at {self.cursor.quote_from(at)}"
        )
        return None

    def find_subjects(self, at: int, about: Subject | None) -> list[tuple[Subject, int]]:
        """Return the possible subjects of a condition, each with the position of its verb.

        `about` is the subject of the previous condition, to which a pronoun may refer.
        """
        found: list[tuple[Subject, int]] = []
        if named := read_subject(self.cursor, at):
            found.append(named)
        noun = self.cursor.skip_determiner(at)
        if self.cursor.word(noun) in words.ENTITIES:  # "they applied …"
            found.append((ROW, noun + 1))
        if about is not None:
            found += [(about, noun + (self.cursor.word(noun) in words.PRONOUNS)), (about, at)]
        return found

    def read_predicate(self, at: int, who: Subject) -> Parsed[Condition]:
        """Read a predicate about the subject `who`, beginning with its verb."""
        denied = self.cursor.match_phrase(at, words.DENIES)
        got = self.read_affirmative(denied[1] if denied else at, who)
        if got and denied:
            self.denied.add(got[1])
        return got and ((Not(got[0]) if denied else got[0]), got[1])

    def read_affirmative(self, at: int, who: Subject) -> Parsed[Condition]:
        """Read a predicate about the subject `who` that is not negated."""
        text = who.column
        if who.kind == "row":
            if got := read_row_condition(self.cursor, at):
                return got
            if len(self.cursor.texts) != 1:
                return None
        got = text_conditions.read_edge(self.cursor, at, text) or text_conditions.read_mention(
            self.cursor, at, text
        )
        got = got or text_conditions.read_length(self.cursor, at, text)
        return got or (read_column_condition(self.cursor, at, text) if text else None)
