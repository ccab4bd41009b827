"""A session on measurements: from the command line to predictions, with a scripted model."""

from __future__ import annotations

import json
import math
from pathlib import Path

import peirce
import pytest
from peirce.tests.cli.forked_command import run_command
from peirce.tests.page_blocks import read_text

ANSWERS = [
    "The root of the length.\nperiod = 2.006 * sqrt(length)",
    "period = 0.9 + 1.05 * length",
    "period = 2.006 * sqrt(length) + where(length > 2.45, length - 2.45, 0)",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("laws")
    rows = [(round(0.1 + i * 0.047, 3), i % 5) for i in range(50)]
    lines = [f"{x},{k},{2 * math.pi * math.sqrt(x / 9.81):.3f}" for x, k in rows]
    (place / "pendulum.csv").write_text("\n".join(["length [m],day,period [s]", *lines]) + "\n")
    (place / "new.csv").write_text("length [m],day,period [s]\n4,1,4.012\n-1,1,\n,2,\n")
    (place / "answers.json").write_text(json.dumps({"*": ANSWERS}))
    run(place, "run", "laws", "--data", "pendulum.csv", "--target", "period [s]",
        "--model", "scripted:answers.json", "--quiet")  # fmt: skip
    return place


def run(folder: Path, *words: str, code: int = 0) -> str:
    done = run_command(words, cwd=folder, env={"OMP_NUM_THREADS": "1"})
    assert done.returncode == code, done.stderr
    return str(done.stdout)


def test_the_findings_begin_with_the_law_that_is_shortest_with_its_residuals(folder: Path) -> None:
    found = peirce.load("last", store=folder / "peirce.duckdb").findings()
    assert found[0].hypothesis == "2.006 * sqrt(length)"
    assert found[0].consistent and found[0].shown.right == 40
    assert found[0].held_out is not None and found[0].held_out.rms is not None
    assert found[0].held_out.rms < 0.002
    assert [one.bits for one in found] == sorted(one.bits for one in found)
    assert not found[-1].consistent and found[-1].hypothesis == "0.9 + 1.05 * length"


def test_the_front_of_a_model_is_that_of_its_answers(folder: Path) -> None:
    """The inconsistent law stands on it too; the longest one is larger and has a larger error."""
    (found,) = [one for one in peirce.load("last", store=folder / "peirce.duckdb").findings() if one.front]  # fmt: skip
    assert found.rank == 1
    assert [(one.hypothesis, one.size, one.chosen) for one in found.front] == [
        ("2.006 * sqrt(length)", 4, True)
    ]
    assert found.front[0].rms == pytest.approx(found.shown.rms)


def test_the_front_of_the_search_has_laws_that_it_does_not_propose(
    folder: Path, tmp_path: Path
) -> None:
    told = run(tmp_path, "run", "laws", "--data", str(folder / "pendulum.csv"), "--target", "period [s]",
               "--max-answers", "1", "--quiet")  # fmt: skip
    assert "size and root mean square error of rival laws" in told and "(chosen)" in told
    session = peirce.load("last", store=tmp_path / "peirce.duckdb")
    (best,) = session.findings()
    front = best.front
    assert len(front) > 1 and {one.hypothesis for one in front if one.chosen} == {best.hypothesis}
    sizes, errors = [one.size for one in front], [one.rms for one in front]
    assert sizes == sorted(set(sizes)) and errors == sorted(errors, reverse=True)
    assert front[0].rms == pytest.approx(session.problems[0].public["spread"], rel=0.3)
    printed = json.loads(run(tmp_path, "show", "last", "--findings", "--json"))
    assert printed[0]["front"][-1] == dict(front[-1])
    assert "no differences" in run(tmp_path, "replay", "last")


def test_rival_laws_are_told_apart_where_they_extrapolate(folder: Path) -> None:
    found = peirce.load("last", store=folder / "peirce.duckdb").findings()
    parted = found[0].disagreement
    assert parted is not None and parted.input["length [m]"] > 2.45
    first, second = (float(str(one)) for one in parted.outputs)
    assert abs(first - second) > 0.1


def test_the_session_is_replayed_and_its_laws_are_applied(folder: Path) -> None:
    assert "no differences" in run(folder, "replay", "last")
    rows = [json.loads(one) for one in run(folder, "predict", "--bank", "last", "--data", "new.csv", "--json").splitlines()]  # fmt: skip
    assert rows[0]["prediction"] == pytest.approx(4.012, abs=0.001)
    assert (rows[0]["expected"], rows[0]["right"]) == (4.012, True)
    assert [row["reason"] for row in rows[1:]] == ["no_number", "missing_value"]
    run(folder, "bank", "last", "--out", "bank.json")
    again = run(folder, "predict", "--bank", "bank.json", "--data", "new.csv", "--json")
    assert json.loads(again.splitlines()[0])["prediction"] == rows[0]["prediction"]


def test_a_report_and_scores_are_written(folder: Path) -> None:
    run(folder, "report", "last", "--out", "page.html")
    page = read_text((folder / "page.html").read_text())
    assert "2.006 * sqrt(length)" in page and "Extrapolation of rival laws" in page
    assert "gamma" in run(folder, "eval", "last")


def test_laws_of_ones_own_are_judged(folder: Path) -> None:
    laws = ["2.006*length**0.5", "period = length", "sqrt(len)"]
    lines = [json.dumps({"problem": "pendulum", "hypothesis": one}) for one in laws]
    (folder / "mine.jsonl").write_text("\n".join(lines) + "\n")
    told = run(folder, "check", "laws", "--answers", "mine.jsonl", "--data", "pendulum.csv",
               "--target", "period [s]", "--json")  # fmt: skip
    rows = [json.loads(one) for one in told.splitlines()]
    assert [row["verdict"] for row in rows] == ["consistent", "inconsistent", "malformed"]


def test_discover_names_the_command_for_a_numeric_target(folder: Path) -> None:
    found = peirce.recognize(folder / "pendulum.csv", "period [s]")
    assert found.kind == "numeric_target"
    assert found.command.endswith("pendulum.csv --target 'period [s]'")
    assert found.command.startswith("peirce run laws --data ")
