"""YAML that is written here reads back alike by this house's reader and by PyYAML.

Internals: the writer of YAML is given values that no data set holds.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from peirce.tasks.io.yaml_records import SetMembers, format_yaml, read_records

RECORDS = [
    {
        "name": "ABD_FULL_TH2_gen0_000",
        "odd": 'a "quoted" text: with # marks, {braces}, [lists], \\ and ∃y (R(x, y) ∧ P(y))',
        "words": ["yes", "no", "null", "1", "1.5", "", " ", "~", "2026-11-22", "- a", "a\nb"],
        "true": True,
        "y": None,
        "a key": {"off": False, "nested": {"deep": [1, 2.5, -3], "empty": {}, "none": []}},
        "worlds": [{"id": "W0", "atoms": ["(a0, a1)"]}, {"id": "W1", "atoms": []}],
        "rows": [[1, 2], ["a"], []],
    },
    {"only": 1},
]


def test_values_come_back(tmp_path: Path) -> None:
    text = format_yaml(RECORDS)
    assert [one.value for one in read_records(text, tmp_path)] == RECORDS
    assert yaml.safe_load(text) == RECORDS
    assert text.isascii()


def test_sets_are_sets_of_yaml_and_sorted_lists_here(tmp_path: Path) -> None:
    text = format_yaml([{"broken": SetMembers(("a1", "a0")), "none": SetMembers(())}])
    assert yaml.safe_load(text) == [{"broken": {"a0", "a1"}, "none": set()}]
    (one,) = read_records(text, tmp_path)
    assert one.value == {"broken": ["a0", "a1"], "none": []}


def test_records_begin_where_their_lines_say(tmp_path: Path) -> None:
    text = format_yaml(RECORDS)
    first, second = read_records(text, tmp_path)
    lines = text.splitlines()
    assert first.line == 1 and lines[second.line - 1] == "- only: 1"


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        format_yaml([{"a": float("nan")}])
