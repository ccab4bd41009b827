"""`peirce study` and `peirce.study` on sessions of a real run."""

from __future__ import annotations

import json
import shutil
import sys
import warnings
from pathlib import Path

import peirce
import pytest
from peirce.cli import app
from peirce.records import StoreError, UsageError
from typer.testing import CliRunner

HEAD_TAIL = repr(("all but the first", "def f(x):\n    return x[1:]"))
BUT_NINE = repr(("unless nine", "def f(x):\n    return [] if x[:1] == [9] else x[1:]"))


@pytest.fixture(scope="module")
def two_sessions(tmp_path_factory, new_setting):
    setting = new_setting(tmp_path_factory.mktemp("two"))
    setting.run(model=setting.answers(one=[HEAD_TAIL, BUT_NINE], two=[HEAD_TAIL]))
    setting.run(model=setting.answers(one=[BUT_NINE], two=[]))
    return setting.store


@pytest.fixture
def store(two_sessions, setting):
    """A copy of the store with both."""
    shutil.copyfile(two_sessions, setting.store)
    return setting.store


def both(store):
    return [row["session"] for row in peirce.sessions(store=store)]


def test_a_study_of_two_sessions_reads_the_store_alone(store):
    result = peirce.study("defeasible", *both(store), store=store)
    assert (result["study"], result["problems"], result["hypotheses"]) == ("defeasible", 2, 4)
    (whole,) = [row for row in result["rows"] if row["m"] == "all"]
    assert whole["data_set"] == "examples" and whole["n"] == "original"
    assert whole["pass_rate_micro"]["value"] == 2 / 4  # [9, 9, 9] refutes the other one
    assert all("scripted:" in one["model"] for one in result["sessions"])
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False)) == result
    (last,) = peirce.study("general", store=store)["sessions"]
    assert last["session"] == both(store)[-1]


def test_the_command_prints_the_table_or_the_same_object_as_json(store):
    runner = CliRunner()
    for name in ("defeasible", "general"):
        given = ["study", name, *both(store), "--store", store, "--seed", "3"]
        told = runner.invoke(app, [*given, "--json"])
        assert json.loads(told.stdout) == peirce.study(name, *both(store), store=store, seed=3)
        shown = runner.invoke(app, given)
        assert shown.exit_code == 0 and "examples, n=original, m=1" in shown.stdout
    assert (
        "all hidden pairs together reject"
        in runner.invoke(app, ["study", "defeasible", "--store", store]).stdout
    )


def test_help_has_an_example_and_names_both_studies():
    told = CliRunner().invoke(app, ["study", "--help"]).stdout
    assert "peirce study defeasible last" in told and "general" in told


def test_tables_are_written_as_a_file_or_a_folder(store, tmp_path):
    out = tmp_path / "tables"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without matplotlib
        files = peirce.study("general", store=store, out=out)["files"]
    assert {Path(f).suffix for f in files} - {".png", ".svg"} == {".csv", ".md"}
    (one,) = peirce.study("general", store=store, out=tmp_path / "a.csv")["files"]
    assert Path(one).read_text().startswith("data_set,n,m,k,problems,")
    assert Path(one).read_text() == (out / "general.csv").read_text()


def test_without_matplotlib_a_folder_gets_the_tables_and_a_sentence(store, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.warns(UserWarning, match="figures are left out: they need matplotlib"):
        files = peirce.study("general", store=store, out=tmp_path / "out")["files"]
    assert {Path(f).suffix for f in files} == {".csv", ".md"}
    with pytest.raises(UsageError, match="a figure needs matplotlib"):
        peirce.study("general", store=store, out=tmp_path / "a.svg")


def test_unknown_studies_sessions_and_choices_are_refused(store):
    with pytest.raises(UsageError, match="study is 'all': it must be one of defeasible, general"):
        peirce.study("all", store=store)
    with pytest.raises(StoreError, match="no session 'zzzz'"):
        peirce.study("general", "zzzz", store=store)
    with pytest.raises(UsageError, match="draws is 0"):
        peirce.study("general", store=store, draws=0)
