"""YAML of publishers is read as PyYAML's safe loader reads it, and nothing in it bites.

Internals: the reader of YAML is compared with PyYAML on single texts.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from abd_records import instances, yaml_of
from peirce.records import DataError
from peirce.tasks.io import yaml_records
from peirce.tasks.io.yaml_records import read_records

FILE = Path("f.yaml")
VALUES = """
- &one {a: [1, -2, 0x1F, 1_000, 0o7, 12:30], "b": 'it''s', 'true': ~}
- *one
- [yes, No, on, "yes", null, '', !!str 5, ! 6, !!int "7", 1.5, -.5e+3, 1e5]
- |
  two
    lines
- deep: [[[{x: {y: []}}]]]
  again: *one
- "\\u00e9\\U0001f600\\t"
- é plain text of
  two lines
- {}
- []
- text
"""


@pytest.fixture(params=["with libyaml", "without libyaml"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "without libyaml":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    elif not hasattr(yaml, "CSafeLoader"):
        pytest.skip("PyYAML HERE HAS NO LIBYAML")
    return str(request.param)


def values(text: str) -> list[Any]:
    return [record.value for record in read_records(text, FILE)]


def test_values_are_those_of_the_safe_loader(parser: str) -> None:
    for text in (VALUES, yaml_of(instances()), yaml_of([instances()] * 2)):
        assert values(text) == yaml.safe_load(text)


def test_a_set_is_the_sorted_list_of_its_members(parser: str) -> None:
    text = "- !!set {b: null, a: null}\n- !!set\n  ? a10\n  ? a2\n"
    assert values(text) == [["a", "b"], ["a10", "a2"]]
    assert list(map(set, values(text))) == yaml.safe_load(text)


def test_keys_and_dates_are_texts(parser: str) -> None:
    assert values("- {true: 1, 2: 3, ~: 4}\n- 2026-01-02") == [
        {"true": 1, "2": 3, "~": 4},
        "2026-01-02",
    ]


def test_each_record_has_its_line(parser: str) -> None:
    lines = [record.line for record in read_records(VALUES, FILE)]
    assert lines == [2, 3, 4, 5, 8, 10, 11, 13, 14, 15]
    assert [record.line for record in read_records("[1,\n &a [2],\n *a, {}]", FILE)] == [1, 2, 3, 3]


BOMB = "- &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"- &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30)
)
FAULTS = {
    "empty": ("", "line 1: must be a YAML list of records, not None"),
    "a mapping": ("a: 1", "line 1: must be a YAML list of records, not {'a': 1}"),
    "a text": ("word", "line 1: must be a YAML list of records, not word"),
    "two documents": ("- 1\n--- \n- 2\n", "line 2: the file has a second document"),
    "cut short": ("- 1\n- [2", "line "),
    "a tab": ("- a:\n\t- b", "line 2: not YAML: "),
    "a control character": (
        "- a\n- \x01",
        "line 2: the file has a character that YAML does not allow",
    ),
    "a tag of Python": (
        "- 1\n- !!python/object/apply:os.system ['true']",
        "line 2: the tag tag:yaml.org,2002:python/object/apply:os.system is not taken",
    ),
    "a Python name": (
        "- !!python/name:os.system ''",
        "line 1: the tag tag:yaml.org,2002:python/name",
    ),
    "an own tag": ("- !thing {a: 1}", "line 1: the tag !thing is not taken"),
    "a timestamp": ("- !!timestamp 2026-01-01", "line 1: the tag tag:yaml.org,2002:timestamp"),
    "binary": ("- !!binary aGk=", "line 1: the tag tag:yaml.org,2002:binary is not taken"),
    "no number": ("- 1\n- !!int x", "line 2: must be a value of type int, not x"),
    "no truth": ("- !!bool maybe", "line 1: must be a value of type bool, not maybe"),
    "a key twice": ("- a: 1\n  b: 2\n  a: 3", "line 3: the key 'a' occurs twice"),
    "a merge key": ("- {<<: {a: 1}}", "line 1: a key must be text, not <<"),
    "a list as a key": ("- ? [a]\n  : 1", "line 1: a key must be text"),
    "an alias of nothing": ("- *a", "line 1: "),
    "a value within itself": ("- &a [1, *a]", "line 1: the alias *a has no complete value"),
    "deep brackets": ("- " + "[" * 100_000, "line 1: the value is nested deeper than 200"),
    "deep and closed": ("[" * 9_000 + "]" * 9_000, "line 1: the value is nested deeper than 200"),
    "deep dashes": ("- " * 9_000 + "a", "line 1: the value is nested deeper than 200"),
    "an alias bomb of a long text": (
        "- &a " + "x" * 1_000_000 + "\n" + "- *a\n" * 10_001,
        "line 9991: the file has more than 10,000,000 values, counting those of aliases",
    ),
    "an alias bomb": (
        BOMB,
        "line 7: the file has more than 10,000,000 values, counting those of aliases",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_sentence_with_its_line(parser: str, fault: str) -> None:
    text, said = FAULTS[fault]
    with pytest.raises(DataError) as error:
        read_records(text, FILE)
    shown = str(error.value)
    assert shown.startswith(f"f.yaml, {said}"), shown
    assert "\n" not in shown and len(shown) < 300


def test_half_a_character_is_refused(parser: str) -> None:
    with pytest.raises(
        DataError, match=r"^f\.yaml, line 2: (the text has half a character|not YAML)"
    ):
        read_records('- a\n- "\\ud800"', FILE)


def test_a_number_of_a_million_digits_is_text_and_costs_nothing(parser: str) -> None:
    began = time.monotonic()
    for number in ("7" * 1_000_000, "1:" * 500_000 + "1", "0x" + "f" * 1_000_000):
        assert values(f"- {number}") == [number]
    with pytest.raises(DataError, match="must be a value of type int, not 777"):
        read_records("- !!int " + "7" * 5_000, FILE)
    assert time.monotonic() - began < 30


def test_aliases_stand_for_one_object(parser: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = values("- &a [1, 2]\n- {b: *a}")
    assert second["b"] is first
    monkeypatch.setattr(yaml_records, "MAX_VALUES", 7)
    assert values("- [1, 2, 3, 4]") == [[1, 2, 3, 4]]
    with pytest.raises(DataError, match="line 2: the file has more than 7 values"):
        read_records("- &a [1, 2]\n- [*a]", FILE)
