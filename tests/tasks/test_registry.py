"""Tasks and families are found by their modules; `load_problems` chooses problems and spaces.

Internals: the reader of JSON is called on values that no file of a task holds.
"""

from __future__ import annotations

from pathlib import Path

import peirce
import pytest
from peirce.records import DataError, UsageError
from peirce.tasks import load_family, load_problems, load_task, load_tasks, read_space
from peirce.tasks.io.json_text import NotFinite, parse_json, parse_literal


def test_every_task_has_a_family_and_a_line_about_it() -> None:
    names = [one.name for one in load_tasks()]
    assert names == sorted(names) and {"list_functions", "examples"} <= set(names)
    for one in load_tasks():
        assert (
            load_family(one.family).name == one.family and one.about and load_task(one.name) is one
        )


@pytest.mark.parametrize("name", [one.name for one in load_tasks()])
def test_a_generated_problem_of_every_task_is_shown(name: str) -> None:
    try:
        (shown,) = peirce.tasks_show(name, problems=1)
    except UsageError as error:  # a task that runs on data alone says so
        assert "--data" in str(error)
    else:
        assert shown["task"] == name and shown.to_dict().get("drawn", "a") != ""


def test_an_unknown_name_gets_its_nearest_match() -> None:
    with pytest.raises(UsageError, match="no task 'list_function'; did you mean list_functions"):
        load_task("list_function")
    with pytest.raises(UsageError, match=r"no task 'zzz'; valid choices are .*examples"):
        load_task("zzz")
    with pytest.raises(UsageError, match="no family 'program'; did you mean programs"):
        load_family("program")


def test_problems_are_counted_and_chosen_by_id() -> None:
    assert len(load_problems("list_functions")) == 12
    assert [p.id for p, _ in load_problems("list_functions", problems=2)] == ["gen0-0", "gen0-1"]
    chosen = load_problems("list_functions", ids=["gen0-5", "gen0-3", "gen0-5"])
    assert [p.id for p, _ in chosen] == ["gen0-5", "gen0-3"]
    with pytest.raises(UsageError, match="no problem 'gen1-3' in list_functions; did you mean"):
        load_problems("list_functions", ids=["gen1-3"])
    with pytest.raises(UsageError, match="--problems 0"):
        load_problems("list_functions", problems=0)


def test_a_line_beyond_all_measure_is_refused_without_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as out:
        out.write(b"[1]\n")
        out.truncate(200_000_000)  # one line of zero bytes, sparse on disk
    with pytest.raises(DataError, match="line 2: the line is longer than 16,000,000 characters"):
        read_space(path)
    with pytest.raises(UsageError, match="no data here"):
        read_space(tmp_path / "..")


def test_a_number_that_no_float_holds_is_found_in_text_of_many_lines() -> None:
    text = '{"a": "1e400",\n "b": [1e300,\n  {"c": 1e400}]}'
    with pytest.raises(NotFinite, match=r"^f\.json, line 3, b\[1\]\.c: 1e400 is larger"):
        parse_json(text, "f.json")
    with pytest.raises(NotFinite, match=r"^f\.json: 1e400 is larger"):
        parse_json("[1e400, " + "[" * 100_000, "f.json")


def test_tasks_say_which_file_they_look_for_in_a_folder() -> None:
    assert all(getattr(one, "files", ()) for one in load_tasks())


def test_half_a_character_and_deep_nesting_are_refused() -> None:
    with pytest.raises(
        DataError, match=r"^f\.json, line 2: the text '\\ud800' has half a character"
    ):
        parse_json('{"a": "\\ud83d\\ude00",\n "b": ["\\ud800"]}', "f.json")
    with pytest.raises(DataError, match=r"^f\.json: the text .* has half a character"):
        parse_json('{"\\udfff": 1}', "f.json")
    assert parse_json('"\\ud83d\\ude00"', "f.json") == "\U0001f600"
    parse_json("[" * 200 + "]" * 200, "f.json")
    with pytest.raises(DataError, match=r"^f\.json: the value is nested deeper than 200"):
        parse_json("[" * 201 + "]" * 201, "f.json")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"idx": 1, "idx": 2}', "f.json: the key 'idx' occurs twice"),
        ('{"a": {"b": 1},\n "c": {"b": 1,\n\n "b": 1}}', "f.json, line 4: the key 'b' occurs"),
        (
            '[{"k": "k", "l": ["k", "k"]},\n{"k": "\\"k", "\\u006b": 1}]',
            "line 2: the key 'k' occurs",
        ),
        ('{"\\ud800": 1, "\\ud800": 2}', "the key '\\ud800' occurs twice"),
    ],
)
def test_a_key_that_stands_twice_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(DataError, match=r"^f\.json") as error:
        parse_json(text, "f.json")
    assert said in str(error.value)


def test_the_same_key_in_several_objects_is_none_that_stands_twice() -> None:
    text = '[{"a": {"a": ["a", "a"]}}, {"a": "a"}, {"b": "a", "a": "b"}]'
    assert parse_json(text, "f.json")[0] == {"a": {"a": ["a", "a"]}}


def test_a_literal_with_a_key_that_stands_twice_is_refused() -> None:
    assert parse_literal("{'a': {'b': 1}, 'b': 2}", "f") == {"a": {"b": 1}, "b": 2}
    for text in ("{'a': 1, 'a': 2}", "[{'b': {'a': 1, 'a': 1}}]"):
        with pytest.raises(DataError, match=r"^f: a key occurs twice in "):
            parse_literal(text, "f")
