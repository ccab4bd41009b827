"""The classifier of labelled text: its rows, batches, settings, and what a model holds of a row.

Internals: rows are cut and batched as a training does, without one.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from peirce.records import Observation, UsageError
from peirce.training import find_base
from peirce.training.classifier import ClassifierSettings, LabelledSet, encode_rows, fit
from peirce.training.classifier.epochs import epoch_score, length_batches
from peirce.training.classifier.tokens import column_lines, share_room
from tiny_model import make_model, make_short_model, require


def test_long_rows_lose_the_ends_of_their_longest_columns() -> None:
    assert share_room([2, 9, 5], 12) == [2, 5, 5] and share_room([2, 3], 12) == [2, 3]
    assert (
        share_room([9, 9, 1], 3) == [1, 1, 1]
        and share_room([], 4) == []
        and share_room([4, 4], 0) == [0, 0]
    )
    for sizes, room in (([7, 3, 11, 2], 9), ([100, 1], 50), ([5, 5, 5], 14)):
        caps = share_room(sizes, room)
        assert sum(caps) == min(room, sum(sizes))
        assert all(cap <= size for cap, size in zip(caps, sizes, strict=True))
        cut = [cap for cap, size in zip(caps, sizes, strict=True) if cap < size]
        assert max(cut) - min(cut) <= 1


def test_rows_are_lines_of_their_columns() -> None:
    assert column_lines({"title": "Rain", "words": 3, "city": None}) == [
        "title: Rain",
        "words: 3",
        "city: ",
    ]
    assert column_lines("Rain") == ["Rain"]


def test_batches_hold_every_row_once_the_longest_first() -> None:
    found = list(length_batches([3, 9, 9, 1, 4], 2))
    assert found == [[1, 2], [4, 0], [3]]


def test_of_equal_f1_the_lower_loss_is_better() -> None:
    assert epoch_score(0.8, 0.3) > epoch_score(0.8, 0.4) > epoch_score(0.79, 0.0)


def test_settings_that_make_no_sense_are_refused() -> None:
    for wrong, match in (
        ({"epochs": 0}, "epochs is 0"), ({"batch": True}, "a whole number"), ({"full": 1}, "true or"),
        ({"learning_rate": 2.0}, "below 1"), ({"warmup": 1}, "below 1"), ({"seed": -1}, "seed is -1"),
        ({"seed": 2**32}, "below 2"), ({"weight_decay": float("nan")}, "weight_decay is nan"),
        ({"learning_rate": "fast"}, "'fast': it must be a number"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=match):
            ClassifierSettings(**wrong)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require()
    return make_model(tmp_path_factory.mktemp("labels") / "base", initializer_range=0.02)


def test_rows_are_no_longer_than_what_the_model_holds(base: Path, tmp_path: Path) -> None:
    """Learned positions end: a row beyond them is no row that the model can read."""
    short = make_short_model(tmp_path / "short", base, positions=24)
    rows = [Observation("rain " * 40 if n % 2 else "sun " * 40, f"{n % 2}") for n in range(12)]
    data = LabelledSet("long", ("0", "1"), {"train": rows, "val": rows, "ind": rows})
    fitted = fit(find_base(str(short)).files, data, ClassifierSettings(epochs=1), tmp_path / "out")
    assert fitted.cut == 36 and len(fitted.predicted["ind"]) == 12


def test_a_row_without_a_token_and_one_that_is_cut(base: Path) -> None:
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(base)
    rows = [Observation("", "a"), Observation({"text": "rain " * 50, "city": "Oslo"}, "b")]
    (empty, long), cut = encode_rows(tokenizer, rows, 24)
    assert len(empty) == 1 and len(long) == 24 and cut == 1
    assert tokenizer.decode(long).endswith("city: Oslo")
    assert LabelledSet("x", ("a", "b"), {"train": rows}).digests()["train"]
