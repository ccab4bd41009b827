"""A Ray cluster of two raylets on this machine, of which one may run untrusted code. The tests of this
room share it, because it takes longer to start than most of them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

ROOM = Path(__file__).parent
RAY_CONFIG = {  # a node that is silent for ten seconds is taken for dead
    "health_check_initial_delay_ms": 1_000,
    "health_check_period_ms": 1_000,
    "health_check_timeout_ms": 2_000,
    "health_check_failure_threshold": 5,
}
started: list[Any] = []


@pytest.fixture
def cluster() -> Any:
    pytest.importorskip("ray", reason="NO RAY HERE: pip install 'peirce[cluster]'")
    if not started:
        started.append(start_cluster())
    wait_for_two_nodes()
    return started[0]


def wait_for_two_nodes() -> None:
    """Wait until the nodes that earlier tests have added and removed are known to be gone."""
    import ray

    end = time.monotonic() + 120
    while sum(one["Alive"] and bool(one["Resources"].get("CPU")) for one in ray.nodes()) != 2:
        assert time.monotonic() < end, ray.nodes()
        time.sleep(0.1)


def start_cluster() -> Any:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_AUTH_MODE"] = "disabled"  # else it depends on whether this user has a token
    import ray
    from ray.cluster_utils import Cluster

    found = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 0,
            "include_dashboard": False,
            "_system_config": RAY_CONFIG,
        },
    )
    for resources in ({"sandbox": 1}, {}):
        found.add_node(num_cpus=1, resources=resources)
    ray.init(address=found.address, log_to_driver=False, logging_level="ERROR")
    return found


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Stop the cluster after the last test of the room."""
    if started and (nextitem is None or not nextitem.path.is_relative_to(ROOM)):
        import ray

        ray.shutdown()
        started.pop().shutdown()
