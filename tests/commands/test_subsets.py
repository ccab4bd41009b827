"""Checks that `subset` works on the problems of a split alone: the same ones whatever is observed, drawn
or run, each in one split, named by the splits of preference pairs; and what is refused.

Internals: the problems of a split are chosen without a session on them.
"""

from __future__ import annotations

import json

import pytest
from peirce.commands.problems import choose_problems, make_subset
from peirce.config import DataConfig
from peirce.records import UsageError
from peirce.training import Fractions, Split, Splits

NAMES = [str(split) for split in Split]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    from peirce.commands.data.generating import tasks_generate

    path = tmp_path_factory.mktemp("data") / "lists.jsonl"
    tasks_generate("list_functions", path, problems=60, seed=3)
    return path


def ids(data, **options):
    return [
        problem.id
        for problem in choose_problems("list_functions", DataConfig(data=data, **options)).problems
    ]


def test_the_splits_share_no_problem_and_leave_none_out(data):
    parts = [ids(data, subset=[name]) for name in NAMES]
    assert all(parts)
    assert sorted(name for part in parts for name in part) == sorted(ids(data))
    assert ids(data, subset=["train", "validation"]) == [
        name for name in ids(data) if name not in parts[2]
    ]


def test_they_are_those_of_preference_pairs(data):
    everything = choose_problems("list_functions", DataConfig(data=data)).problems
    for seed, told, fractions in (
        (0, None, Fractions()),
        (4, [0.2, 0.2, 0.6], Fractions(0.2, 0.2, 0.6)),
    ):
        splits = Splits(seed, fractions)
        wanted = [one.id for one in everything if splits.split_of(one) == Split.HELD_OUT]
        assert wanted == ids(data, subset=["held-out"], split_seed=seed, fractions=told)
    assert ids(data, subset=["train"], split_seed=4) != ids(data, subset=["train"])


def test_observations_move_no_problem_and_counts_are_of_what_is_left(data):
    held = ids(data, subset=["held-out"])
    assert ids(data, subset=["held-out"], observations=2) == held
    assert ids(data, subset=["held-out"], problems=5) == held[:5]
    drawn = ids(data, subset=["held-out"], sample=5, seed=1)
    assert len(drawn) == 5 and set(drawn) <= set(held)


def test_of_text_whole_data_sets_are_in_a_split():
    sets = choose_problems("labels:admission", DataConfig(subset=["train"])).problems
    assert 0 < len(sets) < len(choose_problems("labels:admission", DataConfig()).problems)


def test_the_session_records_it(data):
    assert choose_problems("list_functions", DataConfig(data=data, subset=["held-out", "train"])).sources["subset"] == {
        "names": ["train", "held-out"], "seed": 0, "fractions": [0.5, 0.1, 0.4],
    }  # fmt: skip
    assert "subset" not in choose_problems("list_functions", DataConfig(data=data)).sources


def test_groups_fixed_by_hand_stand_where_pairs_have_them(data, tmp_path):
    held = ids(data, subset=["held-out"])
    file = tmp_path / "fixed.json"
    file.write_text(json.dumps({"train": [held[0]]}))
    assert ids(data, subset=["held-out"], fixed=file) == held[1:]
    assert held[0] in ids(data, subset=["train"], fixed=file)
    told = choose_problems(
        "list_functions", DataConfig(data=data, subset=["train"], fixed=file)
    ).sources["subset"]
    assert told["fixed"] == {held[0]: "train"}
    with pytest.raises(
        UsageError, match="--fixed has no effect without --subset: set both or neither"
    ):
        choose_problems("list_functions", DataConfig(data=data, fixed=file))


@pytest.mark.parametrize(
    ("names", "fractions", "said"),
    [
        (["heldout"], None, "--subset heldout: it must be one of train, validation, held-out"),
        (["train"], [0.5, 0.5], "give three shares, for train, validation and held-out"),
        (["train"], [0.5, 0.5, 0.5], "sum 1"),
        ([], [0.5, 0.1, 0.4], "--fractions has no effect without --subset: set both or neither"),
    ],
)
def test_what_is_no_split_is_refused(names, fractions, said):
    with pytest.raises(UsageError, match=said):
        make_subset(names, 0, fractions)


def test_a_seed_of_splits_without_a_split_is_refused(data):
    with pytest.raises(
        UsageError, match="--split-seed has no effect without --subset: set both or neither"
    ):
        choose_problems("list_functions", DataConfig(data=data, split_seed=3))


def test_a_split_without_problems_is_one_sentence(data):
    with pytest.raises(UsageError, match="contains no problem to work on"):
        choose_problems(
            "list_functions", DataConfig(data=data, subset=["held-out"], fractions=[0.9, 0.1, 0])
        )
