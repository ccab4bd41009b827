"""Sessions whose requests go through the batch files of an endpoint: faults, kills and resumes.

Internals: a batch is sent once so many requests wait, where a busy machine would miss the time.
"""

from __future__ import annotations

import asyncio
import copy
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import peirce
import pytest
from asking import ASK, VIEW
from batch_server import BatchServer
from faulty_server import FaultyServer
from peirce.agents import EndpointRefused, open_model
from peirce.agents.endpoint.batch_files import BatchFiles
from peirce.records import Unavailable, UsageError

SESSION = {"problems": 4, "seed": 5, "max_answers": 2, "observations": 4, "cache": False}
QUICK = {"batch_wait_s": 0.05, "batch_poll_s": 0.01, "backoff_s": 0.001}
PATIENT = {**QUICK, "batch_wait_s": 1.0}  # the first batch has the requests of all problems


def run(model: str, store: Path, **more: Any) -> peirce.Session:
    arguments = {"batch_files": True, "model_arg": QUICK, **SESSION, **more}
    return peirce.run("list_functions", model=model, store=store, **arguments)


@pytest.fixture(scope="module")
def direct_digest(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The digest of the same session with a request of its own for each answer."""
    with FaultyServer() as server:
        store = tmp_path_factory.mktemp("direct") / "s.duckdb"
        found = run(f"{server.url}#m", store, batch_files=None, model_arg={})
    assert found.status == "done"
    return str(found.digest)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "s.duckdb"


@pytest.fixture
def awaited(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many requests the first batches wait for, instead of a time in which a busy machine may not
    send them: at first those of all problems. A test may append to it."""
    sizes = [SESSION["problems"]]
    wait = BatchFiles._wait_until_quiet

    async def wait_for_requests(self: BatchFiles) -> None:
        size, end = sizes.pop(0) if sizes else 0, time.monotonic() + 60
        while len(self._held) < size:
            assert time.monotonic() < end, f"{len(self._held)} of {size} requests came"
            await asyncio.sleep(0.005)
        await wait(self)

    monkeypatch.setattr(BatchFiles, "_wait_until_quiet", wait_for_requests)
    return sizes


def batch_sizes(server: BatchServer) -> list[int]:
    return [len(one.requests) for one in server.batches.values()]


def test_batches_hold_the_requests_of_all_problems_and_change_no_answer(store, direct_digest):
    reports = []
    with BatchServer(looks=2) as server:
        hear = lambda event: reports.append(event) if event["type"] == "report" else None
        found = run(f"{server.url}#m", store, on_event=hear, model_arg=PATIENT)
    assert found.status == "done" and found.digest == direct_digest
    assert batch_sizes(server)[0] == 4 and server.requests == 0
    assert set(server.paid.values()) == {1}
    assert reports[0]["text"] == "Batch batch_0 with 4 requests was sent."
    assert reports[1]["text"] == "Batch batch_0 is completed: 4 of 4 requests answered."
    assert peirce.replay(store=store).differences == []


@pytest.mark.parametrize("end", ["expired", "cancelled", "failed"])
def test_what_a_batch_leaves_unanswered_is_sent_again(store, direct_digest, awaited, end):
    awaited.append(4 if end == "failed" else 2)
    with BatchServer(ends=(end,)) as server:
        found = run(f"{server.url}#m", store)
    assert found.status == "done" and found.digest == direct_digest
    first, second = (
        {r["custom_id"] for r in server.batches[f"batch_{n}"].requests} for n in (0, 1)
    )
    # every second request was answered
    assert len(first & second) == (4 if end == "failed" else 2) and set(server.paid.values()) == {1}


@pytest.mark.parametrize(
    "fault",
    [
        {"status_code": 429, "body": {"error": {"message": "slow down"}}},
        {"status_code": 500, "body": "no JSON object"},
        {"status_code": 400, "body": {"error": {"message": "seed is not supported"}}},
        {"status_code": "odd", "body": None},
    ],
)
def test_an_error_line_is_retried_in_the_next_batch(store, direct_digest, awaited, fault):
    fails = lambda name, number: fault if number == 0 and int(name[-1], 16) % 2 else None
    with BatchServer(fails_line=fails) as server:
        if "seed" in str(fault):
            found = run(f"{server.url}#m", store)
            bodies = [one["body"] for one in list(server.batches.values())[-1].requests]
            assert found.status == "done" and not any("seed" in body for body in bodies)
        else:
            assert run(f"{server.url}#m", store).digest == direct_digest
    assert len(server.batches) > 1


def test_a_malformed_answer_is_retried_in_the_next_batch(store, awaited):
    awaited.append(4)
    with BatchServer() as server:
        good = server.complete
        server.complete = lambda request: {**good(request), **({"choices": []} if len(server.batches) == 1 else {})}  # fmt: skip
        found = run(f"{server.url}#m", store)
    assert found.status == "done" and batch_sizes(server)[:2] == [4, 4]


def test_a_lost_confirmation_starts_no_second_batch(store, direct_digest):
    with BatchServer(lost=(0, 1)) as server:
        found = run(f"{server.url}#m", store)
    assert found.digest == direct_digest and set(server.paid.values()) == {1}


def test_looks_at_a_batch_survive_an_outage(store, direct_digest):
    with BatchServer(outages=(0, 1, 2, 5)) as server:
        assert run(f"{server.url}#m", store).digest == direct_digest
    assert set(server.paid.values()) == {1}


def test_an_outage_that_lasts_ends_the_session_and_a_resume_takes_the_answers(store, direct_digest):
    with BatchServer(outages=tuple(range(100_000))) as server:
        model, port = f"{server.url}#m", server.port
        with pytest.raises(EndpointRefused, match=r"nothing for 0\.3 s about batch batch_0"):
            run(model, store, model_arg={**QUICK, "outage_s": 0.3})
    with server.restart(port) as server:
        found = peirce.resume(store=store)
        assert found.digest == direct_digest and set(server.paid.values()) == {1}


def test_too_many_waiting_tokens_make_smaller_batches(store, direct_digest, awaited):
    awaited.append(4)
    with BatchServer(tokens_limit=2) as server:
        found = run(f"{server.url}#m", store)
    assert found.digest == direct_digest
    assert batch_sizes(server)[0] == 4 and max(batch_sizes(server)[1:]) == 2


def test_a_refused_key_ends_the_session(store):
    with BatchServer() as server:
        refuse = lambda *_: {"error": {"message": "bad key"}, "status_code": 401}
        server._list = refuse
        with pytest.raises(EndpointRefused, match="401 Unauthorized"):
            run(f"{server.url}#m", store)


# --- Stops. In each, the answers are taken from the batches that were sent, and each is paid once.
# Tests that go on from the same stop share it: the store is copied, and the server has its batches again.


class Run:
    """`peirce run` in a process of its own."""

    def __init__(self, url: str, store: Path, quick: dict[str, float] = QUICK) -> None:
        options = {
            "--model": f"{url}#m", "--store": store, "--problems": 4, "--seed": 5,
            "--max-answers": 2, "--observations": 4,
        }  # fmt: skip
        command = [sys.executable, "-m", "peirce", "run", "list_functions", "--batch-files"]
        command += [str(part) for pair in options.items() for part in pair]
        for name, value in quick.items():
            command += ["--model-arg", f"{name}={value}"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def end(self, number: int) -> str:
        self.process.send_signal(number)
        try:
            return self.process.communicate(timeout=60)[0]
        finally:
            self.process.kill()


def wait_for(server: BatchServer, batches: int, looks: int = 1) -> None:
    """Wait until so many batches were started and the last of them was looked at, as it is once its
    start is confirmed."""
    end = time.monotonic() + 120
    while len(server.batches) < batches or server.looks_at(batches - 1) < looks:
        assert time.monotonic() < end, "the batch was never sent"
        time.sleep(0.02)


class Stopped:
    """A session of a process that was stopped while a batch was in progress.

    Attributes:
        said: What the process said.
        code: Its exit code.
    """

    def __init__(self, server: BatchServer, store: Path, number: int, stop: int) -> None:
        server.hold_from = number
        run = Run(server.url, store)
        try:
            wait_for(server, number + 1)
        except AssertionError:
            run.process.kill()
            raise
        self.said = run.end(stop)
        self.code = run.process.returncode
        self._server, self._store = server, store
        self._kept = copy.deepcopy((server.files, server.batches, server.paid))

    def again(self, store: Path) -> BatchServer:
        """Copy the store, and return the server as it was at the stop."""
        no_socket = shutil.ignore_patterns("*.sock")
        shutil.copytree(self._store.parent, store.parent, dirs_exist_ok=True, ignore=no_socket)
        server = self._server
        server.files, server.batches, server.paid = copy.deepcopy(self._kept)
        server.hold_from = None
        return server


@pytest.fixture(scope="module")
def stopped_sessions(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[int, int], Stopped]]:
    """A function of a batch that stays in progress and a signal that stops the session then."""
    made: dict[tuple[int, int], Stopped] = {}
    with ExitStack() as servers:

        def stopped(number: int, stop: int) -> Stopped:
            if (number, stop) not in made:
                server = servers.enter_context(BatchServer())
                store = tmp_path_factory.mktemp("stopped") / "s.duckdb"
                made[number, stop] = Stopped(server, store, number, stop)
            return made[number, stop]

        yield stopped


@pytest.mark.parametrize("finished_meanwhile", [True, False])
@pytest.mark.parametrize("number", [0, 2])
def test_a_killed_session_takes_the_answers_of_its_batch(
    stopped_sessions, number, store, direct_digest, finished_meanwhile
):
    server = stopped_sessions(number, signal.SIGKILL).again(store)
    if finished_meanwhile:
        server.finish()
    before = len(server.batches)
    found = peirce.resume(store=store)
    assert found.status == "done" and found.digest == direct_digest
    assert set(server.paid.values()) == {1}
    assert batch_sizes(server)[before - 1] > 0 and peirce.replay(store=store).differences == []


def test_an_interrupt_leaves_the_batch_and_says_how_to_go_on(
    stopped_sessions, store, direct_digest
):
    stopped = stopped_sessions(1, signal.SIGINT)
    server, said = stopped.again(store), stopped.said
    assert stopped.code == 130
    size = batch_sizes(server)[1]
    assert f"Batch batch_1 with {size} request" in said and "goes on at the endpoint" in said
    assert "peirce resume" in said
    found = peirce.resume(store=store)
    assert found.digest == direct_digest and set(server.paid.values()) == {1}


def test_an_interrupt_while_a_batch_is_started_leaves_it_too(store, direct_digest):
    with BatchServer(delay_start_s=2.0) as server:
        server.hold_from = 0
        process = Run(server.url, store, PATIENT)
        wait_for(server, 1, looks=0)
        said = process.end(signal.SIGINT)
        assert process.process.returncode == 130
        assert "A batch with 4 requests was just being started." in said
        server.hold_from = None
        found = peirce.resume(store=store)
        assert found.digest == direct_digest and set(server.paid.values()) == {1}


def test_a_session_may_be_resumed_without_batch_files(stopped_sessions, store, direct_digest):
    server = stopped_sessions(1, signal.SIGINT).again(store)
    batches, requests = len(server.batches), server.requests
    found = peirce.resume(store=store, batch_files=False)
    assert found.digest == direct_digest
    assert len(server.batches) == batches and server.requests > requests


def test_results_that_the_endpoint_deleted_are_requested_again(
    stopped_sessions, store, direct_digest
):
    server = stopped_sessions(0, signal.SIGKILL).again(store)
    server.finish()
    for one in server.batches.values():
        server.files.pop(one.told["output_file_id"])
    assert peirce.resume(store=store).digest == direct_digest
    assert max(server.paid.values()) == 2


def test_another_session_does_not_take_the_answers(store):
    with BatchServer(page=1) as server:
        first, second = (run(f"{server.url}#m", store, problems=1) for _ in range(2))
    assert first.digest == second.digest and first.session != second.session
    names = [{r["custom_id"] for r in one.requests} for one in server.batches.values()]
    assert len(set().union(*names)) == sum(map(len, names))


# --- Refusals.


@pytest.mark.parametrize(
    ("model", "more", "said"),
    [
        ("anthropic:m", {}, "model 'anthropic:m' takes no batch files: openai and endpoints"),
        ("http://127.0.0.1:9/v1#m", {"stream": True}, "stream and batch_files"),
        ("http://127.0.0.1:8/v1,http://127.0.0.1:9/v1#m", {}, "batch_files needs one server"),
        ("search", {}, "model 'search' does not take a setting 'batch_files'"),
    ],
)
def test_what_has_no_batch_files_says_so(monkeypatch, model, more, said):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "planted-anthropic-4711")
    with pytest.raises(UsageError, match=said):
        asyncio.run(open_model(model, {"batch_files": True, **more}))


def test_an_endpoint_without_batches_is_named_in_one_sentence(store):
    with FaultyServer() as server, pytest.raises(EndpointRefused) as caught:
        run(f"{server.url}#m", store)
    assert "it takes no batch files; leave out --batch-files" in str(caught.value)


def test_a_request_after_the_stop_is_refused_and_not_sent():
    async def call(url: str) -> None:
        proposer = await open_model(f"{url}#m", {"batch_files": True, **QUICK})
        stopping = asyncio.Event()
        stopping.set()
        proposer.join_session(stopping, print)
        try:
            await proposer.propose(VIEW, ASK, (), 5)
        finally:
            await proposer.close()

    with BatchServer() as server, pytest.raises(Unavailable, match="The session was stopped"):
        asyncio.run(call(server.url))
    assert not server.batches
