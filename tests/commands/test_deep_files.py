"""JSON that nests deeper than it can be read, in files that a user names or finds again.

Internals: each reader is called with its own damaged file, before anything else is checked.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from peirce.commands.data.calls_file import read_calls
from peirce.commands.score.ratings_file import read_ratings
from peirce.commands.session.bank_files import read_bank
from peirce.commands.session.settings import parse_key_values
from peirce.commands.train.labelled_training import _scored
from peirce.commands.train.training_folder import read_kind
from peirce.records import DataError

DEEP = "[" * 100_000
READERS = {
    "calls.jsonl": read_calls,
    "bank.jsonl": lambda path: read_bank(path, path.with_name("no.duckdb")),
    "ratings.jsonl": read_ratings,
    "scores.json": _scored,
}


@pytest.mark.parametrize("name", READERS)
def test_a_file_that_nests_too_deep_is_one_sentence_that_names_it(tmp_path: Path, name: str):
    path = tmp_path / name
    path.write_text(DEEP + "\n")
    with pytest.raises(DataError, match=name) as caught:
        READERS[name](path)
    assert "\n" not in str(caught.value)


def test_a_training_whose_record_nests_too_deep_is_one_sentence(tmp_path: Path):
    (tmp_path / "asked.json").write_text(DEEP)
    with pytest.raises(DataError, match=r"cannot be read|no record"):
        read_kind(tmp_path)


def test_an_argument_that_nests_too_deep_is_a_text():
    assert parse_key_values([f"stop={DEEP}"]) == {"stop": DEEP}
    assert parse_key_values(["top_k=4", "stop=end"]) == {"top_k": 4, "stop": "end"}
