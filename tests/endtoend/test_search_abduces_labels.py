"""`--method abduce` with the embedded search on labelled records and texts: the sentences are judged one by
one, and asked again the search has nothing left to say."""

from __future__ import annotations

import peirce
import pytest


@pytest.mark.parametrize(
    ("task", "name", "rules"),
    [("labels:admission", "admission/level_2/size_5", 5), ("labels:shoe", "shoe", 6)],
)
def test_abduce_accepts_each_true_sentence_and_ends_as_exhausted(tmp_path, task, name, rules):
    session = peirce.run(
        task, problem=[name], method="abduce", model="search", store=tmp_path / "abduce.duckdb"
    )
    assert not session.failed
    assert session.metrics["hdr"]["mean"] == 1
    assert session.metrics["identical"]["mean"] == 1
    assert session.metrics["accuracy_ind"]["mean"] == 1
    bank = peirce.bank(session.session, store=tmp_path / "abduce.duckdb")
    assert len(bank) >= rules
