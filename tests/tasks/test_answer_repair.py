"""Answers whose form is nearly right: each fault is named, what cannot be known stays malformed, and
the answer as the family reads it goes first.

Internals: faults are compared text by text, which no session shows one by one.
"""

from __future__ import annotations

import json

import pytest
from peirce.records import Hypothesis, InputSet, Malformed, Observation, Problem
from peirce.tasks import load_family
from peirce.tasks.io.answer_repair import describe_breach, read_leniently
from peirce.tasks.io.json_repair import describe_surroundings, repair_object

SOURCE = "def f(x):\n    return x['a'] if x else [\"}\", 'it is']"
WHOLE = {"description": 'it\'s "so", {1}', "code": SOURCE}
TEXT = json.dumps(WHOLE)
KEYS = ("description", "code")
VIEW = Problem("p", "t", "programs", (Observation([1], [1]),)).make_view(InputSet("s", ([1],)))
REPAIRED = {
    "a comma at the end": (f"{TEXT[:-1]},}}", ["trailing_comma"]),
    "a comma at the end of a list": (f'{TEXT[:-1]}, "steps": [1, 2,]}}', ["trailing_comma"]),
    "a missing bracket": (TEXT[:-1], ["unclosed"]),
    "a missing bracket in a fence": (f"```json\n{TEXT[:-1]}\n```", ["unclosed", "fence"]),
    "two missing brackets": (f'{TEXT[:-1]}, "steps": [1, {{"a": 2}}', ["unclosed"]),
    "a Python dictionary": (repr(WHOLE), ["single_quotes"]),
    "single quotes around real line breaks": (
        "{'description': 'it's so', 'code': 'def f(x):\n    return [1]'}",
        ["single_quotes"],
    ),
    "typographic quotes": ("{“description”: “d”, “code”: “def f(x):\\n    return x”}", ["smart_quotes"]),
    "prose and two faults": (f"So: {TEXT[:-1]},}} Done.", ["trailing_comma", "prose"]),
    "two objects": (f'{{"code": "1",}}\n{TEXT[:-1]},}}', ["trailing_comma", "several_objects"]),
}  # fmt: skip
UNREADABLE = {
    "a text that does not end": TEXT[: len(TEXT) // 2],
    "a text that does not end in single quotes": repr(WHOLE)[:-10],
    "nothing after a comma": TEXT[:-1] + ",",
    "a number that may be cut": TEXT[:-1] + ', "n": 1',
    "no value": '{"description": "d", "code": }',
    "no comma": '{"description": "d" "code": "c"}',
    "another object": '{"name": "x",}',
    "no object": "I cannot say.",
    "nothing": "",
    "a value that is no JSON": '{"code": undefined}',
    "endless nesting": '{"code": ' * 200,
}


@pytest.mark.parametrize("name", REPAIRED)
def test_a_fault_is_repaired_and_named(name: str) -> None:
    text, faults = REPAIRED[name]
    read = repair_object(text, KEYS)
    assert read is not None and list(read.faults) == faults
    assert isinstance(read.value["code"], str) and read.value["code"].startswith("def f(x):")


@pytest.mark.parametrize("name", [one for one in REPAIRED if TEXT[:-1] in REPAIRED[one][0]])
def test_a_repaired_object_has_the_values_of_the_whole_one(name: str) -> None:
    read = repair_object(REPAIRED[name][0], KEYS)
    assert read is not None and {key: read.value[key] for key in KEYS} == WHOLE


@pytest.mark.parametrize("name", UNREADABLE)
def test_nothing_is_guessed(name: str) -> None:
    assert repair_object(UNREADABLE[name], KEYS) is None


@pytest.mark.parametrize("at", range(1, len(TEXT) - 1))
def test_an_answer_cut_anywhere_within_its_code_is_never_read(at: int) -> None:
    """Cut after the code's closing quote, only the bracket is missing."""
    read = repair_object(TEXT[:at], ("code",))
    assert read is None


@pytest.mark.parametrize(
    ("text", "around"),
    [
        (TEXT, ()),
        (f"\n{TEXT}\n", ()),
        (f"```json\n{TEXT}\n```", ("fence",)),
        (f"```\n{TEXT}\n```\nDone.", ("fence", "prose")),
        (f"{TEXT}\n{TEXT}", ("several_objects",)),
        ("prose", None),
        ('{"name": 1}', None),
    ],
)
def test_what_stands_around_a_valid_object_is_named(text: str, around: tuple[str, ...]) -> None:
    assert describe_surroundings(text, KEYS) == around


# --- as the families read ----------------------------------------------------------------


def leniently(family: str, text: str, answer_format: str = "json"):
    found = load_family(family)
    parse = lambda said: found.parse(VIEW, said, answer_format)
    return read_leniently(parse, text, found.words.schema(answer_format))


@pytest.mark.parametrize("name", REPAIRED)
def test_a_program_in_a_repaired_answer_is_a_hypothesis(name: str) -> None:
    items, faults = leniently("programs", REPAIRED[name][0])
    assert [type(one) for one in items] == [Hypothesis] and list(faults) == REPAIRED[name][1]


@pytest.mark.parametrize("name", UNREADABLE)
def test_an_unreadable_answer_has_the_reason_that_the_family_gives(name: str) -> None:
    items, faults = leniently("programs", UNREADABLE[name])
    plain = load_family("programs").parse(VIEW, UNREADABLE[name], "json")
    assert [type(one) for one in items] == [Malformed] and list(items) == list(plain)
    assert faults == ()


def test_an_answer_in_the_right_form_is_read_once_and_has_no_fault() -> None:
    asked: list[str] = []

    def parse(text: str):
        asked.append(text)
        return load_family("programs").parse(VIEW, text, "json")

    items, faults = read_leniently(parse, TEXT, load_family("programs").words.schema("json"))
    assert faults == () and asked == [TEXT] and items[0].text == SOURCE


@pytest.mark.parametrize("format_", ["tuple", "fenced_function"])
def test_quotes_of_a_word_processor_are_straightened_in_other_formats(format_: str) -> None:
    code = "def f(x):\n    return x or “none”"
    text = f"(“it’s one”, “{code.replace(chr(10), chr(92) + 'n').replace('“none”', '‘none’')}”)"
    text = text if format_ == "tuple" else f"```python\n{code}\n```"
    items, faults = leniently("programs", text, format_)
    assert isinstance(items[0], Hypothesis) and faults == ("smart_quotes",)
    assert "none" in items[0].text and "“" not in items[0].text


def test_typographic_quotes_within_a_code_are_straightened_only_where_it_cannot_be_read() -> None:
    good = {"description": "“d”", "code": "def f(x):\n    return '“' + x"}
    items, faults = leniently("programs", json.dumps(good))
    assert items[0].text == good["code"] and faults == ()
    bad = {"description": "“d”", "code": "def f(x):\n    return “a” + x"}
    items, faults = leniently("programs", json.dumps(bad))
    assert items[0].text == 'def f(x):\n    return "a" + x' and faults == ("smart_quotes",)


def test_an_answer_that_was_read_without_the_json_that_was_asked_for_says_so() -> None:
    assert leniently("programs", repr(("d", SOURCE)))[1] == ("other_form",)
    items, faults = leniently("text", "1. People are kind.\n2. People are loud.")
    assert len(items) == 2 and faults == ("other_form",)


def test_sentences_of_a_list_that_was_left_open_are_read_and_the_fault_is_named() -> None:
    items, faults = leniently("text", '{"hypotheses": ["People are kind.", "People are loud."')
    assert [one.text for one in items] == ["People are kind.", "People are loud."]
    assert faults == ("unclosed",)


def test_a_breach_names_the_first_fault_and_lists_all() -> None:
    breach = describe_breach(("trailing_comma", "fence"))
    assert breach.reason == "breach_trailing_comma"
    assert "trailing comma, fence" in breach.detail and "--strict-contract" in breach.detail


@pytest.mark.parametrize(
    "text",
    ["{'" * 60_000, "{'a': " * 40_000, "{“" + "” x" * 60_000, '{"code": "' + "x" * 190_000,
     "{'code': '" + "' " * 90_000, "{'code': '" + "', " * 60_000, "{" * 200_000, '{"code": [' + "1," * 90_000],
)  # fmt: skip
def test_a_hostile_answer_is_malformed_and_the_work_is_bounded(text: str, monkeypatch) -> None:
    from peirce.tasks.io import json_repair

    budgets: list[json_repair._Budget] = []
    real = json_repair._Budget
    monkeypatch.setattr(
        json_repair, "_Budget", lambda characters: budgets.append(real(characters)) or budgets[-1]
    )
    assert repair_object(text, KEYS) is None
    (budget,) = budgets
    assert budget.characters >= -len(text)
