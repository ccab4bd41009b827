"""`peirce discover` as a user types it: two lines and warnings on stderr, the session on stdout, a question
on a terminal, and a usage error without one."""

from __future__ import annotations

import json
import os
import pty
import random
import subprocess
import time
from pathlib import Path

import pytest
from scripted_run import command

WORDS = ["page", "order", "screen", "letter", "parcel", "window", "ticket", "garden"]


@pytest.fixture
def folder(folder: Path) -> Path:
    rng = random.Random(2)
    lines = ["text,kind"]
    for number in range(40):
        word = ("refund", "crash")[number % 2]
        some = [*rng.sample(WORDS, 3), word, str(number)]
        rng.shuffle(some)
        lines.append(f"{' '.join(some)},{('billing', 'fault')[number % 2]}")
    Path("tickets.csv").write_text("\n".join(lines) + "\n")
    rows = [f"{n % 3},{'ab'[n % 2]},{'xy'[n // 3 % 2]}" for n in range(30)]
    Path("codes.csv").write_text("\n".join(["size,colour,shape", *rows]) + "\n")
    return folder


def test_it_says_what_it_runs_and_prints_the_session_as_json(peirce):
    code, out, err = peirce("discover", "tickets.csv", "--max-answers", "4", "--json")
    session = json.loads(out)
    assert code == 0 and session["task"] == "labels" and session["status"] == "done"
    assert session["kind"] == "labelled_rows" and "its name is common" in session["why"]
    first, second, *_ = err.splitlines()
    assert first == "peirce: tickets.csv: 40 rows with 2 labels in 'kind'"
    assert second.startswith(
        "peirce: starting peirce run labels --data tickets.csv --label kind, because "
    )


@pytest.mark.parametrize("options", [("--max-answers", "2"), ("--dry-run",)])
def test_quiet_leaves_out_progress_alone_and_json_has_the_warnings(peirce, options):
    lines = [f"{n},{'ab'[n % 2]},{'yn'[n % 3 % 2]}" for n in range(30)]
    Path("ids.csv").write_text("\n".join(["customer_id,letter,label", *lines]) + "\n")
    code, out, err = peirce("discover", "ids.csv", *options, "--json", "--quiet")
    warnings = json.loads(out)["warnings"]
    assert code == 0 and "'customer_id' holds an identifier" in warnings[0]
    assert "peirce: ids.csv: 30 rows with 2 labels in 'label'" in err
    assert all(f"peirce: warning: {one}" in err for one in warnings)


def test_a_dry_run_counts_calls_and_creates_no_store(peirce):
    code, out, _ = peirce("discover", "tickets.csv", "--dry-run", "--json")
    counted = json.loads(out)
    assert code == 0 and counted["kind"] == "labelled_rows" and "proposer" in counted["calls"]
    assert counted["command"] == "peirce run labels --data tickets.csv --label kind"
    assert not Path("peirce.duckdb").exists()


def test_without_a_terminal_an_unclear_file_is_a_usage_error_with_the_commands(peirce):
    code, out, err = peirce("discover", "codes.csv", "--json")
    assert (code, out) == (2, "") and len(err.splitlines()) == 1
    for name in ("size", "colour", "shape"):
        assert f"peirce run labels --data codes.csv --label {name}" in err


def test_the_target_makes_it_clear(peirce):
    code, out, _ = peirce("discover", "codes.csv", "--target", "colour", "--dry-run", "--json")
    assert code == 0 and json.loads(out)["command"].endswith("--label colour")


def test_options_of_the_session_are_passed_on_and_data_is_none_of_them(peirce):
    code, out, _ = peirce("discover", "tickets.csv", "--seed", "3", "--dry-run", "--json")
    assert code == 0 and json.loads(out)["seed"] == 3
    code, _, err = peirce("discover", "tickets.csv", "--label", "kind")
    assert code == 2 and "--label" in err


@pytest.mark.parametrize(("typed", "label"), [("1\n", "shape"), ("9\n2\n", "size")])
def test_on_a_terminal_it_asks_and_runs_the_choice(folder, typed, label):
    terminal, end = pty.openpty()
    arguments = ["discover", "codes.csv", "--dry-run", "--json"]
    with subprocess.Popen(
        command(*arguments), stdin=end, stderr=end, stdout=subprocess.PIPE, text=True
    ) as process:
        os.close(end)
        said = b""
        until = time.monotonic() + 60
        while b"Which of these" not in said and time.monotonic() < until:
            said += os.read(terminal, 4096)
        os.write(terminal, typed.encode())
        assert process.stdout is not None
        out = process.stdout.read()
        assert process.wait(60) == 0
    os.close(terminal)
    assert b"not clear what the file holds" in said
    told = json.loads(out)
    assert told["command"] == f"peirce run labels --data codes.csv --label {label}"
    assert any("repeat an earlier row" in one for one in told["warnings"])  # of the chosen target
