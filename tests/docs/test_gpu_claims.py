"""No figure or claim about GPUs was tried on one, so every page says so where it makes one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
LABEL = "not run on a GPU"
# Phrases that say that no GPU is needed, or that a script is skipped without one.
NO_CLAIM = re.compile(r"no key, no network, no GPU|a GPU or a browser are skipped")


def paragraphs(page: Path) -> list[str]:
    """Return the sections of a page, and those without a label split into paragraphs."""
    sections = re.split(r"^(?=## )", page.read_text("utf-8"), flags=re.M)
    labelled = re.compile(rf"^## .*\n+\*\*{LABEL}", re.I)
    return [
        part
        for section in sections
        if not labelled.match(section)
        for part in re.split(r"\n\s*\n|\n(?=[|\-] )", section)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_claims_about_gpus_are_labelled(page: Path) -> None:
    text = [re.sub(r"\s+", " ", NO_CLAIM.sub("", part)) for part in paragraphs(page)]
    assert [
        part for part in text if re.search(r"\bGPUs?\b|\bCUDA\b", part) and LABEL not in part
    ] == []
