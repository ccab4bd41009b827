"""The contract of limits of the backend `process`: what each kind of misbehaviour comes to, that the
next hypothesis is served as if nothing had been, and that nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from peirce.records import Batch, InputSet, Keep, Limits, Sandbox, SandboxUnavailable
from peirce.sandbox import open_sandbox
from peirce.sandbox.inside.canonical import code_of
from peirce.sandbox.pool import Link, PooledSandbox
from peirce.sandbox.process import start_zygote

TEN = InputSet("ten", tuple([n, n + 1] for n in range(10)))
TIGHT = Limits(
    loop_steps=2_000, input_cpu_s=0.1, cpu_s=1.0, wall_s=4.0, memory_mb=128, output_bytes=200_000
)
HONEST = "def f(x):\n    return x[::-1]"


def runs(
    *sources: str, inputs: InputSet = TEN, keep: Keep = "values", limits: Limits = TIGHT,
    workers: int = 1,
) -> list[Batch]:  # fmt: skip
    """The batches of the sources, one after the other on one sandbox, and an honest one at the
    end that must come out right."""

    async def session() -> list[Batch]:
        sandbox = await open_sandbox("process", workers=workers)
        try:
            digest = await sandbox.put(inputs)
            batches = [await sandbox.run(s, "f", digest, keep, limits) for s in sources]
            await sandbox.put(TEN)
            after = await sandbox.run(HONEST, "f", TEN.digest, "values", TIGHT)
            assert values(after) == [[n + 1, n] for n in range(10)]
            return batches
        finally:
            await sandbox.close()

    return asyncio.run(session())


def values(batch: Batch) -> list[Any]:
    assert batch.verdict == "ok" and batch.values is not None, (batch.verdict, batch.detail)
    return [v.get("value", v.get("undefined")) for v in batch.values]


def test_values_and_codes_tell_the_same() -> None:
    source = "def f(x):\n    return (x[0], {x[1]: float('nan')}) if x[0] % 2 else x[5]"
    (kept,) = runs(source)
    (coded,) = runs(source, keep="codes")
    assert kept.values is not None and coded.values is None
    assert kept.values[0] == {"undefined": "IndexError"}
    assert kept.values[1] == {"value": [1, {"$dict": [[2, {"$float": "nan"}]]}]}
    assert kept.codes.tolist() == coded.codes.tolist()
    assert kept.reasons.tolist() == coded.reasons.tolist() == [1, 0] * 5
    assert kept.codes[1] == code_of([1, {2: float("nan")}]) and kept.codes[0] == 0
    assert coded.codes.dtype == np.int64 and coded.reasons.dtype == np.uint8
    assert coded.reason_names == ("IndexError",) and not coded.limited


def test_endless_loops_on_many_inputs_end_the_batch_after_a_count_and_not_by_a_clock() -> None:
    source = "def f(x):\n    while x[0] > 3:\n        pass\n    return x"
    six_times = replace(TIGHT, batch_loop_steps=6 * TIGHT.loop_steps)
    one_less = replace(TIGHT, batch_loop_steps=5 * TIGHT.loop_steps - 1)
    ended, cut = (runs(source, limits=limits)[0] for limits in (six_times, one_less))
    assert values(ended) == [[n, n + 1] if n < 4 else "steps" for n in range(10)]
    assert cut.verdict == "too_slow" and "passes" in cut.detail and cut.limited


def test_an_endless_loop_is_undefined_after_a_count_and_the_rest_has_values() -> None:
    source = "def f(x):\n    while x[0] == 3:\n        pass\n    return x[0]"
    first, second = runs(source, source)
    assert values(first) == [0, 1, 2, "steps", 4, 5, 6, 7, 8, 9] == values(second)
    assert first.limited


def test_deep_recursion_is_undefined_and_a_legal_depth_is_not() -> None:
    source = "def f(x):\n    def g(n):\n        return 0 if n == 0 else 1 + g(n - 1)\n    return g(x[0] * 200)"
    (batch,) = runs(source)
    assert values(batch) == [0, 200, 400, 600, 800] + ["RecursionError"] * 5


def test_a_for_loop_that_runs_on_is_a_timeout_of_that_input() -> None:
    source = "def f(x):\n    for _ in iter(int, x[0] != 4):\n        pass\n    return x[0]".replace(
        "iter(int, x[0] != 4)", "(iter(int, 1) if x[0] == 4 else [])"
    )
    (batch,) = runs(source)
    assert values(batch) == [0, 1, 2, 3, "timeout", 5, 6, 7, 8, 9] and batch.limited


def test_a_timeout_that_is_swallowed_still_counts() -> None:
    source = """
def f(x):
    if x[0] == 4:
        try:
            for _ in iter(int, 1): pass
        except BaseException:
            return 'cheated'
    return x[0]
"""
    (batch,) = runs(source)
    assert values(batch) == [0, 1, 2, 3, "timeout", 5, 6, 7, 8, 9]


TOO_SLOW = {
    "swallows every timeout": "def f(x):\n    for _ in iter(int, 1):\n        try:\n            for _ in iter(int, 1): pass\n        except BaseException: pass",
    "a call of C code without end": "def f(x):\n    return 10 ** 10 ** 9",
    "ignores the signals": "import signal\nfor s in (signal.SIGPROF, signal.SIGXCPU, signal.SIGTERM): signal.signal(s, signal.SIG_IGN)\ndef f(x):\n    for _ in iter(int, 1): pass",
    "an endless top level": "for _ in iter(int, 1): pass\ndef f(x): return x",
}


@pytest.mark.parametrize("name", TOO_SLOW)
def test_what_no_input_limit_ends_is_too_slow_as_a_whole(name: str) -> None:
    start = time.monotonic()
    (batch,) = runs(TOO_SLOW[name])
    assert batch.verdict == "too_slow" and batch.limited
    assert batch.reasons.tolist() == [1] * 10 and batch.reason_names == ("too_slow",)
    assert batch.values is None and time.monotonic() - start < 15


def test_sleeping_ends_at_once_where_the_kernel_lets_it_and_else_by_the_wall() -> None:
    limits = Limits(wall_s=2)
    start = time.monotonic()
    (batch,) = runs("import time\ndef f(x):\n    time.sleep(9)", limits=limits)
    if batch.verdict == "ok":
        assert set(values(batch)) == {"PermissionError"} and time.monotonic() - start < 2
    else:
        assert (batch.verdict, batch.detail) == ("too_slow", "wall time")
    assert time.monotonic() - start < 10


def test_a_memory_bomb_is_undefined_and_the_rest_has_values() -> None:
    source = "def f(x):\n    if x[0] == 2:\n        y = [0] * 10**9\n    if x[0] == 5:\n        y = bytearray(2**31)\n    return x[0]"
    (batch,) = runs(source)
    assert values(batch) == [0, 1, "MemoryError", 3, 4, "MemoryError", 6, 7, 8, 9]


def test_memory_that_is_kept_from_call_to_call_runs_out() -> None:
    source = "kept = []\ndef f(x):\n    kept.append(bytearray(2**25))\n    return x[0]"
    (batch,) = runs(source)
    assert values(batch)[0] == 0 and values(batch)[-1] == "MemoryError" and batch.limited


def test_a_flood_of_output_is_one_verdict() -> None:
    flood = InputSet("many", tuple([n] for n in range(100)))
    (batch,) = runs("def f(x):\n    return 'x' * 10_000", inputs=flood)
    assert batch.verdict == "output_too_large" and batch.limited
    (batch,) = runs("def f(x):\n    return 'x' * 10_000", inputs=flood, keep="codes")
    assert batch.verdict == "ok" and len(set(batch.codes.tolist())) == 1


def test_one_value_too_large_is_undefined() -> None:
    (batch,) = runs("def f(x):\n    return 'x' * (100_000 * (x[0] == 1))")
    assert values(batch) == ["", "too_large", *[""] * 8]


def test_floods_of_print_and_of_stderr_go_nowhere() -> None:
    source = "import sys\ndef f(x):\n    print('x' * 10**6)\n    sys.stderr.write('y' * 10**6)\n    return input() if x[0] == 3 else x[0]"
    (batch,) = runs(source)
    assert values(batch) == [0, 1, 2, "EOFError", 4, 5, 6, 7, 8, 9]


def test_exits_and_custom_exceptions_are_undefined() -> None:
    source = """
import sys
class Mine(KeyError):
    def __str__(self): raise SystemExit
    __repr__ = __str__
class Base(BaseException): pass
def f(x):
    if x[0] == 0: sys.exit(0)
    if x[0] == 1: raise KeyboardInterrupt
    if x[0] == 2: raise Mine
    if x[0] == 3: raise Base
    if x[0] == 4: raise GeneratorExit
    if x[0] == 5: raise ExceptionGroup('a', [ValueError()])
    return x[0]
"""
    (batch,) = runs(source)
    assert values(batch) == ["exit", "exit", "Exception", "Exception", "exit", "ExceptionGroup", 6, 7, 8, 9]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "detail"),
    [
        ("import os\ndef f(x):\n    os._exit(0)", "status 0"),
        ("import os\ndef f(x):\n    os.kill(os.getpid(), 15)", "signal 15"),
        ("import ctypes\ndef f(x):\n    ctypes.string_at(0)", "signal 11"),
        (
            "import sys\nsys.setrecursionlimit(10**9)\ndef f(x):\n    return sorted([x], key=f)",
            "signal 11",
        ),
        ("import os\ndef f(x):\n    os.close(3)", "its result"),
    ],
    ids=["exit", "sigterm", "null pointer", "stack", "closed result"],
)
def test_a_death_is_a_crash_and_no_timeout(source: str, detail: str) -> None:
    (batch,) = runs(source, limits=Limits(wall_s=20))
    assert batch.verdict == "crashed" and detail in batch.detail and not batch.limited


FORGED = {
    "no frame": "os.write(3, b'[1, 2, 3]' * 10)",
    "half a frame": "os.write(3, b'PEI1')",
    "a right frame without the nonce": "b = b'{\"verdict\": \"ok\", \"reason_names\": []}'; os.write(3, struct.pack('<4sIQ', b'PEI1', len(b), 90) + b + bytes(90))",
    "a header that is no JSON": "os.write(3, struct.pack('<4sIQ', b'PEI1', 4, 0) + b'\\xff\\xfe{}')",
    "a header of many brackets": "os.write(3, struct.pack('<4sIQ', b'PEI1', 60000, 0) + b'[' * 60000)",
    "a header too long": "os.write(3, struct.pack('<4sIQ', b'PEI1', 70000, 0) + b' ' * 70000)",
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_result_is_a_breach_of_protocol(name: str) -> None:
    source = f"import os, struct\ndef f(x):\n    {FORGED[name]}\n    os._exit(0)"
    (batch,) = runs(source)
    assert batch.verdict == "protocol" and batch.values is None and (batch.reasons == 1).all()


def test_a_frame_that_declares_too_much_is_refused_unread() -> None:
    source = "import os, struct\ndef f(x):\n    os.write(3, struct.pack('<4sIQ', b'PEI1', 2, 2**60) + b'{}')\n    os._exit(0)"
    (batch,) = runs(source)
    assert batch.verdict == "output_too_large"


def test_objects_that_lie_about_equality_have_no_value() -> None:
    source = """
class Liar(int):
    def __eq__(self, other): return True
    def __hash__(self): return 0
    def __index__(self): return 7
class Pretender:
    __class__ = int
    def __eq__(self, other): return True
    def __index__(self): return 7
class Sequence(list):
    def __eq__(self, other): return True
    def __iter__(self): return iter([1])
def f(x):
    return [Liar(1), [Pretender()], (Pretender(), 1), Sequence([1]), {1: Liar(2)}, [[Sequence()]]][x[0] % 6]
"""
    for keep in ("values", "codes"):
        (batch,) = runs(source, keep=keep)  # type: ignore[arg-type]
        assert batch.verdict == "ok" and batch.reason_names == ("unrepresentable",)
        assert not batch.codes.any() and (batch.reasons == 1).all()


@pytest.mark.parametrize(
    "inputs", [TEN, InputSet("grids", tuple([[n], [n, 2]] for n in range(10)))]
)
def test_a_mutated_argument_reaches_neither_the_next_call_nor_the_next_batch(
    inputs: InputSet,
) -> None:
    source = "def f(x):\n    x[0] = x[0]\n    x.append(7)\n    x[0:1] = []\n    return x"
    identity = "def f(x):\n    return x"
    first, second, after = runs(source, source, identity, inputs=inputs)
    assert values(first) == values(second) == [[*x[1:], 7] for x in inputs.inputs]
    assert values(after) == list(inputs.inputs)


def test_a_child_finds_no_environment_no_descriptors_and_no_files_to_write(tmp_path: Path) -> None:
    source = f"""
import os
def f(x):
    if x[0] == 3: import resource
    if x[0] == 0: return dict(os.environ)
    if x[0] == 1: return sorted(int(n) for n in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + n) and int(n) != 4)
    if x[0] == 2: return open({str(tmp_path / "hole")!r}, 'w').write('x' * 10_000)
    if x[0] == 3: return resource.getrlimit(resource.RLIMIT_CORE)
    if x[0] == 4: return len(os.environ)
    if x[0] == 5: return 0
    if x[0] == 6: return len([os.open('/dev/null', 0) for _ in range(100)])
    return sorted({{'a', 'b', 'c'}}) + [hash('a') != 0]
"""
    (batch,) = runs(source)
    got = values(batch)
    assert got[0] == {} and got[1] in ([0, 1, 2, 3], "FileNotFoundError")
    assert got[3] in ([0, 0], "ModuleNotFoundError") and got[4] == 0
    assert got[2] in ("FileNotFoundError", "PermissionError") and not (tmp_path / "hole").exists()
    assert got[6] in ("FileNotFoundError", "PermissionError")


def test_the_environment_that_the_kernel_tells_of_is_the_one_the_backend_gives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not Path("/proc/self/environ").exists():
        pytest.skip("/proc/self/environ is on Linux alone")
    monkeypatch.setenv("PEIRCE_PLANTED", "mark-of-the-environment")
    source = "def f(x):\n    with open(f'/proc/{x}/environ') as file:\n        return file.read().split('\\0')"
    (batch,) = runs(source, inputs=InputSet("whose", ("self", "thread-self")))
    for told in values(batch):
        assert told in (["PYTHONHASHSEED=0", ""], "PermissionError", "FileNotFoundError")


def test_sets_and_random_numbers_are_the_same_in_every_worker() -> None:
    source = """
import random
def f(x):
    return [list({'a', 'b', 'c', str(x[0])}), random.random(), random.sample(range(100), 3), hash('a')]
"""
    (first,), (second,) = runs(source), runs(source)
    assert values(first) == values(second)
    assert len({str(v[1]) for v in values(first)}) == 1  # seeded for each input


def test_codes_do_not_depend_on_the_number_of_workers() -> None:
    space = InputSet("more", tuple([n, n % 7, n * n] for n in range(500)))
    sources = [
        "def f(x):\n    return sorted(x)",
        "def f(x):\n    return [x[x[1]]]",
        "def f(x):\n    while x[0] % 5: pass\n    return x",
        "def f(x):\n    return list({str(v) for v in x})",
    ]

    async def session(workers: int) -> list[tuple[Any, ...]]:
        sandbox = await open_sandbox("process", workers=workers)
        try:
            digest = await sandbox.put(space)
            work = (sandbox.run(s, "f", digest, "codes", Limits(loop_steps=100)) for s in sources)
            batches = await asyncio.gather(*work)
            return [(b.codes.tolist(), b.reasons.tolist(), b.reason_names) for b in batches]
        finally:
            await sandbox.close()

    assert asyncio.run(session(1)) == asyncio.run(session(3))


def test_awkward_inputs_arrive_as_they_are() -> None:
    awkward: tuple[Any, ...] = ("\ud800 é", 2**100, -0.5, None, True, [], [[1], {"a": [None]}], {"k": 1}, float("inf"))  # fmt: skip
    for inputs in (InputSet("mixed", awkward), InputSet("none", ())):
        (batch,) = runs("def f(x):\n    return [x, type(x).__name__]", inputs=inputs)
        expected = [code_of([x, type(x).__name__]) for x in inputs.inputs]
        assert batch.verdict == "ok" and batch.codes.tolist() == expected


def test_children_that_left_their_group_are_ended_too(tmp_path: Path) -> None:
    if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
        pytest.skip("orphans can be found on Linux alone")
    source = """
import os, time
def f(x):
    if x[0] == 0:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.setsid()
                time.sleep(600)
            os._exit(0)
    return x[0]
"""
    before = processes()
    (batch,) = runs(source)
    assert batch.verdict == "ok"  # a value, or BlockingIOError where forks are forbidden
    assert processes() == before


def processes() -> set[int]:
    """Live descendants of this process, orphans of the sandbox among them by their command."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if b"harness.py" in (entry / "cmdline").read_bytes():
                    parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
                    found.add((int(entry.name), parent))
            except OSError:
                continue
    return {pid for pid, parent in found if int(parent) in (1, os.getpid())}


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
