"""examples/plugins, installed as a package: what it brings stands in the registry and goes the whole way.

The first command of the longest test is a process of its own; the others are forked from one that has
imported Peirce, but not the plugins."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from peirce.tests.cli.forked_command import run_command
from peirce.tests.page_blocks import read_text

PLUGINS = Path(__file__).resolve().parents[2] / "examples" / "plugins"
Peirce = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """With the package built as a wheel and installed into a folder of its own."""
    folder = tmp_path_factory.mktemp("plugins")
    source = folder / "source"
    (source / "peirce_toy").mkdir(parents=True)
    for path in [*PLUGINS.glob("*.toml"), *PLUGINS.glob("peirce_toy/*.py")]:
        (source / path.relative_to(PLUGINS)).write_bytes(path.read_bytes())
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # without a network, where setuptools is here; else pip fetches it to build with
    here = ["--no-build-isolation"] if importlib.util.find_spec("setuptools") else []
    options = ["--no-deps", *here, "--target", str(folder / "site"), str(source)]
    done = subprocess.run([*pip, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {**os.environ, "PYTHONPATH": str(folder / "site")}


@pytest.fixture
def peirce(environment: dict[str, str], tmp_path: Path) -> Peirce:
    """The command line in a folder of its own."""

    def run(*words: str, code: int = 0, new: bool = False) -> subprocess.CompletedProcess[str]:
        if new:
            command = [sys.executable, "-m", "peirce", *words]
            done = subprocess.run(
                command, capture_output=True, text=True, cwd=tmp_path, env=environment
            )
        else:
            done = run_command(words, cwd=tmp_path, env=environment)
        assert done.returncode == code, done.stderr
        return done

    return run


def digest(peirce: Peirce, *words: str) -> str:
    (session,) = map(json.loads, peirce(*words, "--json").stdout.splitlines())
    return str(session["digest"])


def predicts_inputs(peirce: Peirce, folder: Path) -> None:
    """The best consistent hypothesis of a problem is right on all that the problem shows."""
    words = ("predict", "--bank", "last", "--data", "numbers.jsonl")
    (folder / "numbers.jsonl").write_text("7")
    best = json.loads(peirce(*words, "--problem", "gen0-3", "--json").stdout)["rule"]
    judged = json.loads(peirce("show", "last", "gen0-3", "--json").stdout)
    assert any(row["hypothesis"] == best and all(row["observations"]) for row in judged)
    low, high = map(int, best.split(".."))
    numbers = [low - 1, low, high, high + 1]
    lines = [json.dumps({"input": one, "output": low <= one <= high}) for one in numbers]
    (folder / "numbers.jsonl").write_text("\n".join([*lines, "7"]))
    found = peirce(*words, "--problem", "gen0-3", "--json").stdout.splitlines()
    told = [json.loads(line) for line in found]
    assert [row["prediction"] for row in told[:4]] == [False, True, True, False]
    assert all(row["right"] and row["hypothesis"] == best for row in told[:4])
    assert "expected" not in told[4]
    assert "4 rows with an output: 4 correct" in peirce(*words, "--problem", "gen0-3").stdout
    assert "): choose one with --problem" in peirce(*words, code=2).stderr
    (folder / "words.jsonl").write_text('"seven"')
    wrong = peirce(*words[:-1], "words.jsonl", "--problem", "gen0-3", code=1).stderr
    assert "words.jsonl, line 1, input: must be a whole number" in wrong


def test_a_family_of_another_package_goes_the_whole_way(peirce: Peirce, tmp_path: Path) -> None:
    made = (
        "run",
        "between",
        "--problems",
        "4",
        "--model",
        "search",
        "--max-answers",
        "4",
        "--workers",
        "1",
        "--quiet",
    )
    shown = peirce(*made, new=True).stdout
    assert "cost      contains: " in shown and "judge" not in shown
    assert digest(peirce, *made, "--no-cache", "--store", "again.duckdb") in shown
    assert "no difference" in peirce("replay", "last").stdout
    assert "no difference" in peirce("replay", "last", "--live").stdout
    scored: dict[str, Any] = json.loads(peirce("eval", "gear", "last", "--json").stdout)
    assert scored["sessions"][0]["metrics"]["consistency"]["mean"] == 1.0
    own: dict[str, Any] = json.loads(peirce("eval", "intervals", "last", "--json").stdout)
    assert own["sessions"][0]["metrics"]["width"]["mean"] > 0
    ((session, (narrowest, widest)),) = own["widths"].items()
    assert session == own["sessions"][0]["session"] and 0 <= narrowest <= widest
    shown = peirce("eval", "intervals", "last", "--out", "tables").stdout
    assert f"widths    {session}: {narrowest:g} to {widest:g} wide" in shown
    kept = json.loads((tmp_path / "tables" / "widths.json").read_text("utf-8"))
    assert kept == own["widths"] and (tmp_path / "tables" / "intervals.md").exists()
    assert ".." in peirce("bank", "last").stdout
    predicts_inputs(peirce, tmp_path)
    peirce("report", "last", "--out", "page.html")
    assert "gen0-3" in read_text((tmp_path / "page.html").read_text("utf-8"))
    peirce("export", "last", "--format", "jsonl", "--out", "exported")
    assert (tmp_path / "exported").exists()
    assert "pairs" in peirce("pairs", "last").stdout
    (tmp_path / "answers.jsonl").write_text(
        '{"problem": "gen0-0", "answer": "0..99"}\n{"problem": "gen0-0", "answer": "x"}\n'
    )
    rows = peirce(
        "check", "between", "--answers", "answers.jsonl", "--problems", "1", "--json"
    ).stdout
    assert "no_bounds" in rows and '"inconsistent"' in rows


def test_a_protocol_of_another_package_is_a_preset_of_its_options(peirce: Peirce) -> None:
    made = ("run", "between", "--problems", "2", "--protocol", "patient-toy", "--quiet", "--json")
    (told,) = map(json.loads, peirce(*made, "--max-answers", "4").stdout.splitlines())
    assert told["method"] == "patient" and told["protocol"] == "patient-toy, with max_answers=4"
    (row,) = json.loads(peirce("sessions", "--json").stdout)
    assert (row["settings"]["tries"], row["settings"]["max_answers"]) == (3, 4)
    refused = peirce("run", "acre", "--protocol", "patient-toy", code=2).stderr
    assert "protocol is 'patient-toy': An imaginary experiment on intervals is about" in refused


@pytest.mark.soak
def test_a_killed_session_of_it_goes_on_to_the_same_digest(
    peirce: Peirce, environment: dict[str, str], tmp_path: Path
) -> None:
    made = ["run", "between", "--problems", "40", "--model", "search", "--quiet", "--workers", "1"]
    whole = digest(peirce, *made, "--store", "whole.duckdb")
    command = [sys.executable, "-m", "peirce", *made, "--store", "killed.duckdb"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        log = tmp_path / "killed.duckdb.wal"
        while process.poll() is None and not (log.exists() and log.stat().st_size > 100_000):
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL, "it ended before it was killed"
    assert digest(peirce, "resume", "last", "--store", "killed.duckdb") == whole


def test_its_method_and_its_sandbox_serve_tasks_of_peirce(peirce: Peirce, tmp_path: Path) -> None:
    (tmp_path / "space.jsonl").write_text("[]\n[1]\n[3, 1, 2]\n")
    words = ("run", "list_functions", "--problems", "2", "--model", "search", "--max-answers", "2",
             "--budget-expansions", "2000", "--method", "patient", "--workers", "1",
             "--space", "space.jsonl", "--quiet")  # fmt: skip
    asked = ("run", "between", "--problems", "3", "--method", "patient", "--dry-run", "--json")
    forecast = json.loads(peirce(*asked, "--model", "http://127.0.0.1:9/v1#NAME").stdout)
    assert forecast["calls"]["proposer"]["least"] == 3 * 2  # its own: an end after `tries`
    by_ours = digest(peirce, *words)
    assert (
        digest(peirce, *words, "--sandbox", "unsafe", "--no-cache", "--store", "b.duckdb")
        == by_ours
    )
    refused = peirce(*words, "--sandbox", "unsafe", "--strict-sandbox", code=4).stderr
    assert "the sandbox unsafe has no layers" in refused
    shown = peirce("between").stdout
    assert "patient" in shown and "hypogenic" not in shown


def test_settings_of_its_method_are_set_by_method_arg(peirce: Peirce) -> None:
    words = ("run", "between", "--problems", "1", "--model", "search", "--method", "patient",
             "--workers", "1", "--quiet")  # fmt: skip
    patient = peirce(*words, "--method-arg", "tries=4", "--max-answers", "9").stdout
    assert "cost      contains:" in patient and "cost      judge:" not in patient
    told: dict[str, Any] = json.loads(peirce("sessions", "--json").stdout)[0]
    assert told["settings"]["tries"] == 4
    for value, said in (
        ("tries=x", "tries is 'x': it must be a whole number"),
        ("tries=0", "tries is 0: it must be at least 1"),
        ("triess=3", "method patient has no setting 'triess'; did you mean tries?"),
    ):
        assert said in peirce(*words, "--method-arg", value, code=2).stderr
    refused = peirce("run", "between", "--method-arg", "tries=3", code=2).stderr
    assert "only tasks with labelled text take it, such as labels; " in refused
