"""`peirce eval hypobench SESSION… --out DIR`: tables and figures of the paper, from small sessions."""

from __future__ import annotations

import csv
from pathlib import Path

import peirce
import pytest
from peirce.agents.scripted import Answering
from peirce.reports import hypobench_published as published
from peirce.reports import plotting
from peirce.reports.hypobench_entries import Entry, average, difficulty, metric
from peirce.reports.hypobench_files import agreements
from peirce.reports.hypobench_tables import grids
from peirce.tasks import load_problems

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
TABLES = ("table5", "table6", "table7", "table8", "table11", "table12", "table13", "table14",
          "table15", "table16")  # fmt: skip
BASE, DEEP = "admission/level_1/base", "admission/level_2/depth_2"


def run(store: Path, name: str, method: str) -> str:
    ((problem, _),) = load_problems("labels:admission", ids=[name], seed=3)
    said = "\n".join(f"{n}. {one}" for n, one in enumerate(problem.secret["truths"], 1))
    return peirce.run(
        "labels:admission", problem=[name], seed=3, method=method, model=Answering(lambda _: said, "oracle"),
        judge="exact", store=store,
    ).session  # fmt: skip


def lines(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as opened:
        return list(csv.DictReader(opened))


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hypobench")
    store = place / "s.duckdb"
    sessions = [
        run(store, BASE, "zero-shot-gen"), run(store, BASE, "hypogenic"), run(store, DEEP, "hypogenic")
    ]  # fmt: skip
    result = peirce.evaluate(*sessions, name="hypobench", store=store, out=place / "out")
    assert result["notes"] == ([] if plotting.available() else [plotting.ABSENT])
    return place / "out"


def test_every_table_is_there_and_what_no_session_did_is_empty(out: Path) -> None:
    assert {f"{name}{form}" for name in TABLES for form in (".csv", ".md", ".txt")} <= {
        one.name for one in out.iterdir()
    }
    text = (out / "table15.txt").read_text()
    assert next(o for o in text.splitlines() if o.startswith("IO prompting")).split()[2] == "–"
    here = [row for row in lines(out / "table5.csv") if row["source"] == "here"]
    assert not [row for row in here if row["value"]]


def test_an_average_names_its_sets_and_scores_without_a_model_are_marked(out: Path) -> None:
    found = [
        row for row in lines(out / "table14.csv")
        if (row["source"], row["row"], row["metric"]) == ("here", "HypoGeniC", "HDR")
    ]  # fmt: skip
    assert [(row["value"], row["data_sets"]) for row in found] == [("1.0", f"{BASE}, {DEEP}")]
    assert found[0]["column"] == "Answering · exact rules †"
    text = (out / "table14.txt").read_text()
    assert f"A: 1 data set: {BASE}." in text and f"B: 2 data sets: {BASE}, {DEEP}." in text
    assert "no model made these scores" in text and "1.000 B" in text


def test_published_values_stand_beside(out: Path) -> None:
    text = (out / "table14.txt").read_text()
    assert "GPT: HDR (paper)" in text.splitlines()[2] and "0.460" in text
    paper = [row for row in lines(out / "table16.csv") if row["source"] == "paper"]
    assert {(r["row"], r["metric"]): r["value"] for r in paper}["average", "HDR"] == "0.52"


def test_the_points_of_the_figures_are_a_table_and_the_figures_files(out: Path) -> None:
    found = {
        (r["figure"], r["panel"], r["difficulty"]): r["value"] for r in lines(out / "points.csv")
    }
    assert found["2", "depth", "1"] == found["2", "depth", "2"] == "1.0"
    assert found["4", "depth normal", "2"] == "1.0"
    assert found["3", "admission, zero-shot generation", "base"] == "1.0"
    assert ("3", "election, HypoGeniC", "base") not in found
    if plotting.available():
        drawn = {f"figure{number}{form}" for number in "23456" for form in (".png", ".svg")}
        assert drawn <= {one.name for one in out.iterdir()}


def entry(data_set: str, session: str = "s", model: str = "m", **metrics: float) -> Entry:
    return Entry(session, data_set, "HypoGeniC", model, model, True, metrics, difficulty(data_set))


def test_an_average_over_sets_is_the_mean_of_their_means() -> None:
    some = [entry("a", f1=0.0), entry("a", f1=1.0), entry("b", f1=1.0), entry("c")]
    found = average(some, metric("f1"))
    assert found is not None
    assert (found.mean, found.sets, found.values) == (0.75, ("a", "b"), 3)
    assert average([entry("c")], metric("f1")) is None


def test_a_cross_model_table_has_who_proposed_by_who_labelled() -> None:
    some = [entry("a", "one", accuracy_ood=0.5), entry("a", "two", accuracy_ood=0.75)]
    table = next(one for one in grids(some, {"one": ("x", "x"), "two": ("x", "y")})
                 if one.name == "table6")  # fmt: skip
    assert {key: one.mean for key, one in table.values.items()} == {
        ("x", "x", "accuracy"): 0.5, ("x", "y", "accuracy"): 0.75
    }  # fmt: skip
    assert table.published["GPT", "Qwen", "accuracy"] == 0.69


def test_two_raters_of_the_same_pairs_have_an_agreement() -> None:
    def rows(by: str, scores: str) -> list[dict[str, object]]:
        return [
            {"problem": "a#0", "by": by, "kind": "feature", "true": "t", "hypothesis": str(n), "score": float(one)}
            for n, one in enumerate(scores)
        ]  # fmt: skip

    found = agreements([*rows("p", "1100"), *rows("q", "1000")])
    assert found["FDR: agreement", "p and q", ""].mean == 0.75
    assert found["FDR: Cohen's kappa", "p and q", ""].mean == pytest.approx(0.5)
    assert found["FDR: agreement", "p and q", ""].sets == ("a",)


@pytest.mark.parametrize(
    ("name", "task", "control", "value", "base", "hardest"),
    [
        ("admission_adv/level_4/noise_30", "admission", "noise", 30, False, True),
        ("level_2/depth_2", "admission", "depth", 2, False, False),
        ("shoe", "shoe", "", 0, True, False),
        ("shoe_two_level/hard", "shoe", "", 0, False, True),
        ("election/level0_nosubtlety", "election", "", 0, True, False),
        ("preference/level5", "personality", "", 0, False, True),
        ("hotel_reviews", "", "", 0, False, False),
        ("my/base", "", "", 0, False, False),
    ],
)
def test_a_difficulty_is_read_from_the_name(
    name: str, task: str, control: str, value: int, base: bool, hardest: bool
) -> None:
    one = difficulty(name)
    assert (one.task, one.control, one.value) == (task, control, value)
    assert (one.base, one.hardest) == (base, hardest)


def test_published_percentages_are_shares() -> None:
    assert published.TABLE_5["literature + data", "Qwen", "accuracy"] == 0.78
    tables = (published.TABLE_5, published.TABLE_12, published.TABLE_14, published.TABLE_16)
    assert all(0 <= value <= 1 for table in tables for value in table.values())
