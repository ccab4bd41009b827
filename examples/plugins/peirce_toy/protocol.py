"""Protocol `patient-toy`: the conditions of an imaginary experiment, as options of a session."""

from __future__ import annotations

from peirce.config import RunProtocol

PROTOCOL = RunProtocol(
    "patient-toy",
    "An imaginary experiment on intervals",
    ("intervals",),
    {"method": "patient", "tries": 3, "max_answers": 6, "tool_calls": 0},
)
