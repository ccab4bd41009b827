"""Every backend that can be had here. Where one cannot, its tests are skipped and the line says why.

Internals: the engine's connection says whether the Docker backend can be had here.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from peirce.records import Batch, InputSet, Json, Keep, Limits, Sandbox, SandboxUnavailable
from peirce.sandbox import backend_names, open_sandbox
from peirce.sandbox.backends import engine

sys.path.insert(0, str(Path(__file__).parent))  # tests import what lies beside them

Opening = Callable[..., contextlib.AbstractAsyncContextManager[Sandbox]]


@pytest.fixture(scope="session", params=backend_names())
def backend(request: pytest.FixtureRequest) -> str:
    """The name of one that opens."""

    async def session() -> None:
        await (await open_sandbox(request.param, workers=1)).close()

    try:
        asyncio.run(session())
    except SandboxUnavailable as error:
        pytest.skip(f"NO TESTS OF THE BACKEND {request.param.upper()}: {error}")
    return str(request.param)


@pytest.fixture
def opening(backend: str) -> Opening:
    """`async with opening(workers=2, inputs=...) as sandbox`: one of its own, closed at the end."""

    @contextlib.asynccontextmanager
    async def opened(workers: int = 1, inputs: tuple[InputSet, ...] = ()) -> AsyncIterator[Sandbox]:
        sandbox = await open_sandbox(backend, workers=workers)
        try:
            for one in inputs:
                await sandbox.put(one)
            yield sandbox
        finally:
            await sandbox.close()

    return opened


class Served:
    """A sandbox of two workers that a module's tests share. A run is followed by an honest one on
    each worker that must come out right."""

    HONEST = "def f(x):\n    return [x, sum(map(len, map(str, x)))]"
    PAIRS = InputSet("pairs", ([3, 1], [], [22]))
    ANSWERS = tuple({"value": value} for value in ([[3, 1], 2], [[], 0], [[22], 2]))

    def __init__(self, runner: asyncio.Runner, sandbox: Sandbox) -> None:
        self.runner, self.sandbox = runner, sandbox

    def run(
        self, source: str, inputs: InputSet, keep: Keep = "values", limits: Limits | None = None,
        entry: str = "f", equality: Json = None,
    ) -> Batch:  # fmt: skip
        async def session() -> Batch:
            digest = await self.sandbox.put(inputs)
            asked = (source, entry, digest, keep, limits or Limits())
            batch = await self.sandbox.run(*asked, *([] if equality is None else [equality]))
            pairs = await self.sandbox.put(self.PAIRS)
            honest: list[Any] = [
                self.sandbox.run(self.HONEST, "f", pairs, "values", Limits()) for _ in range(2)
            ]
            for after in await asyncio.gather(*honest):
                assert after.values == self.ANSWERS, f"after {source[:80]!r}: {after}"
            return batch

        return self.runner.run(session())


@pytest.fixture(scope="module")
def served(backend: str) -> Iterator[Served]:
    with asyncio.Runner() as runner:
        sandbox = runner.run(open_sandbox(backend, workers=2))
        try:
            yield Served(runner, sandbox)
        finally:
            runner.run(sandbox.close())


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    try:
        connected = engine.connect()
    except SandboxUnavailable as error:
        pytest.skip(f"NO DOCKER ENGINE, THE DOCKER BACKEND AND ITS IMAGES ARE NOT TESTED: {error}")
    yield connected
    connected.close()


@pytest.fixture
def collected() -> Iterator[None]:
    """What a failed connection left in cycles is not for later tests, which count descriptors."""
    yield
    gc.collect()
