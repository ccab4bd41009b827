"""JSON of a data set that nests deeper than it can be read.

Internals: what a Parquet file says of itself is read alone, as no library writes such metadata.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from peirce.records import DataError
from peirce.tasks.text.tables import _info, _parse_features

DEEP = "[" * 100_000


def test_a_file_that_nests_too_deep_is_one_sentence_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "dataset_info.json"
    path.write_text(DEEP + "\n")
    with pytest.raises(DataError, match=r"dataset_info\.json") as caught:
        _info(path)
    assert "\n" not in str(caught.value)


def test_metadata_that_nests_too_deep_says_nothing() -> None:
    assert _parse_features({b"huggingface": DEEP.encode()}) is None
