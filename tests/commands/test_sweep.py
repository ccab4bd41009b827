"""A sweep runs each combination of settings once, however often it is started."""

from __future__ import annotations

import csv
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce.records import DataError, UsageError

sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from faulty_server import FaultyServer

SWEEP = """
[sweep]
task = ["list_functions", "acre"]
seed = [0, 1]

[settings]
problems = 2
max_answers = 2
model = "search"
budget_expansions = 300

[[skip]]
task = "acre"
seed = 1
"""


def write(folder: Path, text: str = SWEEP) -> Path:
    file = folder / "sweep.toml"
    file.write_text(text)
    return file


def count(store: Path) -> int:
    return len(peirce.sessions(store=store))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """The store and the rows of `SWEEP`, which ran through."""
    folder = tmp_path_factory.mktemp("finished")
    return folder / "s.duckdb", peirce.sweep(write(folder), store=folder / "s.duckdb")


def copy(store: Path, folder: Path) -> Path:
    return Path(shutil.copy(store, folder / "s.duckdb"))


def test_each_combination_is_one_session_with_the_digest_of_its_run(
    finished: tuple[Path, list[Any]], tmp_path: Path
) -> None:
    store, rows = finished
    axes = [tuple(row.axes.values()) for row in rows]
    assert axes == [("list_functions", 0), ("list_functions", 1), ("acre", 0)]
    assert [row.status for row in rows] == ["done"] * 3 and count(store) == 3
    alone = peirce.run("list_functions", problems=2, max_answers=2, model="search", seed=1,
                       budget_expansions=300, store=tmp_path / "alone.duckdb")  # fmt: skip
    assert rows[1].digest == alone.digest and rows[1].metrics == alone.metrics


def test_a_finished_sweep_that_is_started_again_runs_nothing(
    finished: tuple[Path, list[Any]], tmp_path: Path
) -> None:
    first, file = finished[1], write(tmp_path)
    store = copy(finished[0], tmp_path)
    events: list[Any] = []
    again = peirce.sweep(file, store=store, on_event=events.append, workers=1)
    assert again == first and not events and count(store) == 3
    more = peirce.sweep(write(tmp_path, SWEEP.replace("[0, 1]", "[0, 1, 2]")), store=store)
    assert len(more) == 5 and count(store) == 5  # the skipped combination is skipped still
    assert [row.session for row in more if row.axes["seed"] == 0] == [
        row.session for row in first if row.axes["seed"] == 0
    ]


def test_a_sweep_that_is_stopped_goes_on(finished: tuple[Path, list[Any]], tmp_path: Path) -> None:
    store, file = tmp_path / "s.duckdb", write(tmp_path)
    calls = 0

    def stop(event: Any) -> None:
        nonlocal calls
        calls += event["type"] == "call"
        if event["type"] == "call" and calls == 3:
            os.kill(os.getpid(), signal.SIGINT)

    stopped = peirce.sweep(file, store=store, on_event=stop, concurrency=1)
    states = [row.status for row in stopped]
    assert "interrupted" in states and states[-1] == "open" and stopped[-1].session is None
    gone_on = peirce.sweep(file, store=store)
    assert [row.digest for row in gone_on] == [row.digest for row in finished[1]]
    assert count(store) == 3


def test_a_session_that_cannot_start_does_not_stop_the_others(tmp_path: Path) -> None:
    store, none = tmp_path / "s.duckdb", tmp_path / "none.json"
    none.write_text("[]")
    text = f"""
[sweep]
model = ["scripted:{none}", "search"]
[settings]
task = "list_functions"
problems = 1
max_answers = 1
"""
    file = write(tmp_path, text)
    rows = peirce.sweep(file, store=store)
    assert [row.status for row in rows] == ["failed", "done"] and rows[0].session is None
    assert "none.json" in rows[0].error and "\n" not in rows[0].error
    assert peirce.sweep(file, store=store) == rows and count(store) == 1


def test_failed_sessions_are_run_again_on_request(tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    text = """
[sweep]
seed = [0, 1]
[settings]
task = "list_functions"
model = "http://127.0.0.1:9/v1#m"
model_arg = ["outage_s=0.2", "backoff_s=0.01"]
problems = 1
"""
    file = write(tmp_path, text)
    rows = peirce.sweep(file, store=store)
    assert [row.status for row in rows] == ["failed"] * 2 and count(store) == 2
    assert all("could not be reached" in row.error for row in rows)
    events: list[Any] = []
    again = peirce.sweep(file, store=store, on_event=events.append)
    assert [row.digest for row in again] == [row.digest for row in rows] and not events
    peirce.sweep(file, store=store, retry_failed=True, on_event=events.append)
    assert events and count(store) == 2


def test_a_default_that_is_written_out_makes_no_other_session(
    finished: tuple[Path, list[Any]], tmp_path: Path
) -> None:
    store = copy(finished[0], tmp_path)
    spelled = SWEEP.replace("problems = 2", 'problems = 2\nmethod = "abduce"')
    peirce.sweep(write(tmp_path, spelled), store=store)
    assert count(store) == 3


def test_a_larger_budget_in_the_file_lets_a_session_go_on(tmp_path: Path) -> None:
    text = """
[sweep]
seed = [0]
[settings]
task = "list_functions"
model = "URL#m"
problems = 3
max_answers = 3
concurrency = 1
budget_tokens = TOKENS
"""
    store = tmp_path / "s.duckdb"
    with FaultyServer() as server:
        text = text.replace("URL", server.url)
        (small,) = peirce.sweep(write(tmp_path, text.replace("TOKENS", "30")), store=store)
        assert small.status == "budget"
        (large,) = peirce.sweep(write(tmp_path, text.replace("TOKENS", "100000")), store=store)
    assert large.status == "done" and large.session == small.session and count(store) == 1


def test_settings_of_roles_are_axes_too(tmp_path: Path) -> None:
    text = """
[sweep]
"judge.temperature" = [0, 1]
[settings]
task = "labels"
problems = 1
model = "search"
judge-model = "http://127.0.0.1:9/v1#m"
"""
    planned = peirce.plan_sweep(write(tmp_path, text))
    assert len(planned) == 2


def test_the_tables_have_a_row_for_each_session_and_means_over_seeds(
    finished: tuple[Path, list[Any]], tmp_path: Path
) -> None:
    store = copy(finished[0], tmp_path)
    rows = peirce.sweep(write(tmp_path), store=store, out=tmp_path / "tables")
    with open(tmp_path / "tables" / "sessions.csv") as file:
        sessions = list(csv.DictReader(file))
    with open(tmp_path / "tables" / "seeds.csv") as file:
        seeds = list(csv.DictReader(file))
    assert [one["session"] for one in sessions] == [row.session for row in rows]
    assert [(one["task"], one["seeds"]) for one in seeds] == [
        ("list_functions", "2"),
        ("acre", "1"),
    ]
    name = next(iter(rows[0].metrics))
    wanted = sum(row.metrics[name].mean for row in rows[:2]) / 2
    assert float(seeds[0][name]) == pytest.approx(wanted)
    one = tmp_path / "one.csv"
    peirce.sweep(write(tmp_path), store=store, out=one)
    assert one.read_text() == (tmp_path / "tables" / "sessions.csv").read_text()


def test_a_metric_without_a_value_is_an_empty_cell(tmp_path: Path) -> None:
    """The search answers neither problem with this seed."""
    text = """
[sweep]
seed = [44]
[settings]
task = "list_functions"
problems = 2
max_answers = 2
observations = 3
model = "search"
"""
    (row,) = peirce.sweep(
        write(tmp_path, text), store=tmp_path / "s.duckdb", out=tmp_path / "tables"
    )
    empty = [name for name, one in row.metrics.items() if one.mean is None]
    with open(tmp_path / "tables" / "sessions.csv") as file:
        (cells,) = csv.DictReader(file)
    assert empty and all(cells[name] == "" for name in empty)
    assert "–" in (tmp_path / "tables" / "sessions.md").read_text()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", r"the table \[sweep\] must have"),
        ("x", "is not TOML"),
        ("[sweeps]\nseed = [1]", r"unknown table \[sweeps\]; did you mean sweep"),
        ("[sweep]\nseed = [1]", "no task is named"),
        ("[sweep]\ntask = []", "task in .* has no value"),
        ("[sweep]\ntask = ['acre']\n[settings]\ntask = 'acre'", "task is set twice"),
        ("[sweep]\ntask = ['acre']\n[[skip]]\nsead = 1", r"names sead"),
        ("[sweep]\ntask = ['acre']\n[skip]\ntask = 'acre'", r"written as \[\[skip\]\]"),
        ("[sweep]\ntask = ['acre']\n[[skip]]\ntask = 'acre'", "describes 0 sessions"),
        ("[sweep]\ntask = ['acre']\nmax-answer = [1, 2]", "task=acre, max_answer=1: .*max_answers"),
        ("[sweep]\ntask = ['acre', 'nothing']", "task=nothing: .*nothing"),
        (
            "[sweep]\ntask = ['acre']\nseed = [0, 0]",
            "seed=0 and task=acre, seed=0 are the same session",
        ),
        ("[sweep]\ntask = ['acre']\nbudget_tokens = [700, 900]", "are the same session: a budget"),
        ("[sweep]\ntask = ['acre']\nworkers = [1, 2]", "are the same session"),
        ("[sweep]\ntask = ['acre']\n[settings]\nstore = 'x'", "the store is set with --store"),
        ("[sweep]\ntask = [1]", "a task must be a text"),
        (
            "[sweep]\ntask = ['acre']\n" + "\n".join(f"a{n} = [{'1, ' * 50}]" for n in range(12)),
            "more than 1,000,000 combinations",
        ),
        ("[sweep]\ntask = ['acre']\nseed = ['x']", "task=acre, seed=x: seed is 'x'"),
        ("[sweep]\ntask = ['acre']\nmethod = ['hypogenic']", "method=hypogenic: "),
    ],
)
def test_a_wrong_file_is_one_sentence_before_anything_runs(
    tmp_path: Path, text: str, why: str
) -> None:
    store = tmp_path / "s.duckdb"
    with pytest.raises((DataError, UsageError), match=why) as caught:
        peirce.sweep(write(tmp_path, text), store=store)
    assert "\n" not in str(caught.value) and not store.exists()
