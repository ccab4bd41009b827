"""`--sample N` draws problems as GEAR's section 4.1 does: without repeats, by the seed alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from peirce.records import UsageError, digest_of
from peirce.tasks import DataWarning, load_problems


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """250 problems of 2 to 6 pairs."""
    rows = []
    for k in range(250):
        pairs = [{"input": [k, i], "output": [i]} for i in range(2 + k % 5)]
        rows.append(json.dumps({"idx": k, "train": pairs[:1], "test": pairs[1:]}) + "\n")
    path = tmp_path / "list_function.jsonl"
    path.write_text("".join(rows))
    return path


def ids(data: Path, **options) -> list[str]:
    return [p.id for p, _ in load_problems("list_functions", str(data), **options)]


def test_one_seed_gives_one_draw_on_any_machine(data: Path) -> None:
    drawn = ids(data, sample=100, seed=7)
    assert drawn[:5] == ["0", "1", "7", "9", "10"]
    assert digest_of(drawn).startswith("da6182d830b3")
    assert ids(data, sample=100, seed=8) != drawn


def test_a_draw_repeats_nothing_and_keeps_the_order_of_the_data(data: Path) -> None:
    drawn = ids(data, sample=100)
    assert len(set(drawn)) == 100 and drawn == sorted(drawn, key=int)
    assert ids(data, sample=100, problems=3) == drawn[:3]
    assert set(ids(data, sample=20)) < set(drawn)


def test_a_draw_depends_on_neither_the_file_nor_on_how_many_pairs_are_shown(data: Path) -> None:
    drawn = set(ids(data, sample=100))
    lines = data.read_text().splitlines(keepends=True)
    data.write_text("".join(reversed(lines)))
    assert set(ids(data, sample=100)) == drawn
    assert set(ids(data, sample=100, observations="2")) == drawn
    with pytest.warns(DataWarning, match="fewer than 4 pairs"):
        some = set(ids(data, sample=100, observations="4"))
    assert len(some) == 100 and {i for i in drawn if int(i) % 5 >= 2} < some


def test_every_problem_has_its_chance(data: Path) -> None:
    counts = dict.fromkeys(map(str, range(250)), 0)
    for seed in range(200):
        for name in ids(data, sample=50, seed=seed):
            counts[name] += 1
    assert min(counts.values()) > 20 and max(counts.values()) < 60  # 40 each are expected


def test_the_sample_space_is_that_of_all_the_data(tmp_path: Path) -> None:
    rows = [{"idx": k, "train": [{"input": [[k]], "output": [[0]]}], "test": []} for k in range(10)]
    path = tmp_path / "arc.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    pairs = load_problems("arc", str(path), sample=2)
    assert [len(space) for _, space in pairs] == [10, 10]


def test_more_than_there_are_takes_all_and_says_so(data: Path) -> None:
    with pytest.warns(
        DataWarning, match="--sample 300: there are only 250 problems, and all are used"
    ):
        assert len(ids(data, sample=300)) == 250


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sample": 0}, "--sample 0: it must be at least 1"),
        (
            {"sample": 3, "ids": ["1"]},
            "--sample and --problem cannot be combined: draw problems or name them",
        ),
    ],
)
def test_a_draw_that_cannot_be_is_one_sentence(data: Path, options, said) -> None:
    with pytest.raises(UsageError, match=said):
        ids(data, **options)


def test_generated_problems_are_drawn_already() -> None:
    with pytest.raises(UsageError, match=r"--sample 3 draws .*--problems 3 to generate that many"):
        load_problems("list_functions", sample=3)
