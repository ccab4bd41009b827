"""A Ray cluster of two raylets on this machine, of which one may run untrusted code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest) -> Iterator[Any]:
    pytest.importorskip("ray", reason="NO RAY HERE: pip install 'peirce[cluster]'")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_AUTH_MODE"] = "disabled"  # else it depends on whether this user has a token
    import ray
    from ray.cluster_utils import Cluster

    found = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 0,
            "include_dashboard": False,
            "_system_config": getattr(request.module, "RAY_CONFIG", None),
        },
    )
    for resources in ({"sandbox": 1}, {}):
        found.add_node(num_cpus=1, resources=resources)
    ray.init(address=found.address, log_to_driver=False, logging_level="ERROR")
    yield found
    ray.shutdown()
    found.shutdown()
