"""Tests here share the labelled sessions of tests/api and the server of tests/agents."""

import sys
from pathlib import Path

for room in ("api", "agents"):
    sys.path.insert(0, str(Path(__file__).parents[1] / room))
