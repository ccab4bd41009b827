"""No reader of a model's text takes time that grows much faster than the text, whatever its shape.

Each reader gets many shapes of text, longer and longer, as `bench/reading.py` measures it: every third
of them with every change, all by `make soak`. Only CPU time counts, what is fast at full length passes, and the growth is measured again before it fails, so
that other processes do not matter.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from peirce.tests.counts import drawn

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from reading import SHAPES, Case, all_readers, measure_growth

READERS = all_readers()
CHOSEN = list(SHAPES)[:: drawn(3, soak=1)]


def test_there_are_many_readers_and_shapes() -> None:
    assert len(READERS) >= 40 and len(SHAPES) >= 100 and len(CHOSEN) >= 40


@pytest.mark.counted
@pytest.mark.parametrize("name", READERS)
def test_the_time_of_a_reader_grows_no_faster_than_its_text(name: str) -> None:
    found = [measure_growth(name, READERS[name], shape, thorough=False) for shape in CHOSEN]
    assert [one for one in found if not one.bounded] == []


def test_a_reader_of_quadratic_time_is_found() -> None:
    slow = Case(lambda text: [text.count("!", at) for at in range(0, len(text), 8)])
    assert not measure_growth("quadratic", slow, "letters", thorough=False).bounded
