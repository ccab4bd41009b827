"""Checks that too few open files are told as such, and are not run into where that can be helped.
Each case is a process of its own, for a limit is that of a process.

Internals: the number of sockets left is set by the test, and a session raises the limit of its
process.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from chat_server import Answer, ChatServer, completion

SOFT = 60
CALLS = """
import asyncio, resource, sys
sys.path.insert(0, sys.argv[1])
from asking import ASK, VIEW
from peirce.agents import open_model
from peirce.agents.endpoint import chat

async def calls(count):
    proposer = await open_model(sys.argv[2] + "#m", {"backoff_s": 0.01, "outage_s": 2})
    told = await asyncio.gather(*(proposer.propose(VIEW, ASK, (), n) for n in range(count)),
                                return_exceptions=True)
    await proposer.close()
    return told

asyncio.run(calls(1))  # what is imported late
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[3]), 4096))
if sys.argv[4] == "unbounded":
    chat.count_free_sockets = lambda: 1000
for one in asyncio.run(calls(100)):
    print(one if isinstance(one, Exception) else one.text)
"""


def answers(*arguments, delay_s=0.4):
    late = Answer(completion({"content": "x"}).body, delay_s=delay_s)
    with ChatServer([lambda request: late]) as server:
        command = [sys.executable, "-c", CALLS, str(Path(__file__).parent), server.url, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def test_more_calls_than_there_may_be_files_wait_for_each_other():
    assert answers(str(SOFT), "bounded") == ["x"] * 100


@pytest.mark.soak
def test_too_many_open_files_are_told_as_such():
    told = answers(
        str(SOFT), "unbounded", delay_s=5.0
    )  # all are open at once, on a busy machine too
    assert "x" in told  # those that had one are let finish
    (said,) = set(told) - {"x"}
    assert "too many open files here; lower --concurrency or raise ulimit -n" in said


@pytest.mark.parametrize(("soft", "concurrency", "raised"), [(100, 500, True), (4000, 500, False)])
def test_the_soft_limit_is_raised_where_the_concurrency_needs_it(soft, concurrency, raised):
    code = f"""
import resource
from peirce.agents.endpoint.limits import raise_open_file_limit, count_free_sockets
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, 4096))
raise_open_file_limit({concurrency})
now = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
assert (now > {soft}) is {raised} and count_free_sockets() >= {concurrency} and now <= 4096
raise_open_file_limit(1_000_000)
assert resource.getrlimit(resource.RLIMIT_NOFILE) == (4096, 4096)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
