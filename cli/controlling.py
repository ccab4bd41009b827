"""The commands for a session that another process runs: status, pause, continue, stop, adjust and
hint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from . import options as o
from .printing import emit

if TYPE_CHECKING:
    from .. import SessionStatus

app = typer.Typer()
Problem: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="PROBLEM", help="Id of the problem, or all for every problem.", show_default=False
    ),
]
HintText: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="TEXT",
        help="The hint. An empty text answers a question: the problem is given up.",
        show_default=False,
    ),
]


def print_state(found: SessionStatus, as_json: bool) -> None:
    """Print the state of a session, as JSON or as a few lines."""
    from ..reports.screen import control, text

    emit([found]) if as_json else control.print_status(text.create_console(), found)


@app.command(epilog=o.examples("peirce status", "peirce status 4f1c --json"))
def status(
    session: o.SessionName = "last", store: o.StoreFile = None, as_json: o.AsJson = False
) -> None:
    """Show the state of a session, also while another process runs it."""
    from .. import status as read_status

    print_state(read_status(session, store=store), as_json)


@app.command(epilog=o.examples("peirce pause", "peirce pause 4f1c --json"))
def pause(
    session: o.SessionName = "last", store: o.StoreFile = None, as_json: o.AsJson = False
) -> None:
    """Pause a running session: it makes no calls until `peirce continue`.

    Calls in flight are finished and saved. A pause is not stored: if the
    session is stopped or killed, `peirce resume` continues it unpaused."""
    from .. import pause as pause_session

    print_state(pause_session(session, store=store), as_json)


@app.command("continue", epilog=o.examples("peirce continue", "peirce continue 4f1c --json"))
def continue_(
    session: o.SessionName = "last", store: o.StoreFile = None, as_json: o.AsJson = False
) -> None:
    """Continue a paused session.

    `peirce resume` continues a session that no process runs."""
    from .. import continue_ as continue_session

    print_state(continue_session(session, store=store), as_json)


@app.command(epilog=o.examples("peirce stop", "peirce stop 4f1c --json"))
def stop(
    session: o.SessionName = "last", store: o.StoreFile = None, as_json: o.AsJson = False
) -> None:
    """Stop a running session after the steps in progress, as Ctrl-C does.

    The command does not wait for these steps. `peirce resume` continues the
    session later."""
    from .. import stop as stop_session

    print_state(stop_session(session, store=store), as_json)


@app.command(
    epilog=o.examples(
        'peirce hint 4f1c 33 "Look at the length of the list."',
        'peirce hint last all "Colours matter, sizes do not." --json',
    )
)
def hint(
    session: o.SessionName, problem: Problem, text: HintText, store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:  # fmt: skip
    """Give the model a hint for a problem, or answer its question.

    The hint is stored at once. Later prompts about the problem show it as a
    remark that may be wrong. If no process runs the session, `peirce resume`
    reads the hint."""
    from .. import hint as give_hint

    found = give_hint(session, problem, text, store=store)
    if not as_json:
        done = (
            "The hint is stored: later prompts show it."
            if text.strip()
            else "The question is answered."
        )
        typer.echo(done)
    print_state(found, as_json)


@app.command(
    epilog=o.examples(
        "peirce adjust --concurrency 2",
        "peirce adjust 4f1c --budget-tokens 2000000",
        "peirce adjust 4f1c --budget-usd 5 --json",
    )
)
@o.add_flags("concurrency", "budget_tokens", "budget_usd", texts={
    "concurrency": "New number of problems in progress at the same time, at most 1,000.",
    "budget_tokens": "New limit of the session's tokens, including those already used.",
    "budget_usd": "New limit of the session's cost in US dollars, including what is already"
    " spent; only for a session with prices.",
})  # fmt: skip
def adjust(
    session: o.SessionName = "last", store: o.StoreFile = None, as_json: o.AsJson = False,
    **settings: Any,
) -> None:  # fmt: skip
    """Change the concurrency or the budgets of a running session.

    `peirce resume` keeps the new values."""
    from .. import adjust as adjust_session

    print_state(adjust_session(session, store=store, **settings), as_json)
