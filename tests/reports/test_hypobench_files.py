"""`peirce eval hypobench SESSION… --out DIR`: tables and figures of the paper, from small sessions.

Internals: entries and layouts are compared with the paper's tables before they are printed.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce.agents.scripted import FunctionProposer
from peirce.records import Message
from peirce.reports.files import plotting
from peirce.reports.papers.hypobench import layout
from peirce.reports.papers.hypobench.entries import (
    Entry,
    average,
    build_entries,
    find_reader,
    metric_getter,
    parse_difficulty,
)
from peirce.reports.papers.hypobench.layout import Grid
from peirce.reports.papers.hypobench.tables import build_grids
from peirce.tasks import load_problems

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
TABLES = ("table5", "table6", "table7", "table8", "table11", "table12", "table13", "table14",
          "table15", "table16")  # fmt: skip
BASE, DEEP = "admission/level_1/base", "admission/level_2/depth_2"


def run(store: Path, name: str, method: str) -> str:
    ((problem, _),) = load_problems("labels:admission", ids=[name], seed=3)
    said = "\n".join(f"{n}. {one}" for n, one in enumerate(problem.secret["truths"], 1))
    return peirce.run(
        "labels:admission", problem=[name], seed=3, method=method, model=FunctionProposer(lambda _: said, "oracle"),
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
    assert result["notes"] == ([] if plotting.has_matplotlib() else [plotting.MISSING_MATPLOTLIB])
    return place / "out"


def test_every_table_is_there_and_what_no_session_did_is_empty(out: Path) -> None:
    assert {f"{name}{form}" for name in TABLES for form in (".csv", ".md", ".txt")} <= {
        one.name for one in out.iterdir()
    }
    text = (out / "table15.txt").read_text()
    assert next(o for o in text.splitlines() if o.startswith("IO prompting")).split()[2] == "–"
    assert "baseline: tree †" in text
    here = [row for row in lines(out / "table5.csv") if row["source"] == "here"]
    assert not [row for row in here if row["value"]]


def test_an_average_names_its_sets_and_scores_without_a_model_are_marked(out: Path) -> None:
    found = [
        row for row in lines(out / "table14.csv")
        if (row["source"], row["row"], row["metric"]) == ("here", "HypoGeniC", "HDR")
    ]  # fmt: skip
    assert [(row["value"], row["data_sets"]) for row in found] == [("1.0", f"{BASE}, {DEEP}")] * 2
    names = [
        "FunctionProposer · exact rules †",
        "FunctionProposer · exact rules † counted as published",
    ]
    assert [row["column"] for row in found] == names
    text = (out / "table14.txt").read_text()
    assert f"A: 1 data set: {BASE}." in text and f"B: 2 data sets: {BASE}, {DEEP}." in text
    assert "come from exact rules, not from a model" in (out / "hypobench.md").read_text()
    assert "These scores come from exact rules" in text and "1.000 / 1.000 / 1.000 B" in text


def test_published_values_stand_beside(out: Path) -> None:
    text = (out / "table14.txt").read_text()
    assert "GPT (paper)" in text.splitlines()[2] and "0.95 / 0.48 / 0.46" in text
    assert "Each cell shows FDR / RC / HDR." in text
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
    if plotting.has_matplotlib():
        drawn = {f"figure{number}{form}" for number in "23456" for form in (".png", ".svg")}
        assert drawn <= {one.name for one in out.iterdir()}


class Other(FunctionProposer):
    """Another model, to the tables."""


def test_one_bank_read_by_two_models_is_a_row_of_the_cross_model_tables(tmp_path: Path) -> None:
    """Sessions on a real set with rows of another source; the one model always says in, the other out."""
    data = tmp_path / "school"
    data.mkdir()
    for split, size in (("train", 20), ("val", 8), ("test", 8), ("ood", 4)):
        texts = {"essay": [f"{split} essay number {n}" for n in range(size)]}
        labels = ["in" if n % 4 else "out" for n in range(size)]
        (data / f"{split}.json").write_text(json.dumps(texts | {"label": labels}))
    paths = "".join(
        f"{split}_data_path: ./{split}.json\n" for split in ("train", "val", "test", "ood")
    )
    (data / "config.yaml").write_text("task_name: school\n" + paths)
    store, common = tmp_path / "s.duckdb", {"data": data, "inference": "best", "judge": "model"}

    def says(label: str) -> Callable[[Sequence[Message]], str]:
        return lambda messages: (
            f"Final answer: {label}"
            if "Final answer" in str(messages)
            else "1. Keen essays are in."
        )

    one = FunctionProposer(says("in"), "one")
    first = peirce.run("labels", method="zero-shot-gen", model=one, store=store, **common).session
    second = peirce.run(
        "labels", method="infer", bank=[first], model=Other(says("out"), "other"), store=store, **common
    ).session  # fmt: skip
    peirce.evaluate(first, second, name="hypobench", store=store, out=tmp_path / "out")
    found = {
        (r["row"], r["column"]): (r["value"], r["data_sets"])
        for r in lines(tmp_path / "out/table6.csv") if r["source"] == "here" and r["value"]
    }  # fmt: skip
    assert found == {
        ("FunctionProposer", "FunctionProposer"): ("0.75", "school"),
        ("FunctionProposer", "Other"): ("0.25", "school"),
    }
    heads = (tmp_path / "out/table12.txt").read_text().splitlines()[2]
    assert heads.split("GPT")[0].split() == [
        "method",
        "FunctionProposer",
    ]  # who reads another's bank is no method


def entry(data_set: str, session: str = "s", reader: str = "m", **metrics: float) -> Entry:
    return Entry(
        session, data_set, "HypoGeniC", "m", reader, True, metrics, parse_difficulty(data_set)
    )


def named(name: str, tables: Iterable[Grid]) -> Grid:
    return next(one for one in tables if one.name == name)


def test_an_average_over_sets_is_the_mean_of_their_means() -> None:
    some = [entry("a", f1=0.0), entry("a", f1=1.0), entry("b", f1=1.0), entry("c")]
    found = average(some, metric_getter("f1"))
    assert found is not None
    assert (found.mean, found.sets, found.values) == (0.75, ("a", "b"), 3)
    assert average([entry("c")], metric_getter("f1")) is None


def test_a_cross_model_table_has_who_proposed_by_who_labelled() -> None:
    some = [entry("a", "one", "x", accuracy_ood=0.5), entry("a", "two", "y", accuracy_ood=0.75)]
    table = named("table6", build_grids(some, {"one": "x", "two": "x"}))
    assert {key: one.mean for key, one in table.values.items()} == {
        ("x", "x", "accuracy"): 0.5, ("x", "y", "accuracy"): 0.75
    }  # fmt: skip
    assert table.published["GPT", "Qwen", "accuracy"] == 0.69
    assert table.note.startswith("Banks here: HypoGeniC;")


def test_who_labelled_is_told_by_the_calls_and_marked_where_no_model_did() -> None:
    assert find_reader({}, "m", {"propose", "rule"}) == "exact rules †"
    assert find_reader({}, "m", {"propose", "judge"}) == "m"
    assert find_reader({}, "m", {"label"}) == "m"
    other = {"operational": {"players": {"judge": ["j", {}]}}}
    assert find_reader(other, "m", {"propose", "judge", "rule"}) == "j, some by exact rules †"
    names = [entry("a", reader=one).reader_label for one in ("m", "m, some by exact rules †", "j")]
    assert names == ["m", "m, some by exact rules †", "m · j"]


def test_a_column_without_a_value_of_its_own_is_left_out() -> None:
    baseline = replace(entry("a", accuracy_ood=0.5), method="baseline: tree †", model="other")
    table = named("table5", build_grids([baseline, entry("a", accuracy_ood=0.6)], {}))
    assert table.columns == ["m"] and ("baseline: tree †", "m", "accuracy") not in table.values


def test_a_cell_has_a_letter_for_each_of_its_values_where_these_are_over_different_sets() -> None:
    some = [entry("a", accuracy_ood=0.5, f1_ood=0.25), entry("b", accuracy_ood=1.0)]
    row = next(
        r for r in named("table5", build_grids(some, {})).to_table().rows if r[0] == "HypoGeniC"
    )
    assert row[1] == "0.750 A / 0.250 B"
    assert row[2] == "0.712 / 0.703"


def test_a_set_of_which_sessions_were_shown_different_numbers_of_rows_stands_as_several() -> None:
    loaded = [load_problems("labels:admission", ids=[BASE], observations=str(rows))[0][0]
              for rows in (50, 100, 50)]  # fmt: skip
    recorded: list[dict[str, Any]] = [
        {"session": str(n), "settings": {"method": "hypogenic"}} for n in range(3)
    ]
    scored = [{"model": "m", "by_problem": [{"problem": one.id, "f1": 1.0}]} for one in loaded]
    found = build_entries(recorded, scored, [[one] for one in loaded], [()] * 3)
    names = [f"{BASE} ({rows} rows)" for rows in (50, 100, 50)]
    assert [one.data_set for one in found] == names
    assert {
        one.data_set for one in build_entries(recorded[:1], scored[:1], [loaded[:1]], [()])
    } == {BASE}


def test_a_set_of_the_folder_that_was_named_has_that_folders_difficulty() -> None:
    ((problem, _),) = load_problems("labels:admission", ids=[DEEP])
    alone = replace(problem, id="level_2/depth_2#0")
    for folder, turned in (("admission", False), ("admission_adv", True)):
        settings = {"method": "hypogenic", "operational": {"data": {"name": folder}}}
        scored = [{"model": "m", "by_problem": [{"problem": alone.id, "f1": 1.0}]}]
        (one,) = build_entries([{"session": "s", "settings": settings}], scored, [[alone]], [()])
        assert (one.difficulty.control, one.difficulty.counterintuitive) == ("depth", turned)


def test_discovery_of_numbers_stands_in_table_11_whether_or_not_anything_was_predicted() -> None:
    one = replace(entry("marine", fdr=1.0, rc=0.5, hdr=0.5), real=False, numeric=True)
    tables = build_grids([one], {})
    assert named("table11", tables).values["HypoGeniC", "m · exact rules †", "HDR"].mean == 0.5
    assert not named("table14", tables).values and not named("table16", tables).values


def test_tables_of_discovery_say_how_many_true_rules_were_read() -> None:
    scores = {
        "fdr": 0.5,
        "rc": 1.0,
        "hdr": 0.5,
        "hdr_read": 1.0,
        "rules_read": 1.0,
        "rules_stated": 2.0,
    }
    one = replace(entry(BASE, **scores), real=False)
    other = replace(entry(BASE, **scores), real=False, method="zero-shot generation")
    tables = build_grids([one, other], {})
    for name in ("table14", "table16"):
        note = named(name, tables).note
        assert (
            "True rules read: 1 of 2. The others count as not found; the exact HDR over these"
            in note
        )
        assert note.endswith("alone is 1.000.")


def test_what_raters_say_stands_beside_what_exact_rules_do() -> None:
    told = {"released": {"fdr": 1.0, "rc": 0.75, "hdr": 0.75}}
    one = replace(entry(BASE, fdr=1.0, rc=0.5, hdr=0.5), real=False, rated=(("r", told),))
    tables = build_grids([one], {})
    of_methods, of_sets = (named(name, tables).values for name in ("table14", "table16"))
    assert of_methods["HypoGeniC", "m · rated by r", "HDR"].mean == 0.75
    assert of_sets[BASE, "HypoGeniC · m · rated by r", "HDR"].mean == 0.75
    assert of_sets[BASE, "HypoGeniC · m · exact rules †", "HDR"].mean == 0.5
    rows = {row[0]: row[1] for row in named("table16", tables).to_table().rows}
    assert (
        rows[BASE] == "1.000 / 0.500 / 0.500"
    )  # its row says of which set it is, the average a letter
    assert rows["average"] == "1.000 / 0.500 / 0.500 A"


@pytest.mark.parametrize(
    ("name", "task", "control", "value", "base", "hardest"),
    [
        ("admission_adv/level_4/noise_30", "admission", "noise", 30, False, True),
        ("data/admission/level_2/depth_2", "admission", "depth", 2, False, False),
        ("level_2/depth_2", "", "", 0, False, False),
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
    one = parse_difficulty(name)
    assert (one.task, one.control, one.value) == (task, control, value)
    assert (one.base, one.hardest) == (base, hardest)


def test_published_percentages_are_shares() -> None:
    assert layout.TABLE_5["literature + data", "Qwen", "accuracy"] == 0.78
    tables = (layout.TABLE_5, layout.TABLE_12, layout.TABLE_14, layout.TABLE_16)
    assert all(0 <= value <= 1 for table in tables for value in table.values())
