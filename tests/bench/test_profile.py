"""bench/profile_parts.py: samples of perf and stacks of py-spy are sorted by process and work."""

from __future__ import annotations

from pathlib import Path

PERF = """\
perf  1/1  1.0: PERF_RECORD_COMM exec: python:10/10
python  10/10  1.1:                    cpu-clock:
\t7f2a libpython_eval (/usr/lib/libpython3.11.so.1.0)

python  10/10  1.2: PERF_RECORD_FORK(11:11):(10:10)
python  11/11  1.3: PERF_RECORD_FORK(12:12):(11:11)
python  12/12  1.4:                    cpu-clock:
\tffff do_anonymous_page ([kernel.kallsyms])
\tffff asm_exc_page_fault ([kernel.kallsyms])
\t7f2a memcpy (/usr/lib/libc.so.6)

python  10/13  1.5: syscalls:sys_enter_fdatasync:
\t7f2a fdatasync (/usr/lib/libc.so.6)

python  10/10  1.6:                    cpu-clock:
\t7f2a multiply (/v/lib/python3.11/site-packages/numpy/_core/_multiarray_umath.so)
"""
COMMANDS = {10: "/v/bin/python /v/bin/peirce run acre", 11: "/v/bin/python -s inside/harness.py"}


def test_samples_of_perf_are_counted_by_process_and_work(bench: Path) -> None:
    from profile_parts import read_perf

    found = read_perf(PERF.splitlines(), COMMANDS)
    assert found.work == {
        ("session", "Python"): 1, ("sandbox", "page faults"): 1, ("session", "NumPy and SciPy"): 1,
    }  # fmt: skip
    assert found.forked["sandbox"] == 2  # a process without a command line has its parent's role
    assert found.synced["session"] == 1


def test_a_stack_belongs_to_the_innermost_part_that_is_known(bench: Path) -> None:
    from profile_parts import part_of_stack

    deep = ["run (peirce/commands/x.py:1)", "commit (peirce/store/writer.py:2)"]
    assert part_of_stack([*deep, "dumps (json/__init__.py:3)"], "peirce") == "JSON"
    assert part_of_stack([*deep, "sum (numpy/core.py:3)"], "peirce") == "journal and store"
    loading = "_find_and_load (<frozen importlib._bootstrap>:4)"
    assert part_of_stack([*deep, loading, "f (numpy/x.py:1)"], "peirce") == "imports"
    assert part_of_stack(["f (elsewhere.py:1)"], "peirce") == "other"


def test_a_thread_that_waits_does_not_count(bench: Path) -> None:
    from profile_parts import part_of_stack

    stack = ["run (peirce/store/writer.py:1)", "Condition.wait (threading.py:331)"]
    assert part_of_stack(stack, "peirce") is None and part_of_stack([], "peirce") is None


def test_the_frames_of_a_stack_come_without_its_process(bench: Path) -> None:
    from profile_parts import read_stacks

    line = 'process 7:"peirce run";MainThread (0x1);f (a.py:1);g (b.py:2) 5'
    assert list(read_stacks([line])) == [
        ('process 7:"peirce run"', ["MainThread (0x1)", "f (a.py:1)", "g (b.py:2)"], 5)
    ]
