"""Sessions that are killed, interrupted or meet faults come to the digest of an undisturbed session, on
each way of working with language models; no answer that was recorded is paid for again; and a replay
without the server finds no difference. In `make soak`: signals at random moments, with faults at once."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import ClassVar

import peirce
import pytest
from peirce.store import Store

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from disturbed_paths import (
    WAYS,
    PaidBatchServer,
    PaidServer,
    command_line,
    session_options,
)
from forked_commands import start_command

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
TIMEOUT_S = 120


class Undisturbed:
    """The session on a way that nothing disturbed, run once. paid: the answers it paid for."""

    known: ClassVar[dict[str, Undisturbed]] = {}

    def __init__(self, way, folder):
        folder.mkdir()
        self.store = folder / "s.duckdb"
        with way.server(model=way.says) as server:
            options = session_options(way, server.url, folder)
            self.session = peirce.run(way.task, store=self.store, **options)
            self.paid = sum(server.paid.values())
            self.most_paid = max(server.paid.values())
            self.refusals = server.refusals
        with Store.open(self.store, write=False) as store:
            self.calls = store.calls(self.session.session)
            self.steps = list(store.steps(self.session.session))
            self.causes = {row.cause for row in store.problems(self.session.session)}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")

    def find(name):
        if name not in Undisturbed.known:
            Undisturbed.known[name] = Undisturbed(WAYS[name], folder / name.replace(" ", "_"))
        return Undisturbed.known[name]

    yield find
    Undisturbed.known.clear()


def answers_in(store):
    """How many answers of the server a session's journal holds: without refused prompts, and without
    what the embedded search said."""
    with Store.open(store, write=False) as opened:
        calls = opened.calls(opened.find_session("last"))
    said = [one for one in calls if one["kind"] == "model" and "repair/" not in one["path"]]
    return sum(
        one["response"]["finish"] != "too_long" and not one["path"].startswith("seed/")
        for one in said
    )


def paths(calls, part):
    return [one["path"] for one in calls if part in one["path"]]


def check_several_tools(whole):
    turns = Counter(path.rsplit("/", 1)[0] for path in paths(whole.calls, "/tool/")
                    if path.split("/tool/")[1].isdigit())  # fmt: skip
    assert max(turns.values()) >= 3


def check_repaired(whole):
    assert {"fence", "trailing_comma", "unclosed", "prose", "tool_call_text"} & set(
        whole.session.repaired
    ) >= {"trailing_comma", "tool_call_text"}


def check_judges(whole):
    figures = whole.steps[-1].fields["judging"]
    assert figures["calibration"]["threshold"] is not None
    assert 0 < figures["second"] < figures["questions"]
    assert figures["batches"]["used"] and figures["batches"]["unreadable"]
    assert paths(whole.calls, "/judge2/") and paths(whole.calls, "/batch/")


def check_second_proposer(whole):
    assert {step.fields["proposed_by"] for step in whole.steps} == {"proposer", "then"}


def check_small_context(whole):
    assert any("listed" in step.fields for step in whole.steps) and whole.refusals


def check_short_history(whole):
    assert "no_progress" in whole.causes and max(step.step for step in whole.steps) > 3

    shown = [one["request"]["messages"][0]["content"] for one in whole.calls
             if one["kind"] == "model"]  # fmt: skip
    assert len({len(text) for text in shown}) > 1


def check_token_limit(whole):
    assert "problem_budget" in whole.causes


def check_seeds(whole):
    assert sum(path.startswith("seed/") for path in paths(whole.calls, "seed/")) >= 2
    assert {step.fields.get("seeder") for step in whole.steps} == {"search", None}


def check_repairs(whole):
    check_seeds(whole)
    assert paths(whole.calls, "/repair/")


CHECKS = {
    "several tools at once": check_several_tools,
    "repaired answers": check_repaired,
    "two judges and batches of texts": check_judges,
    "a second proposer": check_second_proposer,
    "batch files": check_second_proposer,
    "batch files of two judges": check_judges,
    "a small context": check_small_context,
    "a short history": check_short_history,
    "programs repaired by a search": check_repairs,
    "rules repaired by a search": check_repairs,
    "a limit on the tokens of a problem": check_token_limit,
}
every_way = pytest.mark.parametrize("name", WAYS)


@every_way
def test_an_undisturbed_session_goes_this_way_pays_once_and_replays(undisturbed, name):
    whole = undisturbed(name)
    assert whole.session.status == "done" and not whole.session.failed
    CHECKS[name](whole)
    assert whole.most_paid == 1 and whole.paid == answers_in(whole.store)
    assert peirce.replay(store=whole.store).differences == []


class Disturbed:
    """A session whose commands are ended by signals, one after the other, while its server lives."""

    def __init__(self, way, folder):
        self.way, self.folder, self.store = way, folder, folder / "s.duckdb"
        self.server = way.server(model=way.says)
        self.lost = 0  # paid answers that no journal holds, because their command was killed

    @property
    def most_lost(self):
        """How many answers a kill may lose: one of each problem in progress. A problem with labelled
        text asks many questions at once; while an answer waits for its commit, the next one is asked."""
        return 3 if self.way.task != "labels" else self.paid

    @property
    def paid(self):
        return sum(self.server.paid.values())

    def run_until(self, number, paid, pause_s=0.0):
        """Run or resume the session in a process that gets a signal `pause_s` after so many paid
        answers. Return its exit code."""
        first = not self.store.exists()
        words = ["resume", "--workers", "1"]
        if first:
            options = session_options(self.way, self.server.url, self.folder)
            words = ["run", self.way.task, *command_line(options)]
        sent = threading.Event()

        def end(count):
            if count >= paid and not sent.is_set():
                sent.set()
                time.sleep(pause_s)
                os.kill(process.pid, number)

        process = start_command(
            [*words, "--store", str(self.store), "--quiet"], self.folder / "said"
        )
        self.server.on_paid = lambda count: (
            threading.Thread(target=end, args=(count,)).start() if pause_s else end(count)
        )
        process.join(TIMEOUT_S)
        alive = process.is_alive()
        process.kill()
        assert not alive, (self.folder / "said").read_text()
        self.server.on_paid = lambda count: None
        while self.server.in_flight:
            time.sleep(0.01)
        return process.exitcode

    def count_lost(self):
        """Return how many answers were paid and are not in the journal since the last call."""
        lost = self.paid - answers_in(self.store) - self.lost
        self.lost += lost
        return lost


@every_way
def test_a_session_that_is_killed_twice_and_interrupted_comes_to_the_same_digest(
    undisturbed, name, tmp_path
):
    whole = undisturbed(name)
    session = Disturbed(WAYS[name], tmp_path)
    quarter = max(1, whole.paid // 4)
    with session.server as server:
        batches = isinstance(server, PaidBatchServer)
        assert session.run_until(signal.SIGKILL, quarter) == -signal.SIGKILL
        if not batches:  # the answers of a batch wait at the endpoint
            assert 0 <= session.count_lost() <= session.most_lost
        code = session.run_until(signal.SIGKILL, session.paid + quarter, pause_s=0.03)
        assert code == -signal.SIGKILL
        if not batches:
            assert 0 <= session.count_lost() <= session.most_lost
        code = session.run_until(signal.SIGINT, session.paid + max(1, quarter // 2))
        assert code == 130, (tmp_path / "said").read_text()
        if not batches:
            assert session.count_lost() == 0
        end = peirce.resume(store=session.store, workers=1, concurrency=5)
        assert end.status == "done" and end.digest == whole.session.digest
        assert session.paid == whole.paid + session.lost
    assert answers_in(session.store) == whole.paid
    assert peirce.replay(store=session.store).differences == []


def faulty_server(way):
    if way.server is PaidServer:
        return PaidServer(seed=1, rate=0.25, model=way.says, faults=way.faults, slow_s=0.3)
    fails = lambda name, number: (
        {"status_code": 500, "body": {}} if (int(name[-2:], 16) + number) % 5 == 0 else None
    )
    return PaidBatchServer(model=way.says, ends=("expired", "failed"), fails_line=fails, lost=(2,),
                           outages=(0, 3, 4))  # fmt: skip


@every_way
def test_faults_change_no_finding_and_no_good_answer_is_paid_twice(undisturbed, name, tmp_path):
    whole, way = undisturbed(name), WAYS[name]
    with faulty_server(way) as server:
        options = session_options(way, server.url, tmp_path)
        found = peirce.run(way.task, store=tmp_path / "s.duckdb", **options)
        if isinstance(server, PaidServer):
            assert server.faults.total() >= 2
        assert set(server.paid.values()) == {1} and sum(server.paid.values()) == whole.paid
    assert found.status == "done" and found.digest == whole.session.digest


@pytest.mark.soak
@pytest.mark.parametrize("number", range(2))
@every_way
def test_signals_at_random_moments_and_faults_at_once_change_nothing(
    undisturbed, name, tmp_path, number
):
    whole = undisturbed(name)
    rest, moments = whole.paid, random.Random(f"{name}{number}")
    session = Disturbed(WAYS[name], tmp_path)
    session.server = faulty_server(WAYS[name])
    with session.server as server:
        for _ in range(3):
            sent = moments.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGINT))
            after = session.paid + moments.randint(1, max(1, rest // 3))
            code = session.run_until(sent, after, moments.choice((0, moments.uniform(0, 0.3))))
            if code == 0:  # it ended before the signal
                break
            assert code in (-signal.SIGKILL, 130), (tmp_path / "said").read_text()
            if not isinstance(server, PaidBatchServer):
                most = session.most_lost if sent == signal.SIGKILL else 0
                assert 0 <= session.count_lost() <= most
            rest = max(1, whole.paid - session.paid + session.lost)
        end = peirce.resume(store=session.store, workers=1, concurrency=5)
        assert end.status == "done" and end.digest == whole.session.digest
        assert session.paid == whole.paid + session.lost
    assert answers_in(session.store) == whole.paid
    assert peirce.replay(store=session.store).differences == []
