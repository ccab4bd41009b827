"""Functions that read a condition on columns, rows or named quantities, beginning with its verb.

Examples are "the math grade is A", "they have more than 2 publications" and "the number of words in
the text is at least 3". Every reading function takes the position `at` in the sentence. It returns
the parsed object and the position after it, or None if the words at `at` do not match.
"""

from __future__ import annotations

from collections.abc import Callable

from ...records import Json
from . import vocabulary as words
from .column_lookup import singular, verb_forms
from .conditions import AllOf, AnyOf, Comparison, Condition, IsOneOf, Missing, MoreThan, Not
from .cursor import Bound, Cursor, Parsed
from .quantities import ColumnNumber, Count, Length, MentionedEntries, Quantity
from .subjects import read_in_text
from .term_lists import read_list, read_mark
from .terms import Term

LONGEST_VALUE = 4  # words
LONGEST_VALUES = 12  # pieces of "an A or B in math" before "in"


def read_column_condition(cursor: Cursor, at: int, column: str) -> Parsed[Condition]:
    """Read a condition on `column` that begins with its verb, such as "is at least 3"."""
    if be := cursor.read_be(at):
        no, at = be
    elif cursor.match_phrase(at, words.BOUNDS):
        no = False
    else:
        return None
    got = read_column_comparison(cursor, at, column)
    return got and ((Not(got[0]) if no else got[0]), got[1])


def read_column_comparison(cursor: Cursor, at: int, column: str) -> Parsed[Condition]:
    """Read what follows the verb in a condition on `column`.

    This is a list of values, a bound, another column to compare with, or "missing".
    """
    if got := read_presence(cursor, at, column):
        return got
    if got := read_other_values(cursor, at, column):
        return got
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


def read_presence(cursor: Cursor, at: int, column: str) -> Parsed[Condition]:
    """Read that a column has no value ("missing", "blank or empty") or that it has one ("given")."""
    for table, absent in ((words.ABSENT, True), (words.PRESENT, False)):
        got = cursor.match_phrase(at, table)
        if got is None:
            continue
        end = got[1]
        while more := cursor.match_phrase(cursor.skip_words(end, ",", "or"), table):
            if cursor.skip_words(end, ",", "or") == end:
                break
            end = more[1]
        return (Missing(column) if absent else Not(Missing(column))), end
    return None


def read_other_values(cursor: Cursor, at: int, column: str) -> Parsed[Condition]:
    """Read the values that a column does not have.

    Examples are "other than A or B", "anything but A", "a grade other than A" and "neither A nor B".
    """
    noun = cursor.skip_determiner(at)
    if cursor.word(noun) in words.VALUE_NOUNS:
        at = noun + 1
    other = cursor.match_phrase(at, words.OTHER_THAN)
    if cursor.word(at) == "neither":
        other = True, at + 1
    if other is None:
        return None
    links = ("nor",) if cursor.word(at) == "neither" else ("or", "nor", "and")
    found = read_values(cursor, cursor.skip_words(other[1], "either"), column, links)
    return found and (Not(IsOneOf(column, found[0])), found[1])


def read_values(
    cursor: Cursor, at: int, column: str, links: tuple[str, ...] = ("or",)
) -> Parsed[tuple[Json, ...]]:
    """Read values of `column` that are separated by commas and the words `links`."""
    found: list[Json] = []
    end = at
    while got := read_value(cursor, at, column):
        if found and cursor.kind(at) == "word" and cursor.read_be(got[1]):
            break  # in "major is Law or science is A", science is a column
        found.append(got[0])
        end = at = got[1]
        at += cursor.word(at) == ","
        if cursor.word(at) in links:
            at += 1
        elif at == end:
            break
    return (tuple(dict.fromkeys(found)), end) if found else None


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
            if (
                text == "a"
                and cursor.kind(end) == "word"
                and cursor.word(end) not in words.ENDS | {"in"}
            ):
                continue  # the article, not the value "A"
            if (found := cursor.naming.find_value(column, text)) is not None:
                return found, end
    if cursor.word(at) in ("true", "false"):
        return cursor.word(at) == "true", at + 1
    return None


# --- rows ----------------------------------------------------------------------


def read_row_condition(cursor: Cursor, at: int) -> Parsed[Condition]:
    """Read a condition on a row, after its subject.

    Examples are "have more than 2 publications", "have an A in math", "have no criminal record",
    "are a legacy student", "applied to Science or Medicine" and "without publications".
    """
    verb = cursor.word(at)
    be = cursor.read_be(at)
    if be and cursor.word(be[1]) in ("without", "lacking"):
        got = read_row_condition(cursor, be[1])
        return got and ((Not(got[0]) if be[0] else got[0]), got[1])
    if be:
        if cursor.word(be[1]) == "neither":
            return None if be[0] else read_neither(cursor, be[1] + 1, read_column_with_value)
        got = read_column_with_value(cursor, be[1])
        return read_denied_list(cursor, got) if be[0] else got
    if verb in words.WITHOUT:
        return read_absence(cursor, at + 1)
    if verb in words.HAS:
        at += 1 + (cursor.word(at + 1) == "had")
    elif verb in words.LIGHT_VERBS and cursor.word(at + 1) == "no":
        at += 1
    if cursor.word(at) == "no" and not cursor.match_phrase(at, words.BOUNDS):
        return read_absence(cursor, at + 1)
    if verb in words.HAS:
        if cursor.word(at) == "neither":
            return read_neither(cursor, at + 1, read_possession)
        return read_possession(cursor, cursor.skip_words(at, "either", "both"))
    return read_possession(cursor, at)


def read_possession(cursor: Cursor, at: int) -> Parsed[Condition]:
    """Read what a row has or did, such as "an A in math" or "donated to the school"."""
    for way in (
        read_bounded_column,
        read_done_amount,
        read_compared_column,
        read_value_in_column,
        read_column_with_value,
    ):
        if got := way(cursor, at):
            return got
    return None


def read_absence(cursor: Cursor, at: int) -> Parsed[Condition]:
    """Read what a row does not have, after "no" or "without"."""
    value = read_value_in_column(cursor, at)  # "no A in math"
    if value is None and (absent := read_absent_column(cursor, cursor.skip_determiner(at))):
        return absent
    got = value or read_possession(cursor, at)
    return got and (Not(got[0]), got[1])


def read_denied_list(cursor: Cursor, first: Parsed[Condition]) -> Parsed[Condition]:
    """Negate the condition `first`, and all conditions that follow it with "or" and an article.

    "not a legacy student or a first-generation student" denies both.
    """
    if first is None:
        return None
    parts, end = [first[0]], first[1]
    while (link := cursor.skip_words(end, ",")) is not None and cursor.word(link) in ("or", "nor"):
        got = read_column_with_value(cursor, link + 1)
        if got is None or cursor.word(link + 1) in words.PRONOUNS:
            break
        parts.append(got[0])
        end = got[1]
    return (Not(parts[0]) if len(parts) == 1 else Not(AnyOf(tuple(parts)))), end


def read_neither(
    cursor: Cursor, at: int, way: Callable[[Cursor, int], Parsed[Condition]]
) -> Parsed[Condition]:
    """Read "A nor B" after "neither", where `way` reads A and B."""
    parts: list[Condition] = []
    got = way(cursor, at)
    while got is not None:
        parts.append(got[0])
        end = got[1]
        link = cursor.skip_words(end, ",")
        if cursor.word(link) != "nor":
            return (Not(AnyOf(tuple(parts))), end) if len(parts) > 1 else None
        got = way(cursor, link + 1)
    return None


def read_bounded_column(cursor: Cursor, at: int) -> Parsed[Condition]:
    """Read a bound and a column of numbers, such as "at least 2 publications".

    With a column of truth values, "at least one" means true, and "zero" means false.
    """
    bound = cursor.read_bound(at)
    column = bound and cursor.read_column(bound[1])
    if not bound or not column:
        return None
    name, kind = column[0], cursor.naming.kind(column[0])
    if kind == "number":
        return bound[0].apply_to(ColumnNumber(name)), column[1]
    if kind == "truth" and bound[0].high is None:
        if (bound[0].relation, bound[0].low) in (("at least", 1), ("more than", 0)):
            return IsOneOf(name, (True,)), column[1]
        if (bound[0].relation, bound[0].low) in (("exactly", 0), ("less than", 1), ("at most", 0)):
            return IsOneOf(name, (False,)), column[1]
    return None


def read_done_amount(cursor: Cursor, at: int) -> Parsed[Condition]:
    """Read a verb with a bounded column, such as "completed more than 2 volunteer projects".

    The verb is one of the description of the column, or only says that the row has something.
    """
    verb = cursor.word(at)
    start = cursor.skip_words(at + 1, "in", "for", "on", "of")
    bound = cursor.read_bound(start) if verb else None
    column = bound and cursor.read_column(bound[1])
    if not bound or not column:
        return None
    about = cursor.naming.about[column[0]][1]
    if verb in words.LIGHT_VERBS or about.intersection(map(singular, (verb, *verb_forms(verb)))):
        return read_bounded_column(cursor, start)
    return None


def read_compared_column(cursor: Cursor, at: int) -> Parsed[Condition]:
    """Read "a higher wealth index than 8" or "more publications than letters"."""
    start = cursor.skip_determiner(at)
    more = cursor.word(start) in words.HIGHER
    if not more and cursor.word(start) not in words.LOWER:
        return None
    column = cursor.read_column(start + 1)
    if column is None or cursor.word(column[1]) != "than":
        return None
    if cursor.naming.kind(column[0]) != "number":
        cursor.check_numeric(at, column[0])
        return None
    after = column[1] + 1
    if number := cursor.read_number(after):
        bound = Bound("more than" if more else "less than", number[0])
        return bound.apply_to(ColumnNumber(column[0])), number[1]
    other = cursor.read_numeric_column(cursor.skip_determiner(after))
    if other is None:
        return None
    sides = ColumnNumber(column[0]), ColumnNumber(other[0])
    return MoreThan(*(sides if more else sides[::-1])), other[1]


def read_absent_column(cursor: Cursor, at: int) -> Parsed[Condition]:
    """Read columns of which a row has nothing, after "no" or "without".

    Examples are "criminal record", "publications", and "criminal record or publications" (neither of
    both).
    """
    parts: list[Condition] = []
    end = at
    while column := (
        cursor.read_column(at + (cursor.word(at) == "any"))
        or (cursor.read_verb_column(at) if singular(cursor.word(at)).endswith("ion") else None)
    ):
        match cursor.naming.kind(column[0]):
            case "truth":
                parts.append(IsOneOf(column[0], (False,)))
            case "number":
                parts.append(Comparison(ColumnNumber(column[0]), "exactly", 0))
            case "choice" if not parts and cursor.naming.find_value(column[0], "none") is None:
                parts.append(Missing(column[0]))
            case _:
                break
        end = column[1]
        link = cursor.skip_words(end, ",")
        if cursor.word(link) not in ("or", "nor") or isinstance(parts[-1], Missing):
            break
        at = link + 1
    if not parts:
        return None
    return (parts[0] if len(parts) == 1 else AllOf(tuple(parts))), end


def read_value_in_column(cursor: Cursor, at: int) -> Parsed[Condition]:
    """Read values and a column, or several columns.

    Examples are "an A or B in math", "a grade other than A in math" and "an A in math and science".
    """
    for place in range(at + 1, at + LONGEST_VALUES):
        if cursor.word(place) in ("in", "for", "on"):
            columns = read_columns(cursor, place + 1)
            if columns is None:
                return None
            names, link, end = columns
            parts = [read_values_until(cursor, at, place, name) for name in names]
            found = tuple(part for part in parts if part is not None)
            if len(found) < len(parts):
                return None
            if len(found) == 1:
                return found[0], end
            several = AllOf(found) if link == "and" else AnyOf(found)
            return (Not(several) if link == "nor" else several), end
    return None


def read_columns(cursor: Cursor, at: int) -> tuple[list[str], str, int] | None:
    """Read columns that are separated by one of "and", "or" and "nor".

    Returns:
        The columns, the word between them and the position after them.
    """
    announced = cursor.word(at)
    at = cursor.skip_words(at, "both", "either", "neither")
    first = cursor.read_column(cursor.skip_determiner(at))
    if first is None:
        return None
    names, end, link = [first[0]], first[1], ""
    while (word := cursor.word(cursor.skip_words(end, ","))) in ("and", "or", "nor"):
        after = cursor.skip_words(end, ",") + 1
        after += cursor.word(after) in words.DETERMINERS - {"a", "an"}
        other = cursor.read_column(after)
        if other is None or any(cursor.word(n) in ("in", "for") for n in range(after, other[1])):
            break  # "… and an A in science" is another condition
        if (link and word != link) or other[0] in names:
            break
        if cursor.read_be(other[1]) or cursor.naming.kind(other[0]) != "choice":
            break
        names.append(other[0])
        end, link = other[1], word
    expected = {"both": "and", "either": "or", "neither": "nor"}.get(announced)
    if (expected and link != expected) or (link == "nor" and not expected):
        return None
    return names, link, end


def read_values_until(cursor: Cursor, at: int, stop: int, column: str) -> Condition | None:
    """Read the values of `column` that end at position `stop`, before "in"."""
    other = read_other_values(cursor, at, column)
    if other and other[1] == stop:
        return other[0]
    noun = cursor.skip_determiner(at)
    if cursor.word(noun) in words.VALUE_NOUNS and cursor.word(noun + 1) == "of":
        at = noun + 2
    found = read_values(cursor, at, column)
    if found and found[1] + (cursor.word(found[1]) in words.VALUE_NOUNS) == stop:
        return IsOneOf(column, found[0])
    return None


def read_column_with_value(cursor: Cursor, at: int) -> Parsed[Condition]:
    """Read a column followed by its value or by a bound.

    Examples are "a math grade of A", "applied to Science", "donated to the school" and "a wealth
    index greater than 8".
    """
    article = cursor.word(at) in ("a", "an", "the", "any")
    column = cursor.read_column(at + article) or (None if article else cursor.read_verb_column(at))
    if column is None:
        return None
    name, end = column
    kind = cursor.naming.kind(name)
    if kind == "truth":
        return IsOneOf(name, (True,)), end
    if kind == "number" and cursor.word(at) == "any":
        return Comparison(ColumnNumber(name), "at least", 1), end
    bare = not article and singular(cursor.word(end - 1)) != cursor.word(end - 1)
    if (
        kind == "number"
        and bare
        and cursor.word(at - 1) in words.HAS | {"and", "or", "nor", "neither", "either", "both"}
        and cursor.naming.counts(name)
    ):
        following = cursor.word(end)
        if following in words.ENDS | {"", ",", ".", ";", ")"}:  # "have publications"
            return Comparison(ColumnNumber(name), "at least", 1), end
    end = cursor.skip_words(end, "of", "to", "for", "in", "as", "from", "is", "are")
    got = read_quantity_comparison(cursor, end, ColumnNumber(name)) if kind == "number" else None
    if got is None and kind in ("choice", "number"):
        if got := read_other_values(cursor, end, name):
            return got
        some = read_values(cursor, cursor.skip_words(end, "either"), name)
        got = some and (IsOneOf(name, some[0]), some[1])
    return got


def read_quantity_condition(cursor: Cursor, at: int) -> Parsed[Condition]:
    """Read a condition such as "the number of words in the text is at least 3"."""
    if cursor.match_words(at, "the", "number", "of") is None:
        return None
    left = read_quantity(cursor, at)
    be = left and cursor.read_be(left[1])
    if left is None or be is None:
        return None
    got = read_quantity_comparison(cursor, be[1], left[0])
    return got and ((Not(got[0]) if be[0] else got[0]), got[1])


def read_quantity_comparison(cursor: Cursor, at: int, quantity: Quantity) -> Parsed[Condition]:
    """Read a comparison of `quantity` with a number or another quantity."""
    bound = cursor.read_bound(at)
    if bound and cursor.is_percentage(at, bound[1]) and not isinstance(quantity, ColumnNumber):
        return None
    if bound:
        percent = isinstance(quantity, ColumnNumber) and cursor.word(bound[1]) == "percent"
        return bound[0].apply_to(quantity), bound[1] + percent
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
