"""The README is true where a test can say so, and short."""

from __future__ import annotations

import re
from pathlib import Path

from peirce.reports import find_evaluation

REPOSITORY = Path(__file__).resolve().parents[2]
README = (REPOSITORY / "README.md").read_text("utf-8")
WALK = (REPOSITORY / "docs" / "walks" / "labelled-texts.md").read_text("utf-8")


def metric_tables() -> list[list[str]]:
    """The rows of the printed tables of metrics, without their headings."""
    tables = re.findall(r"^ {4}metric +search +n\n {4}─.*\n((?: {4}\S.*\n)+)", README, re.M)
    return [[line.strip() for line in table.splitlines()] for table in tables]


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


def test_the_example_on_labelled_data_is_what_the_walk_printed() -> None:
    labelled, _ = metric_tables()
    assert labelled and all(f"\n{row}\n" in WALK for row in labelled)
    assert "tickets.csv --label kind" in README and "tickets.csv --label kind" in WALK


def test_make_run_shows_the_main_metrics() -> None:
    _, session = metric_tables()
    assert tuple(row.split()[0] for row in session) == find_evaluation("gear").main


def test_the_make_targets_that_the_readme_names_exist() -> None:
    makefile = (REPOSITORY / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^ {4}make ([\w-]+)", README, re.M))
    assert {"run", "test"} <= targets
    assert all(re.search(rf"^{target}:", makefile, re.M) for target in targets)
