"""`peirce.bank(effects=True)`: rows of the session and of files, groups, and what is refused."""

from __future__ import annotations

import csv
import random
import shutil

import peirce
import pytest
from labelled_session import write_lines
from peirce.records import PeirceError, UsageError
from peirce.tests.page_blocks import read_text

TORCH = 'If the text mentions "torch", the label is private.'
HELPER = 'If the text mentions "helper", the label is private.'
VAGUE = "If the tone is friendly, the label is public."


def docstrings():
    """In torch most functions are private and most texts name it; helpers are private everywhere."""
    rng = random.Random(0)
    rows = []
    for package, private, named in (("torch", 0.7, 0.8), ("numpy", 0.3, 0.1), ("rich", 0.3, 0.05)):
        for place in range(300):
            label = "private" if rng.random() < private else "public"
            helps = rng.random() < (0.5 if label == "private" else 0.1)
            words = ["torch" if rng.random() < named else "it", "helper" if helps else "value"]
            text = f"Return the {' '.join(words)} of {package} {place}" + " again" * rng.randint(
                0, 9
            )
            rows.append({"text": text, "package": package, "size": place, "label": label})
    rng.shuffle(rows)
    return rows


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    """A session that applies three sentences to texts, and its data with further columns."""
    folder = tmp_path_factory.mktemp("effects")
    with (folder / "docs.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["text", "package", "size", "label"])
        writer.writeheader()
        writer.writerows(docstrings())
    write_lines(folder / "bank.jsonl", [{"text": one} for one in (TORCH, HELPER, VAGUE)])
    peirce.run(
        "labels", data=f"{folder}/docs.csv?columns=text", label="label", method="infer",
        bank=[str(folder / "bank.jsonl")], store=folder / "s.duckdb", observations="100",
    )  # fmt: skip
    return folder


@pytest.fixture
def bank(origin, tmp_path):
    shutil.copy(origin / "s.duckdb", tmp_path)
    return lambda **options: peirce.bank(store=tmp_path / "s.duckdb", **options)


def verdicts(rows, column):
    return {
        row.text: one.verdict
        for row in rows
        for effect in row.effects
        for one in effect.within
        if one.column == column
    }


def test_effects_are_those_of_the_test_rows_and_no_key_without_the_option(bank):
    assert all("effects" not in row for row in bank())
    rows = bank(effects=True)
    assert [row.text for row in rows] == [TORCH, HELPER, VAGUE]
    assert {(one.rows, one.n) for row in rows for one in row.effects} == {("test", 179)}
    assert rows[1].effects[0].odds_ratio.low > 1 and rows[1].effects[0].verdict == "supported"
    assert rows[2].effects == []
    told = rows[1].to_dict()["effects"][0]
    assert told["table"] == rows[1].effects[0].table and sum(map(sum, told["table"])) == 179


def test_the_rows_of_a_file_leave_out_those_that_the_session_was_shown(bank, origin):
    (effect,) = bank(data=origin / "docs.csv")[0].effects
    assert (effect.rows, effect.n) == ("docs.csv that the search did not see", 800)


def test_other_rows_all_count_and_rows_that_were_all_shown_are_named_so(bank, origin, tmp_path):
    new = [{"text": f"a torch {n}", "label": "private"} for n in range(12)]
    write_lines(tmp_path / "new.jsonl", [*new, {"text": "a value", "label": "public"}])
    (effect,) = bank(data=tmp_path / "new.jsonl")[0].effects
    assert (effect.n, effect.table) == (13, [[12, 0], [0, 1]])
    session = peirce.sessions(store=tmp_path / "s.duckdb")[0].session
    shown = peirce.load(session, store=tmp_path / "s.duckdb").problems[0].shown
    write_lines(tmp_path / "own.jsonl", [{**one.input, "label": one.output} for one in shown])
    (effect,) = bank(data=tmp_path / "own.jsonl")[0].effects
    assert (effect.n, effect.rows) == (100, "own.jsonl, all shown to the search")


def test_a_confound_is_flagged_and_an_effect_within_packages_is_not(bank, origin):
    rows = bank(within=["package", "length", "size"], data=origin / "docs.csv")
    assert rows[0].effects[0].odds_ratio.low > 1
    assert verdicts(rows, "package") == {TORCH: "confounded", HELPER: "holds"}
    assert verdicts(rows, "length") == verdicts(rows, "size") == {TORCH: "holds", HELPER: "holds"}
    within = rows[0].effects[0].within
    assert (within[0].groups, within[2].groups) == (3, 4)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"within": "pakage"}, "--within pakage: the session has no column of this name"),
        ({"within": "pakage", "data": "docs.csv"}, "docs.csv has no such column"),
        ({"effects": True, "history": True}, "--history cannot be used with --effects"),
        ({"data": "absent.csv"}, "absent.csv"),
        ({"data": "no_label.jsonl"}, "no row has a label in the column 'label'"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(
    bank, origin, tmp_path, monkeypatch, options, error
):
    write_lines(tmp_path / "no_label.jsonl", [{"text": "a", "kind": "b"}])
    shutil.copy(origin / "docs.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PeirceError) as raised:
        bank(**options)
    assert error in str(raised.value) and "\n" not in str(raised.value)


def test_the_page_compares_within_the_same_groups(origin, tmp_path):
    page = tmp_path / "page.html"
    peirce.report(store=origin / "s.duckdb", out=page, within="package", data=origin / "docs.csv")
    assert "CONFOUNDED by package: within groups little of the effect is left" in read_text(
        page.read_text()
    )
    with pytest.raises(UsageError, match="--within pakage"):
        peirce.report(store=origin / "s.duckdb", out=tmp_path / "other.html", within="pakage")
    assert not (tmp_path / "other.html").exists()


def test_a_session_on_other_data_has_no_effects(tmp_path):
    pairs = write_lines(tmp_path / "pairs.jsonl", [{"input": n, "output": n + 1} for n in range(6)])
    peirce.run("examples", data=pairs, store=tmp_path / "s.duckdb")
    with pytest.raises(UsageError, match="--effects needs a session on labelled rows"):
        peirce.bank(effects=True, store=tmp_path / "s.duckdb")
