"""Run a command line, and handle its errors.

An expected error is printed as one sentence on stderr and gives an exit code. Other errors keep
their traceback.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import warnings
from typing import Any

import typer
from typer.exceptions import TyperException

from ..secrecy import RedactedLogRecord, redact_secrets
from .configuration import ConfigurationError, configure

INTERRUPTED = 130


def run_command(app: typer.Typer, arguments: list[str] | None) -> int:
    """Run one command line and return its exit code."""
    from typer.main import get_command

    _open_streams()
    warnings.showwarning = _say_warning
    logging.setLogRecordFactory(RedactedLogRecord)
    command = get_command(app)
    try:
        set_up = configure(command, sys.argv[1:] if arguments is None else arguments)
        code = command.main(
            arguments, "peirce", standalone_mode=False, default_map=set_up.defaults, obj=set_up
        )
        sys.stdout.flush()
    except (ConfigurationError, TyperException) as error:
        return _say(error, getattr(error, "exit_code", 2))
    except typer.Abort:
        return INTERRUPTED
    except BrokenPipeError:  # the reader closed the pipe
        _drop_stdout()
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        from ..records import PeirceError

        if isinstance(error, PeirceError):
            return _say(error, error.exit_code)
        if isinstance(error, OSError):  # such as missing permissions or a full disk
            place = "" if error.filename is None else f"{error.filename}: "
            reason = error.strerror or str(error) or type(error).__name__
            _drop_stdout()  # Do not try to write the rest again at exit.
            return _say(OSError(f"{place}{reason}"), 1)
        raise
    return code if isinstance(code, int) else 0


def _open_streams() -> None:
    """Redirect standard streams that the caller has closed to the null device."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _drop_stdout() -> None:
    """Flush stdout, or discard its buffer if it cannot be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(error: Exception, code: int) -> int:
    """Print an error as one sentence on stderr; control characters are shown as escapes."""
    from ..reports.screen.text import escape_unprintable

    text = error.format_message() if isinstance(error, TyperException) else str(error)
    context = getattr(error, "ctx", None)
    if text and context is not None:  # an error in the command line's syntax
        more = " See" if text.endswith("?") else "; see"
        text = f"{text.rstrip('.')}{more} {context.command_path} --help"
        if getattr(getattr(error, "param", None), "name", None) == "task":
            text += ", and `peirce tasks list` for the tasks"
    if text:  # an error without a message has printed the help
        with contextlib.suppress(OSError):  # the terminal is gone
            said = escape_unprintable(redact_secrets(" ".join(text.split())))
            print(f"peirce: {said}", file=sys.stderr, flush=True)
    return code


def _say_warning(message: Warning | str, *rest: Any, **more: Any) -> None:
    from ..reports.screen.text import escape_unprintable

    print(f"peirce: {escape_unprintable(redact_secrets(str(message)))}", file=sys.stderr)
