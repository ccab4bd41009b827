"""A thread has one store, and its runs resume its session: after an end, a cancellation, a crash of
the server. Two threads run at once."""

from __future__ import annotations

import re
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import peirce
import pytest
from chat_server import Answer, ChatServer
from dev_server import (
    ROOT,
    DevServer,
    answer_by_request,
    new_thread,
    require_studio,
    run_by_command_line,
    stream,
)

SETTINGS = {"workers": 1, "max_answers": 3, "concurrency": 1}


def values_for(chat: ChatServer, pairs: str, **more: Any) -> dict[str, Any]:
    return {
        "task": "examples",
        "data": pairs,
        "model": f"{chat.url}#m",
        "settings": SETTINGS,
    } | more


@pytest.fixture(scope="module")
def digest(pairs: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The digest of the same session by the command line, without an interruption."""
    require_studio()
    with ChatServer([answer_by_request]) as chat:
        result = run_by_command_line(
            tmp_path_factory.mktemp("command_line"), "examples", "--data", pairs, "--method",
            "refine", "--model", f"{chat.url}#m", "--max-answers", "3", "--workers", "1",
        )  # fmt: skip
    return str(result["digest"])


def paths_made(events: list[dict[str, Any]]) -> set[tuple[str, str]]:
    calls = [one for one in events if one["type"] == "call" and one["source"] == "made"]
    return {(one["problem"], one["path"]) for one in calls}


def start_until_it_waits(
    client: Any, thread: str, values: Any, chat: ChatServer
) -> tuple[str, list[Any]]:
    """Start a run in the background, and return its id and its events up to its first step, when it
    waits for the third answer."""
    run = client.runs.create(thread, "refine", input=values, stream_mode=["custom", "values"])
    events = []
    for part in client.runs.join_stream(thread, run["run_id"], stream_mode=["custom"]):
        if part.event == "custom":
            events.append(part.data)
            if part.data["type"] == "step":
                break
    assert events and events[-1]["type"] == "step"
    wait_until(lambda: len(chat.requests) == 3)
    return str(run["run_id"]), events


def test_a_second_run_of_a_thread_asks_the_model_nothing(
    client: Any, server: DevServer, chat: ChatServer, pairs: str
) -> None:
    thread = new_thread(client)
    values = values_for(chat, pairs, problem=["one"])
    _, first = stream(client, thread, "refine", values)
    asked = len(chat.requests)
    assert first["status"] == "done" and asked == 3
    larger = {"settings": {**SETTINGS, "budget_tokens": 1_000_000, "concurrency": 2}}
    _, second = stream(client, thread, "refine", larger)
    assert (second["session"], second["digest"]) == (first["session"], first["digest"])
    assert len(chat.requests) == asked
    _, other = stream(client, thread, "refine", {"problem": ["two"]})
    assert other["session"] != first["session"] and len(chat.requests) > asked
    assert len(peirce.sessions(store=server.store(thread))) == 2


def test_a_cancelled_run_leaves_a_session_that_the_next_run_resumes(
    client: Any, server: DevServer, waiting_chat: ChatServer, pairs: str, digest: str
) -> None:
    thread = new_thread(client)
    values = values_for(waiting_chat, pairs)
    run, before = start_until_it_waits(client, thread, values, waiting_chat)
    client.runs.cancel(thread, run, wait=True)
    assert client.runs.get(thread, run)["status"] == "interrupted"
    [row] = peirce.sessions(store=server.store(thread))
    assert row.status == "interrupted"
    assert client.threads.get_state(thread)["next"] == ["work"]

    after, last = stream(client, thread, "refine", None)  # goes on at the interrupted node
    assert (last["status"], last["session"]) == ("done", row.session)
    assert paths_made(before) and not paths_made(before) & paths_made(after)
    assert last["digest"] == digest
    assert len(peirce.sessions(store=server.store(thread))) == 1


def test_a_new_run_may_interrupt_the_running_one(
    client: Any, server: DevServer, waiting_chat: ChatServer, pairs: str
) -> None:
    thread = new_thread(client)
    values = values_for(waiting_chat, pairs)
    start_until_it_waits(client, thread, values, waiting_chat)
    _, last = stream(client, thread, "refine", values, multitask_strategy="interrupt")
    assert last["status"] == "done"
    [row] = peirce.sessions(store=server.store(thread))
    assert row.session == last["session"]


def test_two_threads_run_at_once(client: Any, server: DevServer, pairs: str) -> None:
    threads = [new_thread(client) for _ in range(2)]
    both_run = Event()

    def wait(request: dict[str, Any]) -> Answer:
        both_run.wait(120)
        return answer_by_request(request)

    with ChatServer([wait]) as chat:
        values = values_for(chat, pairs)
        runs = [client.runs.create(one, "refine", input=values)["run_id"] for one in threads]
        try:
            wait_until(lambda: all(is_running(server.store(one)) for one in threads))
        finally:
            both_run.set()
        ends = [client.runs.join(*one) for one in zip(threads, runs, strict=True)]
    assert [one["status"] for one in ends] == ["done", "done"]
    assert ends[0]["digest"] == ends[1]["digest"] and ends[0]["session"] != ends[1]["session"]
    assert all(server.store(thread).is_file() for thread in threads)
    assert all(server.store(thread).parent.stat().st_mode & 0o077 == 0 for thread in threads)


def test_a_killed_server_takes_its_session_along_and_another_one_resumes_it(
    client: Any,
    server: DevServer,
    waiting_chat: ChatServer,
    pairs: str,
    digest: str,
    tmp_path: Path,
) -> None:
    from langgraph_sdk import get_sync_client

    folder = tmp_path / "killed"
    folder.mkdir()
    killed = DevServer(folder, settings_of_the_page())
    killed.start()
    try:
        client_of_killed = get_sync_client(url=killed.url)
        thread = new_thread(client_of_killed)
        values = values_for(waiting_chat, pairs)
        _, before = start_until_it_waits(client_of_killed, thread, values, waiting_chat)
    finally:
        killed.stop(signal.SIGKILL)
    store = killed.store(thread)
    wait_until(lambda: not is_running(store))  # its process ends with the server
    [row] = peirce.sessions(store=store)
    assert row.status == "interrupted"

    # The other server has the store of the thread, and nothing of what LangGraph knows of it.
    no_socket = shutil.ignore_patterns("*.sock")
    shutil.copytree(store.parent, server.store(thread).parent, ignore=no_socket)
    again = str(client.threads.create(thread_id=thread, if_exists="do_nothing")["thread_id"])
    after, last = stream(client, again, "refine", values)
    assert (last["status"], last["session"]) == ("done", row.session)
    assert not paths_made(before) & paths_made(after)
    assert last["digest"] == digest


def settings_of_the_page() -> str:
    """The langgraph.json that the page recommends for an installed package."""
    page = (ROOT / "docs/how-to/use-langgraph-studio.md").read_text("utf-8")
    found = re.search(r"^```json\n(.*?\"graphs\".*?)^```$", page, re.S | re.M)
    assert found
    return found[1]


def is_running(store: Path) -> bool:
    return store.is_file() and [one.status for one in peirce.sessions(store=store)] == ["running"]


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < end, "it did not happen within two minutes"
        time.sleep(0.05)
