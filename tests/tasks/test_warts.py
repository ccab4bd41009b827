"""Data as it is released, with its oddities: it is read, with a warning where a part of it is left out,
or refused in one sentence that names file and place; and `skip_bad` reads the rest."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from peirce.records import DataError, UsageError
from peirce.tasks import DataWarning, load_problems
from warts import dumped, forms

WARTS = forms()


def loaded(path: Path, task: str, **options: Any) -> tuple[list[str], list[str]]:
    """The ids of the problems and the warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        problems = load_problems(task, str(path), **options)
    assert all(issubclass(one.category, DataWarning) for one in told)
    return [problem.id for problem, _ in problems], [str(one.message) for one in told]


def one_sentence(said: str) -> str:
    assert "\n" not in said and len(said) < 900 and "Traceback" not in said, said
    return said


@pytest.mark.parametrize("name", WARTS)
def test_released_data_with_an_oddity_is_read_or_refused_in_one_sentence(
    tmp_path: Path, name: str
) -> None:
    wart = WARTS[name]
    path = wart.save(tmp_path)
    if wart.refused:
        with pytest.raises((DataError, UsageError)) as raised:
            loaded(path, wart.task)
        assert wart.refused in one_sentence(str(raised.value))
        assert str(tmp_path) in str(raised.value)
        return
    ids, told = loaded(path, wart.task)
    assert ids
    named = [one for one in told if wart.warns in one]
    assert named if wart.warns else not any("cannot be read" in one for one in told), told
    assert all(str(tmp_path) in one or "meals" in one for one in map(one_sentence, told))


@pytest.mark.parametrize("name", [name for name, wart in WARTS.items() if wart.refused])
def test_skip_bad_leaves_out_the_record_and_counts_it(tmp_path: Path, name: str) -> None:
    wart = WARTS[name]
    path = wart.save(tmp_path)
    if wart.skipped is None:  # the file as a whole cannot be read
        with pytest.raises((DataError, UsageError)) as raised:
            loaded(path, wart.task, skip_bad=True)
        assert wart.refused in one_sentence(str(raised.value))
        return
    ids, told = loaded(path, wart.task, skip_bad=True)
    assert ids
    (counted,) = [one for one in told if "1 record that cannot be read is left out" in one]
    assert wart.skipped in one_sentence(counted)


def test_where_no_record_can_be_read_skip_bad_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "f.jsonl").write_text("{\n[]\n")
    with pytest.raises(DataError, match=r"line 1: not JSON.*\(none of 2 records can be read\)$"):
        loaded(tmp_path / "f.jsonl", "list_functions", skip_bad=True)


def test_several_bad_records_are_one_sentence_that_lists_their_places(tmp_path: Path) -> None:
    good = {"idx": 0, "train": [{"input": [1], "output": [1]}], "test": []}
    (tmp_path / "f.jsonl").write_text(dumped(good, 1, {**good, "idx": None}, [2]))
    _, (said,) = loaded(tmp_path / "f.jsonl", "list_functions", skip_bad=True)
    assert said == (
        f"{tmp_path}/f.jsonl: 3 records that cannot be read are left out: line 2: must be an object"
        " with idx, train and test, not 1; also line 3, idx; line 4"
    )


# --- observations in GEAR's form -------------------------------------------------------

DATA = [
    {"idx": n, "train": [{"input": f"[{n}]", "output": "[1]"}], "test": [{"input": "[7]", "output": "[7]"}]}
    for n in range(2)
]  # fmt: skip
OBSERVED: dict[str, tuple[str | bytes, str, str]] = {
    "pairs of strings": ('{"0": [["[7]", "[7]"]], "1": [["[7]", "[7]"]]}', "", ""),
    "pairs of lists": ('{"0": [[[7], [7]]]}', "", ""),
    "a byte order mark": (b'\xef\xbb\xbf{"0": [["[7]", "[7]"]]}', "", ""),
    "an id that the data lack": (
        '{"0": [["[7]", "[7]"]], "x": [["[7]", "[7]"]]}',
        "1 ids are not in",
        "",
    ),
    "a pair that the data lack": (
        '{"0": [["[8]", "[8]"]]}',
        "pairs that are not in their data",
        "",
    ),
    "three values": (
        '{"0": [["[7]", "[7]", 1]]}',
        "",
        "problem '0', pair 0: must be [input, output]",
    ),
    "a pair that is null": ('{"0": [null]}', "", "problem '0', pair 0: must be [input, output]"),
    "pairs that are null": ('{"0": null}', "", "problem '0': must be a list of pairs"),
    "a list": ("[]", "", "the file must contain one object"),
    "quotes of Python": ("{'0': []}", "", "not JSON"),
    "a comma at the end": ('{"0": [["[7]", "[7]"]],}', "", "not JSON"),
    "NaN": ('{"0": [["[7]", NaN]]}', "", "this JSON cannot be used"),
    "an id twice": ('{"0": [["[7]", "[7]"]], "0": []}', "", "the key '0' occurs twice"),
}


@pytest.mark.parametrize("name", OBSERVED)
def test_observations_with_an_oddity_are_read_or_refused_in_one_sentence(
    tmp_path: Path, name: str
) -> None:
    content, warned, refused = OBSERVED[name]
    (tmp_path / "f.jsonl").write_text(dumped(*DATA))
    given = tmp_path / "list_function_1.json"
    given.write_bytes(content if isinstance(content, bytes) else content.encode())
    if refused:
        with pytest.raises(DataError) as raised:
            loaded(tmp_path / "f.jsonl", "list_functions", observations=str(given))
        said = one_sentence(str(raised.value))
        assert said.startswith(f"{given}, line 1") and refused in said
        return
    ids, told = loaded(tmp_path / "f.jsonl", "list_functions", observations=str(given))
    assert ids and ([one for one in told if warned in one] if warned else not told)
