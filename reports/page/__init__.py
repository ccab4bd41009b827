"""One self-contained HTML page of sessions: what was run, what came of it, every problem with every
hypothesis. It works from a file and asks the network for nothing; all that a model said is data.

`contents.py` says what stands on the page, `document.py` makes the one file of it; `server.py`
serves the same page while a session runs.
"""

from __future__ import annotations

from .contents import Contents
from .document import document

__all__ = ["Contents", "document"]
