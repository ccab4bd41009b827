"""Nodes, actors and drivers that die: each call returns once, and a session has its digest.

Internals: which node has open calls is known to the driver alone.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce.records import Apply, InputSet, Limits, OracleSettings, Unavailable
from peirce.store import Store
from peirce.tools.execute import EXECUTE
from peirce.tools.workers import open_workers
from peirce.tools.workers.node import Node
from peirce.tools.workers.ray_cluster import RayWorkers

LISTS = InputSet("lists", tuple([n, n + 1, 7] for n in range(20)))
REVERSED = [[7, n + 1, n] for n in range(20)]
SLOW = (
    "def f(x):\n    for _ in range(400_000):\n        pass\n    return x[::-1]  # {}"  # about 0.3 s
)
LIMITS = Limits(loop_steps=10_000_000, input_cpu_s=5, cpu_s=30, wall_s=60)
SESSION: dict[str, Any] = {
    "problems": 6, "seed": 4, "observations": 4, "model": "search", "max_answers": 4,
}  # fmt: skip


@pytest.fixture
def spare(cluster: Any) -> Iterator[Any]:
    """A node with the resource sandbox, which the test may kill."""
    node = cluster.add_node(num_cpus=1, resources={"sandbox": 1})
    yield node
    if node in cluster.worker_nodes:
        cluster.remove_node(node, allow_graceful=False)


def use(work: Callable[[RayWorkers, Apply], Awaitable[Any]]) -> Any:
    """What `work` returns of workers on two nodes that may run programs."""

    async def opened() -> Any:
        workers = await open_workers("ray")
        assert isinstance(workers, RayWorkers)
        try:
            oracle = await workers.open_oracle(EXECUTE, OracleSettings(workers=1))
            await until(lambda: len(nodes_with_sandbox(workers)) == 2)
            return await work(workers, oracle.with_limits(LIMITS))
        finally:
            await workers.close()

    return asyncio.run(opened())


async def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.02)


def nodes_with_sandbox(workers: RayWorkers) -> list[Node]:
    return [node for node in workers._nodes.values() if node.layers]


def node_of(workers: RayWorkers, started: Any) -> Node:
    return workers._nodes[started.node_id]


async def judge_many(judge: Apply, count: int) -> list[Any]:
    """The values of as many different programs, all open at once."""
    batches = await asyncio.gather(
        *(judge(SLOW.format(n), "f", LISTS, "values") for n in range(count))
    )
    return [[one["value"] for one in batch.values or ()] for batch in batches]


def processes_of(parent: int, name: str) -> list[int]:
    """The process ids of the children of a process whose command begins with a name."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_text()
            status = (entry / "status").read_text()
        except OSError:
            continue
        if command.startswith(name) and f"PPid:\t{parent}\n" in status:
            found.append(int(entry.name))
    return found


def raylet_of(node: Any) -> int:
    return int(node.all_processes["raylet"][0].process.pid)


def test_calls_on_a_node_that_is_killed_are_made_on_another(cluster: Any, spare: Any) -> None:
    async def work(workers: RayWorkers, judge: Apply) -> Any:
        doomed = node_of(workers, spare)
        calls = asyncio.create_task(judge_many(judge, 6))
        await until(lambda: doomed.running > 0)
        cluster.remove_node(spare, allow_graceful=False)
        values = await calls
        async with asyncio.timeout(60):
            while not doomed.lost:  # all calls on the node were answered before it died
                values += await judge_many(judge, 6)
        return values, workers.describe_nodes()

    values, described = use(work)
    assert values == [REVERSED] * len(values) and len(values) >= 6
    assert sum(one["lost"] for one in described) == 1


def test_an_actor_that_is_killed_is_replaced_on_its_node(cluster: Any, spare: Any) -> None:
    async def work(workers: RayWorkers, judge: Apply) -> Any:
        first = node_of(workers, spare)
        calls = asyncio.create_task(judge_many(judge, 6))
        await until(lambda: first.running > 0)
        (actor,) = processes_of(raylet_of(spare), "ray::NodeWorker")
        os.kill(actor, signal.SIGKILL)
        values = await calls
        await until(lambda: workers._nodes.get(first.id) not in (None, first))
        replaced = workers._nodes[first.id]
        again = await judge_many(judge, 6)
        return values, again, bool(replaced.sent)

    assert use(work) == ([REVERSED] * 6, [REVERSED] * 6, True)


def test_a_node_that_joins_later_gets_work(cluster: Any) -> None:
    later = []

    async def work() -> Any:
        workers = await open_workers("ray")
        assert isinstance(workers, RayWorkers)
        try:
            oracle = await workers.open_oracle(EXECUTE, OracleSettings(workers=1))
            later.append(cluster.add_node(num_cpus=1, resources={"sandbox": 1}))
            await until(lambda: later[0].node_id in workers._nodes)
            values = await judge_many(oracle.with_limits(LIMITS), 6)
            return values, bool(node_of(workers, later[0]).sent)
        finally:
            await workers.close()

    try:
        values, worked = asyncio.run(work())
    finally:
        for node in later:
            cluster.remove_node(node, allow_graceful=False)
    assert values == [REVERSED] * 6 and worked


def test_keyed_requests_go_to_one_node_and_move_only_when_it_is_lost() -> None:
    """In proportion to the cores, too."""
    from peirce.tools.workers.node import choose_node

    nodes = [Node(name, name, cpus, {}, None) for name, cpus in (("a", 1), ("b", 1), ("c", 2))]
    keys = [f"key {n}" for n in range(2_000)]
    chosen = {key: choose_node(nodes, key) for key in keys}
    shares = Counter(node.name for node in chosen.values() if node)
    assert 0.4 < shares["c"] / 2_000 < 0.6 and min(shares.values()) > 350
    without = {key: choose_node(nodes[1:], key) for key in keys}
    moved = [key for key in keys if without[key] is not chosen[key]]
    assert moved == [key for key in keys if chosen[key] is nodes[0]]


def test_without_a_node_all_calls_give_up_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peirce.tools.workers.ray_cluster.WAIT_S", 0.5)

    async def wait() -> list[float]:
        workers, loop = RayWorkers(), asyncio.get_running_loop()
        waited = []
        for _ in range(2):
            begin = loop.time()
            with pytest.raises(Unavailable, match="had no node for this work"):
                await workers.call(lambda node, stand_in: None, bool)
            waited.append(loop.time() - begin)
        return waited

    first, second = asyncio.run(wait())
    assert first >= 0.4 and second < 0.25


def test_after_a_late_duplicate_a_session_has_each_call_once_and_its_digest(
    cluster: Any, spare: Any, tmp_path: Path
) -> None:
    """A node is stopped until the cluster takes it for dead, and then goes on."""
    local = peirce.run("list_functions", store=tmp_path / "local.duckdb", **SESSION)
    begun = threading.Event()

    def run() -> peirce.Session:
        return peirce.run(
            "list_functions",
            store=tmp_path / "ray.duckdb",
            cluster="ray",
            on_event=lambda event: begun.set() if event["type"] == "call" else None,
            **SESSION,
        )

    raylet = raylet_of(spare)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        assert begun.wait(60)
        stopped = [raylet, *processes_of(raylet, "ray::")]
        for process in stopped:
            os.kill(process, signal.SIGSTOP)
        assert not running.done()  # this came to pass during the session
        session = running.result()
        for process in stopped:
            with_signal(process, signal.SIGCONT)
    assert session.digest == local.digest
    counted, nodes = read_calls(tmp_path / "ray.duckdb")
    assert counted == read_calls(tmp_path / "local.duckdb")[0] and set(counted.values()) == {1}
    assert [one["lost"] for one in nodes].count(True) == 1


def read_calls(path: Path) -> tuple[Counter[Any], list[Any]]:
    """How often the last session of a store has each call, and its nodes."""
    store = Store.open(path, write=False)
    try:
        session = store.session(store.find_session("last"))
        calls = store.calls(session["session"])
        return Counter((one["problem"], one["path"]) for one in calls), session.get("nodes", [])
    finally:
        store.close()


def with_signal(process: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, number)


def test_a_driver_that_is_killed_is_resumed_with_the_same_digest(
    cluster: Any, spare: Any, tmp_path: Path
) -> None:
    local = peirce.run("list_functions", store=tmp_path / "local.duckdb", **SESSION)
    store = tmp_path / "ray.duckdb"
    environment = {**os.environ, "RAY_ADDRESS": cluster.address, "PEIRCE_CLUSTER": "ray"}
    command = [sys.executable, "-m", "peirce"]
    options = [f"--{name.replace('_', '-')}={value}" for name, value in SESSION.items()]
    driver = subprocess.Popen(
        [*command, "run", "list_functions", *options, "--store", store],
        env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert driver.stderr is not None
    while not re.search(r"\[[1-9]/6\]", driver.stderr.readline()):
        assert driver.poll() is None
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    resumed = subprocess.run(
        [*command, "resume", "last", "--store", store, "--json", "--quiet"],
        env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout)["digest"] == local.digest


# Runs a command in a user namespace that allows no others, without capabilities: as on a machine
# where the sandbox can take neither another user nor namespaces.
CONFINED = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
if libc.unshare(0x10000000):  # CLONE_NEWUSER
    sys.exit(77)
for name, text in (("setgroups", "deny"), ("uid_map", f"0 {sys.argv[1]} 1"), ("gid_map", f"0 {sys.argv[2]} 1")):
    open(f"/proc/self/{name}", "w").write(text)
open("/proc/sys/user/max_user_namespaces", "w").write("0")
for capability in range(64):
    libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
os.execv(sys.argv[3], sys.argv[3:])
"""


def test_with_strict_sandbox_a_node_without_a_layer_gets_no_untrusted_code(
    cluster: Any, tmp_path: Path
) -> None:
    """The node is a real one, which lacks the layers for real."""
    ray = Path(sys.executable).with_name("ray")
    node = subprocess.Popen(
        [sys.executable, "-c", CONFINED, str(os.getuid()), str(os.getgid()), ray, "start",
         "--address", cluster.address, "--num-cpus=1", '--resources={"sandbox": 1}', "--block"],
        start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip

    async def work() -> Any:
        workers = await open_workers("ray")
        assert isinstance(workers, RayWorkers)
        try:
            while len(nodes := [n for n in workers._nodes.values() if n.isolates]) < 2:
                if node.poll() == 77:
                    pytest.skip("NO USER NAMESPACES HERE: --strict-sandbox is not tested on nodes")
                await asyncio.sleep(0.1)
            oracle = await workers.open_oracle(EXECUTE, OracleSettings(workers=1, strict=True))
            refused = [one["refused"] for one in workers.describe_nodes()]
            values = await judge_many(oracle.with_limits(LIMITS), 6)
            return values, refused, [bool(one.sent) for one in nodes], oracle.layers()
        finally:
            await workers.close()

    try:
        values, refused, worked, layers = asyncio.run(work())
    finally:
        with_signal(node.pid, signal.SIGTERM)
        node.wait()
    assert values == [REVERSED] * 6
    unoffered, lacking = sorted(filter(None, refused))
    assert "does not offer the resource sandbox" in unoffered
    assert "lacks requested layers" in lacking and "network_namespace" in lacking
    assert sorted(worked) == [False, True] and all(layers.values())


# Ends the node to which the driver belongs, as `ray stop` does, while a call is open.
ENDED = """
import asyncio, os, signal
import ray
from peirce.records import Limits, OracleSettings, InputSet, PeirceError
from peirce.tools.execute import EXECUTE
from peirce.tools.workers import open_workers
from ray.cluster_utils import Cluster

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
cluster.add_node(num_cpus=1, resources={"sandbox": 1})
ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")

async def work():
    workers = await open_workers("ray")
    oracle = await workers.open_oracle(EXECUTE, OracleSettings(workers=1))
    judge = oracle.with_limits(Limits(loop_steps=10**9, input_cpu_s=60, cpu_s=60, wall_s=60))
    source = "def f(x):\\n    while True:\\n        pass"
    call = asyncio.create_task(judge(source, "f", InputSet("one", (1,)), "codes"))
    await asyncio.sleep(1)
    os.kill(cluster.head_node.all_processes["raylet"][0].process.pid, signal.SIGTERM)
    try:
        await asyncio.wait_for(call, 30)
    except PeirceError as error:
        print(error)
    await oracle.close()
    await workers.close()

asyncio.run(work())
os._exit(0)
"""


def test_a_driver_whose_own_node_ends_says_so(cluster: Any) -> None:
    """In a process of its own, as the cluster of the other tests would end with it."""
    ended = subprocess.run([sys.executable, "-c", ENDED], capture_output=True, text=True)
    assert ended.stdout == (
        "The Ray node to which this process belongs has ended. Start it again, and go on with"
        " `peirce resume`.\n"
    ), ended.stderr
