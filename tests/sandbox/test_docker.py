"""What is the docker backend's own: its containers and what a crash leaves. The engine and the stream to
it: test_docker_engine.py. What every backend must do is in the conformance suite.

Internals: containers, their labels and their cleaning are seen by the engine's client alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest
from docker_scene import BUSY, LIMITS, TEN, honest, inside, names, ours, session
from peirce.records import InputSet, Limits, SandboxUnavailable
from peirce.sandbox import open_sandbox
from peirce.sandbox.backends import cleaning, engine
from peirce.sandbox.backends import docker as backend
from peirce.sandbox.backends.docker import DockerSandbox

pytestmark = pytest.mark.usefixtures("collected")


# --- the container ---------------------------------------------------------------


def test_container_has_no_network_no_capability_and_an_unprivileged_user(client: Any) -> None:
    probe = """
import json
status = dict(line.rstrip().split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line)
links = [line.split(":")[0].strip() for line in open("/proc/net/dev") if ":" in line]
print(json.dumps([links, status]))
"""

    async def work(sandbox: DockerSandbox) -> None:
        links, status = json.loads(inside(client, names(sandbox)[0], probe))
        assert links == ["lo"]
        assert {int(status[f"Cap{kind}"], 16) for kind in ("Eff", "Prm", "Bnd", "Inh", "Amb")} == {
            0
        }
        assert status["Uid"].split() == status["Gid"].split() == ["65534"] * 4
        assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")

    session(work)


def test_nothing_in_the_container_can_be_written(client: Any) -> None:
    probe = """
import errno
def attempt(path, mode):
    try:
        open(path, mode).close()
        return "done"
    except OSError as error:
        return errno.errorcode[error.errno]
for path, mode in (("/new", "x"), ("/tmp/new", "x"), ("/peirce/harness.py", "a"), ("/dev/new", "x"),
                   ("/proc/sys/kernel/hostname", "w"), ("/dev/null", "w")):
    print(attempt(path, mode))
"""

    async def work(sandbox: DockerSandbox) -> None:
        *refused, null = inside(client, names(sandbox)[0], probe).split()
        assert set(refused) <= {"EROFS", "EACCES"} and null == "done", refused
        await honest(sandbox)

    session(work)


def test_container_stops_forks_at_its_limit(client: Any) -> None:
    probe = """
import os, signal, time
children = []
try:
    for _ in range(60):
        pid = os.fork()
        if pid == 0:
            time.sleep(60)
            os._exit(0)
        children.append(pid)
    print("no limit")
except OSError as error:
    print(type(error).__name__, len(children) < 32)
for pid in children:
    os.kill(pid, signal.SIGKILL)
"""

    async def work(sandbox: DockerSandbox) -> None:
        assert inside(client, names(sandbox)[0], probe) == "BlockingIOError True\n"

    session(work)


def test_container_refuses_calls_that_nobody_in_it_needs(client: Any) -> None:
    probe = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
for call in (lambda: libc.unshare(0x10000000), lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None),
             lambda: libc.ptrace(0, 0, 0, 0), lambda: libc.socket(2, 1, 0),
             lambda: libc.personality(0x0400000), lambda: libc.personality(0x0040000)):
    print(errno.errorcode[ctypes.get_errno()] if call() == -1 else "done")
"""

    async def work(sandbox: DockerSandbox) -> None:
        said = inside(client, names(sandbox)[0], probe).split()
        assert said == ["EPERM"] * 5 + ["done"]

    session(work)


def test_container_knows_nothing_of_the_environment_and_leaves_no_log(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")

    async def work(sandbox: DockerSandbox) -> None:
        about = client.inspect_container(names(sandbox)[0])
        assert "planted" not in json.dumps(about)
        assert about["HostConfig"]["LogConfig"]["Type"] == "none"
        assert about["Mounts"] == [] and about["HostConfig"]["Binds"] is None

    session(work)


def test_every_wanted_layer_holds() -> None:
    async def strict() -> None:
        await (await open_sandbox("docker", 1, strict=True)).close()

    try:
        engine.connect().close()
    except SandboxUnavailable as error:
        pytest.skip(f"NO DOCKER ENGINE: {error}")
    asyncio.run(strict())


# --- lost and replaced -------------------------------------------------------------


def test_a_killed_container_is_replaced_and_its_batch_not_lost(client: Any) -> None:
    async def work(sandbox: DockerSandbox) -> None:
        await honest(sandbox)
        (first,) = names(sandbox)
        client.kill(first)
        await honest(sandbox)
        (second,) = names(sandbox)
        assert first != second
        assert ours(client) == [second]

    session(work)


def test_a_container_killed_under_way_is_replaced_and_the_batch_ends(client: Any) -> None:
    async def work(sandbox: DockerSandbox) -> None:
        running = asyncio.create_task(
            sandbox.run(BUSY, "f", TEN.digest, "codes", Limits(cpu_s=2, wall_s=20))
        )
        await asyncio.sleep(0.5)
        client.kill(names(sandbox)[0])
        assert (await running).verdict == "too_slow"
        await honest(sandbox)

    session(work)


def test_a_container_out_of_memory_is_a_crash_and_the_pool_goes_on(client: Any) -> None:
    hoard = "def f(x):\n    return len(bytearray(300 * 2**20).replace(b'0', b'1'))"

    async def work(sandbox: DockerSandbox) -> None:
        await honest(sandbox)
        client.update_container(names(sandbox)[0], mem_limit="96m", memswap_limit="96m")
        batch = await sandbox.run(hoard, "f", TEN.digest, "codes", LIMITS)
        assert batch.verdict == "crashed", batch
        await honest(sandbox)

    session(work)


def test_a_higher_memory_limit_raises_the_container_s(client: Any) -> None:
    hoard = "def f(x):\n    return len(bytearray(1200 * 2**20))"

    async def work(sandbox: DockerSandbox) -> None:
        (name,) = names(sandbox)
        one = InputSet("one", (1,))
        await sandbox.put(one)
        batch = await sandbox.run(hoard, "f", one.digest, "values", Limits(memory_mb=1500))
        assert batch.values == ({"value": 1200 * 2**20},), batch
        memory = client.inspect_container(name)["HostConfig"]
        assert memory["Memory"] == memory["MemorySwap"] == (1500 + backend.ROOM_MB) * 2**20

    session(work)


def test_containers_are_labelled_while_they_live_and_gone_after_close(client: Any) -> None:
    async def work(sandbox: DockerSandbox) -> None:
        assert sorted(ours(client)) == sorted(names(sandbox))
        labels = client.inspect_container(names(sandbox)[0])["Config"]["Labels"]
        assert labels[engine.MARK] == "1"

    session(work, workers=2)
    assert ours(client) == []


def test_sessions_and_lost_containers_leave_no_descriptor(client: Any) -> None:
    async def work(sandbox: DockerSandbox) -> None:
        await honest(sandbox)
        client.kill(names(sandbox)[0])
        await honest(sandbox)

    counts = []
    for _ in range(4):
        session(work)
        counts.append(len(os.listdir("/dev/fd")))
    assert len(set(counts[1:])) == 1, counts


def test_a_start_that_is_cancelled_leaves_no_container(client: Any) -> None:
    async def run() -> None:
        for pause_s in (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3):
            opening = asyncio.create_task(open_sandbox("docker", workers=2))
            await asyncio.sleep(pause_s)
            opening.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await (await opening).close()  # it was open by then

    asyncio.run(run())
    assert ours(client) == []


def test_a_parent_killed_under_way_leaves_no_container(client: Any) -> None:
    program = f"""
import asyncio
from peirce.records import InputSet, Limits
from peirce.sandbox import open_sandbox
from peirce.sandbox.backends import engine

async def main():
    sandbox = await open_sandbox("docker", workers=2)
    inputs = InputSet("ten", tuple(range(10)))
    await sandbox.put(inputs)
    sources = {BUSY!r}, {BUSY + chr(10)!r}  # the second container starts for the second source
    runs = [sandbox.run(one, "f", inputs.digest, "codes", Limits()) for one in sources]
    running = asyncio.gather(*runs)
    while any(slot.link is None for slot in sandbox._slots):
        await asyncio.sleep(0.1)
    print(engine.owner_label(), flush=True)
    await running

asyncio.run(main())
"""
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    owner = parent.stdout.readline().strip()

    def left() -> int:
        return len(client.containers(all=True, filters={"label": f"{engine.OWNER}={owner}"}))

    assert left() == 2
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    until = time.monotonic() + 15
    while left() and time.monotonic() < until:
        time.sleep(0.05)
    assert left() == 0
    assert engine.owner_is_gone(owner)


def test_an_image_removed_meanwhile_is_made_again(client: Any) -> None:
    async def work(sandbox: DockerSandbox) -> None:
        sandbox.tag = "peirce-sandbox:never-made"
        client.kill(names(sandbox)[0])
        await honest(sandbox)

    session(work)


# --- what a crash left ----------------------------------------------------------------


@pytest.fixture
def dead_owner() -> str:
    with subprocess.Popen(["sleep", "60"]) as process:
        label = engine.owner_label(process.pid)
        assert not engine.owner_is_gone(label)
        process.kill()
    return label


def test_clean_removes_orphans_and_spares_what_lives_or_cannot_be_judged(
    client: Any, dead_owner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    present = {tag for one in client.images() for tag in one["RepoTags"] or []}
    monkeypatch.setattr(
        cleaning, "image_tags", lambda: present
    )  # others may be at work on this engine

    async def work(sandbox: DockerSandbox) -> None:
        client.tag(sandbox.tag, "peirce-sandbox", "old")
        owners = {"orphan": dead_owner, "stranger": "elsewhere/boot/1/2/3", "unlabelled": ""}
        made = {kind: f"peirce-test-{kind}-{os.getpid()}" for kind in owners}
        for kind, owner in owners.items():
            labels = {engine.MARK: "1", **({engine.OWNER: owner} if owner else {})}
            client.create_container(sandbox.tag, ["none"], name=made[kind], labels=labels)
        try:
            done = await asyncio.to_thread(cleaning.clean)
        finally:
            for kind in ("stranger", "unlabelled"):
                client.remove_container(made[kind], force=True)
        assert made["orphan"] in done["containers"] and "docker" not in done
        assert not {*names(sandbox), made["stranger"], made["unlabelled"]} & {*done["containers"]}
        assert done["images"] == ["peirce-sandbox:old"]
        await honest(sandbox)
        assert "containers" in json.dumps(done)

    session(work)


def test_an_owner_is_named_apart_from_a_later_process_with_its_pid(dead_owner: str) -> None:
    assert engine.owner_is_gone(dead_owner)
    assert not engine.owner_is_gone(engine.owner_label())
    earlier = engine.owner_label().rpartition("/")[0] + "/1"
    assert engine.owner_is_gone(earlier)
    for nonsense in ("", "/", "a/b", "elsewhere/boot/1/2/3", f"{engine._machine()}/x/1"):
        assert not engine.owner_is_gone(nonsense)
