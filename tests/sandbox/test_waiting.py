"""Children that wait for their request: what they hold and may do before it comes, and where none
waits. The process tree of a zygote is looked at from outside.

Internals: a copy of the harness runs on a kernel that seems to have no filter of system calls.
"""

from __future__ import annotations

import asyncio
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from peirce.records import Batch, InputSet, Limits
from peirce.sandbox import open_sandbox
from peirce.sandbox.backends import process
from peirce.sandbox.inside.warming import EXAMPLES, Footprint

pytestmark = pytest.mark.skipif(not Path("/proc/self/pagemap").exists(), reason="looks into /proc")

TEN = InputSet("ten", tuple([n] for n in range(10)))
LARGE = InputSet("large", tuple([n % 7, n] for n in range(40_000)))
IDENTITY = "def f(x):\n    return x"


def children_of(pid: int) -> list[int]:
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def leaves_of(pid: int) -> list[int]:
    below = children_of(pid)
    return [leaf for one in below for leaf in leaves_of(one)] if below else [pid]


def status_of(pid: int, field: str) -> list[str]:
    return (
        Path(f"/proc/{pid}/status").read_text().partition(f"\n{field}:")[2].split("\n")[0].split()
    )


async def at_rest(look: Callable[[dict[str, bool], list[int]], Any]) -> Any:
    """What `look` returns for the layers, and for the last process of each branch of a zygote that
    has served two stages."""
    sandbox = await open_sandbox("process", workers=1)
    try:
        for inputs in (TEN, LARGE, TEN):
            await sandbox.put(inputs)
            await sandbox.run(IDENTITY, "f", inputs.digest, "codes", Limits())
        await asyncio.sleep(0.5)
        (slot,) = sandbox._slots  # type: ignore[attr-defined]
        return look(dict(sandbox.layers()), leaves_of(slot.link.zygote.process.pid))
    finally:
        await sandbox.close()


def test_a_child_that_waits_has_given_up_its_rights() -> None:
    def look(layers: dict[str, bool], leaves: list[int]) -> None:
        if not (layers["process_namespace"] and layers["seccomp"]):
            pytest.skip("no child waits here")
        assert len(leaves) == 2  # of the two stages
        for pid in leaves:
            assert status_of(pid, "CapEff") == status_of(pid, "CapPrm") == ["0" * 16]
            assert status_of(pid, "NoNewPrivs") == ["1"]
            if layers.get("own_user"):
                assert status_of(pid, "Uid")[0] not in ("0", str(Path("/proc/self").stat().st_uid))
            limits = Path(f"/proc/{pid}/limits").read_text()
            assert re.search(r"Max processes +0 +0", limits)
            assert re.search(r"Max file size +0 +0", limits)
            # the null device three times, its result, the stream and the pipe of its request
            assert len(list(Path(f"/proc/{pid}/fd").iterdir())) == 6

    asyncio.run(at_rest(look))


def test_no_process_of_a_zygote_shares_memory_that_it_may_write() -> None:
    def look(layers: dict[str, bool], leaves: list[int]) -> None:
        for pid in leaves:
            maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
            assert maps and not [line for line in maps if line.split()[1][1::2] == "ws"]

    asyncio.run(at_rest(look))


def test_no_child_waits_without_a_filter_of_system_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "inside"
    shutil.copytree(process.HARNESS.parent, inside)
    source = (inside / "jail.py").read_text()
    assert "if os.uname().machine not in _MACHINES" in source
    (inside / "jail.py").write_text(
        source.replace("if os.uname().machine not in _MACHINES", "if True")
    )
    harness = str(inside / "harness.py")
    monkeypatch.setattr(process, "COMMAND", [*process.COMMAND[:-1], harness])

    def look(layers: dict[str, bool], leaves: list[int]) -> None:
        assert not layers["seccomp"]
        for pid in leaves:  # stages, which have all their rights
            assert status_of(pid, "NoNewPrivs") == ["0"]

    asyncio.run(at_rest(look))


def test_the_examples_that_warm_a_zygote_leave_nothing_that_a_hypothesis_sees() -> None:
    source = "import re, random\ndef f(x):\n    return [len(re._cache), random.random()]"

    async def session() -> Batch:
        sandbox = await open_sandbox("process", workers=1)
        try:
            digest = await sandbox.put(TEN)
            return await sandbox.run(source, "f", digest, "values", Limits())
        finally:
            await sandbox.close()

    batch = asyncio.run(session())
    assert (
        batch.verdict == "ok" and batch.values == ({"value": [0, random.Random(0).random()]},) * 10
    )


def test_examples_run_and_end_without_an_exception() -> None:
    for source in EXAMPLES:
        namespace: dict[str, Any] = {}
        exec(source, namespace)
        for x in ([1, 2, 3], [4, 5], []):
            namespace["f"](x)


WRITING = """
from peirce.sandbox.inside.warming import find_written
data = bytearray(2**20)
def work():
    data[::4096] = bytes(len(data) // 4096)
few, many = find_written(lambda: None), find_written(work)
print(len(few), sum(size for _, size in many) - sum(size for _, size in few))
"""


def test_the_written_pages_are_those_that_the_work_writes() -> None:
    # In a process of its own: the heap of a process that has run many tests is one large mapping.
    done = subprocess.run([sys.executable, "-c", WRITING], capture_output=True, text=True, check=True)  # fmt: skip
    few, more = map(int, done.stdout.split())
    if sys.platform.startswith("linux") and few:
        assert 0.9 * 2**20 <= more <= 1.5 * 2**20


def test_a_footprint_can_be_used_by_the_process_that_measured_it() -> None:
    data = [[n] for n in range(1000)]
    footprint = Footprint()
    footprint.add(lambda: data.sort())
    footprint.add(data.reverse)
    footprint.copy_pages()
    assert data == [[n] for n in range(1000)]
