"""Sessions of every family, run once; and a browser, where there is one."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # tests import what lies beside them
