"""`peirce eval gear SESSION… --out DIR` from a store alone: what it writes, what it leaves out.

Internals: the rows of a session are read as the tables read them, and plotting is taken away.
"""

from __future__ import annotations

import asyncio
import csv
import importlib.util

import peirce
import pytest
from peirce.records import InputSet, Observation, Verdict
from peirce.reports.files import plotting
from peirce.reports.papers.gear import files
from peirce.store import Store

OK, WRONG = Verdict.ACCEPTED, Verdict.INCONSISTENT
TABLE = "def f(x):\n    return {(0,): [0], (1,): [1]}[tuple(x)]"
FILES = {"table3", "settings", "volumes", "stops", "undefined", "correlations"}


@pytest.fixture(scope="module")
def store(write, tmp_path_factory):
    """Two models on ACRE under n 2 and 3, one of them on list functions too. `able` memorises once
    and is once undefined; half of ACRE's hidden pairs are undetermined."""
    place = tmp_path_factory.mktemp("gear") / "s.duckdb"
    space = InputSet("S", tuple([i] for i in range(2, 42)))

    def problem(name, task, n):
        one = write.problem(name, shown=n, hidden=0)
        hidden = (Observation([8], "on"), Observation([9], "undetermined"))
        return peirce.records.Problem(name, task, "programs", one.shown, hidden)

    def table(n):
        judged = write.judged(OK, [None] * 40, shown=[True] * n, hidden=[None, None])
        source = f"def f(x):\n    return {[([i], [i]) for i in range(n)]}"
        return replaced(judged, source)

    def replaced(judged, source):
        from dataclasses import replace

        return replace(judged, hypothesis=replace(judged.hypothesis, text=source))

    async def record(opened, session, name, n, able):
        ledger = opened.ledger(session)
        some = [
            write.judged(OK, list(range(40)), shown=[True] * n, hidden=[True, False]),
            write.judged(WRONG, [1] * 40, shown=[False] * n, hidden=[False, False]),
        ]
        if able:
            some += [
                write.judged(OK, [None, *range(1, 40)], shown=[True] * n, hidden=[True, False])
            ]
            some += [table(n)]
        for step in write.steps(*some, problem=name):
            await ledger.record_step(step)
        await ledger.record_end(name, "done", "three_bad")

    with Store.open(place, write=True) as opened:
        for task, n, model in [
            ("acre", 2, "able"), ("acre", 3, "able"), ("acre", 2, "$weak$"), ("acre", 3, "$weak$"),
            ("list_functions", 2, "able"),
        ]:  # fmt: skip
            problems = [(problem(name, task, n), space) for name in ("a", "b")]
            settings = {
                "task": task, "family": "programs", "method": "abduce", "model": model, "seed": 0,
                "operational": {"observations": n, "data": None},
            }  # fmt: skip
            session = opened.create_session(settings, problems)
            for one, _ in problems:
                asyncio.run(record(opened, session, one.id, n, model == "able"))
            opened.update_session(session, status="done")
    with Store.open(place, write=False) as opened:
        return place, [row["session"] for row in opened.sessions()]


@pytest.fixture
def no_figures(monkeypatch):
    """For tests of tables: drawing takes most of the time that `--out` takes."""
    monkeypatch.setattr(plotting, "has_matplotlib", lambda: False)


def evaluate(store, **options):
    place, sessions = store
    return peirce.evaluate(*sessions, name="gear", store=place, **options)


def test_settings_and_table_3_stand_beside_the_sessions(store):
    found = evaluate(store)
    assert [(s["data_set"], s["n"], s["model"]) for s in found["settings"]] == [
        ("acre (generated)", 2, "$weak$"), ("acre (generated)", 2, "able"),
        ("acre (generated)", 3, "$weak$"), ("acre (generated)", 3, "able"),
        ("list_functions (generated)", 2, "able"),
    ]  # fmt: skip
    row = found["table3"][0]
    assert (row["model"], row["data_sets"]) == (
        "able",
        ["acre (generated)", "list_functions (generated)"],
    )
    assert row["problems"] == 6
    able = found["settings"][1]
    assert able["verdicts"] == {"accepted": 6, "inconsistent": 2}
    assert able["undefined"] == {"ValueError": 82}
    assert able["metrics"]["consistency"]["mean"] == 0.75


def test_memorising_hypotheses_are_counted_and_can_be_left_out_of_every_table(
    store, tmp_path, no_figures
):
    whole, without = evaluate(store), evaluate(store, without_memorising=True, out=tmp_path / "w")
    assert [one["memorising"] for one in whole["sessions"]] == [2, 2, 0, 0, 2]
    assert whole["settings"][1]["metrics"]["hypotheses"]["mean"] == 4
    assert without["settings"][1]["metrics"]["hypotheses"]["mean"] == 3
    assert without["settings"][1]["metrics"]["consistency"]["mean"] == 2 / 3
    assert without["settings"][1]["verdicts"] == {"accepted": 4, "inconsistent": 2}
    assert without["settings"][1]["memorising"] == 2
    assert without["settings"][1]["undefined"] == {"ValueError": 2}
    assert whole["settings"][0]["metrics"] == without["settings"][0]["metrics"]
    said = (tmp_path / "w" / "volumes.md").read_text()
    assert "Excluding the 6 hypotheses that memorise" in said


def test_pairs_that_judge_nothing_are_left_out_and_counted_unless_asked_for(store, monkeypatch):
    from peirce.reports.metrics import results

    def determined(problem):
        return tuple(pair.output != "undetermined" for pair in problem.hidden)

    monkeypatch.setattr(results, "judgeable_pairs", determined)
    weak = evaluate(store)["sessions"][2]
    assert (weak["left_out_pairs"], weak["metrics"]["test_pass"]["mean"]) == (2, 0.5)
    assert weak["metrics"]["top1"]["mean"] == 1.0
    weak = evaluate(store, all_pairs=True)["sessions"][2]
    assert (weak["left_out_pairs"], weak["metrics"]["test_pass"]["mean"]) == (0, 0.25)
    assert weak["metrics"]["top1"]["mean"] == 0.0


def test_all_tables_are_written_as_text_markdown_and_csv(store, tmp_path, no_figures):
    found = evaluate(store, out=tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {f"{name}.{end}" for name in FILES for end in ("txt", "md", "csv")} <= names
    assert {"averages.csv", "points.csv"} <= names
    assert {str(tmp_path / "out" / name) for name in names} == set(found["files"])
    with open(tmp_path / "out" / "averages.csv") as file:
        rows = list(csv.DictReader(file))
    avg = [r for r in rows if r["data_set"] == "Avg" and r["metric"] == "beta" and not r["shown"]]
    assert [row["data_sets"] for row in avg] == ["acre (generated), list_functions (generated)"]
    assert (
        "Avg of acre (generated), list_functions (generated)"
        in (tmp_path / "out" / "table3.md").read_text()
    )


def test_without_matplotlib_the_tables_are_there_and_one_sentence_says_so(
    store, tmp_path, no_figures
):
    found = evaluate(store, out=tmp_path / "out")
    assert found["notes"] == [plotting.MISSING_MATPLOTLIB]
    assert not list((tmp_path / "out").glob("*.png"))
    assert (tmp_path / "out" / "table3.txt").exists()


@pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None,
    reason="MATPLOTLIB ABSENT: figures are not drawn (pip install 'peirce[report]')",
)
def test_figures_are_drawn_twice_alike_and_show_names_as_they_are(store, tmp_path):
    first, second = (evaluate(store, out=tmp_path / name)["files"] for name in ("1", "2"))
    drawn = [path for path in first if path.endswith((".png", ".svg"))]
    assert {path.rsplit("/", 1)[1] for path in drawn} == {
        f"{name}.{end}"
        for name in (
            "figure3",
            "figure3-acre-generated",
            "figure3-list_functions-generated",
            "scatter",
        )
        for end in ("png", "svg")
    }
    for one, other in zip(first, second, strict=True):
        with open(one, "rb") as left, open(other, "rb") as right:
            assert left.read() == right.read(), one
    assert "$weak$" in (tmp_path / "1" / "figure3.svg").read_text()


def test_a_folder_in_the_place_of_a_file_is_refused(store, tmp_path, no_figures):
    (tmp_path / "out" / "volumes.csv").mkdir(parents=True)
    with pytest.raises(peirce.records.UsageError, match="this is a folder, but a file"):
        evaluate(store, out=tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["volumes.csv"]


@pytest.mark.parametrize("verb", ["evaluate", "study"])
def test_an_out_that_cannot_be_is_refused_before_anything_is_scored(store, tmp_path, verb):
    (tmp_path / "file").write_text("")
    name = () if verb == "evaluate" else ("general",)
    for out in (tmp_path / "file" / "out", tmp_path / "file" / "a.csv"):
        with pytest.raises(
            peirce.records.UsageError, match="cannot be created; choose another folder"
        ):
            getattr(peirce, verb)(*name, store=store[0], out=out)
    with pytest.raises(
        peirce.records.UsageError, match="several files are written, so give a folder"
    ):
        getattr(peirce, verb)(*name, store=store[0], out=tmp_path / "one.TXT")
    assert not (tmp_path / "one.TXT").exists()


def test_every_table_says_what_it_is():
    assert {*FILES, "points"} == set(files.ABOUT)
