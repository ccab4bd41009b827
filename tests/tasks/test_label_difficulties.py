"""The difficulties of generated sets are those that are said: columns, weights, levels, depth, rates.

Internals: rows and stated properties of a set are compared before they become a problem.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from peirce.records import DataError, Observation
from peirce.tasks.text.columns import Columns
from peirce.tasks.text.generation import GENERATORS, admission, election, logistic, select_set_names
from peirce.tasks.text.generation.admission_rules import find_columns
from peirce.tasks.text.generation.planted import (
    build_labelled_data,
    make_clean_splits,
    public_facts,
)
from peirce.tasks.text.generation.posts import LEVELS, Level
from peirce.tools.sentence_rules import Rule, compile_sentence


def test_distractors_are_as_many_columns_as_are_said() -> None:
    for one in admission.SETS_BY_NAME.values():
        assert len(one.columns) == len(find_columns(one.cases)) + one.distractors
    said = {
        one.folder.rpartition("_")[2]: one.distractors for one in admission.GRID if one.distractors
    }
    assert said == {"3": 3, "6": 6, "10": 10}


@pytest.mark.parametrize("dropout", [0.0, 0.1, 0.25, 0.3])
def test_weights_are_within_five_of_both_signs_and_dropped_at_the_exact_share(
    dropout: float,
) -> None:
    for count in (5, 10, 15, 20):
        model = logistic.draw_model(election.TOPIC, count, dropout, np.random.default_rng(count))
        weights, intercepts = model.weights, model.intercepts
        assert (weights != 0).sum() == 3 * count - round(dropout * 3 * count)
        assert 3 < weights.max() < 5 and -5 < weights.min() < -3
        assert np.abs(intercepts).max() < 1
        types = [weights[:, list(places)].any() for places in election.TOPIC.type_indices]
        assert sum(types) == count / 5


def test_levels_and_grid_are_those_of_the_paper() -> None:
    told = {n: (one.count, one.noise, one.dropout) for n, one in LEVELS.items()}
    assert told == {
        0: (1, 0, 0), 1: (5, 0, 0), 2: (15, 0, 0), 3: (5, 0.1, 0), 4: (15, 0, 0.25),
        5: (15, 0.1, 0.25),
    }  # fmt: skip
    for name in ("election", "personality"):
        levels = GENERATORS[name].levels()  # type: ignore[attr-defined]
        rates = ("0", "0.1", "0.2", "0.3")
        for count in (5, 10, 15, 20):
            for noise in rates:
                for dropout in rates:
                    found = levels[f"{name}_controlled/{count}_{noise}_{dropout}"]
                    assert found == Level(count, float(noise), float(dropout))
        assert sum(one.plain for one in levels.values()) == 6


def test_hours_of_sunlight_follow_clarity_under_few_clouds() -> None:
    rows = GENERATORS["marine"].generate("marine", 4)
    for some in rows.splits.values():
        apart = [
            float(one.output)
            - (
                4
                if one.input["cloud_cover"] > 50
                else (5, 8, 11, 14)[(one.input["secchi_depth"] - 1) // 10]
            )
            for one in some
        ]
        assert sum(one != 0 for one in apart) == len(some) / 5 and set(apart) == {-1, 0, 1}
    assert len(rows.columns.about) == 16


@pytest.mark.parametrize("name", ["shoe", "shoe_two_level/simple", "shoe_two_level/hard"])
def test_shoes_are_those_that_the_paper_tells(name: str) -> None:
    look = re.compile(r"a \w+ and \w+ (\w+) with (\w+) hat, (\w+) shirt, and a \w+ (\w+) bag")

    def bought(gender: str, hat: str, shirt: str, bag: str) -> str:
        if name == "shoe":
            return shirt
        if name.endswith("simple"):
            return shirt if gender == "man" else hat
        if hat in ("black", "orange"):
            return shirt
        return bag if hat in ("white", "red") else {"man": "black", "woman": "white"}[gender]

    for some in GENERATORS["shoe"].generate(name, 6).splits.values():
        for one in some:
            seen = look.fullmatch(one.input["appearance"])
            assert seen is not None and bought(*seen.groups()) == one.output


def columns_asked(part: Any) -> Iterator[str]:
    """The columns that a rule reads, as often as it does."""
    if isinstance(part, tuple):
        for one in part:
            yield from columns_asked(one)
    elif dataclasses.is_dataclass(part):
        if hasattr(part, "column"):
            yield part.column
        for field in dataclasses.fields(part):
            yield from columns_asked(getattr(part, field.name))


def test_a_path_of_a_tree_asks_each_column_once() -> None:
    for name in select_set_names(GENERATORS["tree"], None, 2):
        rows = GENERATORS["tree"].generate(name, 2)
        assert rows.properties is not None
        for sentence in rows.known:
            rule = compile_sentence(sentence, public_facts(rows.columns, rows.labels))
            assert isinstance(rule, Rule)
            asked = list(columns_asked(rule))
            assert len(set(asked)) == len(asked) == rows.properties["depth"]


def test_a_set_of_one_label_is_a_fault() -> None:
    rows = {"train": [Observation({"x": n}, "a") for n in range(4)]}
    columns = Columns({"x": {"kind": "number", "about": ""}}, "fields", ("a", "b"))
    with pytest.raises(DataError, match="s, train: all rows have one label"):
        build_labelled_data("s", columns, ("a", "b"), make_clean_splits(rows), "", [], [], {})
