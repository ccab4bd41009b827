"""The layers of the backend `process`. What it answers is in test_conformance.py, what it withstands
in tests/hostile."""

from __future__ import annotations

import asyncio

import pytest
from peirce.records import Sandbox, SandboxUnavailable
from peirce.sandbox import open_sandbox
from peirce.sandbox.pool import Link, PooledSandbox
from peirce.sandbox.process import start_zygote


def layers_of(sandbox: Sandbox) -> dict[str, bool]:
    return dict(sandbox.layers())


def test_layers_are_what_a_child_could_take_and_strict_refuses_where_one_is_missing() -> None:
    async def session(strict: bool) -> tuple[dict[str, bool], list[str]]:
        sandbox = await open_sandbox("process", workers=1, strict=strict)
        try:
            layers = layers_of(sandbox)
            return layers, [name for name, held in layers.items() if not held]
        finally:
            await sandbox.close()

    layers, missing = asyncio.run(session(False))
    required = ("process_group", "rlimits", "empty_environment", "closed_descriptors")
    assert all(layers[name] for name in required)
    assert set(map(type, layers.values())) == {bool}
    if missing:
        with pytest.raises(SandboxUnavailable, match=f"{missing[0]}.*--strict-sandbox"):
            asyncio.run(session(True))
    else:
        assert asyncio.run(session(True)) == (layers, [])


def test_a_missing_wanted_layer_is_refused_when_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    async def without_a_filter() -> Link:
        link = await start_zygote()
        link.adds["seccomp"] = False
        return link

    async def session() -> None:
        sandbox = PooledSandbox(without_a_filter, 1)
        await sandbox.start(strict=True)

    with pytest.raises(SandboxUnavailable, match=r"wanted layers \(.*seccomp.*--strict-sandbox"):
        asyncio.run(session())
