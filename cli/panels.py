"""Groups of flags in `--help`, and command lines to copy below it."""

from __future__ import annotations

DATA, MODEL, TEXT = "Data", "Model and method", "Labelled text"
RUNNING, OUTPUT = "Running", "Output"
WHAT, OF_TRAINING = "What is trained", "Settings of a training"
OWN_FILE = (WHAT, OF_TRAINING)  # panels whose settings stand in YAML (--config), not in peirce.toml


def examples(*lines: str) -> str:
    """An epilog: command lines to copy, each on a line of its own where the terminal is as wide."""
    return "\n".join(("To copy:", *(f"  {line}" for line in lines)))
