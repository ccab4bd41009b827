"""JSON that nests deeper than it can be read, in every file that a user names or finds again."""

from __future__ import annotations

from pathlib import Path

import pytest
from peirce.agents.local_files import read_object
from peirce.commands.data.calls_file import read_calls
from peirce.commands.score.ratings_file import read_ratings
from peirce.commands.session.bank_files import read_bank
from peirce.commands.session.settings import model_args_of
from peirce.commands.train.labelled_training import _scored
from peirce.commands.train.training_folder import kind_in
from peirce.records import DataError
from peirce.tasks.label_columnar import _info, _said
from peirce.training.dpo import checkpoints
from peirce.training.dpo.run import read_record
from peirce.training.durable_log import read_lines
from peirce.training.pretrain.making import finished

DEEP = "[" * 100_000
READERS = {
    "calls.jsonl": read_calls,
    "bank.jsonl": lambda path: read_bank(path, path.with_name("no.duckdb")),
    "ratings.jsonl": read_ratings,
    "config.json": read_object,
    "dataset_info.json": _info,
    "points.jsonl": read_lines,
    "scores.json": _scored,
}


@pytest.mark.parametrize("name", READERS)
def test_a_file_that_nests_too_deep_is_one_sentence_that_names_it(tmp_path: Path, name: str):
    path = tmp_path / name
    path.write_text(DEEP + "\n")
    with pytest.raises(DataError, match=name) as caught:
        READERS[name](path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("read", [kind_in, read_record, checkpoints.read, finished])
def test_a_training_whose_record_nests_too_deep_is_one_sentence(tmp_path: Path, read):
    for name in ("asked.json", "training.json", "curriculum.json", "pretrain.json"):
        (tmp_path / name).write_text(DEEP)
    with pytest.raises(DataError, match=r"cannot be read|no record"):
        read(tmp_path)


def test_an_argument_that_nests_too_deep_is_a_text_and_metadata_says_nothing():
    assert model_args_of([f"stop={DEEP}"]) == {"stop": DEEP}
    assert model_args_of(["top_k=4", "stop=end"]) == {"top_k": 4, "stop": "end"}
    assert _said({b"huggingface": DEEP.encode()}) is None
