"""The local workers and those of a Ray cluster compute the same.

Internals: the protocol is tested directly, because a session uses only a part of it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce.records import (
    InputSet,
    Limits,
    OracleSettings,
    SandboxUnavailable,
    Unavailable,
    UsageError,
    Workers,
)
from peirce.tools.execute import EXECUTE
from peirce.tools.solve import SOLVE
from peirce.tools.workers import check_cluster, open_workers

LISTS = InputSet("lists", tuple([n, n + 1, 7] for n in range(300)))
SOURCES = (
    "def f(x): return x[::-1]",
    "def f(x): return 1 // (x[0] - 3)",
    "def f(x",
    "def f(x): return open('/etc/passwd')",
)


@pytest.fixture(params=["local", "ray"])
def work(request: pytest.FixtureRequest) -> Callable[[Callable[[Workers], Awaitable[Any]]], Any]:
    """work(use) -> what `use` returns of open workers."""
    if request.param == "ray":
        request.getfixturevalue("cluster")

    def run(use: Callable[[Workers], Awaitable[Any]]) -> Any:
        async def opened() -> Any:
            workers = await open_workers(request.param)
            try:
                return await use(workers)
            finally:
                await workers.close()

        return asyncio.run(opened())

    return run


def test_programs_have_the_results_of_the_sandbox(work: Any) -> None:
    async def use(workers: Workers) -> list[tuple[Any, ...]]:
        oracle = await workers.open_oracle(EXECUTE, OracleSettings(workers=1))
        execute = oracle.with_limits(Limits())
        assert oracle.layers()["process_group"]
        batches = await asyncio.gather(
            *(execute(one, "f", LISTS, keep) for one in SOURCES for keep in ("codes", "values"))
        )
        await oracle.close()
        return [(b.verdict, b.codes.tolist(), b.reasons.tolist(), b.values) for b in batches]

    found = work(use)
    reversed_lists, divided, malformed, opened = found[::2]
    assert [reversed_lists[0], divided[0], malformed[0]] == ["ok", "ok", "syntax"]
    assert len(set(reversed_lists[1])) == len(LISTS) and sum(divided[2]) == 1
    assert opened[0] != "ok" or all(opened[2])
    values = found[1][3]
    assert [one["value"] for one in values] == [list(reversed(one)) for one in LISTS.inputs]


def test_where_no_node_offers_it_untrusted_code_is_refused_and_rules_are_judged(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("peirce.tools.workers.node.SANDBOX", "another resource")

    async def use() -> Any:
        workers = await open_workers("ray")
        try:
            solver = await workers.open_oracle(SOLVE, OracleSettings())
            with pytest.raises(SandboxUnavailable, match="does not offer the resource"):
                await workers.open_oracle(EXECUTE, OracleSettings())
            return solver.layers()
        finally:
            await workers.close()

    assert asyncio.run(use()) == {}


def test_a_node_without_peirce_is_not_used_and_says_why(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "peirce.py").write_text("raise ModuleNotFoundError('No module named peirce')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    unable = cluster.add_node(num_cpus=1)

    async def use() -> list[Any]:
        workers = await open_workers("ray")
        try:
            async with asyncio.timeout(60):
                while len(workers.describe_nodes()) < 3:
                    await asyncio.sleep(0.1)
            return [one["unable"] for one in workers.describe_nodes()]
        finally:
            await workers.close()

    try:
        reasons = asyncio.run(use())
    finally:
        cluster.remove_node(unable, allow_graceful=False)
    assert sorted(reasons, key=str) == [
        "ModuleNotFoundError: No module named peirce", None, None,
    ]  # fmt: skip


def test_nodes_with_another_version_are_not_used_and_say_so(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = version("peirce")
    monkeypatch.setattr("peirce.tools.workers.ray_cluster.version", lambda _: "0.0.1")
    with pytest.raises(Unavailable, match=f"it has Peirce {here}, and the driver has 0.0.1"):
        asyncio.run(open_workers("ray"))


@pytest.mark.parametrize("address", ["", "Ray", "ray:/x", "ray://", "http://x", "kube"])
def test_another_address_is_one_sentence(address: str) -> None:
    with pytest.raises(UsageError, match="must be one of local, ray, ray://HOST"):
        check_cluster(address)


def test_a_session_has_the_same_digest_on_a_cluster(cluster: Any, tmp_path: Any) -> None:
    settings: dict[str, Any] = {
        "problems": 2, "seed": 3, "observations": 4, "model": "search", "max_answers": 3,
    }  # fmt: skip
    digests = {
        where: peirce.run(
            "list_functions", store=tmp_path / f"{where}.duckdb", cluster=where, **settings
        ).digest
        for where in ("local", "ray")
    }
    assert digests["local"] == digests["ray"]


@pytest.mark.soak
def test_a_session_has_the_same_digest_when_a_node_dies_and_another_joins(
    cluster: Any, tmp_path: Any
) -> None:
    settings: dict[str, Any] = {
        "problems": 24, "seed": 4, "observations": 4, "model": "search", "max_answers": 6,
    }  # fmt: skip
    local = peirce.run("list_functions", store=tmp_path / "local.duckdb", **settings)
    doomed = cluster.add_node(num_cpus=1, resources={"sandbox": 1})
    begun = threading.Event()

    def run() -> peirce.Session:
        return peirce.run(
            "list_functions",
            store=tmp_path / "ray.duckdb",
            cluster="ray",
            on_event=lambda event: begun.set() if event["type"] == "call" else None,
            **settings,
        )

    with ThreadPoolExecutor(1) as pool:  # Ray starts and stops nodes in the main thread alone
        running = pool.submit(run)
        assert begun.wait(60)
        cluster.remove_node(doomed, allow_graceful=False)
        cluster.add_node(num_cpus=1, resources={"sandbox": 1})
        assert not running.done()  # all this came to pass during the session
        assert running.result().digest == local.digest
