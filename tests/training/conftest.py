"""Tests here share what lies beside them and the tiny models of tests/agents."""

import sys
from pathlib import Path

for room in ("training", "agents"):
    sys.path.insert(0, str(Path(__file__).parents[1] / room))
