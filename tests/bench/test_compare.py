"""bench/compare.py: the interval, and that it marks a slower tree and no equal one."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SLOWER = 1.3
SCRIPT = """
import argparse, random
from table import Row, add_json_option, write_rows
parser = argparse.ArgumentParser()
parser.add_argument("--rounds")
add_json_option(parser)
draw = random.Random()
rows = [Row("a step", {factor} * draw.uniform(0.95, 1.05), "ms"), Row("a page", 2.0, "MB")]
write_rows(parser.parse_args().json, rows{more})
"""


def pairs_of(factor: float, seed: int, rounds: int = 9) -> list[tuple[float, float]]:
    """Times of A and of a B that takes `factor` times as long, each with noise of 5%."""
    draw = random.Random(seed)
    return [(draw.gauss(1, 0.05), factor * draw.gauss(1, 0.05)) for _ in range(rounds)]


def test_the_interval_is_that_of_the_sign_test() -> None:
    from compare import median_interval

    assert median_interval([3, 1, 2, 6, 5, 4]) == (1, 6, 1 - 2 / 64)
    assert median_interval(list(range(1, 10))) == (2, 8, 1 - 2 * 10 / 512)
    with pytest.raises(ValueError, match="5 values"):
        median_interval([1, 2, 3, 4, 5])


def test_the_interval_covers_the_median_as_often_as_it_says() -> None:
    from compare import median_interval

    draw, covered = random.Random(0), 0
    for _ in range(2_000):
        low, high, _ = median_interval([draw.expovariate(1) for _ in range(12)])
        covered += low <= 0.6931 <= high
    assert covered / 2_000 > 0.95


@pytest.mark.parametrize("seed", range(20))
def test_a_slowdown_by_30_percent_is_marked_and_a_speedup_the_other_way(seed: int) -> None:
    from compare import compare_row
    from table import Row

    verdicts = [
        compare_row("step.py", Row("a step", 1.0, "", better), pairs_of(factor, seed)).verdict
        for better, factor in (("lower", SLOWER), ("lower", 1 / SLOWER), ("higher", SLOWER))
    ]
    assert verdicts == ["worse", "better", "better"]


def test_equal_trees_are_marked_no_more_often_than_one_time_in_twenty() -> None:
    from compare import compare_row
    from table import Row

    row = Row("a step", 1.0, "ms")
    marked = [bool(compare_row("step.py", row, pairs_of(1.0, seed)).verdict) for seed in range(400)]
    assert sum(marked) / len(marked) < 0.05
    assert compare_row("step.py", row, [(2.0, 2.0)] * 7).verdict == ""


def test_rows_of_one_tree_and_failures_are_named_and_not_compared() -> None:
    from compare import compare_results
    from scripts import Result
    from table import Row

    def result(*names: str, failed: str | None = None) -> dict[str, Result]:
        return {"s.py": Result("s.py", [], rows=[Row(n, 1.0, "s") for n in names], failed=failed)}

    rounds = [{"A": result("both", "old"), "B": result("both")} for _ in range(6)]
    rounds.append({"A": result("both", "old"), "B": result(failed="exit code 1: no")})
    found, notes = compare_results(rounds)
    assert [(one.work, len(one.pairs)) for one in found] == [("both", 6)]
    assert notes == ["s.py in B: exit code 1: no", "s.py: only A has the row: old"]


def make_tree(tree: Path, bench: Path, make_python, factor: float, more: str = "") -> Path:
    make_python(tree)
    (tree / "bench").mkdir()
    shutil.copy(bench / "table.py", tree / "bench")
    (tree / "bench" / "step.py").write_text(SCRIPT.format(factor=factor, more=more))
    return tree


def compare(bench: Path, out: Path, *words: str) -> tuple[str, dict]:
    command = [
        sys.executable,
        str(bench / "compare.py"),
        *words,
        "--only",
        "step",
        "--out",
        str(out),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(out.read_text())


def test_trees_are_held_side_by_side_each_by_its_own_script(tmp_path, bench, make_python) -> None:
    first = make_tree(tmp_path / "first", bench, make_python, 1.0)
    second = make_tree(tmp_path / "second", bench, make_python, SLOWER, " + []")
    text, found = compare(bench, tmp_path / "found.json", str(first), str(second), "--rounds", "6")
    assert [(row["work"], row["verdict"]) for row in found["rows"]] == [
        ("a step", "worse"),
        ("a page", ""),
    ]
    assert len(found["runs"]) == 7 and "by scripts that differ" in text
    starts = [list(one) for one in found["runs"]]
    assert all(sides == ["A", "B"] for sides in starts)


def test_a_tree_without_rows_is_measured_by_the_other_scripts(tmp_path, bench, make_python) -> None:
    from compare import script_of

    own = make_tree(tmp_path / "own", bench, make_python, 1.0)
    old = tmp_path / "old"
    (old / "bench").mkdir(parents=True)
    (old / "bench" / "step.py").write_text("print('for people')")
    assert script_of(old, "step.py", own / "bench") == own / "bench" / "step.py"
    assert script_of(own, "step.py", bench) == own / "bench" / "step.py"
