"""JSON of a model's folder that nests deeper than it can be read.

Internals: the reader of config.json is called alone, as opening a model would load torch first.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from peirce.agents.local.files import read_object
from peirce.records import DataError


def test_a_file_that_nests_too_deep_is_one_sentence_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text("[" * 100_000 + "\n")
    with pytest.raises(DataError, match=r"config\.json") as caught:
        read_object(path)
    assert "\n" not in str(caught.value)
