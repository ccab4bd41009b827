"""Functions of the package give the same replies in this process, on other processes and on Ray.

Internals: public functions show only what they make of the replies.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import peirce
import pytest
from peirce.records import Compute, DataError, UsageError
from peirce.tests.cli.forked_command import run_script
from peirce.tools.workers.arrays import array_from_json, array_to_json
from peirce.tools.workers.computing import MAX_OPEN_REQUESTS, compute_here, open_compute
from peirce.tools.workers.function_process import load_function
from peirce.tools.workers.line_pool import LinePool

AUDIT = "tasks.logic.audit.reading:judge_reference"
LISTS = "tasks.programs.list_functions:generate_part"


@pytest.fixture(params=["processes", "ray"])
def compute(request: pytest.FixtureRequest) -> Iterator[Compute]:
    if request.param == "ray":
        request.getfixturevalue("cluster")
    where = ("ray", None) if request.param == "ray" else ("local", 3)
    with open_compute(*where) as opened:
        yield opened


def parts(count: int) -> list[dict[str, int]]:
    return [{"seed": 5, "start": 3 * n, "stop": 3 * n + 3} for n in range(count)]


def test_replies_come_in_order_and_are_those_of_this_process(compute: Compute) -> None:
    wanted = list(compute_here(LISTS, parts(20)))
    assert list(compute(LISTS, parts(20))) == wanted
    assert list(compute(LISTS, iter(parts(20)[::-1]))) == wanted[::-1]
    assert not list(compute(LISTS, ()))


def test_an_error_of_the_function_is_raised_where_its_reply_was_due(compute: Compute) -> None:
    theory = {"names": ["x"], "axioms": [], "signature": {"P": 1}, "allowed": []}
    bad = {"theory": theory, "regime": "full", "rule": None, "worlds": []}
    found = compute(AUDIT, [bad])
    with pytest.raises(DataError, match="no axiom speaks of"):
        next(found)
    assert len(list(compute(LISTS, parts(2)))) == 2  # the processes still answer


def test_requests_are_taken_as_replies_are_used(compute: Compute) -> None:
    taken = 0

    def requests() -> Iterator[dict[str, int]]:
        nonlocal taken
        for one in parts(10_000):
            taken += 1
            yield one

    found = compute(LISTS, requests())
    assert next(found)[0][0]["id"] == "gen5-0"
    found.close()  # type: ignore[attr-defined]
    assert 1 <= taken <= MAX_OPEN_REQUESTS


def test_a_process_that_is_killed_is_replaced() -> None:
    async def ask() -> tuple[Any, Any]:
        pool = LinePool("peirce.tools.workers.function_process", 1)
        request = {"function": LISTS, "argument": parts(1)[0]}
        space = peirce.records.InputSet("none", ())
        first = await pool.ask("", request, space)
        process = pool.workers[0].process.process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        again = await pool.ask("", request, space)
        await pool.close()
        return first, again

    first, again = asyncio.run(ask())
    assert first == again == {"result": next(compute_here(LISTS, parts(1)))}


def test_requests_without_a_key_are_shared_among_the_processes() -> None:
    async def count() -> list[bool]:
        pool = LinePool("peirce.tools.workers.function_process", 3)
        space = peirce.records.InputSet("none", ())
        request = {"function": LISTS, "argument": parts(1)[0]}
        await asyncio.gather(*(pool.ask("", request, space) for _ in range(3)))
        used = [worker.process.process is not None for worker in pool.workers]
        await pool.close()
        return used

    assert asyncio.run(count()) == [True] * 3


@pytest.mark.parametrize(
    "name", ["os:system", "..x:y", "tasks.logic.abd", ":f", "tasks:_spaces", "a b:c", "tasks:f:g"]
)
def test_only_functions_of_the_package_are_called(name: str) -> None:
    with pytest.raises((ValueError, ModuleNotFoundError)):
        load_function(name)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "int64", "uint8", "float64"])
def test_arrays_come_back(dtype: str) -> None:
    array = np.arange(12).astype(dtype).reshape(3, 4)[:, ::2]
    found = array_from_json(array_to_json(array))
    assert found.dtype == array.dtype and np.array_equal(found, array)
    found[0] = 1  # it may be written to
    assert array_from_json(array_to_json(np.zeros((0, 3)))).shape == (0, 3)


@pytest.mark.parametrize("task", ["list_functions", "acre", "mini_arc", "abd"])
def test_generated_files_have_equal_bytes(task: str, tmp_path: Path) -> None:
    """Also with a seed of which problems repeat rules of earlier ones (list_functions 3)."""
    count = {"list_functions": 160, "abd": 9}.get(task, 20)
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    peirce.tasks_generate(task, one, problems=count, seed=3)
    peirce.tasks_generate(task, other, problems=count, seed=3, workers=3)
    assert one.read_bytes() == other.read_bytes()


def test_a_task_that_generates_in_one_process_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'labels' generates its problems in one process"):
        peirce.tasks_generate("labels:shoe", tmp_path / "x", workers=2)


def test_without_ray_one_sentence_names_what_to_install(tmp_path: Path) -> None:
    """In an interpreter that does not find Ray."""
    (tmp_path / "without_ray.py").write_text(
        "import importlib.util as u, runpy, sys\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'ray' else find(name, *rest)\n"
        "sys.argv = ['peirce', 'study', 'general', '--cluster', 'ray', '--store', 's.duckdb']\n"
        "runpy.run_module('peirce', run_name='__main__')\n"
    )
    (tmp_path / "said.json").write_text('{"*": ["nothing"]}')
    peirce.run(
        "list_functions", problems=1, max_answers=1, model=f"scripted:{tmp_path / 'said.json'}",
        store=tmp_path / "s.duckdb",
    )  # fmt: skip
    ended = run_script("without_ray.py", cwd=tmp_path)
    assert ended.returncode == 2
    assert ended.stderr == "peirce: --cluster ray needs Ray: pip install 'peirce[cluster]'\n"
