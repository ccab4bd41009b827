"""A rating is asked again when the words of the question have changed.

Internals: the version of the words is a constant, which the test changes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from peirce.agents.prompts import rating

sys.path.insert(0, str(Path(__file__).parents[1] / "commands"))
from rated_session import TRUE, Rater, rated, session_on, write


def test_other_words_are_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "s.duckdb"
    session = session_on(write(tmp_path, truths=TRUE), store).session
    rated(session, store, Rater(), scores=["clarity"])
    monkeypatch.setattr(rating, "RATING_PROMPT_VERSION", 99)
    again = Rater()
    rated(session, store, again, scores=["clarity"])
    assert len(again.asked) == 3
