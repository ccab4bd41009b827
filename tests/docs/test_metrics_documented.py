"""docs/reference/metrics.md has every metric of every evaluation, with its good direction."""

from __future__ import annotations

from pathlib import Path

import pytest
from peirce.reports import evaluations

PAGE = (Path(__file__).resolve().parents[2] / "docs/reference/metrics.md").read_text("utf-8")
METRICS = sorted({(m.name, m.arrow) for one in evaluations() for m in one.metrics})


@pytest.mark.parametrize(("name", "arrow"), METRICS)
def test_a_metric_stands_on_the_page_with_its_direction(name: str, arrow: str) -> None:
    assert f"`{name}` {arrow}".rstrip() in PAGE
    if not arrow:
        assert f"`{name}`, " in PAGE or f"`{name}` |" in PAGE
