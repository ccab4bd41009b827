"""Worker process that computes for a given CPU time, as `python -m busy_process`.

Each request is {"cpu_ms", ...}; the reply repeats the request, as large as it was. `bench/cluster.py`
puts this folder into PYTHONPATH, so that the processes of all nodes find the module.
"""

from __future__ import annotations

import time
from typing import Any

from peirce.tools.line_process import serve


def compute(request: dict[str, Any]) -> dict[str, Any]:
    """Use the CPU time of the request, and return the request."""
    end_s = time.thread_time() + request["cpu_ms"] / 1e3
    while time.thread_time() < end_s:
        pass
    return request


if __name__ == "__main__":
    serve(compute)
