"""Write sessions as one self-contained HTML page, with every problem and every hypothesis.

The page works as a local file and makes no network requests. All text from a model is treated as
data.

`contents.py` collects what the page shows, and `document.py` writes it as one file. `server.py`
serves the same page while a session runs.
"""

from __future__ import annotations

from .contents import Contents
from .document import ProblemBlocks, render_page

__all__ = ["Contents", "ProblemBlocks", "render_page"]
