"""The service as such, of every backend alike: cancelled runs, order of arrival, input sets, closing,
the death of the parent, and nothing left behind. What it answers: test_conformance.py, test_limits_and_state.py.

Internals: control groups that a dead parent left are counted on the machine.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from peirce.records import Batch, InputSet, Limits, SandboxUnavailable, UsageError
from peirce.sandbox.backends.process import find_leftovers

TEN = InputSet("ten", tuple([n, n + 1] for n in range(10)))
IDENTITY = "def f(x):\n    return x"
SPIN = "def f(x):\n    for _ in range(10**12): pass"
SPARE = Limits(wall_s=60, input_cpu_s=50, cpu_s=50)
linux = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts in /proc")


def values(batch: Batch) -> list[Any]:
    assert batch.verdict == "ok" and batch.values is not None, (batch.verdict, batch.detail)
    return [v.get("value", v.get("undefined")) for v in batch.values]


def test_a_cancelled_run_ends_at_once_and_the_next_is_served(opening: Any) -> None:
    async def session() -> None:
        async with opening(1, (TEN,)) as sandbox:
            for pause in (0.0, 0.001, 0.01, 0.1):
                run = asyncio.create_task(sandbox.run(SPIN, "f", TEN.digest, "codes", SPARE))
                await asyncio.sleep(pause)
                run.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await run
                start = time.monotonic()
                batch = await sandbox.run(IDENTITY, "f", TEN.digest, "values", SPARE)
                assert values(batch) == list(TEN.inputs)
                assert time.monotonic() - start < 10

    asyncio.run(session())


def test_batches_are_served_in_order_of_arrival_and_a_slow_one_holds_up_one_worker(
    opening: Any,
) -> None:
    async def session() -> None:
        async with opening(2, (TEN,)) as sandbox:
            order: list[int] = []

            async def one(number: int) -> None:
                await sandbox.run(IDENTITY, "f", TEN.digest, "codes", SPARE)
                order.append(number)

            slow = asyncio.create_task(sandbox.run(SPIN, "f", TEN.digest, "codes", SPARE))
            await asyncio.sleep(0.05)
            await asyncio.gather(*map(one, range(20)))
            assert order == list(range(20)) and not slow.done()
            slow.cancel()
            await asyncio.gather(slow, return_exceptions=True)

    asyncio.run(session())


def test_fifty_runs_at_once_have_each_its_own_answer(opening: Any) -> None:
    sets = [InputSet(f"set {n}", tuple([n, k] for k in range(5))) for n in range(10)]

    async def session() -> None:
        async with opening(3, tuple(sets)) as sandbox:
            work = (
                sandbox.run(
                    f"def f(x):\n    return [x, {n}]", "f", sets[n % 10].digest, "values", SPARE
                )
                for n in range(50)
            )
            for n, batch in enumerate(await asyncio.gather(*work)):
                assert values(batch) == [[[n % 10, k], n] for k in range(5)]

    asyncio.run(session())


def test_more_input_sets_than_a_worker_keeps_are_all_served(opening: Any) -> None:
    filler = "x" * 40_000
    sets = tuple(InputSet(f"set {n}", ([n, filler], [n, filler])) for n in range(30))

    async def session() -> None:
        async with opening(2, sets) as sandbox:
            for order in (sets, sets[::-1], sets[::3]):
                work = (
                    sandbox.run(
                        "def f(x):\n    return [x[0], len(x[1])]", "f", one.digest, "values", SPARE
                    )
                    for one in order
                )
                for one, batch in zip(order, await asyncio.gather(*work), strict=True):
                    assert values(batch) == [[one.inputs[0][0], 40_000]] * 2

    asyncio.run(session())


def test_input_sets_larger_together_than_a_worker_keeps_are_all_served(opening: Any) -> None:
    piece = "x" * (6 * 2**20)
    sets = tuple(InputSet(f"large {n}", ([piece, n], [n, piece])) for n in range(4))

    async def session() -> None:
        async with opening(1, sets) as sandbox:
            for n, one in enumerate((*sets, *sets)):
                source = "def f(x):\n    return [v if type(v) is int else len(v) for v in x]"
                batch = await sandbox.run(source, "f", one.digest, "values", SPARE)
                assert values(batch) == [[len(piece), n % 4], [n % 4, len(piece)]]

    asyncio.run(session())


def test_an_input_set_that_was_never_put_is_an_error_of_the_caller(opening: Any) -> None:
    async def session() -> None:
        async with opening(1) as sandbox:
            with pytest.raises(UsageError, match="no input set"):
                await sandbox.run(IDENTITY, "f", "0" * 64, "codes", SPARE)
            assert (
                await sandbox.put(TEN)
                == TEN.digest
                == await sandbox.put(replace(TEN, name="again"))
            )

    asyncio.run(session())


@linux
def test_closing_ends_what_runs_and_what_waits_and_leaves_nothing_running(
    backend: str, opening: Any
) -> None:
    async def session() -> list[Any]:
        async with opening(1, (TEN,)) as sandbox:
            runs = [
                asyncio.create_task(sandbox.run(SPIN, "f", TEN.digest, "codes", SPARE))
                for _ in range(3)
            ]
            await asyncio.sleep(0.1)
            before = running(backend, names_of(sandbox))
            assert len(before) >= 3, "a zygote, a stage, a child"
            start = time.monotonic()
            await sandbox.close()
            ended = await asyncio.gather(*runs, return_exceptions=True)
            assert time.monotonic() - start < 10
            assert not still(before)
            with pytest.raises(SandboxUnavailable):
                await sandbox.run(IDENTITY, "f", TEN.digest, "codes", SPARE)
            await sandbox.close()  # once more does nothing
            return ended

    assert [type(e) for e in asyncio.run(session())] == [SandboxUnavailable] * 3


def test_layers_are_named_and_the_required_ones_hold(served: Any) -> None:
    layers = served.sandbox.layers()
    for name in ("process_group", "rlimits", "empty_environment", "closed_descriptors"):
        assert layers[name] is True
    assert set(map(type, layers.values())) == {bool} and set(map(type, layers)) == {str}
    layers["rlimits"] = False
    assert served.sandbox.layers()["rlimits"] is True


def test_a_child_has_its_null_device_its_result_and_nothing_else(served: Any) -> None:
    source = """
import os
def f(x):
    if x[0] == 0: return dict(os.environ)
    found = []
    for number in range(100):
        try:
            os.write(number, b"")
            found.append(number)
        except OSError:
            pass
    return found
"""
    environment, descriptors = values(served.run(source, TEN))[:2]
    assert environment == {} and descriptors == [0, 1, 2, 3]


@linux
@pytest.mark.parametrize(("number", "detail"), [(15, "signal 15"), (9, "killed")])
def test_a_signal_from_outside_is_a_crash_and_no_timeout(
    backend: str, opening: Any, number: int, detail: str
) -> None:
    async def session() -> Batch:
        async with opening(1, (TEN,)) as sandbox:
            await sandbox.run(IDENTITY, "f", TEN.digest, "codes", SPARE)
            names = names_of(sandbox)
            busy = asyncio.create_task(sandbox.run(SPIN, "f", TEN.digest, "codes", SPARE))
            await asyncio.sleep(0.5)  # until it has told its reach and runs; all others wait
            while not (found := await asyncio.to_thread(computing, backend, names)):
                await asyncio.sleep(0.01)
            for pid in found:
                os.kill(pid, number)
            return await busy

    batch = asyncio.run(session())
    assert batch.verdict == "crashed" and detail in batch.detail and not batch.limited


def computing(backend: str, names: list[str]) -> set[int]:
    """Those of `running` that computed whenever they were looked at for a while."""
    found = running(backend, names)
    for _ in range(20):
        found = {pid for pid in found if state_of(pid) == "R"}
        time.sleep(0.01)
    return found


@linux
def test_a_child_that_is_killed_while_it_waits_is_replaced_unnoticed(backend: str, opening: Any) -> None:  # fmt: skip
    async def session() -> None:
        async with opening(1, (TEN,)) as sandbox:
            for _ in range(3):
                await sandbox.run(IDENTITY, "f", TEN.digest, "codes", SPARE)
                await asyncio.sleep(0.3)
                everyone = await asyncio.to_thread(running, backend, names_of(sandbox))
                leaves = {pid for pid in everyone if not children_of(pid)}
                assert leaves
                for pid in leaves:
                    os.kill(pid, signal.SIGKILL)
                batch = await sandbox.run(IDENTITY, "f", TEN.digest, "codes", SPARE)
                assert batch.verdict == "ok" and not batch.reasons.any()

    asyncio.run(session())


PARENT = """
import asyncio, sys
from peirce.records import InputSet, Limits
from peirce.sandbox import open_sandbox
async def main():
    sandbox = await open_sandbox(sys.argv[1], workers=2)
    digest = await sandbox.put(InputSet("one", ([1],)))
    runs = [asyncio.create_task(sandbox.run(sys.argv[2] + " #" * n, "f", digest, "codes", Limits(cpu_s=60, input_cpu_s=60))) for n in range(2)]
    while not all(slot.link for slot in sandbox._slots):
        await asyncio.sleep(0.01)
    zygotes = [slot.link.zygote for slot in sandbox._slots]
    names = [str(getattr(zygote, "name", "")) or str(zygote.process.pid) for zygote in zygotes]
    await asyncio.sleep(0.3)
    print(*names, flush=True)
    await asyncio.gather(*runs)
asyncio.run(main())
"""


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_death_of_the_parent_ends_everything_that_it_started(backend: str, number: int) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, backend, SPIN], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )  # fmt: skip
    assert parent.stdout is not None
    with parent:
        try:
            names = parent.stdout.readline().decode().split()
            assert len(names) == 2
            before = running(backend, names)
            assert len(before) >= 6, "two zygotes, two stages, two children"
            parent.send_signal(number)
            parent.wait(20)
        finally:
            parent.kill()
    deadline = time.monotonic() + 20
    while still(before) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not still(before)
    for folder in find_leftovers():  # a control group without members is all that a death leaves
        if folder.name.startswith(f"peirce-{parent.pid}-"):
            folder.rmdir()


def names_of(sandbox: Any) -> list[str]:
    """What `running` takes: process ids of zygotes, or names of containers."""
    zygotes = [slot.link.zygote for slot in sandbox._slots if slot.link]
    return [getattr(zygote, "name", "") or str(zygote.process.pid) for zygote in zygotes]


def running(backend: str, names: list[str]) -> set[int]:
    """Process ids of these zygotes and below, or in these containers."""
    if backend == "docker":
        import docker

        engine = docker.from_env().api
        return {int(row[1]) for name in names for row in engine.top(name)["Processes"]}
    found, pending = set(), list(map(int, names))
    while pending:
        pid = pending.pop()
        found.add(pid)
        pending += children_of(pid)
    return found


def still(pids: set[int]) -> set[int]:
    return {pid for pid in pids if state_of(pid) not in ("Z", "")}


def state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def children_of(pid: int) -> list[int]:
    try:
        return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
    except OSError:
        return []


def children_keys(pid: int) -> list[Any]:
    """What stands for each child of a process: its id; below a stage, the stage and a number."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return []
    first_of_namespace = status.partition("NSpid:")[2].split("\n")[0].split()[-1:] == ["1"]
    below = children_of(pid)
    return [(pid, number) for number in range(len(below))] if first_of_namespace else list(below)


def counts(sandbox: Any) -> dict[str, Any]:
    """Descriptors of this process and of everything below it; processes in containers."""
    found: dict[Any, int] = {os.getpid(): len(os.listdir("/proc/self/fd"))}
    pending = [os.getpid()]
    while pending:
        pid = pending.pop()
        pending += children_of(pid)
        # Children that wait for a run are other processes after it, but not more of them.
        for key, one in zip(children_keys(pid), children_of(pid), strict=False):
            try:
                found[key] = len(os.listdir(f"/proc/{one}/fd"))
            except OSError:
                found[key] = -1
    zygotes = [slot.link.zygote for slot in sandbox._slots]
    inside = [len(z.engine.top(z.name)["Processes"]) for z in zygotes if hasattr(z, "engine")]
    return {"descriptors": found, "inside": inside}


def no_more(after: dict[str, Any], before: dict[str, Any]) -> bool:
    """The same processes, and none with more descriptors than before."""
    now, then = after["descriptors"], before["descriptors"]
    return (
        after["inside"] == before["inside"]
        and set(now) == set(then)
        and all(now[pid] <= then[pid] for pid in now)
    )


@linux
@pytest.mark.parametrize("batches", [400, pytest.param(10_000, marks=pytest.mark.soak)])
def test_thousands_of_batches_leave_no_zombie_no_descriptor_and_no_process(
    opening: Any, batches: int
) -> None:
    kinds = [
        (IDENTITY, "ok"), ("def f(x):\n    return [v for v in x if v]", "ok"), ("def f(", "syntax"),
        ("def f(x):\n    return x[0] // x[1]", "ok"), ("import os\ndef f(x):\n    os._exit(1)", "crashed"),
        ("import os\ndef f(x):\n    os.write(3, b'forged')\n    os._exit(0)", "protocol"),
        ("def g(x):\n    return x", "no_function"), ("def f(x):\n    return [0] * 10**9", "ok"),
        ("import os\ndef f(x):\n    os.abort()", "crashed"), ("count = 0\ndef f(x):\n    global count\n    count += 1\n    return count", "ok"),
    ]  # fmt: skip
    small = InputSet("small", tuple([n, n + 1] for n in range(3)))
    large = InputSet("large", (*([n, n + 1] for n in range(3)), "x" * 20_000))

    async def session() -> None:
        async with opening(2, (small, large)) as sandbox:

            async def some(count: int) -> None:
                work = (
                    sandbox.run(
                        kinds[n % 10][0], "f", (small, small, large)[n % 3].digest, "codes", SPARE
                    )
                    for n in range(count)
                )
                for n, batch in enumerate(await asyncio.gather(*work)):
                    assert batch.verdict == kinds[n % 10][1], (n, batch)

            await some(60)
            await asyncio.sleep(0.5)
            before = counts(sandbox)
            for _ in range(batches // 200):
                await some(200)
            for _ in range(100):  # a child is reaped a moment after its result
                if no_more(after := counts(sandbox), before):
                    break
                await asyncio.sleep(0.05)
            assert no_more(after, before), (after, before)

    gc.collect()  # sockets of the search for a Docker engine that is not there
    mine = children_of(os.getpid()), len(os.listdir("/proc/self/fd"))
    asyncio.run(session())
    assert (children_of(os.getpid()), len(os.listdir("/proc/self/fd"))) == mine
