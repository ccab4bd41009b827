"""docs/reference/configuration.md and metrics.md are what docs/generate_reference.py writes from the code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
sys.path.insert(0, str(DOCS))

from generate_reference import pages  # noqa: E402

PAGES = pages()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_written_from_the_code_as_it_is(page: Path) -> None:
    assert page.read_text("utf-8") == PAGES[page], "make docs writes it again"


def test_every_session_setting_and_every_metric_has_a_row() -> None:
    settings, metrics = PAGES.values()
    assert all(
        f"| `{name}` |" in settings for name in ("temperature", "max_answers", "learning_rate")
    )
    assert all(f"| `{name}` ↑ |" in metrics for name in ("consistency", "holdout_validity", "hdr"))
