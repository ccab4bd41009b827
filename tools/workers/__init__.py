"""Workers: the processes of this machine, or of the nodes of a Ray cluster, that compute.

`open_workers` opens them by the value of `--cluster`. The driver, which runs the graphs and writes
the store, is not part of them.
"""

from __future__ import annotations

from ...records import UsageError, Workers

CHOICES = ("local", "ray", "ray://HOST")
INSTALL = "--cluster ray needs Ray: pip install 'peirce[cluster]'"


def check_cluster(address: str) -> None:
    """Raise UsageError unless `address` is a valid value of `--cluster`, and Ray is installed if
    it is needed.
    """
    if address == "local":
        return
    if address != "ray" and not (address.startswith("ray://") and address.removeprefix("ray://")):
        raise UsageError(f"cluster is {address!r}: it must be one of {', '.join(CHOICES)}")
    from importlib.util import find_spec

    if find_spec("ray") is None:
        raise UsageError(INSTALL)


async def open_workers(address: str = "local", workers: int | None = None) -> Workers:
    """Open the workers of this machine ("local"), or of a Ray cluster.

    Args:
        address: "local"; "ray" for the cluster that runs on this machine or a new one of this
            machine alone; "ray://HOST:PORT" for the cluster whose client server listens there.
        workers: The cores to claim on each node of a cluster; None for all of them.

    Raises:
        UsageError: The address is invalid, or Ray is not installed.
        Unavailable: The cluster cannot be reached.
    """
    check_cluster(address)
    if address == "local":
        from .local import LocalWorkers

        return LocalWorkers()
    from .ray_cluster import open_cluster

    return await open_cluster(address, workers)
