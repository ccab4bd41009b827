"""Who found a hypothesis, as findings name it.

Internals: a session with a model of an endpoint under both roles would need a server.
"""

from __future__ import annotations

from peirce.records import JudgedAnswer, StepRecord
from peirce.reports.proposers import describe_proposer


def test_findings_tell_a_model_from_itself_with_other_settings():
    """`then` may be the first model at another temperature; both have one name."""
    operational = {
        "model": "openai:m",
        "model_name": "openai:m",
        "players": {"then": ["openai:m", {"temperature": 1}]},
    }
    answer = JudgedAnswer("step/1/propose/0", "", ())
    names = [
        describe_proposer(
            {"operational": operational},
            StepRecord("p", 1, (answer,), {"proposed_by": role}),
            answer,
        )
        for role in ("proposer", "then")
    ]
    assert names == ["openai:m", "openai:m, the second proposer"]
