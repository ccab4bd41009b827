"""`peirce report` and `peirce view`: show sessions as an HTML page."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from . import options as o
from .printing import emit

app = typer.Typer()

Sessions = Annotated[list[str] | None, typer.Argument(metavar="[SESSION]...", show_default=False,
                                                      help=("Sessions: ids, unique prefixes of"
                                                           " ids, or last (the default)."))]  # fmt: skip
EvaluationName = Annotated[
    str | None, typer.Option("--eval", help="Show the metrics of this evaluation.", metavar="NAME")
]


@app.command(
    epilog=o.examples(
        "peirce report",
        "peirce report 4f1c 9a --out both.html",
        "peirce report --within source --data reviews.csv",
    )
)
def report(
    sessions: Sessions = None,
    out: Annotated[str, typer.Option(help="HTML file to write.", metavar="FILE")] = "report.html",
    evaluation: EvaluationName = None,
    within: o.Within = None,
    data: o.EffectData = None,
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:
    """Write sessions as one self-contained HTML page.

    The page shows metrics, figures, drawings of all problems, all hypotheses and a comparison of
    two sessions."""
    from .. import report as write_report
    from ..reports.screen import text

    told = write_report(
        *(sessions or ()), out=out, name=evaluation, within=within or (), data=data, store=store
    )
    if as_json:
        emit([told])
        return
    about = f"{text.format_count(told.problems, 'problem')}, {told.bytes / 1e6:.1f} MB"
    text.create_console().print(
        f"page      {text.escape_unprintable(told.file)} ({about}); open it in a browser",
        soft_wrap=True,
    )


@app.command(epilog=o.examples("peirce view", "peirce view last --port 8765"))
def view(
    sessions: Sessions = None,
    port: Annotated[
        int,
        typer.Option(
            help="Port on 127.0.0.1; 0 chooses a free one.", metavar="N", min=0, max=65535
        ),
    ] = 0,
    evaluation: EvaluationName = None,
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:
    """Serve the report live on 127.0.0.1 while a session runs, protected by a token."""
    from .. import view as open_viewer
    from ..reports.screen import text

    viewer = open_viewer(*(sessions or ()), port=port, name=evaluation, store=store)
    try:
        if as_json:
            emit([{"url": viewer.url, "port": viewer.port}])
        else:
            text.create_console().print(f"page      {viewer.url}", soft_wrap=True)
            print("Press Ctrl-C to stop the server.", file=sys.stderr)
        viewer.serve()
    except KeyboardInterrupt:
        pass
    finally:
        viewer.close()
