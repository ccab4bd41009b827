"""Run a session in a process of its own, which goes on when this process or its terminal ends.

`start` is `peirce run … --detach`, and `start_resumed` is `peirce resume … --detach`. Each starts

    python -m peirce.commands.session.detaching

which reads what to run from its standard input, one JSON object. As soon as the session has an id,
or when it cannot begin, the process reports this through a pipe. Its output goes to a log beside
the store (mode 0600).
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NoReturn, Unpack

from ... import graphs
from ...config import RunConfig
from ...records import Json, PeirceError, SandboxUnavailable, UsageError
from ...records.private_files import DRAFT, make_folder, private_opener
from ...records.settings import is_object
from ...secrecy import (
    RedactedLogRecord,
    get_refused_origins,
    redact_secrets,
    set_refused_origins,
)
from ..arguments import validate_call
from ..option_types import ResumeOptions, RunOptions
from ..outcome import open_for_reading, store_path
from .controlling import log_path, status
from .planning import check_method
from .protocols import chosen_method
from .results import SessionStatus

# --- In the process that starts the session.


@validate_call
def start(
    task: str, config: RunConfig | None = None, **overrides: Unpack[RunOptions]
) -> SessionStatus:
    """Run a session as `run` does, in a process of its own, and return when its id is known.

    The session goes on when this process ends or its terminal is closed. `status`, `pause`, `stop`
    and the other functions for a running session control it. What it prints goes to a log beside
    the store, whose path is in the result.

    Args:
        task: name of a task, or path of your own task file.
        config: settings of the session; None for the defaults.
        overrides: single settings by name, as in `run`. Objects of Python, such as a proposer or a
            table in memory, cannot be passed to the other process.

    Returns:
        The state of the session, which usually runs. With a learning curve, it is the first of the
        sessions.

    Raises:
        UsageError: a setting is invalid.
        PeirceError: any other failure before the session began, in one sentence.
    """
    from .running import run_config

    check_method(task, chosen_method(config, overrides))
    settings = run_config(config, overrides)
    _refuse_objects(settings)
    path = store_path(settings.store.store)
    return _start({"task": task, "config": settings.to_record()}, path)


@validate_call
def start_resumed(
    session: str = "last", *, retry_failed: bool = False, **overrides: Unpack[ResumeOptions]
) -> SessionStatus:
    """Continue a session as `resume` does, in a process of its own (see `start`).

    Args:
        session: the session's id, a unique prefix of the id, or "last".
        retry_failed: also run problems again that failed.
        overrides: settings that may differ from the recorded settings.

    Raises:
        PeirceError: the session cannot be resumed, in one sentence.
    """
    path = store_path(overrides.get("store"))
    with open_for_reading(path) as opened:
        found = opened.find_session(session)
    options = {
        name: str(value) if isinstance(value, Path) else value for name, value in overrides.items()
    }
    return _start({"session": found, "retry_failed": retry_failed, "options": options}, path)


def _refuse_objects(settings: RunConfig) -> None:
    for part in type(settings).model_fields:
        for name, value in getattr(settings, part).explicit_values().items():
            if is_object(value):
                raise UsageError(
                    f"{name} is an object of Python, which another process cannot get: use"
                    " peirce.run, or give a name or a file"
                )


def _start(job: dict[str, Json], store: Path) -> SessionStatus:
    """Start the process, wait until its session has an id, and return the session's state."""
    job |= {"refused": get_refused_origins()}
    log, path = _open_log(store, job.get("session"))
    reading, writing = os.pipe()
    with log, os.fdopen(reading, "rb") as reports:
        try:
            # -P: modules of the working folder must not replace those of the library
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__, str(writing)],
                stdin=subprocess.PIPE, stdout=log, stderr=log, pass_fds=(writing,),
                start_new_session=True,
            )  # fmt: skip
        finally:
            os.close(writing)
        try:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError), process.stdin:
                process.stdin.write(json.dumps(job).encode())
            report = _read_report(reports)
        except BaseException:  # such as Ctrl-C: a session that nobody knows of must not go on
            process.terminate()
            if "session" not in job:
                path.unlink(missing_ok=True)
            raise
        # This leaves no zombie, however long this process lives.
        threading.Thread(target=process.wait, daemon=True).start()
    if "session" not in report:
        raise _failure(report, process.wait(), path, is_new="session" not in job)
    session = str(report["session"])
    with contextlib.suppress(FileNotFoundError):  # `peirce doctor --clean` removed the draft
        os.replace(path, log_path(store, session))
    return status(session, store=store)


def _open_log(store: Path, session: str | None) -> tuple[IO[bytes], Path]:
    """Return an open log beside the store, and its path.

    The log of a session is continued. Without a session, the log is new, and its name is a draft.
    """
    try:
        with contextlib.suppress(FileNotFoundError):
            os.lstat(log_path(store, session or "x" * 8))  # a name that is too long is an OSError
        make_folder(store.parent)
        if session is not None:
            path = log_path(store, session)
            number = private_opener(str(path), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        else:
            number, name = tempfile.mkstemp(prefix=DRAFT, suffix=".log", dir=store.parent)
            path = Path(name)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"no log can be created beside the store {store}: {why}") from None
    return os.fdopen(number, "wb"), path


def _read_report(reports: IO[bytes]) -> dict[str, Any]:
    """Return what the process reports; empty if it ends without a report."""
    line = reports.readline()
    found: dict[str, Any] = json.loads(line) if line.endswith(b"\n") else {}
    return found


def _failure(report: Mapping[str, Any], code: int, log: Path, is_new: bool) -> PeirceError:
    """Return the error of a process whose session did not begin.

    A new log is removed, unless it holds what the process did not report.
    """
    if "error" not in report:
        return PeirceError(
            f"the process of the session ended with exit code {code} before the session began; see"
            f" {log}"
        )
    if is_new:
        log.unlink(missing_ok=True)
    kinds = {one.exit_code: one for one in (UsageError, SandboxUnavailable)}
    return kinds.get(report["exit_code"], PeirceError)(str(report["error"]))


# --- In the process that runs the session.


def main() -> NoReturn:
    """Run the session that standard input describes, and exit with its exit code."""
    channel = os.fdopen(int(sys.argv[1]), "w")
    os.set_inheritable(channel.fileno(), False)
    job = json.loads(sys.stdin.buffer.read())
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a terminal that closes does not stop the session
    sys.stderr.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    logging.setLogRecordFactory(RedactedLogRecord)
    warnings.showwarning = _show_warning
    set_refused_origins(job.pop("refused"))
    code = 1
    try:
        code = _run(job, channel)
    except PeirceError as error:
        _report(channel, {"error": _redact(error), "exit_code": error.exit_code})
        print(f"peirce: {_redact(error)}", file=sys.stderr)
        code = error.exit_code
    except KeyboardInterrupt:
        code = 130
    except OSError as error:
        what = f"{error.filename or 'a file'}: {error.strerror or error}"
        _report(channel, {"error": _redact(what), "exit_code": 1})
        print(f"peirce: {_redact(what)}", file=sys.stderr)
    sys.exit(code)


def _run(job: Mapping[str, Any], channel: IO[str]) -> int:
    from ...reports.screen import summaries, text
    from ...reports.screen.progress import SessionProgress
    from .resuming import resume
    from .running import run

    with SessionProgress() as screen:

        def listen(event: Mapping[str, Json]) -> None:
            if event["type"] in ("session", "curve_session"):
                _report(channel, {"session": event["session"]})
            screen(event)

        if "task" in job:
            config = RunConfig.from_record(job["config"], graphs)
            outcome = run(job["task"], config, on_event=listen)
        else:
            outcome = resume(
                job["session"], retry_failed=job["retry_failed"], on_event=listen,
                **job["options"],
            )  # fmt: skip
    summaries.print_outcome(text.create_console(stderr=True), outcome, False)
    if outcome.cause:
        print(f"peirce: {_redact(outcome.cause)}", file=sys.stderr)
    return {"done": 0, "budget": 3, "interrupted": 130}.get(outcome.status, 1)


def _report(channel: IO[str], what: Mapping[str, Json]) -> None:
    """Report once; later reports have no effect, nor has one that nobody waits for any more."""
    if not channel.closed:
        with contextlib.suppress(BrokenPipeError), channel:
            channel.write(json.dumps(what) + "\n")


def _redact(what: object) -> str:
    from ...reports.screen.text import escape_unprintable

    return escape_unprintable(redact_secrets(" ".join(str(what).split())))


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"peirce: {_redact(message)}", file=sys.stderr)


if __name__ == "__main__":
    main()
