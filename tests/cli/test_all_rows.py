"""What `peirce run` prints about labelled rows: reading, searching, the bank as a whole, its curve."""

from __future__ import annotations

import json
import random
from pathlib import Path

from peirce.tests.page_blocks import read_text

WORDS = ["river", "stone", "window", "garden", "letter", "paper", "summer", "market"]
RUN = ("run", "labels", "--data", "rows.csv", "--label", "verdict")


def write_rows(count: int = 500) -> None:
    """Write rows.csv: the word "refund" marks the label "angry" in 85% of the rows."""
    drawn = random.Random(1)
    lines = ["text,verdict"]
    for number in range(count):
        said = number % 2 if drawn.random() < 0.85 else 1 - number % 2
        words = drawn.sample(WORDS, 5) + ["refund"] * said
        lines.append(f"{' '.join(words)},{'angry' if number % 2 else 'pleased'}")
    Path("rows.csv").write_text("\n".join(lines) + "\n")


def test_sentences_of_weak_texts_are_described_as_a_whole(peirce):
    write_rows()
    code, out, err = peirce(*RUN, "--tau", "0.99", "--store", "s.duckdb")
    session = json.loads(peirce("resume", "last", "--store", "s.duckdb", "--json")[1])
    together = session["findings"][0]["together"]
    assert code == 0 and together["of"] == 100 and together["right"] > 70
    assert (
        f"right on {together['right']:.1f}% of the 100 test rows (training rows: 300 shown)." in out
    )
    assert "None of these" not in out and "three failed" not in out
    (verdicts,) = [one for one in out.splitlines() if one.startswith("verdicts")]
    assert "not exact, but in the bank" in verdicts and "inconsistent" not in verdicts
    assert "the search found no further sentence" in out
    lines = err.splitlines()
    assert lines[0] == "Reading rows.csv"
    assert any(line.startswith("Read 500 rows") for line in lines)
    assert "Searching 300 rows for sentences, with a budget of 150,000 expansions" in lines
    assert any(line.startswith("rows     300 shown; to predict: ") for line in lines)
    assert "Training baselines on the same rows" in lines


def test_a_quiet_run_says_nothing_of_reading_and_baselines(peirce):
    write_rows(60)
    _, _, err = peirce(*RUN, "--quiet")
    assert "Reading" not in err and "Training" not in err


def test_the_learning_curve_stands_in_one_line_and_on_the_page(peirce):
    write_rows()
    _, out, err = peirce(*RUN, "--learning-curve", "--budget-expansions", "20000")
    assert "Learning curve: 200 rows (session 1 of 2)" in err.splitlines()
    (line,) = [one for one in out.splitlines() if one.startswith("Test accuracy by rows shown: ")]
    first, last = line.partition(": ")[2].split(", ")
    assert first.startswith("200 .") and last.startswith("300 .")
    assert peirce("report", "last", "--out", "page.html")[0] == 0
    page = read_text(Path("page.html").read_text())
    assert line in page and "Learning curve" in page


def test_a_learning_curve_of_other_tasks_is_refused_in_one_sentence(peirce):
    code, out, err = peirce("run", "list_functions", "--learning-curve")
    assert code == 2 and not out
    assert err == (
        "peirce: --learning-curve needs labelled rows, as task labels has them: programs tasks have"
        " none\n"
    )
