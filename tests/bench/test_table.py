"""bench/table.py and bench/scripts.py: rows, their table, and scripts that end well, fail or hang."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

GOOD = """
import argparse, sys
sys.path.insert(0, {bench!r})
from table import Row, add_json_option, write_rows, write_skipped
parser = argparse.ArgumentParser()
add_json_option(parser)
options = parser.parse_args()
{body}
"""


def write_script(tmp_path: Path, bench: Path, body: str) -> Path:
    script = tmp_path / "made_up.py"
    script.write_text(GOOD.format(bench=str(bench), body=body))
    return script


def test_a_row_comes_back_from_its_json() -> None:
    from table import Row

    row = Row("sorting", 3.0, "ms", "lower", 6.0, "by hand", 0.6, "ratio")
    assert Row.from_json(json.loads(json.dumps(row.as_json()))) == row
    assert (row.ratio, row.keeps_limit) == (0.5, True)


@pytest.mark.parametrize(
    ("better", "limit_of", "limit", "kept"),
    [
        ("lower", "now", 3.0, True), ("lower", "now", 2.9, False),
        ("higher", "now", 3.0, True), ("higher", "now", 3.1, False),
        ("lower", "ratio", 0.4, False), ("higher", "ratio", 0.4, True), ("lower", "now", None, None),
    ],
)  # fmt: skip
def test_a_limit_is_kept_on_the_side_that_is_better(better, limit_of, limit, kept) -> None:
    from table import Row, format_limit

    row = Row("sorting", 3.0, "ms", better, 6.0, "by hand", limit, limit_of)
    assert row.keeps_limit is kept
    assert format_limit(row).endswith("MISSED") == (kept is False)


def test_a_limit_on_a_ratio_without_reference_is_neither_kept_nor_missed() -> None:
    from table import Row

    assert Row("sorting", 3.0, "ms", limit=0.4, limit_of="ratio").keeps_limit is None


def test_small_ratios_are_fractions_of_one() -> None:
    from table import format_ratio

    assert [format_ratio(one) for one in (None, 0.0005, 1.5, 40.0)] == ["-", "1/2,000", "1.5", "40"]


def test_rows_of_a_script_reach_the_runner(tmp_path: Path, bench: Path) -> None:
    from scripts import run_script

    body = 'print("hello")\nwrite_rows(options.json, [Row("sorting", 2.0, "s", reference=4.0)])'
    result = run_script(write_script(tmp_path, bench, body), (), tmp_path)
    assert (result.failed, result.skipped, result.output) == (None, None, "hello\n")
    assert [(row.work, row.ratio) for row in result.rows] == [("sorting", 0.5)]


def test_what_is_skipped_says_why(tmp_path: Path, bench: Path) -> None:
    from scripts import run_script

    script = write_script(tmp_path, bench, 'write_skipped(options.json, "no GPU here")')
    result = run_script(script, (), tmp_path)
    assert (result.skipped, result.failed, result.rows) == ("no GPU here", None, [])
    assert result.left_out == ["NOT MEASURED: no GPU here"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('sys.exit("the disk is full")', "the disk is full"),
        ("1 / 0", "ZeroDivisionError"),
        ("pass", "exit code 0"),
        ("import time; time.sleep(60)", "killed after"),
    ],
)
def test_a_script_that_does_not_end_well_is_a_failure(tmp_path, bench, body, told) -> None:
    from scripts import run_script

    result = run_script(write_script(tmp_path, bench, body), (), tmp_path, timeout_s=2)
    assert told in result.failed and not result.rows


def test_every_script_is_run_by_make_bench_or_named_as_something_else(bench: Path) -> None:
    from scripts import APART, COMPARED, PARTS, SCRIPTS

    named = [*SCRIPTS, *PARTS, *APART]
    assert sorted(named) == sorted(path.name for path in bench.glob("*.py"))
    assert set(COMPARED) <= set(SCRIPTS)


def test_every_script_that_is_run_takes_json(bench: Path) -> None:
    from scripts import SCRIPTS

    texts = {name: (bench / name).read_text() for name in SCRIPTS}
    by_another = ("abd_search.py", "abd_tradeoff.py")  # abd_instances.py gives them the option
    without = [name for name, text in texts.items() if "add_json_option(parser)" not in text]
    assert sorted(without) == sorted(by_another)
    assert all("write_rows(" in text or "write_bench_rows(" in text for text in texts.values())


def test_an_unknown_script_is_refused_by_name(bench: Path) -> None:
    command = [sys.executable, str(bench / "run_all.py"), "--only", "stepp"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and "stepp.py; choose from trace_proposal, step" in done.stderr
