"""Labelled records in the embedded search: which rules are found, said and kept quiet, and the answer
that the proposer makes of them. Records are made here from a seed.

Internals: rules, thresholds and coverings are inspected before they become one list of sentences.
"""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import replace

import numpy as np
import pytest
from peirce.agents import open_model
from peirce.records import Hypothesis, InputSet, Observation, PastAnswer, Verdict, View
from peirce.search.budget import Budget
from peirce.search.engines import SearchService
from peirce.search.text.atoms import build_atoms, roundest_number, rounding_unit
from peirce.search.text.covering import Covering
from peirce.search.text.fields import find_field_rules
from peirce.search.text.phrases import find_slots
from peirce.search.text.significance import most_significant, select_significant
from peirce.tasks import load_family
from peirce.tools.sentence_rules import PreparedRows, Term, compile_sentence, mentions

FAMILY = load_family("text")
GRADES = ["A", "B", "C", "D", "F"]
PUBLIC = {
    "labels": ["yes", "no"],
    "shape": "fields",
    "description": "",
    "columns": {
        "grade": {"kind": "choice", "about": "", "values": GRADES},
        "papers": {"kind": "number", "about": ""},
        "hours": {"kind": "number", "about": ""},
        "donor": {"kind": "truth", "about": ""},
        "city": {"kind": "choice", "about": "", "values": ["Rome", "Oslo", "Lima"]},
    },
}


def record(random_):
    return {
        "grade": random_.choice(GRADES),
        "papers": random_.randrange(5),
        "hours": random_.randrange(101),
        "donor": random_.random() < 0.5,
        "city": random_.choice(["Rome", "Oslo", "Lima"]),
    }


def drawn(rule, count=200, seed=0, noise=0.0):
    """Half of the rows of each label, as HypoBench draws them; then labels are flipped."""
    random_ = random.Random(seed)
    rows, labels = [], []
    for wanted in (True, False):
        while labels.count("yes" if wanted else "no") < count // 2:
            one = record(random_)
            if rule(one) == wanted:
                rows.append(one)
                labels.append("yes" if wanted else "no")
    labels = [
        ("no" if label == "yes" else "yes") if random_.random() < noise else label
        for label in labels
    ]
    return rows, labels


def said(rows, labels, public=PUBLIC, budget=60_000):
    return [rule.to_text() for rule in find_field_rules(rows, labels, public, budget).rules]


def test_one_value_that_decides_is_one_sentence():
    rows, labels = drawn(lambda one: one["grade"] == "A")
    assert said(rows, labels) == [
        'If grade is "A", the label is "yes"; otherwise, the label is "no".'
    ]


@pytest.mark.parametrize("noise", [0.1, 0.2, 0.3])
def test_noise_adds_no_condition(noise):
    rows, labels = drawn(lambda one: one["grade"] == "A", noise=noise, seed=3)
    found = said(rows, labels)
    assert found[0] == 'If grade is "A", the label is "yes"; otherwise, the label is "no".'
    assert len(found) == 1


def test_several_rules_are_said_together_and_each_alone():
    rows, labels = drawn(lambda one: one["papers"] > 3 or (one["donor"] and one["city"] == "Oslo"))
    whole, *each = said(rows, labels)
    assert set(each) == {
        'If papers is more than 3, the label is "yes".',
        'If donor is true and city is "Oslo", the label is "yes".',
    }
    assert whole.endswith('otherwise, the label is "no".')


def test_a_condition_that_no_row_refutes_is_found_by_what_the_rows_share():
    """Rows of the rule without its last condition and of the other label are taken out."""
    rows, labels = drawn(
        lambda one: one["grade"] == "A" and one["papers"] > 2 and one["hours"] > 60, 300, seed=1
    )
    left = [
        at
        for at, (one, label) in enumerate(zip(rows, labels, strict=True))
        if label == "yes" or not (one["grade"] == "A" and one["papers"] > 2)
    ]
    found = find_field_rules([rows[at] for at in left], [labels[at] for at in left], PUBLIC, 60_000)
    assert 'grade is "A" and papers is more than 2 and hours' in found.rules[0].to_text()
    hours = found.meta["rules"][0]["conditions"]
    (told,) = [one for one in hours if one["condition"].startswith("hours is more than")]
    assert told["refuted_without"] == 0
    assert told["bits"] > 10


def test_columns_that_hang_together_earn_no_condition_by_that():
    random_ = np.random.default_rng(0)
    size = random_.normal(size=300)
    rows = [
        {f"c{k}": round(float(one + 0.3 * random_.normal()), 2) for k in range(6)} for one in size
    ]
    labels = ["yes" if one > 0 else "no" for one in size]
    public = {
        **PUBLIC, "columns": {f"c{k}": {"kind": "number", "about": ""} for k in range(6)}
    }  # fmt: skip
    rules = find_field_rules(rows, labels, public, 60_000).rules
    assert max(rule.to_text().split("; ")[0].count(" and ") for rule in rules) <= 3
    assert (
        rules[0].codes(PreparedRows(rows, public)) == [label == "no" for label in labels]
    ).mean() > 0.9


def test_rows_that_are_left_get_a_rule_where_nothing_else_is_wrong():
    rows, labels = drawn(
        lambda one: one["papers"] > 2 or (one["grade"] == "A" and one["donor"]), seed=2
    )
    prepared = PreparedRows(rows, PUBLIC)
    atoms = build_atoms(prepared)
    wanted = np.array(labels) == "yes"
    (papers,) = (
        (at,) for at, one in enumerate(atoms.conditions) if one.to_text() == "papers is more than 2"
    )
    covering = Covering(atoms, wanted, Budget(60_000))
    found, worth = covering.complete([papers], covering.saved_bits([papers]))
    assert np.any([covering.rows_of(one) for one in found], axis=0).tolist() == wanted.tolist()
    assert worth == pytest.approx(covering.saved_bits(found))
    wanted[np.flatnonzero(prepared.numbers("papers") > 2)[0]] = False  # one row is wrong
    covering = Covering(atoms, wanted, Budget(60_000))
    assert covering.complete([papers], covering.saved_bits([papers]))[0] == [papers]


@pytest.mark.parametrize("seed", range(6))
def test_labels_by_chance_give_no_sentence(seed):
    random_ = random.Random(seed)
    rows = [record(random_) for _ in range(200)]
    assert said(rows, [random_.choice(["yes", "no"]) for _ in rows]) == []


def test_each_sentence_compiles_to_the_rule_that_it_says():
    rows, labels = drawn(lambda one: one["papers"] in (1, 2) or one["hours"] > 77.5, seed=5)
    for rule in find_field_rules(rows, labels, PUBLIC, 60_000).rules:
        assert compile_sentence(rule.to_text(), PUBLIC) == rule


def test_of_several_labels_each_has_its_rules():
    random_ = random.Random(2)
    rows = [record(random_) for _ in range(200)]
    labels = [one["city"].lower() for one in rows]
    public = {**PUBLIC, "labels": ["rome", "oslo", "lima"]}
    assert sorted(said(rows, labels, public)) == [
        f'If city is "{city}", the label is "{city.lower()}".' for city in ("Lima", "Oslo", "Rome")
    ]


def test_phrases_that_cross_no_comma_decide_texts():
    colours = ["red", "blue", "green"]
    random_ = random.Random(4)
    rows, labels = [], []
    for _ in range(90):
        hat, shirt, bag = (random_.choice(colours) for _ in range(3))
        rows.append({"text": f"a tall man with {hat} hat, {shirt} shirt, and a {bag} bag"})
        labels.append(shirt)
    public = {
        "labels": colours, "shape": "text", "columns": {"text": {"kind": "text", "about": ""}}
    }  # fmt: skip
    assert sorted(said(rows, labels, public)) == [
        f'If the text mentions "{one} shirt", the label is "{one}".' for one in sorted(colours)
    ]


def test_two_places_of_made_texts_decide_together():
    """Of one place two fillings: under a red or blue hat the shirt decides, else the bag."""
    colours = ["red", "blue", "green", "white"]
    random_ = random.Random(4)
    rows, labels = [], []
    for _ in range(200):
        hat, shirt, bag = (random_.choice(colours) for _ in range(3))
        rows.append({"text": f"a tall man with {hat} hat, {shirt} shirt, and a {bag} bag"})
        labels.append(shirt if hat in ("red", "blue") else bag)
    public = {
        "labels": colours, "shape": "text", "columns": {"text": {"kind": "text", "about": ""}}
    }  # fmt: skip
    found = find_field_rules(rows, labels, public, 60_000).rules
    wanted = {
        frozenset(
            (mentions(tuple(map(Term, hats))), mentions((Term(f"{one} {thing}"),)))
        )
        for one in colours
        for hats, thing in (
            (("blue hat", "red hat"), "shirt"), (("green hat", "white hat"), "bag")
        )
    }  # fmt: skip
    assert {frozenset(rule.clauses[0].condition.parts) for rule in found} == wanted
    assert all(compile_sentence(rule.to_text(), public) == rule for rule in found)


def test_texts_that_people_wrote_have_no_places():
    texts = [
        "the red car",
        "the blue car",
        "a red bike",
        "no car at all",
        "the red car, the blue car",
    ]
    found = {
        phrase: np.array([phrase in text for text in texts])
        for phrase in ("red car", "blue car", "the red", "the blue", "red bike")
    }
    assert find_slots(found) == []


def test_missing_values_and_odd_columns_are_no_failure():
    rows = [{"grade": None, "papers": float("nan"), "hours": 3, "donor": None, "city": ""}] * 5
    rows += [{"grade": "A", "papers": 1e300, "hours": -5, "donor": True, "city": 7}] * 5
    assert said(rows, ["yes"] * 5 + ["no"] * 5)


def test_a_bound_is_the_roundest_number_that_the_rows_allow():
    assert roundest_number(83, 92, True) == 90
    assert roundest_number(3, 4, True) == 3
    assert roundest_number(0.21, 0.29, False) == 0.25
    assert (rounding_unit(80, 100), rounding_unit(0, 5), rounding_unit(1, 10)) == (5, 1, 1)


def test_benjamini_and_hochberg_keep_by_rank():
    assert select_significant([0.04, 0.001, 0.03, 0.9], 0.05) == [1]
    assert select_significant([0.01, 0.02, 0.03, 0.04], 0.05) == [0, 1, 2, 3]
    assert select_significant([], 0.05) == []


def test_the_surest_of_many_conditions_pays_for_the_choice():
    random_ = np.random.default_rng(0)
    holds = random_.random((60, 100)) < 0.5
    wanted = random_.random(100) < 0.5
    _, chance = most_significant(holds, wanted, [1.0] * 60)
    assert chance > 0.05
    assert most_significant(np.array([wanted, holds[0]]), wanted, [1.0, 1.0])[0] == 0


def view(rows, labels, earlier=()):
    shown = tuple(Observation(row, label) for row, label in zip(rows, labels, strict=True))
    space = InputSet("inputs", tuple(rows[:10]))
    return View("t", "labels", "text", shown, PUBLIC, space, tuple(earlier))


def proposed(of, seed=0):
    async def ask():
        model = await open_model("search", {"workers": 1, "budget_expansions": 20_000})
        try:
            return await model.propose(of, (), (), seed)
        finally:
            await model.close()

    return asyncio.run(ask())


def test_the_proposer_answers_with_a_numbered_list_and_says_what_it_tried():
    rows, labels = drawn(lambda one: one["papers"] > 3 or one["grade"] == "A")
    reply = proposed(view(rows, labels))
    assert [line.partition(". ")[0] for line in reply.text.splitlines()] == ["1", "2", "3"]
    assert len(FAMILY.parse(view(rows, labels), reply.text, FAMILY.answer_formats[0])) == 3
    assert reply.meta["tried"] > 100
    assert proposed(view(rows, labels), seed=7) == reply


def test_what_was_said_before_is_not_said_again():
    rows, labels = drawn(lambda one: one["grade"] == "A")
    once = view(rows, labels)
    first, *_ = FAMILY.parse(once, proposed(once).text, FAMILY.answer_formats[0])
    before = PastAnswer("", (Hypothesis(first.text),), (Verdict.ACCEPTED,))
    assert proposed(replace(once, past_answers=(before,))).finish == "exhausted"


def test_few_rows_of_one_label_are_exhausted_without_a_warning(recwarn):
    rows, _ = drawn(lambda one: one["grade"] == "A")
    assert proposed(view(rows[:10], ["yes"] * 10)).finish == "exhausted"
    assert not recwarn.list


def test_the_engine_serves_records_and_no_worlds():
    asked = {
        "shown": [[{"domain": ["a"], "x": 1}, "yes"]], "space": "d", "inputs": [],
        "expansions": 100, "told": PUBLIC, "earlier": [], "skip": [], "family": "text",
    }  # fmt: skip
    assert "reason" in SearchService().propose(asked)
    asked["shown"] = [[{"grade": "A"}, "yes"], [{"grade": "B"}, "no"]]
    assert json.dumps(SearchService().propose(asked)) == '{"exhausted": true}'
