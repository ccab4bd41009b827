"""The pool of zygotes: safe to cancel at any moment, mended when a zygote dies; and nothing that a
zygote says is believed unchecked. How it serves is in test_conformance.py.

Internals: zygotes are killed and replaced by ones that lie, and no face hands them out.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import struct
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from peirce.records import Batch, InputSet, Limits, SandboxUnavailable, UsageError
from peirce.sandbox import code_of, open_sandbox
from peirce.sandbox.backends.process import ProcessSandbox, start_zygote
from peirce.sandbox.inside import frames
from peirce.sandbox.supervisor import pool
from peirce.sandbox.supervisor.zygote import ZygoteLost, parse_batch

TEN = InputSet("ten", tuple([n] for n in range(10)))
SPIN = "def f(x):\n    for _ in range(10**12): pass"
IDENTITY = "def f(x):\n    return x"
LIMITS = Limits(wall_s=20, input_cpu_s=19)


async def opened(workers: int = 1) -> ProcessSandbox:
    sandbox = await open_sandbox("process", workers=workers)
    assert isinstance(sandbox, ProcessSandbox)
    await sandbox.put(TEN)
    return sandbox


async def honest(sandbox: ProcessSandbox) -> None:
    batch = await sandbox.run(IDENTITY, "f", TEN.digest, "values", LIMITS)
    assert batch.values == tuple({"value": [n]} for n in range(10)), batch


def zygotes(sandbox: ProcessSandbox) -> list[int]:
    return [slot.link.zygote.process.pid for slot in sandbox._slots if slot.link]  # type: ignore[attr-defined]


def children_of(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += map(int, (task / "children").read_text().split())
    return found


def descendants(pid: int) -> list[int]:
    below = children_of(pid)
    return below + [one for child in below for one in descendants(child)]


async def none_left(sandbox: ProcessSandbox) -> None:
    """At rest a zygote has its stages, each with a child that waits if it can be kept apart; the
    child of a run is reaped just after its result was forwarded, so at once or a moment later."""
    layers = sandbox.layers()
    for_each = 1 + layers["process_namespace"] * (1 + layers["seccomp"])
    for _ in range(500):
        left = [one for pid in zygotes(sandbox) for one in descendants(pid)]
        if len(left) == for_each * len(zygotes(sandbox)):
            return
        await asyncio.sleep(0.01)
    raise AssertionError(left)


linux = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts in /proc")


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@linux
def test_a_cancelled_run_ends_its_child_and_keeps_its_zygote() -> None:
    async def session() -> None:
        sandbox = await opened()
        try:
            (pid,) = zygotes(sandbox)
            for pause in (0.0, 0.001, 0.1):
                run = asyncio.create_task(sandbox.run(SPIN, "f", TEN.digest, "codes", LIMITS))
                await asyncio.sleep(pause)
                run.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await run
                start = time.monotonic()
                await honest(sandbox)
                assert time.monotonic() - start < 30
            assert zygotes(sandbox) == [pid]
            await none_left(sandbox)
        finally:
            await sandbox.close()

    asyncio.run(session())


@linux
def test_a_second_zygote_starts_when_a_batch_finds_none_free() -> None:
    async def session() -> None:
        sandbox = await opened(workers=2)
        try:
            await honest(sandbox)
            await honest(sandbox)
            assert len(zygotes(sandbox)) == 1
            spins = [sandbox.run(SPIN, "f", TEN.digest, "codes", Limits(wall_s=0.5)) for _ in "ab"]
            await asyncio.gather(*spins)
            assert len(zygotes(sandbox)) == 2
        finally:
            await sandbox.close()

    asyncio.run(session())


@linux
@pytest.mark.parametrize("fault", ["lacks a layer", "does not start"])
def test_the_pool_goes_on_without_a_later_zygote_that_is_no_good(fault: str) -> None:
    starts = 0

    async def start() -> Any:
        nonlocal starts
        starts += 1
        if starts > 1 and fault == "does not start":
            raise SandboxUnavailable("no memory")
        link = await start_zygote()
        link.extra_layers["drawn"] = starts == 1
        return link

    async def session() -> None:
        sandbox = pool.PooledSandbox(start, 2)
        try:
            await sandbox.start()
            await sandbox.put(TEN)
            spin = sandbox.run(SPIN, "f", TEN.digest, "codes", Limits(wall_s=1.0))
            with pytest.warns(UserWarning, match=r"goes on with fewer workers \(1\)"):
                others = [
                    sandbox.run(IDENTITY, "f", digest, "codes", LIMITS)
                    for digest in [TEN.digest] * 2
                ]
                batches = await asyncio.gather(spin, *others)
            assert [one.verdict for one in batches[1:]] == ["ok", "ok"]
            assert starts == 2 and sandbox.layers()["drawn"]
            await sandbox._discard(sandbox._slots[0])  # now there is none to go on with
            with pytest.raises(SandboxUnavailable):
                await sandbox.run("def f(x):\n    return 1", "f", TEN.digest, "codes", LIMITS)
        finally:
            await sandbox.close()

    asyncio.run(session())


def test_many_cancelled_at_any_moment_lose_no_worker() -> None:
    async def session() -> None:
        sandbox = await opened(workers=2)
        try:
            for n in range(30):
                runs = [
                    asyncio.create_task(sandbox.run(IDENTITY, "f", TEN.digest, "codes", LIMITS))
                    for _ in range(4)
                ]
                await asyncio.sleep(n * 0.0003)
                for run in runs[n % 4 :]:
                    run.cancel()
                ended = await asyncio.gather(*runs, return_exceptions=True)
                assert all(isinstance(e, Batch | asyncio.CancelledError) for e in ended)
            await asyncio.gather(honest(sandbox), honest(sandbox), honest(sandbox))
            for _ in range(500):  # what was cancelled last may still be on its way out
                if sandbox._free.qsize() == 2 and not sandbox._background:
                    break
                await asyncio.sleep(0.01)
            assert sandbox._free.qsize() == 2 and not sandbox._background
        finally:
            await sandbox.close()

    asyncio.run(session())


def test_a_killed_zygote_is_replaced_and_its_batch_run_again() -> None:
    async def session() -> None:
        sandbox = await opened()
        try:
            for _ in range(2):
                (pid,) = zygotes(sandbox)
                os.kill(pid, signal.SIGKILL)  # between batches
                await honest(sandbox)
                assert zygotes(sandbox) != [pid]
            (pid,) = zygotes(sandbox)
            source = "def f(x):\n    for _ in range(2_000_000): pass\n    return x"
            run = asyncio.create_task(sandbox.run(source, "f", TEN.digest, "values", LIMITS))
            await asyncio.sleep(0.1)
            os.kill(pid, signal.SIGKILL)  # in the middle of one
            assert (await run).values == tuple({"value": [n]} for n in range(10))
        finally:
            await sandbox.close()

    asyncio.run(session())


def test_a_hypothesis_that_takes_its_zygote_down_is_a_crash_of_its_own() -> None:
    """No hypothesis can, where the layers are active; so somebody else does it for it."""
    mark = b"def f(x):\n    return 'fatal'"

    async def session() -> Batch:
        sandbox = await opened()
        exchange = sandbox._exchange

        async def fatal(link: Any, job: Any, again: Any) -> Any:
            if job.code == mark:
                os.kill(link.zygote.process.pid, signal.SIGKILL)
            return await exchange(link, job, again)

        sandbox._exchange = fatal  # type: ignore[method-assign]
        try:
            batch = await sandbox.run(mark.decode(), "f", TEN.digest, "codes", LIMITS)
            await honest(sandbox)
            return batch
        finally:
            await sandbox.close()

    batch = asyncio.run(session())
    assert batch.verdict == "crashed" and "worker" in batch.detail


def test_a_sandbox_that_serves_nobody_is_unavailable_and_no_verdict() -> None:
    async def session() -> None:
        starts = 0

        async def dying() -> Any:
            nonlocal starts
            starts += 1
            link = await start_zygote()
            if starts > 1:
                os.kill(link.zygote.process.pid, signal.SIGKILL)
            return link

        sandbox = pool.PooledSandbox(dying, 1)
        await sandbox.start()
        try:
            await sandbox.put(TEN)
            os.kill(zygotes(sandbox)[0], signal.SIGKILL)  # type: ignore[arg-type]
            with pytest.raises(SandboxUnavailable) as caught:
                await sandbox.run(IDENTITY, "f", TEN.digest, "codes", LIMITS)
            assert caught.value.exit_code == 4
        finally:
            await sandbox.close()

    asyncio.run(session())


def test_what_cannot_be_is_refused_in_one_sentence() -> None:
    with pytest.raises(UsageError, match=r"'proces'.*process.*did you mean 'process'"):
        asyncio.run(open_sandbox("proces"))
    with pytest.raises(UsageError, match="workers is 0"):
        asyncio.run(open_sandbox("process", workers=0))
    with pytest.raises(UsageError, match="workers is 1000000: it must be at most 256"):
        asyncio.run(open_sandbox("process", workers=1_000_000))


# --- what a zygote may say ---------------------------------------------------

GOOD = {"verdict": "ok", "reason_names": ["IndexError"], "limited": False, "cpu_s": 0.5}
BODY = bytes([0, 1]) + (7).to_bytes(8, "little") + (9).to_bytes(8, "little")


def test_a_good_frame_is_a_batch_with_zeros_where_undefined() -> None:
    batch = parse_batch(GOOD, BODY, 2, "codes", LIMITS)
    assert (batch.verdict, batch.codes.tolist(), batch.reasons.tolist()) == ("ok", [7, 0], [0, 1])
    assert batch.cpu_s == 0.5


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "accepted"}, {"verdict": None}, {"verdict": "unknown_inputs"}, {"detail": 3},
        {"reason_names": None}, {"reason_names": {"a": 1}}, {"reason_names": [1]},
        {"reason_names": ["a", "a"]}, {"reason_names": []}, {"reason_names": ["x" * 65]},
        {"reason_names": ["\x1b[2J"]}, {"reason_names": [f"r{n}" for n in range(300)]},
    ],
)  # fmt: skip
def test_a_header_out_of_order_is_a_breach_of_protocol(change: dict[str, Any]) -> None:
    batch = parse_batch({**GOOD, **change}, BODY, 2, "codes", LIMITS)
    assert batch.verdict == "protocol" and batch.reasons.tolist() == [1, 1]


@pytest.mark.parametrize("body", [b"", BODY[:-1], BODY + b"x", bytes([0, 2]) + BODY[2:]])
def test_a_body_out_of_order_is_a_breach_of_protocol(body: bytes) -> None:
    assert parse_batch(GOOD, body, 2, "codes", LIMITS).verdict == "protocol"


def values_body(*texts: str) -> bytes:
    """Two inputs, the second undefined: what a child sends for the values of the others."""
    sizes = struct.pack(f"<{len(texts)}I", *map(len, texts))
    return bytes([0, 1]) + sizes + "".join(texts).encode("latin-1")


def test_a_good_body_of_values_has_values_and_their_codes() -> None:
    batch = parse_batch(GOOD, values_body('{"$dict": [[[1, 2], "x"]]}', ""), 2, "values", LIMITS)
    assert batch.verdict == "ok" and batch.values is not None
    assert batch.values[0] == {"value": {"$dict": [[[1, 2], "x"]]}}
    assert batch.codes[0] == code_of({(1, 2): "x"}) and "undefined" in batch.values[1]


@pytest.mark.parametrize(
    "text",
    ["", "[1", "[" * 100_000, '{"$set": []}', "1" + "0" * 5000, json.dumps("x" * 200_000),
     json.dumps([[]] * 50_000), '{"$float": 3}', '{"$dict": [1]}', '{"$dict": [[{}, 1]]}',
     '{"$dict": [[1, 2], [1.0, 3]]}', '{"$int": "zz"}', "NaN", "[-Infinity]", "1e999",
     '{"$float": "nan", "$float": "inf"}', "\xff", " " * 900_000 + "1"],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_values_out_of_order_are_a_breach_of_protocol(text: str) -> None:
    batch = parse_batch(GOOD, values_body(text, ""), 2, "values", LIMITS)
    assert batch.verdict == "protocol" and batch.values is None


@pytest.mark.parametrize("body", [b"", bytes([0, 1]), values_body("1"), values_body("1", "") + b"x",
                                  bytes([0, 1]) + b"\xff" * 8 + b"1"])  # fmt: skip
def test_lengths_out_of_order_are_a_breach_of_protocol(body: bytes) -> None:
    assert parse_batch(GOOD, body, 2, "values", LIMITS).verdict == "protocol"


def test_keys_that_all_collide_do_not_hold_the_parent_up() -> None:
    pairs = [[n * (2**61 - 1), 0] for n in range(9_000)]
    start = time.process_time()
    batch = parse_batch(GOOD, values_body(json.dumps({"$dict": pairs}), ""), 2, "values", LIMITS)
    assert batch.verdict in ("ok", "protocol") and time.process_time() - start < 5


@pytest.mark.parametrize("cpu", [float("nan"), -1.0, 1e9, 10**400, "1", None])
def test_a_cpu_time_that_cannot_be_counts_as_none(cpu: Any) -> None:
    assert parse_batch({**GOOD, "cpu_s": cpu}, BODY, 2, "codes", LIMITS).cpu_s == 0.0


@pytest.mark.parametrize(
    "noise",
    [b"", b"junk", b"x" * 64, frames.HEAD.pack(frames.MAGIC, 10, 2**62) + b"{}",
     frames.HEAD.pack(frames.MAGIC, 2**31, 0), frames.HEAD.pack(frames.MAGIC, 2, 0) + b"[]",
     frames.HEAD.pack(frames.MAGIC, 10, 0) + b'{"a": NaN}', frames.HEAD.pack(frames.MAGIC, 12, 0) + b'{"a": 1e999}',
     frames.HEAD.pack(frames.MAGIC, 16, 0) + b'{"a": 1, "a": 2}'],
)  # fmt: skip
def test_a_zygote_that_talks_nonsense_is_lost_and_not_believed(noise: bytes) -> None:
    async def session() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(noise)
        reader.feed_eof()
        link = pool.Link(reader, None, None)  # type: ignore[arg-type]
        with pytest.raises(ZygoteLost):
            await link.receive(1000)

    asyncio.run(session())


def test_no_inputs_give_an_empty_batch() -> None:
    batch = parse_batch({**GOOD, "reason_names": []}, b"", 0, "codes", LIMITS)
    assert batch.verdict == "ok" and batch.codes.shape == (0,) and batch.codes.dtype == np.int64
