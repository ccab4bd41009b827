"""What a study reads of a session is what its steps hold."""

from __future__ import annotations

import asyncio

import numpy as np
from peirce.store import Store


def test_the_consistent_hypotheses_are_those_of_the_steps(made, tmp_path):
    names = ["a", "b \udc80", "nothing"]
    with Store.open(tmp_path / "s.duckdb", write=True) as store:
        problems = [(made.problem(name), made.space) for name in names]
        session = store.create_session({}, problems)
        ledger = store.ledger(session)
        for name in names[:2]:
            for number in (1, 2):
                asyncio.run(ledger.record_step(made.step(name, number)))
        found = store.consistent_hypotheses(session, names)
        assert list(found) == names and found["nothing"] == []
        for name in names[:2]:
            expected = [
                one
                for step in store.steps(session, name)
                for answer in step.answers
                for one in answer.judged
                if one.verdict.consistent
            ]
            assert len(found[name]) == len(expected) == 4
            for told, one in zip(found[name], expected, strict=True):
                assert told.hypothesis == one.hypothesis.digest
                assert told.hidden == one.hidden.marks
                vectors = store.vectors([told.codes, told.reasons])
                assert np.array_equal(vectors[told.codes], one.space.codes)
                assert np.array_equal(vectors[told.reasons], one.space.reasons)
