"""Run or resume the session of a thread in this process, and report its events and its outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ... import Session, aresume, arun, load
from ...records import Json, PeirceError
from .events import WaitingProblems, describe_event
from .thread_folders import ThreadFolder

QUIET_S = 0.5  # When all problems wait, this long is left to the session to start another one.
Write = Callable[[dict[str, Json]], None]


@dataclass(frozen=True)
class SessionRequest:
    """What a run of the platform asks for.

    Args:
        folder: The folder of the thread.
        arguments: The arguments of `peirce.run` that determine the session.
        changeable: Other arguments, which a resumed session may change.
    """

    folder: ThreadFolder
    arguments: Mapping[str, Json]
    changeable: Mapping[str, Json]


def describe_error(text: str) -> dict[str, Json]:
    """Return the outcome of a run in which no session ran.

    Args:
        text: One sentence that says why.
    """
    empty: dict[str, Json] = {"session": "", "digest": "", "findings": [], "questions": []}
    return {**empty, "status": "error", "error": text, "outcome": {}}


async def run_request(request: SessionRequest, write: Write) -> dict[str, Json]:
    """Run the session of a request to its end, or until all its open problems wait for a person.

    If the folder knows a session of the same arguments, this session is resumed: recorded calls are
    not made again. Failed problems are tried again. If the awaiting task is cancelled, the session
    stops at once, stays in the store as interrupted, and the next run of the same input resumes it.

    Args:
        request: The request.
        write: Function that receives each event of the session, on the loop of the caller.

    Returns:
        The keys of `schemas.Outcome`. A `PeirceError` is returned as the status "error" and one
        sentence.
    """
    waiting, asking = WaitingProblems(), False
    loop = asyncio.get_running_loop()

    def receive(event: Mapping[str, Json]) -> None:
        write(describe_event(event))
        waiting.count(event)
        if waiting.are_all:
            loop.call_later(QUIET_S, stop_if_all_wait)

    def stop_if_all_wait() -> None:
        nonlocal asking
        if waiting.are_all and not running.done():
            asking = True
            running.cancel()

    def on_event(event: Mapping[str, Json]) -> None:  # called in the thread of the session
        # With a learning curve, running again is how to continue: it skips finished sessions.
        if event["type"] == "session" and not request.arguments.get("learning_curve"):
            request.folder.record_session(request.arguments, event["session"])
        loop.call_soon_threadsafe(receive, event)

    running = asyncio.create_task(_start(request, on_event))
    try:
        session = await running
    except PeirceError as error:
        write({"type": "error", "text": str(error)})
        return describe_error(str(error))
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if not asking or (task is not None and task.cancelling()):
            raise
        return await asyncio.to_thread(_read_questions, request, waiting)
    result = session.to_dict()
    shown = {name: result.pop(name) for name in ("session", "status", "digest", "findings")}
    return {**shown, "questions": [], "error": "", "outcome": result}


async def _start(
    request: SessionRequest, on_event: Callable[[Mapping[str, Json]], None]
) -> Session:
    """Run or resume the session of a request."""
    options: dict[str, Any] = {**request.changeable, "store": request.folder.store}
    known = request.folder.find_session(request.arguments)
    if known is not None:
        return await aresume(known, retry_failed=True, on_event=on_event, **options)
    arguments: dict[str, Any] = {**request.arguments, **options}
    return await arun(arguments.pop("task"), on_event=on_event, **arguments)


def _read_questions(request: SessionRequest, waiting: WaitingProblems) -> dict[str, Json]:
    """Return the outcome of a session that was stopped because all open problems wait."""
    trace = load(waiting.session, store=request.folder.store)
    questions = [
        {"problem": problem, "question": question}
        for problem, question in sorted(waiting.questions.items())
    ]
    return {
        "session": trace.session,
        "status": "asking",
        "digest": trace.digest,
        "findings": [one.to_dict() for one in trace.findings()],
        "questions": questions,
        "error": "",
        "outcome": {},
    }
