"""Properties of built rules: their sentence compiles to the same rule, swapped texts give the
swapped label, and codes are those of a slow reading row by row.

Internals: properties hold for every relation, unit and kind of term, whose lists are not public.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peirce.records import UsageError
from peirce.tests.counts import drawn
from peirce.tools.sentence_rules import (
    AllOf,
    AnyOf,
    Begins,
    Between,
    ColumnNumber,
    Comparison,
    ConditionClause,
    Count,
    IsOneOf,
    Length,
    MentionedEntries,
    Missing,
    MoreThan,
    Not,
    PreferenceClause,
    PreparedRows,
    Rule,
    Term,
    compile_sentence,
    tokenize,
)
from peirce.tools.sentence_rules.conditions import RELATIONS
from peirce.tools.sentence_rules.quantities import UNITS
from peirce.tools.sentence_rules.terms import KINDS
from peirce.tools.sentence_rules.vocabulary import RESERVED

ODD = ("text", "not", "is", "Math grade", "a`b", "num_letters", "Zahl ü", 'x"y', "and", "the label")
FIELDS: dict[str, Any] = {
    "labels": ["yes", "no stress", 'odd "label"; otherwise', "headline 1"],
    "shape": "fields",
    "columns": {
        **{name: {"kind": "number" if n % 2 else "choice"} for n, name in enumerate(ODD)},
        "review": {"kind": "text"},
        "donated": {"kind": "truth"},
    },
}
PAIR: dict[str, Any] = {
    "labels": ["second", "first"],
    "shape": "pair",
    "columns": {"tweet_2": {"kind": "text"}, "tweet_1": {"kind": "text"}},
}

letters = st.sampled_from("ab !?.,'\"-*\\`1$(|)é_")
quoted = st.one_of(
    st.text(letters, min_size=1, max_size=6), st.sampled_from(sorted(RESERVED)), st.text(max_size=4)
).filter(lambda text: bool(tokenize(text)))
term_of = st.one_of(st.builds(Term, quoted), st.builds(Term, kind=st.sampled_from(sorted(KINDS))))
plain_term = st.builds(Term, quoted)
number = st.one_of(st.integers(-9, 99), st.floats(allow_nan=False, allow_infinity=False))


def lists(entry: Any) -> Any:
    return st.lists(entry, min_size=1, max_size=4, unique=True).map(tuple)


def conditions(texts: tuple[str, ...], columns: tuple[str, ...]) -> Any:
    text = st.sampled_from(texts)
    measure = st.one_of(
        st.builds(MentionedEntries, lists(term_of), text),
        st.builds(Count, lists(term_of), st.booleans(), text),
        st.builds(Length, st.sampled_from(UNITS), text),
    )
    atoms = [st.builds(Begins, lists(plain_term), text, st.booleans())]
    quantity = measure
    if columns:
        column = st.sampled_from(columns)
        value = st.one_of(
            st.text(letters, min_size=1, max_size=5).filter(str.strip), st.integers(-5, 5),
            st.floats(-5, 5).map(lambda x: round(x, 3)), st.booleans(),
        )  # fmt: skip
        quantity = st.one_of(measure, st.builds(ColumnNumber, st.sampled_from(ODD[1::2])))
        atoms += [
            st.builds(Missing, column),
            st.builds(
                IsOneOf, column, st.lists(value, min_size=1, max_size=3, unique=True).map(tuple)
            ),
        ]
    atom = st.one_of(
        st.builds(Comparison, quantity, st.sampled_from(sorted(RELATIONS)), number),
        st.builds(Between, quantity, number, number),
        st.builds(MoreThan, quantity, quantity),
        *atoms,
    )
    return st.recursive(
        atom,
        lambda part: st.one_of(
            st.builds(Not, part),
            st.builds(AllOf, st.lists(part, min_size=2, max_size=3).map(tuple)),
            st.builds(AnyOf, st.lists(part, min_size=2, max_size=3).map(tuple)),
        ),
        max_leaves=5,
    )


def rules(public: Any, clause: Any) -> Any:
    label = st.sampled_from(public["labels"])
    return st.builds(
        Rule, st.lists(clause(label), min_size=1, max_size=3).map(tuple), st.none() | label
    )


field_rules = rules(
    FIELDS,
    lambda label: st.builds(ConditionClause, conditions(("", "review"), (*ODD, "donated")), label),
)
symmetric = st.one_of(
    st.builds(
        PreferenceClause,
        st.one_of(
            st.builds(MentionedEntries, lists(term_of)),
            st.builds(Count, lists(term_of), st.booleans()),
            st.builds(Length, st.sampled_from(UNITS)),
        ),
        st.booleans(),
    ),
    st.builds(PreferenceClause, conditions(("",), ())),
)
pair_rules = rules(
    PAIR,
    lambda label: st.one_of(
        symmetric, st.builds(ConditionClause, conditions(("tweet_1", "tweet_2"), ()), label)
    ),
)


@pytest.mark.counted
@settings(max_examples=drawn(200, soak=600))
@given(field_rules)
def test_a_rule_over_fields_is_read_back_as_it_was_written(rule: Rule) -> None:
    assert compile_sentence(rule.to_text(), FIELDS) == rule


@pytest.mark.counted
@settings(max_examples=drawn(130, soak=400))
@given(pair_rules)
def test_a_rule_over_a_pair_is_read_back_as_it_was_written(rule: Rule) -> None:
    assert compile_sentence(rule.to_text(), PAIR) == rule


texts = st.text(st.sampled_from("ab !?.1#@A"), max_size=12)


@pytest.mark.counted
@settings(max_examples=drawn(100, soak=300))
@given(
    st.lists(symmetric, min_size=1, max_size=2),
    st.lists(st.tuples(texts, texts), min_size=1, max_size=6),
)
def test_swapped_texts_give_the_swapped_label(clauses: Any, pairs: Any) -> None:
    rule = Rule(tuple(clauses))
    there, swapped = (
        rule.codes(PreparedRows([{"tweet_1": p[a], "tweet_2": p[b]} for p in pairs], PAIR))
        for a, b in ((0, 1), (1, 0))
    )
    assert [{-1: -1, 0: 1, 1: 0}[int(code)] for code in there] == swapped.tolist()


def slow_places(text: str, term: Term) -> set[int]:
    """Where a term begins in a text, token by token."""
    cut, patterns = tokenize(text), term.patterns

    def fits(token: str, pattern: str) -> bool:
        stem = len(pattern) > 1 and pattern.endswith("*")
        return token.startswith(pattern[:-1]) if stem else token == pattern

    return {
        n
        for n in range(len(cut) - len(patterns) + 1)
        if all(fits(cut[n + k], pattern) for k, pattern in enumerate(patterns))
    }


@pytest.mark.counted
@settings(max_examples=drawn(100, soak=300))
@given(
    st.lists(st.text(st.sampled_from("ab b.*A"), max_size=14), min_size=1, max_size=5),
    lists(
        st.builds(Term, st.text(st.sampled_from("ab .*"), min_size=1, max_size=5).filter(tokenize))
    ),
)
def test_counts_are_those_of_a_slow_reading(some: list[str], terms: tuple[Term, ...]) -> None:
    rows = PreparedRows(
        [{"t": text} for text in some],
        {"labels": ["a", "b"], "shape": "text", "columns": {"t": {"kind": "text"}}},
    )
    places = [[slow_places(text, term) for term in terms] for text in some]
    assert MentionedEntries(terms).values(rows).tolist() == [sum(map(bool, p)) for p in places]
    counts = [len(set().union(*p)) for p in places]
    assert Count(terms).values(rows).tolist() == counts
    words = [len(re.findall(r"\w+", text)) for text in some]
    assert Length("words").values(rows).tolist() == words
    assert Length("different words").values(rows).tolist() == [
        len(set(re.findall(r"\w+", text.lower()))) for text in some
    ]
    np.testing.assert_allclose(
        Count(terms, share=True).values(rows),
        [100 * c / w if w else 0 for c, w in zip(counts, words, strict=True)],
    )
    assert Begins(terms).holds(rows).tolist() == [any(0 in one for one in p) for p in places]


@pytest.mark.parametrize(
    "build",
    [
        lambda: Term(" "), lambda: Term(kind="verb"), lambda: MentionedEntries(()), lambda: Rule(()),
        lambda: MentionedEntries((Term("A"), Term("a"))), lambda: Comparison(Length(), "at least", float("nan")),
        lambda: Comparison(Length(), "near", 1), lambda: IsOneOf("math", ()), lambda: IsOneOf("math", (" ",)),
        lambda: AllOf((Missing("a"),)), lambda: PreferenceClause(Missing("a"), fewer=True),
        lambda: PreferenceClause(Length("words", "tweet_1")), lambda: Length("pages"),
    ],
)  # fmt: skip
def test_what_means_nothing_cannot_be_built(build: Any) -> None:
    with pytest.raises(UsageError):
        build()


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (Comparison(Length("sentences"), "at least", 1), "has at least 1 sentence"),
        (Comparison(Length("different words"), "more than", 1), "has more than 1 different word"),
        (Comparison(Length("words"), "at least", 11), "has at least 11 words"),
        (Between(Length("words"), 0, 1), "has between 0 and 1 words"),
        (Comparison(Count((Term("!"),)), "at most", 1), 'has at most 1 occurrence of "!"'),
    ],
)
def test_one_is_followed_by_the_singular(condition: Any, words: str) -> None:
    public = {"labels": ["a", "b"], "columns": {"text": {"kind": "text"}}, "shape": "text"}
    rule = Rule((ConditionClause(condition, "a"),), "b")
    assert rule.to_text().startswith(f"If the text {words}, ")
    assert compile_sentence(rule.to_text(), public) == rule
    assert compile_sentence(f"Weak evidence: weak evidence: {rule.to_text()}", public) == rule


def test_characters_of_scripts_without_spaces_are_words() -> None:
    assert tokenize("日本 ok, กรุง한국") == ["日", "本", "ok", ",", "ก", "รุ", "ง", "한국"]
    assert Term("日本") == Term("日 本") and Term("日本").text == "日本"
    assert Term("日本*") == Term("日本") and Term("iPhone手机").patterns == ("iphone", "手", "机")
