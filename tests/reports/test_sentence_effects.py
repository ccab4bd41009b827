"""Effects of sentences: which rows are counted, what is compared, and which texts are told.

Internals: tables, groups and chosen texts are looked at before they are rounded and printed.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled import problem
from peirce.records import Agreement, Hypothesis, JudgedHypothesis, Verdict
from peirce.reports.effect_wording import describe_within, effect_as_json
from peirce.reports.row_groups import MISSING, group_by_values
from peirce.reports.sentence_effects import EffectMeasure, EffectRows, held_out_rows
from peirce.reports.telling_texts import MAX_CHARS, TEXTS_PER_SIDE, cut_pieces

RAIN = 'If the text mentions "rain", the label is wet.'
TEXTS = {"text": {"kind": "text", "about": ""}}


def weather(*counts):
    """Rows by counts of (rain, wet), (rain, dry), (sun, wet), (sun, dry), each with its own text."""
    kinds = [("rain", "wet"), ("rain", "dry"), ("sun", "wet"), ("sun", "dry")]
    return [
        ({"text": f"{word} on day {place}"}, label)
        for count, (word, label) in zip(counts, kinds, strict=True)
        for place in range(count)
    ]


def measured(sentence, within=(), judged=(), rows=None, **splits):
    told = problem(**splits)
    found = EffectMeasure(told, rows or held_out_rows(told), judged, within)
    assert not found.absent
    return found.measure([sentence])[0]


def test_effects_are_measured_on_test_rows_or_else_validation_rows_or_else_shown_rows():
    shown, val, ind = weather(2, 2, 2, 2), weather(3, 1, 1, 3), weather(4, 1, 2, 3)
    (test,) = measured(RAIN, shown=shown, val=val, ind=ind)
    assert (test.rows, test.n, test.table) == ("test", 10, [[4, 1], [2, 3]])
    (validation,) = measured(RAIN, shown=shown, val=val)
    assert (validation.rows, validation.table) == ("validation", [[3, 1], [1, 3]])
    (own,) = measured(RAIN, shown=shown)
    assert (own.rows, own.table) == ("shown", [[2, 2], [2, 2]])


def test_one_label_is_compared_with_all_other_rows():
    (found,) = measured(RAIN, shown=weather(1, 0, 0, 1), ind=weather(40, 10, 20, 30))
    assert (found.label, found.other, found.covered, found.right) == ("wet", None, 50, 40)
    assert found.ratio.value == pytest.approx(40 * 30 / (10 * 20)) and found.ratio.low > 1
    assert found.verdict == "supported" and found.stability.direction == 1


def test_two_labels_are_compared_with_each_other_and_silent_rows_are_left_out():
    sentence = 'If the text mentions "rain", the label is wet; if the text mentions "sun", the label is dry.'
    rows = [*weather(40, 10, 20, 30), *(({"text": f"fog {n}"}, "wet") for n in range(25))]
    (found,) = measured(sentence, shown=weather(1, 0, 0, 1), ind=rows)
    assert (found.label, found.other, found.n, found.covered) == ("wet", "dry", 125, 100)
    assert found.table == [[40, 10], [20, 30]] and found.right == 70


def test_with_three_labels_each_is_compared_with_the_rest():
    sentence = 'If the text mentions "rain", the label is wet; if the text mentions "sun", the label is dry.'
    rows = [*weather(5, 1, 2, 6), *(({"text": f"rain in fog {n}"}, "fog") for n in range(3))]
    wet, dry = measured(sentence, labels=("wet", "dry", "fog"), shown=weather(1, 0, 0, 1), ind=rows)
    assert (wet.label, wet.other, wet.table) == ("wet", None, [[5, 4], [2, 6]])
    assert (dry.label, dry.other, dry.table) == ("dry", None, [[6, 2], [1, 8]])


def test_a_sentence_on_pairs_compares_the_two_texts_and_length_is_their_difference():
    rng = random.Random(0)
    rows = []
    for _ in range(200):
        texts = ["word " * rng.randint(1, 9) + "now " * rng.randint(0, 1) for _ in range(2)]
        rows.append(({"text_1": texts[0], "text_2": texts[1]}, rng.choice(["first", "second"])))
    columns = {name: dict(TEXTS["text"]) for name in ("text_1", "text_2")}
    (found,) = measured(
        'The text that mentions "now" wins.', ["length"], labels=("first", "second"),
        columns=columns, shape="pair", shown=rows[:2], ind=rows,
    )  # fmt: skip
    one_sided = sum(("now" in r["text_1"]) != ("now" in r["text_2"]) for r, _ in rows)
    assert (found.label, found.other) == ("first", "second") and found.covered == one_sided
    names = found.within[0].names
    assert len(names) == 4 and names[0].startswith("-") and names[-1].endswith(" words more")


def test_the_name_of_a_library_is_flagged_as_a_confound():
    """In torch more functions are private than elsewhere, and most texts there name it."""
    rng = random.Random(1)
    rows, packages = [], []
    for package, private, named in (("torch", 0.7, 0.8), ("numpy", 0.3, 0.1), ("rich", 0.3, 0.05)):
        for place in range(300):
            word = "torch" if rng.random() < named else "it"
            label = "private" if rng.random() < private else "public"
            rows.append(({"text": f"returns what {word} has {package} {place}"}, label))
            packages.append(package)
    told = problem(labels=("private", "public"), shown=rows[:2])
    held_out = EffectRows(
        [one for one, _ in rows], [label for _, label in rows], "f.csv", {"package": packages}
    )
    sentence = 'If the text mentions "torch", the label is private.'
    ((found,),) = EffectMeasure(told, held_out, (), ["package"]).measure([sentence])
    assert found.ratio.low > 1
    within = found.within[0].comparison
    assert within.verdict == "confounded" and within.within.low < 1 < within.within.high
    reading = describe_within(found.within[0], found.ratio)
    assert reading.startswith(
        "CONFOUNDED by package: within groups little of the effect is left, odds ratio"
    )


def test_a_sentence_about_a_column_is_not_compared_within_the_column():
    columns = {**TEXTS, "city": {"kind": "choice", "about": "", "values": ["rome", "oslo"]}}
    rows = [
        ({**row, "city": "oslo" if label == "wet" else "rome"}, label)
        for row, label in weather(40, 10, 20, 30)
    ]
    sentence = "If the city is oslo, the label is wet."
    (found,) = measured(
        sentence, ["city"], columns=columns, shape="fields", shown=rows[:2], ind=rows
    )
    assert found.within[0].comparison.verdict == "own_column"
    assert describe_within(found.within[0], found.ratio).endswith("is about city itself")


def judged(sentence, labels):
    got = tuple({"value": one} if one else {"undefined": "does_not_apply"} for one in labels)
    agreement = Agreement((None,) * len(labels), got, "ok", {})
    return JudgedHypothesis(Verdict.ACCEPTED, "", Hypothesis(sentence), 0.5, agreement)


def test_a_sentence_for_a_model_is_measured_on_the_rows_that_the_model_judged():
    sentence = "If the tone is gloomy, the label is wet."
    told = {"shown": weather(2, 1, 1, 1), "ind": weather(5, 5, 5, 5)}
    assert measured(sentence, **told) == []
    answers = ["wet", "wet", "wet", None, None]
    (found,) = measured(sentence, judged=[judged(sentence, answers)], **told)
    assert (found.rows, found.n, found.table) == ("shown", 5, [[2, 1], [1, 1]])
    assert [one.pieces["text"] for one in found.contradicting] == [["rain on day 0"]]


def test_telling_texts_are_held_out_rows_on_the_right_side_with_the_words_marked():
    shown, held_out = weather(1, 0, 0, 1), weather(40, 10, 20, 30)
    (found,) = measured(RAIN, shown=shown, ind=held_out)
    sides = ((found.supporting, "wet"), (found.contradicting, "dry"))
    for texts, label in sides:
        assert len(texts) == TEXTS_PER_SIDE
        for one in texts:
            row, own = held_out[one.place]
            assert (one.label, one.prediction, own) == (label, "wet", label)
            assert (
                one.pieces["text"][:2] == ["", "rain"]
                and "".join(one.pieces["text"]) == row["text"]
            )


def test_a_text_is_told_once_where_there_are_others():
    rows = [
        ({"text": f"rain and wind on day {n}"}, "wet" if n % 3 else "dry") for n in range(60)
    ] + weather(0, 0, 20, 20)
    told = problem(shown=rows[:2], ind=rows)
    both = EffectMeasure(told, held_out_rows(told)).measure(
        [RAIN, 'If the text mentions "wind", the label is wet.']
    )
    first, second = ({one.place for one in each[0].supporting} for each in both)
    assert len(first) == len(second) == 3 and not first & second


def test_the_text_that_mentions_most_of_a_sentences_words_is_told_first():
    rows = [({"text": f"rain on day {n}"}, "wet") for n in range(20)]
    rows += [({"text": "rain and hail and sleet"}, "wet"), *weather(0, 10, 0, 20)]
    sentence = 'If the text mentions at least one of "rain", "hail", "sleet", the label is wet.'
    (found,) = measured(sentence, shown=rows[:2], ind=rows)
    assert found.supporting[0].place == 20


def test_an_effect_in_json_has_the_same_numbers():
    (found,) = measured(RAIN, ["length"], shown=weather(1, 0, 0, 1), ind=weather(40, 10, 20, 30))
    told = effect_as_json(found)
    assert told["coverage"] == 0.5 and told["odds_ratio"]["value"] == 6.0
    assert told["within"][0]["reading"] == describe_within(found.within[0], found.ratio)
    assert [one["row"] for one in told["supporting"]] == [one.place + 1 for one in found.supporting]


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (["b", "a", None, " a "], (MISSING, "a", "b")),
        ([3, 1, 3, 2.5], ("1", "2.5", "3")),
        (list(range(100)), ("0 to 24", "25 to 49", "50 to 74", "75 to 99")),
        ([str(n) for n in range(20)] + [None], ("0 to 4", "5 to 9", "10 to 14", "15 to 19", MISSING)),
        ([0.0] * 90 + list(range(20)), ("0", "1 to 19")),
    ],
)  # fmt: skip
def test_values_are_groups_and_many_numbers_are_quartiles(values, names):
    groups = group_by_values("c", values)
    assert groups.names == names and len(groups.codes) == len(values)
    assert set(np.unique(groups.codes)) == set(range(len(names)))


@given(st.text(max_size=1500), st.lists(st.integers(0, 1500), max_size=8))
def test_pieces_of_a_text_are_the_text_around_the_first_mark(text, cuts):
    edges = sorted({min(one, len(text)) for one in cuts})
    spans = list(zip(edges[::2], edges[1::2], strict=False))
    pieces = cut_pieces(text, spans)
    assert len(pieces) % 2 == 1
    whole = "".join(pieces)
    assert len(whole) <= MAX_CHARS + 2
    if len(text) <= MAX_CHARS:
        assert whole == text and pieces[1::2] == [text[start:end] for start, end in spans]
    elif spans:
        assert text[spans[0][0] : spans[0][1]].startswith(pieces[1]) and pieces[1]
