"""Results of the public functions: typed objects that read like the JSON that the command line prints.

Internals: results are built from values that no command returns together.
"""

from __future__ import annotations

import inspect
import json
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path

import peirce
import pytest
from peirce import Evaluation, Metric, Result, cli
from peirce.commands.results import extra_keys, json_key, unprinted_field


class Row(Result):
    """A row of this file."""

    name: str
    metric: Metric | None = None
    metrics: Mapping[str, Metric]
    rows: int = json_key("items")
    figures: Mapping[str, float] = extra_keys()
    note: str = unprinted_field(default_factory=str)


MEAN = {"mean": 0.5, "low": None, "high": None, "n": 1}
JSON = {"extra": 2.0, "name": "a", "metrics": {"gamma": MEAN}, "items": 3}


def test_a_result_has_attributes_and_the_keys_of_its_json() -> None:
    row = Row.from_dict(JSON)
    assert (row.name, row.rows, row.figures, row.metric) == ("a", 3, {"extra": 2.0}, None)
    assert row.metrics["gamma"].mean == row["metrics"]["gamma"]["mean"] == 0.5
    assert list(row) == list(JSON) and len(row) == 4 and "metric" not in row and "items" in row
    assert row.get("metric", "none") == "none" and {**row} == dict(row.items()) == JSON
    with pytest.raises(KeyError):
        row["note"]


def test_a_result_equals_its_json_and_gives_it_back() -> None:
    row = Row.from_dict(JSON)
    assert row == JSON and row == JSON and row != {**JSON, "name": "b"}
    assert json.dumps(row.to_dict()) == json.dumps(JSON)
    assert type(row.to_dict()["metrics"]["gamma"]) is dict
    assert Row.from_dict({**JSON, "metric": None}).to_dict() == {**JSON, "metric": None}


def test_a_result_made_by_hand_leaves_out_what_is_at_its_default() -> None:
    row = Row(name="a", metrics={"gamma": Metric(**MEAN)}, rows=3, figures={"extra": 2.0}, note="x")
    assert row == JSON and row.note == "x"


def test_a_result_cannot_be_changed() -> None:
    row = Row.from_dict(JSON)
    with pytest.raises(AttributeError):
        row.name = "b"  # type: ignore[misc]
    with pytest.raises(TypeError):
        row["name"] = "b"  # type: ignore[index]


def test_keys_that_are_unknown_or_missing_are_refused() -> None:
    with pytest.raises(TypeError, match="Metric has no key median"):
        Metric.from_dict({**MEAN, "median": 1})
    with pytest.raises(TypeError, match="high"):
        Metric.from_dict({"mean": 0.5, "low": None, "n": 1})


SIMPLE = (str, int, float, bool, type(None))


def kinds(annotation: typing.Any) -> Iterator[type]:
    """The classes in a union, a list or an iterator."""
    if typing.get_origin(annotation) is None:
        yield annotation
    for part in typing.get_args(annotation):
        yield from kinds(part)


FUNCTIONS = [name for name in peirce.__all__ if name.islower()]
FUNCTIONS.remove("run_in_thread")  # it returns what the function in the thread returns


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_returns_public_results(name: str) -> None:
    declared = typing.get_type_hints(getattr(peirce, name))["return"]
    for kind in kinds(declared):
        if issubclass(kind, Result):
            assert getattr(peirce, kind.__name__) is kind
        known = issubclass(kind, (Result, peirce.Trace, *SIMPLE))
        assert known or (name, kind.__name__) == ("view", "Viewer"), kind
        origin = typing.get_origin(declared)
        assert origin in (None, list, typing.Union, types.UnionType, Iterator)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of one session."""
    folder = tmp_path_factory.mktemp("results")
    pairs = [
        {"problem": "one", "input": given, "output": given[1:], "split": split}
        for given, split in (([3, 1, 2], "shown"), ([5, 6], "shown"), ([9, 9, 9], "hidden"))
    ]
    (folder / "pairs.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    (folder / "space.jsonl").write_text("[]\n[1]\n[1, 2]\n")
    texts = [repr((name, f"def f(x):\n    return {name}")) for name in ("x[1:]", "x[:1]")]
    (folder / "script.json").write_text(json.dumps({"one": [*texts, "prose"]}))
    peirce.run(
        "examples", data=folder / "pairs.jsonl", space=folder / "space.jsonl",
        model=f"scripted:{folder / 'script.json'}", store=folder / "peirce.duckdb", workers=1,
    )  # fmt: skip
    return folder


Call = typing.Callable[[], typing.Any]
READING: Mapping[str, tuple[list[str], Call]] = {
    "eval": (["eval"], lambda: peirce.evaluate()),
    "eval by problem": (["eval", "--by-problem"], lambda: peirce.evaluate(by_problem=True)),
    "eval t3": (["eval", "t3"], lambda: peirce.evaluate(name="t3")),
    "study defeasible": (["study", "defeasible"], lambda: peirce.study("defeasible")),
    "study general": (["study", "general"], lambda: peirce.study("general")),
    "sessions": (["sessions"], peirce.sessions),
    "show": (["show"], peirce.show),
    "show a problem": (["show", "last", "one"], lambda: peirce.show("last", "one")),
    "show calls": (["show", "--calls"], lambda: peirce.show(calls=True)),
    "bank": (["bank"], peirce.bank),
    "bank history": (["bank", "--history"], lambda: peirce.bank(history=True)),
    "replay": (["replay"], peirce.replay),
    "pairs": (["pairs", "--dry-run"], lambda: peirce.pairs(dry_run=True)),
    "pair sets": (["pairs", "--list"], peirce.pair_sets),
    "trainings": (["train", "--list"], peirce.trainings),
    "plan": (
        ["run", "examples", "--data", "pairs.jsonl", "--dry-run"],
        lambda: peirce.plan("examples", data="pairs.jsonl"),
    ),
    "tasks list": (["tasks", "list"], peirce.tasks_list),
    "tasks show": (
        ["tasks", "show", "examples", "--data", "pairs.jsonl"],
        lambda: peirce.tasks_show("examples", data="pairs.jsonl"),
    ),
}


@pytest.mark.parametrize("verb", READING)
def test_a_reading_verb_prints_what_its_function_returns(
    verb: str, stored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(stored)
    arguments, call = READING[verb]
    with pytest.raises(SystemExit) as ended:
        cli.main([*arguments, "--json"])
    printed = json.loads(capsys.readouterr().out)
    assert not ended.value.code
    result = call()
    rows = result if isinstance(result, list) else [result]
    assert all(isinstance(row, Result) for row in rows)
    told = [row.to_dict() for row in rows]
    assert printed == (told if isinstance(result, list) else told[0])
    assert result == printed


def test_lines_that_are_checked_are_printed_as_they_are_returned(
    stored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(stored)
    lines = [{"problem": "one", "hypothesis": "def f(x):\n    return x[1:]"}, {"problem": "none"}]
    Path("lines.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(SystemExit):
        cli.main(
            ["check", "examples", "--answers", "lines.jsonl", "--data", "pairs.jsonl", "--json"]
        )
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    rows = list(peirce.check("examples", "lines.jsonl", data="pairs.jsonl"))
    assert [row.verdict for row in rows] == ["consistent", "error"]
    for row, line in zip(rows, printed, strict=True):
        assert row.to_dict() | {"seconds": 0} == line | {"seconds": 0}
        assert list(row) == list(line)


def test_a_misspelt_attribute_is_an_error(stored: Path) -> None:
    scores = peirce.evaluate(store=stored / "peirce.duckdb")
    assert isinstance(scores, Evaluation)
    with pytest.raises(AttributeError, match="sesions"):
        scores.sesions  # type: ignore[attr-defined]  # noqa: B018
    assert scores.sessions[0].metrics["gamma"].n == 1 and scores.files is None


def test_a_session_prints_no_more_than_its_keys(stored: Path) -> None:
    session = peirce.resume(store=stored / "peirce.duckdb")
    assert session.evaluation == "gear" and "evaluation" not in session
    assert session.failed == {} and session.cause == ""
    assert "metrics" in inspect.signature(type(session)).parameters
