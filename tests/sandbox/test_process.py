"""The layers of the backend `process`. What it answers is in test_conformance.py, what it withstands
in tests/hostile.

Internals: a zygote is started without the layers that the backend would insist on.
"""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from peirce.records import Batch, InputSet, Limits, Sandbox, SandboxUnavailable
from peirce.sandbox import open_sandbox
from peirce.sandbox.backends import process
from peirce.sandbox.backends.process import start_zygote
from peirce.sandbox.supervisor.pool import PooledSandbox
from peirce.sandbox.supervisor.zygote import Link


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
        link.extra_layers["seccomp"] = False
        return link

    async def session() -> None:
        sandbox = PooledSandbox(without_a_filter, 1)
        await sandbox.start(strict=True)

    with pytest.raises(
        SandboxUnavailable, match=r"lacks requested layers \(.*seccomp.*--strict-sandbox"
    ):
        asyncio.run(session())


def test_where_the_system_gives_no_layers_the_required_ones_hold_and_work_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on macOS: the zygote is told that this is no Linux."""
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.write_text(
        "import runpy, sys\n"
        "sys.platform = 'darwin'\n"
        f"sys.path.insert(0, {str(process.HARNESS.parent)!r})\n"
        f"runpy.run_path({str(process.HARNESS)!r}, run_name='__main__')\n"
    )
    monkeypatch.setattr(process, "COMMAND", [*process.COMMAND[:-1], str(elsewhere)])
    monkeypatch.setattr(process.ControlGroup, "create", classmethod(lambda cls: None))

    async def session() -> tuple[dict[str, bool], list[Batch]]:
        sandbox = await open_sandbox("process", workers=1)
        try:
            digest = await sandbox.put(InputSet("one", ([1],)))
            sources = ("def f(x):\n    return x", "import os\ndef f(x):\n    os._exit(1)")
            batches = [
                await sandbox.run(sources[n % 2], "f", digest, "values", Limits()) for n in range(4)
            ]
            return dict(sandbox.layers()), batches
        finally:
            await sandbox.close()

    layers, batches = asyncio.run(session())
    required = {"process_group", "rlimits", "empty_environment", "closed_descriptors"}
    assert {name for name, held in layers.items() if held} == required
    assert [batch.verdict for batch in batches] == ["ok", "crashed", "ok", "crashed"]


ORDERS = """
import asyncio
from peirce.records import InputSet, Limits
from peirce.sandbox import open_sandbox
SOURCE = "def f(x):\\n    return [list(map(str, {None, 'a', 'b', 1, 2.5, (None,), x})), list(map(str, {int, str, float, list, dict, set}))]"
async def session():
    async with await open_sandbox("process", workers=1) as sandbox:
        digest = await sandbox.put(InputSet("", tuple(range(20))))
        batch = await sandbox.run(SOURCE, "f", digest, "codes", Limits())
        print(sandbox.layers()["fixed_addresses"], batch.verdict, batch.codes.tolist())
asyncio.run(session())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="addresses are fixed on Linux")
def test_the_order_of_a_set_with_none_does_not_depend_on_the_limit_of_the_stack() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_STACK)
    if hard != resource.RLIM_INFINITY:
        pytest.skip(f"the stack may not be unlimited here, but {hard} bytes at most")
    told = [
        subprocess.run(
            ["sh", "-c", f'ulimit -s {kilobytes}; exec "$0" -c "$1"', sys.executable, ORDERS],
            capture_output=True, text=True, check=True, timeout=100,
        ).stdout
        for kilobytes in ("8192", "unlimited", "300000")
    ]  # fmt: skip
    if told[0].startswith("False"):
        pytest.skip("addresses are not fixed here")
    assert told[0].startswith("True ok") and len(set(told)) == 1, told
