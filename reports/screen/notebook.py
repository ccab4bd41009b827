"""Show the progress of a session in a notebook, as one output that is updated in place.

The output has the same content as the live display of a terminal (`progress.py`). It is HTML, with
a text version for frontends that cannot show HTML. Only IPython is needed, not ipywidgets.
"""

from __future__ import annotations

import contextvars
import io
import threading
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from .progress import SessionProgress

REFRESH_S = 0.5
WIDTH = 100  # characters
HTML_FORMAT = '<pre style="line-height:1.3;white-space:pre-wrap">{code}</pre>'


class NotebookProgress(SessionProgress):
    """A progress display in the output of a notebook cell.

    Use it as a context manager around a run, like `SessionProgress`.
    """

    def __init__(self) -> None:
        self._lines = io.StringIO()
        lines = Console(
            file=self._lines, width=WIDTH, color_system=None, highlight=False, force_jupyter=False
        )
        super().__init__(out=lines, live=False)
        self._picture = self._display = UpdatedDisplay(self._draw_with_lines)

    def __enter__(self) -> NotebookProgress:
        self._display.start()
        super().__enter__()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        super().__exit__(kind, error, trace)
        self._phase = ""
        self._display.stop()

    def _draw_with_lines(self) -> RenderableType:
        lines = self._lines.getvalue().rstrip()
        parts: list[RenderableType] = [Text(lines)] if lines else []
        if self.session:
            parts.append(self._draw())
        if self._phase:
            parts.append(Text(f"{self._phase}; {self._time()}", style="dim"))
        return Group(*parts)

    def _still(self) -> None:
        """Print nothing during silence, because the display shows the time."""

    def _resume_hint(self) -> str:
        store = f", store={self.store!r}" if self.store else ""
        retry = ", retry_failed=True" if self._failed else ""
        return f"peirce.resume({self.session!r}{store}{retry})"


class UpdatedDisplay:
    """An output of the running notebook cell that is drawn again every half second.

    Args:
        draw: returns what to show. It is called in another thread.
    """

    def __init__(self, draw: Any) -> None:
        self._draw = draw
        self._handle: Any = None
        self._shown = ""
        self._lock = threading.Lock()
        self._over = threading.Event()

    def start(self) -> None:
        """Show the output. A second call does nothing."""
        if self._handle is not None:
            return
        from IPython.display import display

        self._handle = display(self._bundle(), raw=True, display_id=True)
        # The context holds the cell that the kernel shows outputs of this thread in.
        context = contextvars.copy_context()
        threading.Thread(
            target=context.run, args=(self._refresh,), daemon=True, name="peirce notebook"
        ).start()

    def stop(self) -> None:
        """Draw the output for the last time, and stop updating it."""
        self._over.set()
        self._update()

    def _refresh(self) -> None:
        while not self._over.wait(REFRESH_S):
            self._update()

    def _update(self) -> None:
        with self._lock:
            bundle = self._bundle()
            if bundle["text/plain"] != self._shown:
                self._shown = bundle["text/plain"]
                self._handle.update(bundle, raw=True)

    def _bundle(self) -> dict[str, str]:
        console = Console(
            file=io.StringIO(), record=True, width=WIDTH, force_terminal=True,
            color_system="truecolor", force_jupyter=False,
        )  # fmt: skip
        console.print(self._draw())
        return {
            "text/plain": console.export_text(clear=False),
            "text/html": console.export_html(inline_styles=True, code_format=HTML_FORMAT),
        }
