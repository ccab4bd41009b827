"""A real model behind a real server process (`transformers serve`), driven through langchain-openai,
and the same model in this process: whole sessions on answers that are nonsense are correct sessions,
and the tokens are the same. Skipped where the extras `local` and `serve` are absent. Not covered:
tools, which a model of this size does not call."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import peirce
import pytest
from peirce.agents import open_model
from peirce.records import InputSet, View

sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from tiny_model import make_adapter, make_model, require, with_adapter

require("fastapi", "uvicorn")

VIEW = View("p", "t", "f", (), {}, InputSet("S", ()))
WAIT_S = 120
PAIRS = "problem,input,output\n" + "".join(
    f'{name},"{[number, *range(extra)]}","{[*range(extra), number]}"\n'
    for name in "abcdef" for number in (7, 9) for extra in (1, 3)
)  # fmt: skip


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """base, adapter, and both in one folder, as the server takes an adapter."""
    folder = tmp_path_factory.mktemp("models")
    base = make_model(folder / "base", max_position_embeddings=4096)
    adapter = make_adapter(folder / "adapter", base)
    return base, adapter, with_adapter(folder / "tuned", base, adapter)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The URL of a `transformers serve` that loads what a request names; killed at the end."""
    home = tmp_path_factory.mktemp("served")
    (home / "hub").mkdir()  # without it, listing the models fails
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", "from transformers.cli.transformers import main; main()",
               "serve", "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]  # fmt: skip
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(home), "OMP_NUM_THREADS": "1"}
    with (home / "said").open("w+b") as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT,
                                   env=os.environ | offline, start_new_session=True)  # fmt: skip
        try:
            until = time.monotonic() + WAIT_S
            while not answers(f"http://127.0.0.1:{port}/health"):
                if process.poll() is not None or time.monotonic() > until:
                    said.seek(0)
                    pytest.fail(
                        f"transformers serve did not start:\n{said.read().decode()[-3000:]}"
                    )
                time.sleep(0.2)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return reply.status == 200
    except (urllib.error.URLError, OSError):
        return False


def session(model, folder, **options):
    """A session on six problems of a user's own, with its store's name."""
    folder.mkdir(exist_ok=True)
    (folder / "pairs.csv").write_text(PAIRS)
    return peirce.run(
        "examples", data=folder / "pairs.csv", model=model, max_answers=4, observations=3,
        store=folder / "s.duckdb", **{"max_tokens": 48, "temperature": 0, **options},
    )  # fmt: skip


def replies(spec, side_by_side):
    """Texts and usages of greedy answers to prompts of different lengths."""
    prompts = [[{"role": "system", "content": "You find rules."},
                {"role": "user", "content": "What explains the data? " * length}]
               for length in (1, 12, 4, 70, 2, 30, 7, 19)]  # fmt: skip

    async def whole():
        proposer = await open_model(str(spec), {"max_tokens": 48, "temperature": 0})
        try:
            if side_by_side:
                asked = [proposer.propose(VIEW, one, (), 1) for one in prompts]
                return await asyncio.gather(*asked)
            return [await proposer.propose(VIEW, one, (), 1) for one in prompts]
        finally:
            await proposer.close()

    found = asyncio.run(whole())  # the server takes blanks off the ends of a text
    return [(one.text.strip(), one.finish, one.usage) for one in found]


def test_a_whole_session_over_a_real_server_is_correct_however_bad_the_answers(server, models, tmp_path):  # fmt: skip
    base, _, _ = models
    done = session(f"{server}#{base}", tmp_path)
    assert done.status == "done" and done.problems == 6
    assert done.verdicts == {"accepted": 0, "redundant": 0, "inconsistent": 0, "malformed": 18}
    assert done.metrics["consistency"]["mean"] == 0 and done.metrics["malformed"]["mean"] == 3
    assert done.usage["tokens_in"] > 0 and 0 < done.usage["tokens_out"] <= 18 * 48
    store = tmp_path / "s.duckdb"
    assert peirce.replay(done.session, store=store)["differences"] == []
    again = peirce.resume(done.session, store=store)
    assert (again.digest, again.usage) == (done.digest, done.usage)
    assert peirce.load(done.session, store=store).digest == done.digest


def test_the_same_greedy_tokens_in_process_as_from_the_server_batched_or_alone(server, models):
    base, adapter, tuned = models
    served = replies(f"{server}#{tuned}", True)
    assert replies(f"hf:{base}+{adapter}", True) == served == replies(f"hf:{base}+{adapter}", False)
    plain = replies(f"{server}#{base}", True)
    assert replies(f"hf:{base}", True) == plain
    assert all(one[0] != other[0] for one, other in zip(served, plain, strict=True))


def test_the_server_is_greedy_at_temperature_0(server, models):
    base, _, _ = models
    assert replies(f"{server}#{base}", False) == replies(f"{server}#{base}", False)


@pytest.mark.parametrize("temperature", [0.8, pytest.param(0, marks=pytest.mark.soak)])
def test_a_whole_session_in_process_has_one_digest_at_concurrency_1_and_8(
    models, tmp_path, temperature
):
    base, adapter, _ = models
    spec, settings = f"hf:{base}+{adapter}", {"temperature": temperature, "max_tokens": 24}
    one = session(spec, tmp_path / "one", concurrency=1, **settings)
    eight = session(spec, tmp_path / "eight", concurrency=8, **settings)
    assert one.status == eight.status == "done" and one.digest == eight.digest
    assert one.verdicts["malformed"] == 18 and one.usage["tokens_out"] > 0
    store = tmp_path / "one" / "s.duckdb"
    assert peirce.replay(one.session, store=store)["differences"] == []
