"""Sessions that are paused, adjusted, stopped or killed by another process or thread come to the digest
of a session that nobody disturbed.

The model is a server that holds each request until the test lets it go, so no test waits for a clock:
`held` is what the server knows of.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from pathlib import Path

import peirce
import pytest
from peirce.store import Store

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from chat_server import ChatServer, completion
from disturbed_paths import WAYS, session_options, write_program
from faulty_server import draw

TIMEOUT_S = 120
SPACE = Path(__file__).with_name("twelve_lists.jsonl")  # what is claimed here does not depend on it
TOKENS = 18  # of each answer of the server


def wait_until(holds):
    until = time.monotonic() + TIMEOUT_S
    while not (found := holds()):
        assert time.monotonic() < until
        time.sleep(0.02)
    return found


class HoldingModel:
    """A model whose answers depend on the request alone, behind a server that holds requests.

    held: requests that wait now; peak: the most that waited at the same time; free: whether requests
    are answered at once."""

    def __init__(self):
        self.free = False
        self.held = self.peak = self.allowed = 0
        self._changed = threading.Condition()
        self.server = ChatServer([self._answer])

    def __enter__(self):
        self.server.__enter__()
        return self

    def __exit__(self, *error):
        self.release()
        self.server.__exit__(*error)

    def _answer(self, request):
        with self._changed:
            self.held += 1
            self.peak = max(self.peak, self.held)
            self._changed.wait_for(lambda: self.free or self.allowed > 0, TIMEOUT_S)
            self.allowed -= not self.free
            self.held -= 1
        number = draw(request["messages"], request.get("seed"))
        return completion({"content": repr(write_program(number))})

    def let_go(self, count):
        with self._changed:
            self.allowed += count
            self._changed.notify_all()

    def release(self):
        with self._changed:
            self.free = True
            self._changed.notify_all()

    def hold(self):
        with self._changed:
            self.free, self.allowed = False, 0

    @property
    def requests(self):
        return len(self.server.requests)


def options(model, **more):
    return {
        "problems": 6, "seed": 4, "model": f"{model.server.url}#m", "max_answers": 3, "workers": 1,
        "concurrency": 3, "tool_calls": 0, "space": SPACE, "store": "s.duckdb", **more,
    }  # fmt: skip


class Running:
    """A session that runs in a thread of this process, as an MCP server runs it."""

    def __init__(self, **arguments):
        self.outcome = self.error = None
        self._thread = threading.Thread(target=self._run, args=(arguments,))
        self._thread.start()

    def _run(self, arguments):
        try:
            self.outcome = peirce.run("list_functions", **arguments)
        except peirce.PeirceError as error:
            self.error = error

    def join(self):
        self._thread.join(TIMEOUT_S)
        assert not self._thread.is_alive() and self.error is None, self.error
        return self.outcome


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PEIRCE_STORE", "s.duckdb")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The outcome of the session that nobody disturbed."""
    with HoldingModel() as model:
        model.release()
        store = tmp_path_factory.mktemp("undisturbed") / "s.duckdb"
        return peirce.run("list_functions", **options(model, store=store))


def request_keys(session="last"):
    """The paths of the session's calls of the model."""
    with Store.open("s.duckdb", write=False) as store:
        return [
            one["path"]
            for one in store.calls(store.find_session(session))
            if one["kind"] == "model"
        ]


def test_a_pause_holds_new_requests_and_saves_those_in_flight(undisturbed):
    with HoldingModel() as model:
        running = Running(**options(model))
        wait_until(lambda: model.held == 3)
        told = peirce.pause()
        assert told.status == "paused" and told.pid == os.getpid() and told.in_flight == 3
        assert {one["step"] for one in told.running} == {0} and len(told.running) == 3
        model.let_go(3)
        wait_until(lambda: peirce.status().in_flight == 0)
        assert model.requests == 3 and len(request_keys()) == 3
        assert peirce.pause().status == "paused"  # a second client
        model.release()
        assert model.requests == 3 and peirce.status().status == "paused"
        assert peirce.continue_().status == "running"
        assert peirce.continue_().status in ("running", "done")
        assert running.join().digest == undisturbed.digest
        assert peirce.status().to_dict()["status"] == "done" and peirce.status().pid == 0


def test_a_status_counts_as_the_outcome_does(undisturbed):
    told = peirce.status(store=undisturbed.store)
    assert (told.session, told.status, told.steps) == (
        undisturbed.session,
        "done",
        undisturbed.steps,
    )
    assert {name: n for name, n in undisturbed.verdicts.items() if n} == told.verdicts
    assert told.usage["tokens_in"] == undisturbed.usage["tokens_in"]
    assert (told.problems, told.done, told.failed, told.open) == (6, 6, 0, 0)
    assert told.log == "" and told.running == [] and told.seconds == undisturbed.seconds
    for command in (peirce.pause, peirce.continue_, peirce.stop):
        with pytest.raises(peirce.PeirceError, match=f"^session {undisturbed.session} is done$"):
            command(store=undisturbed.store)


def test_the_server_sees_the_concurrency_change(undisturbed):
    with HoldingModel() as model:
        running = Running(**options(model, concurrency=2))
        wait_until(lambda: model.held == 2)
        assert peirce.adjust(concurrency=5).concurrency == 5
        wait_until(lambda: model.held == 5)
        assert peirce.adjust(concurrency=1).concurrency == 1
        model.let_go(5)
        wait_until(lambda: peirce.status().in_flight == 1 and model.held == 1)
        model.peak = 0
        for _ in range(4):
            seen = model.requests
            model.let_go(1)
            wait_until(lambda: model.requests > seen)  # noqa: B023
        assert model.peak == 1
        peirce.adjust(concurrency=4)
        wait_until(lambda: model.held > 1)
        model.release()
        assert running.join().digest == undisturbed.digest
        assert peirce.status().concurrency == 4


def test_with_a_lower_concurrency_problems_end_before_others_begin():
    with HoldingModel() as model:
        running = Running(**options(model, max_answers=1))
        wait_until(lambda: model.held == 3)
        peirce.adjust(concurrency=1)
        for done in (1, 2, 3):
            model.let_go(1)
            wait_until(lambda: peirce.status().done == done)  # noqa: B023
        wait_until(lambda: model.held == 1)
        assert len(peirce.status().running) == 1
        model.release()
        assert running.join().status == "done"


def test_a_budget_that_is_raised_in_flight_avoids_the_stop(undisturbed):
    with HoldingModel() as model:
        running = Running(**options(model, budget_tokens=3 * TOKENS))
        wait_until(lambda: model.held == 3)
        assert peirce.status().budget_tokens == 3 * TOKENS
        peirce.adjust(budget_tokens=10**6)
        model.release()
        outcome = running.join()
        assert (outcome.status, outcome.digest) == ("done", undisturbed.digest)
        assert peirce.status().budget_tokens == 10**6


def test_a_budget_that_nobody_raises_stops_the_session():
    with HoldingModel() as model:
        running = Running(**options(model, budget_tokens=3 * TOKENS))
        wait_until(lambda: model.held == 3)
        model.release()
        assert running.join().status == "budget"


def test_lowered_limits_hold_for_the_resumed_session(undisturbed):
    with HoldingModel() as model:
        running = Running(**options(model))
        wait_until(lambda: model.held == 3)
        peirce.adjust(budget_tokens=2 * TOKENS, concurrency=2)
        model.release()
        assert running.join().status == "budget"
        told = peirce.status()
        assert "54 so far" in told.cause and told.budget_tokens == 2 * TOKENS
        assert peirce.resume().status == "budget"
        model.hold()
        model.peak = 0
        resumed = threading.Thread(target=lambda: peirce.resume(budget_tokens=10**6))
        resumed.start()
        wait_until(lambda: model.held == 2)
        assert peirce.status().concurrency == 2
        model.release()
        resumed.join(TIMEOUT_S)
        assert peirce.load("last").digest == undisturbed.digest and model.peak == 2


def test_a_stop_in_a_pause_makes_no_held_call_and_loses_none_in_flight(undisturbed):
    with HoldingModel() as model:
        running = Running(**options(model))
        wait_until(lambda: model.held == 3)
        peirce.pause()
        assert peirce.stop().status == "stopping"
        with pytest.raises(peirce.PeirceError, match="is stopping: it cannot be continued"):
            peirce.continue_()
        with pytest.raises(peirce.PeirceError, match="is stopping: its settings cannot"):
            peirce.adjust(concurrency=2)
        model.release()
        assert running.join().status == "interrupted" and model.requests == 3
        assert len(request_keys()) == 3
        told = peirce.status()
        assert (told.status, told.pid, told.open) == ("interrupted", 0, 6)
        with pytest.raises(
            peirce.PeirceError, match=f"`peirce resume {told.session}` continues it"
        ):
            peirce.continue_()
        assert peirce.resume().digest == undisturbed.digest
        assert model.requests == len(request_keys())


def test_a_stop_finishes_the_steps_in_progress(undisturbed):
    with HoldingModel() as model:
        running = Running(**options(model))
        wait_until(lambda: model.held == 3)
        assert peirce.stop().status == "stopping" and peirce.stop().status == "stopping"
        model.release()
        assert running.join().status == "interrupted"
        assert peirce.status().steps == 3 == model.requests
        assert peirce.resume().digest == undisturbed.digest


def test_a_listener_controls_its_own_session(undisturbed):
    """It is called in the thread of the event loop, which answers nothing meanwhile."""
    states = []

    def listen(event):
        if event["type"] == "step" and len(states) < 2:
            states.append(peirce.pause().status)
            states.append(peirce.continue_().status)

    with HoldingModel() as model:
        model.release()
        outcome = peirce.run("list_functions", **options(model), on_event=listen)
        assert states == ["paused", "running"] and outcome.digest == undisturbed.digest


def test_only_the_running_session_of_a_store_is_controlled():
    with HoldingModel() as model:
        model.release()
        first = peirce.run("list_functions", **options(model, problems=1))
        model.hold()
        running = Running(**options(model, seed=9))
        wait_until(lambda: model.held == 3)
        with pytest.raises(peirce.PeirceError, match=f"^session {first.session} is done$"):
            peirce.stop(first.session)
        assert peirce.status(first.session).pid == 0
        assert peirce.status().session != first.session and peirce.status().pid == os.getpid()
        with pytest.raises(peirce.PeirceError, match="no session 'nosuch'"):
            peirce.pause("nosuch")
        model.release()
        assert running.join().status == "done"


# --- In a process of its own.


def test_a_detached_session_has_the_digest_of_the_same_session_here(undisturbed):
    with HoldingModel() as model:
        told = peirce.start("list_functions", **options(model))
        assert told.status == "running" and told.pid not in (0, os.getpid())
        assert os.getsid(told.pid) == told.pid  # no terminal is its own
        log = Path(told.log)
        assert log.name == f"s.duckdb.{told.session}.log" and log.stat().st_mode & 0o777 == 0o600
        wait_until(lambda: model.held == 3)
        os.kill(told.pid, signal.SIGHUP)
        model.release()
        found = wait_until(lambda: (one := peirce.status()).pid == 0 and one)
        assert found.status == "done" and found.session == told.session
        assert peirce.load("last").digest == undisturbed.digest
        wait_until(lambda: undisturbed.digest in log.read_text())
        assert sorted(one.name for one in Path().iterdir()) == ["s.duckdb", log.name]


@pytest.mark.parametrize(
    "end", [signal.SIGKILL, signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.soak)]
)
def test_a_signal_in_a_pause_loses_nothing(undisturbed, end):
    with HoldingModel() as model:
        told = peirce.start("list_functions", **options(model))
        wait_until(lambda: model.held == 3)
        peirce.pause()
        model.release()
        wait_until(lambda: peirce.status().in_flight == 0)
        os.kill(told.pid, end)
        found = wait_until(lambda: (one := peirce.status()).pid == 0 and one)
        assert (found.status, found.open, found.log) == ("interrupted", 6, told.log)
        assert model.requests == 3 == len(request_keys())
        with pytest.raises(peirce.PeirceError, match="`peirce resume"):
            peirce.pause()
        assert peirce.resume().digest == undisturbed.digest
        assert model.requests == len(request_keys())


def test_what_cannot_begin_is_told_by_its_sentence():
    with pytest.raises(peirce.PeirceError, match="no task 'nosuch'"):
        peirce.start("nosuch")
    with pytest.raises(peirce.PeirceError, match=r"nosuch\.jsonl") as raised:
        peirce.start("list_functions", data="nosuch.jsonl")
    assert "Traceback" not in str(raised.value)
    with pytest.raises(peirce.PeirceError, match="model is an object of Python"):
        peirce.start("list_functions", model=NoModel())
    with HoldingModel() as model:
        running = Running(**options(model, problems=1))
        wait_until(lambda: model.held == 1)
        with pytest.raises(peirce.PeirceError, match=f"process {os.getpid()} is writing to"):
            peirce.start("list_functions", **options(model))
        model.release()
        running.join()
    assert [one.name for one in Path().iterdir()] == ["s.duckdb"]


class NoModel:
    def propose(self):
        raise NotImplementedError

    def settings(self):
        return {}


# --- Every kind of model call and of waiting.


@pytest.mark.parametrize(
    "name",
    ["two judges and batches of texts", "batch files",
     pytest.param("programs repaired by a search", marks=pytest.mark.soak),
     pytest.param("several tools at once", marks=pytest.mark.soak)],
)  # fmt: skip
def test_pauses_change_nothing_on_ways_of_working_with_models(name, tmp_path):
    way = WAYS[name]
    with way.server(model=way.says) as server:
        chosen = session_options(way, server.url, tmp_path)
        expected = peirce.run(way.task, store=tmp_path / "undisturbed.duckdb", **chosen).digest
    pauses = 0

    def go_on():
        with contextlib.suppress(peirce.PeirceError):  # the session may have ended
            peirce.continue_()

    def listen(event):
        nonlocal pauses
        if event["type"] in ("call_started", "call") and pauses < 25:
            pauses += 1
            peirce.pause()
            threading.Timer(0.05, go_on).start()

    (tmp_path / "paused").mkdir()
    with way.server(model=way.says) as server:
        chosen = session_options(way, server.url, tmp_path / "paused")
        outcome = peirce.run(way.task, store="s.duckdb", **chosen, on_event=listen)
    assert pauses > 5 and outcome.status == "done" and outcome.digest == expected
    assert peirce.replay("last").differences == []
