"""Every place that reads YAML refuses what costs more than it says, in one sentence with its line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from label_sets import published, three
from peirce import tasks
from peirce.records import DataError
from peirce.training.dpo import TrainConfig

HOSTILE = {
    # Doubles thirteen times: small enough for a reader that expands it to end.
    "aliases": (
        "a: &a0 [x, x]\n" + "".join(f"b{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 13)),
        "line 1: &a0: anchors and aliases are not supported",
    ),
    "a merge key": ("a: &a {b: 1}\nc: {<<: *a}\n", "line 1: &a: anchors"),
    "depth": ("a: " + "[" * 60 + "]" * 60, "line 1: the value is nested deeper than 50"),
    "endless depth": ("a: " + "[" * 20_000, "line 1: the value is nested deeper than 50"),
    "a key twice": ("a: 1\nb: 2\na: 3\n", "line 3, a: occurs twice, first in line 1"),
    "a tag": ("a: !!python/name:os.system x", "line 1: the tag "),
    "a long number": ("a: " + "9" * 5_000, "line 1, a: an integer of 5,000 digits"),
    "a long version": ("%YAML " + "1" * 5_000 + ".1\n---\na: 1", "line 1: not YAML: "),
    "no character": ('a: 1\nb: "\\UFFFFFFFF"', "line 2: not YAML: "),
    "a large file": ("a: '" + "x" * 1_000_000 + "'", ": the file is larger than 1,000,000 bytes"),
}


def read_task(folder: Path, text: str) -> None:
    (folder / "t.yaml").write_text(text)
    tasks.load_problems(str(folder / "t.yaml"))


def read_label_config(folder: Path, text: str) -> None:
    published(folder / "meals", three())
    (folder / "meals" / "config.yaml").write_text(text)
    tasks.load_problems("labels", str(folder / "meals"))


def read_older_label_config(folder: Path, text: str) -> None:
    published(folder / "meals", three())
    (folder / "meals" / "config_ood.yaml").write_text(text)
    tasks.load_problems("labels", str(folder / "meals"))


def read_training_settings(folder: Path, text: str) -> None:
    (folder / "train.yaml").write_text(text)
    TrainConfig.read_yaml(folder / "train.yaml")


READERS = [read_task, read_label_config, read_older_label_config, read_training_settings]


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("read", READERS, ids=lambda one: one.__name__)
def test_a_hostile_yaml_file_is_one_sentence_with_its_line(
    tmp_path: Path, read: Callable[[Path, str], None], kind: str
) -> None:
    text, said = HOSTILE[kind]
    with pytest.raises(DataError) as caught:
        read(tmp_path, text)
    sentence = str(caught.value)
    assert said in sentence and ".yaml" in sentence
    assert "\n" not in sentence and len(sentence) < 400
