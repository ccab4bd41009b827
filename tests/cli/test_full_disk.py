"""A full disk: every writer says so in one sentence, exits with 1, and leaves nothing half written."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from peirce.tests.cli.forked_command import run_command
from scripted_run import RUN, put_files

Disk = Callable[[int], Path]


@pytest.fixture
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Disk]:
    """disk(bytes) -> the folder of a file system of this size."""
    mounted: list[Path] = []

    def mount(size: int) -> Path:
        place = tmp_path_factory.mktemp("disk")
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)],
            capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode:
            pytest.skip(f"NO FULL DISK IS TESTED: nothing can be mounted here ({done.stderr})")
        mounted.append(place)
        return place

    if os.geteuid():
        pytest.skip("NO FULL DISK IS TESTED: only root mounts a small file system")
    yield mount
    for place in mounted:
        subprocess.run(["umount", str(place)], check=True)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a session."""
    folder = tmp_path_factory.mktemp("stored")
    before = Path.cwd()
    os.chdir(folder)
    try:
        put_files()
        run_command([*RUN, "--quiet"], cwd=folder, check=True)
    finally:
        os.chdir(before)
    return folder / "peirce.duckdb"


WRITERS = {
    "page": (16_384, ["report", "--out", "OUT.html"]),
    "parquet": (8_192, ["export", "--out", "OUT"]),
    "huggingface": (8_192, ["export", "--out", "OUT", "--format", "huggingface"]),
    "jsonl": (4_096, ["export", "--out", "OUT", "--format", "jsonl"]),
    "tables": (4_096, ["eval", "--out", "OUT"]),
    "one table": (4_096, ["eval", "--json", "--out", "OUT"]),
    "problems": (4_096, ["tasks", "generate", "list_functions", "--problems", "20", "--out", "OUT"]),
    "predictions as csv": (4_096, ["predict", "--bank", "last", "--data", "NEW", "--out", "OUT.csv"]),
    "predictions as parquet": (
        4_096, ["predict", "--bank", "last", "--data", "NEW", "--out", "OUT.parquet"]
    ),
    "labelled rows": (65_536, ["tasks", "generate", "labels", "--out", "OUT"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRITERS)
def test_a_full_disk_is_one_sentence_and_leaves_nothing(
    folder: Path, stored: Path, disk: Disk, kind: str
) -> None:
    size, arguments = WRITERS[kind]
    place = disk(size) / "out"
    new = folder / "new.jsonl"
    new.write_text("".join(f"[{n}, {n * n}, {'7' * (n % 90 + 1)}]\n" for n in range(2_000)))
    words = [one.replace("OUT", str(place)).replace("NEW", str(new)) for one in arguments]
    store = [] if words[0] == "tasks" else ["--store", str(stored)]
    ended = run_command([*words, *store], cwd=folder)
    assert ended.returncode == 1, ended.stderr
    (said,) = [one for one in ended.stderr.splitlines() if one.startswith("peirce: ")]
    assert "No space left on device" in said and str(place) in said
    assert "Traceback" not in ended.stderr and "duckdb" not in said.lower()
    assert [one for one in place.parent.rglob("*") if not one.is_dir()] == []


@pytest.mark.parametrize("size", [4_096, 16_384, 24_576])
def test_a_store_on_a_full_disk_is_one_sentence_and_keeps_what_it_has(
    folder: Path, disk: Disk, size: int
) -> None:
    put_files()
    store = disk(size) / "s.duckdb"
    ended = run_command([*RUN, "--quiet", "--store", str(store)], cwd=folder)
    assert ended.returncode == 1 and "Traceback" not in ended.stderr
    (said,) = [one for one in ended.stderr.splitlines() if one.startswith("peirce: ")]
    assert "No space left on device" in said and str(store) in said
    there = {one.name for one in store.parent.iterdir()}
    assert there in (set(), {"s.duckdb", "s.duckdb.wal"})
    if there:
        listed = run_command(["sessions", "--store", str(store)], cwd=folder)
        assert listed.returncode == 0, listed.stderr
