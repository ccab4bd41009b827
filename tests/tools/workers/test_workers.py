"""The local workers and those of a Ray cluster compute the same.

Internals: the protocol is tested directly, because a session uses only a part of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import peirce
import pytest
from peirce.records import (
    InputSet,
    Limits,
    OracleSettings,
    UsageError,
    Workers,
    digest_of,
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

    reversed_lists, divided, malformed, opened = work(use)[::2]
    assert [reversed_lists[0], divided[0], malformed[0]] == ["ok", "ok", "syntax"]
    assert len(set(reversed_lists[1])) == len(LISTS) and sum(divided[2]) == 1
    assert opened[0] != "ok" or all(opened[2])
    values = work(use)[1][3]
    assert [one["value"] for one in values] == [list(reversed(one)) for one in LISTS.inputs]


def test_a_service_answers_by_key_and_keeps_its_inputs(work: Any) -> None:
    shown = [[[1, 2, 3], [3, 2, 1]], [[4, 5], [5, 4]], [[7], [7]]]
    request = {"shown": shown, "told": {}, "space": LISTS.digest, "expansions": 20_000,
               "earlier": [], "skip": []}  # fmt: skip

    async def use(workers: Workers) -> Any:
        service = workers.open_service(".".join(("peirce", "search", "worker")), 1)
        first = await service.ask(digest_of(shown), request, LISTS)
        again = await service.ask(
            digest_of(shown), {**request, "earlier": [first["source"]]}, LISTS
        )
        await service.close()
        return first, again

    first, again = work(use)
    assert "x[::-1]" in first["source"] or "reversed" in first["source"]
    assert again["source"] != first["source"]


def test_results_of_map_come_in_the_order_of_the_items(work: Any) -> None:
    async def use(workers: Workers) -> list[int]:
        return await asyncio.to_thread(lambda: list(workers.map(abs, range(-20, 20))))

    assert work(use) == [abs(n) for n in range(-20, 20)]


def test_only_a_node_that_offers_it_runs_untrusted_code(cluster: Any) -> None:
    async def use() -> Any:
        workers = await open_workers("ray")
        try:
            await workers.open_oracle(EXECUTE, OracleSettings())
            return workers.nodes()
        finally:
            await workers.close()

    nodes = asyncio.run(use())
    able = [node for node in nodes if node.resources.get("sandbox")]
    assert [bool(node.layers) for node in able] == [True]
    others = [node for node in nodes if node not in able]
    assert others and all("does not offer the resource sandbox" in one.refused for one in others)


def test_a_solver_needs_no_sandbox_resource_to_be_right(work: Any) -> None:
    async def use(workers: Workers) -> Any:
        oracle = await workers.open_oracle(SOLVE, OracleSettings())
        await oracle.close()
        return oracle.layers()

    assert work(use) == {}


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
