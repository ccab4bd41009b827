"""No reader of a model's text takes time that grows much faster than the text, whatever its shape.

Each reader gets many shapes of text, longer and longer, as `bench/reading.py` measures it: with every
change a twentieth of them, which differs between readers so that each shape is read, and all by `make soak`. Only CPU time counts, what is fast at full length passes, and the growth is measured again before it fails, so
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
STRIDE = drawn(20, soak=1)


def choose_shapes(name: str) -> list[str]:
    """Return every STRIDE-th shape, from another one on for each reader."""
    return list(SHAPES)[list(READERS).index(name) % STRIDE :: STRIDE]


def test_there_are_many_readers_and_shapes() -> None:
    assert len(READERS) >= 40 and len(SHAPES) >= 100
    assert {shape for name in READERS for shape in choose_shapes(name)} == {*SHAPES}


@pytest.mark.counted
@pytest.mark.parametrize("name", READERS)
def test_the_time_of_a_reader_grows_no_faster_than_its_text(name: str) -> None:
    found = [
        measure_growth(name, READERS[name], shape, thorough=False) for shape in choose_shapes(name)
    ]
    assert [one for one in found if not one.bounded] == []


def test_a_reader_of_quadratic_time_is_found() -> None:
    slow = Case(lambda text: [text.count("!", at) for at in range(0, len(text), 8)], 100_000)
    assert not measure_growth("quadratic", slow, "letters", thorough=False).bounded
