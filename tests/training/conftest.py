"""Lets the tests of this room import what lies beside them, and the tiny model of tests/agents."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "agents")]
