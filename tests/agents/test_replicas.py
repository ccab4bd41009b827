"""Requests are spread over several servers of one model, whichever of them die."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import peirce
import pytest
from asking import ASK, SECRET, VIEW
from chat_server import ChatServer, cut, in_pieces, says, slow, status
from peirce.agents import EndpointRefused, open_model
from peirce.records import Reply, Unavailable, UsageError

PROCESS = Path(__file__).with_name("answering_process.py")
SESSION = {"problems": 8, "seed": 5, "max_answers": 4, "observations": 4}


class ServerProcess:
    """A server that can be killed and started again at its address."""

    def __init__(self, log: Path, delay_s: float = 0.0) -> None:
        self.log, self.delay_s, self.url = log, delay_s, ""
        self.start()

    def start(self) -> None:
        port = self.url.split(":")[-1].split("/")[0] or "0"
        command = [sys.executable, PROCESS, self.log, port, str(self.delay_s)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    @property
    def answers(self) -> int:
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[list[ServerProcess]]:
    started = [ServerProcess(tmp_path / f"{name}.log", 0.05) for name in "ab"]
    yield started
    for one in started:
        one.kill()


def run(model: str, store: Path, **settings: Any) -> peirce.Session:
    return peirce.run("list_functions", model=model, store=store, **SESSION, **settings)


def propose_all(model: str, count: int = 1, **settings: Any) -> list[Reply | Unavailable]:
    async def ask() -> list[Any]:
        proposer = await open_model(model, {"backoff_s": 0.001, **settings})
        try:
            asked = (proposer.propose(VIEW, ASK, (), 5) for _ in range(count))
            return await asyncio.gather(*asked, return_exceptions=True)
        finally:
            await proposer.close()

    return asyncio.run(ask())


def join(*urls: str, name: str = "m") -> str:
    return f"{','.join(urls)}#{name}"


def test_a_session_has_one_digest_on_one_server_and_on_two_of_which_one_dies(
    processes: list[ServerProcess], tmp_path: Path
) -> None:
    one, other = processes
    single = run(f"{one.url}#m", tmp_path / "single.duckdb").digest
    before = one.answers
    both = run(join(one.url, other.url), tmp_path / "both.duckdb")
    counts = one.answers - before, other.answers
    assert both.digest == single
    assert abs(counts[0] - counts[1]) <= 0.1 * sum(counts), counts

    begun = threading.Event()

    def kill_in_mid_run() -> None:
        assert begun.wait(60)
        other.kill()

    killer = threading.Thread(target=kill_in_mid_run)
    killer.start()
    answered = 0

    def count_calls(event: Any) -> None:
        nonlocal answered
        answered += event["type"] == "call"
        if answered == 10:
            begun.set()

    died = other.answers
    killed = run(join(one.url, other.url), tmp_path / "killed.duckdb", on_event=count_calls)
    killer.join()
    assert killed.digest == single and killed.status == "done"
    assert 0 < other.answers - died < counts[1]  # it died in the middle of its share
    other.start()


def test_a_server_that_comes_back_is_used_again(
    processes: list[ServerProcess], tmp_path: Path
) -> None:
    one, other = processes

    async def ask() -> list[int]:
        proposer = await open_model(join(one.url, other.url), {"backoff_s": 0.001})

        async def count_of_six() -> int:
            before = other.answers
            await asyncio.gather(*(proposer.propose(VIEW, ASK, (), 5) for _ in range(6)))
            return other.answers - before

        try:
            counts = [await count_of_six()]
            other.kill()
            counts.append(await count_of_six())
            other.start()
            async with asyncio.timeout(60):
                while not await count_of_six():
                    await asyncio.sleep(0.2)
            return [*counts, await count_of_six()]
        finally:
            await proposer.close()

    assert asyncio.run(ask()) == [3, 0, 3]


@pytest.mark.parametrize(
    "fault",
    [status(503, "loading model"), status(500, "oops"), status(429, "slow down", retry_after="3"),
     cut(0), cut(40), slow(1.5)],
    ids=["503", "500", "429", "cut", "cut in the answer", "too slow"],
)  # fmt: skip
def test_a_request_that_a_server_fails_is_answered_by_the_other(fault: Any) -> None:
    with ChatServer([fault]) as bad, ChatServer([says("good")]) as good:
        (reply,) = propose_all(join(bad.url, good.url), timeout_s=1.0, retries=0)
        assert isinstance(reply, Reply) and reply.text == "good" and reply.retries == 1
        assert len(bad.requests) == len(good.requests) == 1


def test_a_stream_that_breaks_off_is_asked_for_again_elsewhere() -> None:
    broken = in_pieces(says("a long answer that is cut"))

    def breaks(request: Any) -> Any:
        from dataclasses import replace

        return replace(broken(request), cut=3)

    with ChatServer([breaks]) as bad, ChatServer([in_pieces(says("whole"))]) as good:
        (reply,) = propose_all(join(bad.url, good.url), stream=True, retries=0)
        assert isinstance(reply, Reply) and reply.text == "whole"


def test_a_server_that_lacks_the_model_is_left_out_with_a_sentence() -> None:
    missing = status(404, "the model `m` does not exist", code="model_not_found")
    with ChatServer([missing]) as bad, ChatServer([says("good")]) as good:
        with pytest.warns(UserWarning, match="the other servers are used"):
            replies = propose_all(join(bad.url, good.url), count=6)
        assert [one.text for one in replies if isinstance(one, Reply)] == ["good"] * 6
        assert len(good.requests) == 6


def test_if_all_servers_refuse_one_sentence_names_them() -> None:
    with ChatServer([status(401)]) as one, ChatServer([status(401)]) as other:
        with pytest.warns(UserWarning):
            (error,) = propose_all(join(one.url, other.url))
        assert isinstance(error, EndpointRefused)
        assert one.url in str(error) and other.url in str(error) and "\n" not in str(error)


def test_if_no_server_is_reached_one_sentence_names_them() -> None:
    with ExitStack() as stack:
        urls = [stack.enter_context(ChatServer([says("x")])).url for _ in range(2)]
    started = time.monotonic()
    (error,) = propose_all(join(*urls), outage_s=1.0)
    assert isinstance(error, EndpointRefused) and time.monotonic() - started < 30
    assert all(url in str(error) for url in urls)


def test_many_requests_are_spread_evenly_over_servers_of_one_speed() -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(ChatServer([slow(0.05)])) for _ in range(4)]
        replies = propose_all(join(*(one.url for one in servers)), count=80)
        assert all(isinstance(one, Reply) for one in replies)
        counts = [len(one.requests) for one in servers]
    assert sum(counts) == 80 and max(counts) - min(counts) <= 2


def test_a_slow_server_is_sent_fewer_requests() -> None:
    with ChatServer([slow(0.4)]) as snail, ChatServer([slow(0.02)]) as hare:

        async def ask() -> None:
            proposer = await open_model(join(snail.url, hare.url), {})
            turns = asyncio.Semaphore(4)

            async def one() -> None:
                async with turns:
                    await proposer.propose(VIEW, ASK, (), 5)

            await asyncio.gather(*(one() for _ in range(40)))
            await proposer.close()

        asyncio.run(ask())
        assert len(hare.requests) > 2 * len(snail.requests) > 0


def test_settings_name_all_servers_and_the_key_is_sent_to_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PEIRCE_API_KEY", SECRET)
    with ChatServer([says("x")]) as one, ChatServer([says("x")]) as other:
        model = join(one.url, other.url)

        async def ask() -> Any:
            proposer = await open_model(model, {})
            for _ in range(2):
                await proposer.propose(VIEW, ASK, (), 5)
            settings = proposer.settings()
            await proposer.close()
            return settings

        settings = asyncio.run(ask())
        sent = [request["headers"]["authorization"] for s in (one, other) for request in s.requests]
    assert settings["endpoint"] == model.removesuffix("#m") and settings["model"] == "m"
    assert settings["transport"]["servers"] == 2
    assert sent == [f"Bearer {SECRET}"] * 2 and SECRET not in str(settings)


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("http://a:1/v1,http://a:1/v1/#m", "names the server http://a:1/v1 twice"),
        ("http://a:1/v1,http://u:p@b:1/v1#m", "a URL without credentials"),
        ("http://a:1/v1,http://b:1/v1", "names no model"),
        ("http://a:1/v1,http://#m", "not a URL"),
        ("http://a:1/v1, http://b:1/v1#m", "are written as http://a:8000/v1,"),
        ("http://a:1/v1,127.0.0.1:2/v1#m", "are written as http://a:8000/v1,"),
        ("http://a:1/v1,#m", "are written as http://a:8000/v1,"),
        ("http://a:1/v1#m,http://b:1/v1#m", "are written as http://a:8000/v1,"),
    ],
)
def test_a_wrong_list_of_servers_is_one_sentence(model: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        propose_all(model)
