"""`peirce bank --effects` on the command line: a table, verdicts in words, and the same as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from labelled_session import LUX, RUDE, data_set, write_lines

PLAIN = "Texts that sound pleased are good."


@pytest.fixture
def folder(folder: Path) -> Path:
    data_set(folder)
    write_lines(Path("bank.jsonl"), [{"text": one} for one in (LUX, RUDE, PLAIN)])
    return folder


def test_the_table_has_each_sentence_with_its_effect_and_verdicts(peirce):
    run = [
        "run",
        "labels",
        "--data",
        "meals",
        "--method",
        "infer",
        "--bank",
        "bank.jsonl",
        "--quiet",
    ]
    assert peirce(*run)[0] == 0
    code, out, err = peirce("bank", "--effects", "--within", "length")
    assert (code, err) == (0, "")
    assert out.startswith("meals#0: 12 test rows\n")
    assert "good / bad" in out and "33.3%" in out and "(no effect: only" in " ".join(out.split())
    assert "   1  TOO FEW rows to tell within length: odds ratio" in out
    code, out, _ = peirce("bank", "--within", "length", "--json")
    rows = json.loads(out)
    assert code == 0 and [len(row["effects"]) for row in rows] == [1, 1, 0]
    assert rows[0]["effects"][0]["within"][0]["verdict"] == "too_few"
    code, _, err = peirce("bank", "--within", "city")
    assert code == 2 and err.count("\n") == 1 and "add --data FILE" in err
