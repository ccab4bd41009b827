"""Sandboxes of the docker backend, and a look at their containers from outside.

Internals: containers are looked at from outside, by the engine's own client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from peirce.records import InputSet, Limits
from peirce.sandbox import open_sandbox
from peirce.sandbox.backends import docker as backend
from peirce.sandbox.backends import engine
from peirce.sandbox.backends.docker import DockerSandbox

TEN = InputSet("ten", tuple([n] for n in range(10)))

IDENTITY = "def f(x):\n    return x"

LIMITS = Limits(wall_s=20)

BUSY = "def f(x):\n    for _ in range(10**12):\n        pass"


def session(work: Callable[[DockerSandbox], Awaitable[None]], workers: int = 1) -> None:
    async def run() -> None:
        sandbox = await open_sandbox("docker", workers=workers)
        assert isinstance(sandbox, DockerSandbox)
        await sandbox.put(TEN)
        try:
            await work(sandbox)
        finally:
            await sandbox.close()

    asyncio.run(run())


async def honest(sandbox: DockerSandbox) -> None:
    batch = await sandbox.run(IDENTITY, "f", TEN.digest, "values", LIMITS)
    assert batch.values == tuple({"value": [n]} for n in range(10)), batch


def names(sandbox: DockerSandbox) -> list[str]:
    return [slot.link.zygote.name for slot in sandbox._slots if slot.link]  # type: ignore[attr-defined]


def inside(client: Any, name: str, program: str) -> str:
    """Standard output of a program that runs beside the zygote, under the container's limits."""
    made = client.exec_create(name, [backend.image.PYTHON, "-c", program])
    return str(client.exec_start(made["Id"]).decode())


def ours(client: Any) -> list[str]:
    found = client.containers(all=True, filters={"label": f"{engine.OWNER}={engine.owner_label()}"})
    return [one["Names"][0].lstrip("/") for one in found]
