"""Worker process of the embedded search, started as `python -m peirce.search.worker`.

The process reads one JSON request per line and writes one JSON reply per line
(tools/line_process.py).
"""

from __future__ import annotations

from ..tools.line_process import serve
from .engines import SearchService

if __name__ == "__main__":
    serve(SearchService().propose)
