"""docs/explanation/how-it-works.md draws the compiled graphs of all methods as they are.

    PEIRCE_REWRITE_DOCS=1 python -m pytest tests/docs/test_graphs_drawn.py

writes the drawings anew; without it they are compared.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from peirce.graphs import all_methods

PAGE = Path(__file__).resolve().parents[2] / "docs/explanation/how-it-works.md"
DRAWN = re.compile(r"(<!-- graph: ([\w, -]+?) -->\n```mermaid\n)(.*?)(```)", re.S)
METHODS = all_methods()


def drawing(method: str) -> str:
    return METHODS[method].graph.get_graph().draw_mermaid(with_styles=False)


def rewritten(page: str) -> str:
    return DRAWN.sub(lambda one: one[1] + drawing(one[2].split(", ")[0]) + one[4], page)


if "PEIRCE_REWRITE_DOCS" in os.environ:
    PAGE.write_text(rewritten(PAGE.read_text()))


def test_every_method_is_drawn_once() -> None:
    named = [name for found in DRAWN.finditer(PAGE.read_text()) for name in found[2].split(", ")]
    assert sorted(named) == sorted(METHODS)


@pytest.mark.parametrize("method", METHODS)
def test_the_drawing_of_a_method_is_its_graph(method: str) -> None:
    (drawn,) = [one[3] for one in DRAWN.finditer(PAGE.read_text()) if method in one[2].split(", ")]
    assert drawn == drawing(method)
