"""Worker process of the embedded search: `python -m peirce.search.worker`.

It reads and writes one JSON object per line (tools/line_process.py).
"""

from __future__ import annotations

from ..tools.line_process import serve
from .engines import SearchService

if __name__ == "__main__":
    serve(SearchService().propose)
