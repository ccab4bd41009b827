"""JSON in the folder of a training that nests deeper than it can be read.

Internals: each file is damaged alone; by the commands the first that is read hides the others.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from peirce.records import DataError
from peirce.training.dpo import checkpoints
from peirce.training.dpo.record import read_record
from peirce.training.durable_log import read_points
from peirce.training.pretrain.run import read_finished

DEEP = "[" * 100_000


def test_a_log_that_nests_too_deep_is_one_sentence_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "points.jsonl"
    path.write_text(DEEP + "\n")
    with pytest.raises(DataError, match=r"points\.jsonl") as caught:
        read_points(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("read", [read_record, checkpoints.read_checkpoint, read_finished])
def test_a_training_whose_record_nests_too_deep_is_one_sentence(tmp_path: Path, read) -> None:
    for name in ("training.json", "curriculum.json", "pretrain.json"):
        (tmp_path / name).write_text(DEEP)
    with pytest.raises(DataError, match=r"cannot be read|not a record"):
        read(tmp_path)
