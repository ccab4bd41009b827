"""The image: named by what is in it, made without a registry, the same to run in from a Dockerfile.

Internals: the image's name and content are computed without running it.
"""

from __future__ import annotations

import asyncio
import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from peirce.records import InputSet, Limits, SandboxUnavailable
from peirce.sandbox.backends import engine, image
from peirce.sandbox.backends.docker import DockerSandbox

linux = pytest.mark.skipif(sys.platform != "linux", reason="made of a Linux Python")


def test_tags_follow_the_harness_and_the_way_it_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = image.image_tags()
    assert len(set(before)) == 2 and image.image_tags() == before
    for path in (*(image.INSIDE / name for name in image.HARNESS_FILES), image.HERE / "Dockerfile"):
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(image, "HERE", tmp_path)
    monkeypatch.setattr(image, "INSIDE", tmp_path)
    assert image.image_tags() == before
    with (tmp_path / "Dockerfile").open("a") as file:
        file.write("\n")
    assert image.image_tags()[0] != before[0] and image.image_tags()[1] == before[1]
    with (tmp_path / "harness.py").open("a") as file:
        file.write("\n")
    assert image.image_tags()[1] != before[1]


@linux
def test_the_root_holds_a_python_and_the_harness_and_nothing_of_this_machine() -> None:
    file = io.BytesIO()
    image.write_root(file)
    file.seek(0)
    with tarfile.open(fileobj=file) as archive:
        entries = archive.getmembers()
    found = {entry.name for entry in entries}
    assert image.PYTHON[1:] in found
    assert {f"peirce/{name}" for name in image.HARNESS_FILES} <= found
    assert {name.split("/")[0] for name in found} <= {
        "bin", "dev", "etc", "lib", "lib64", "peirce", "proc", "sbin", "sys", "tmp", "usr",
    }  # fmt: skip
    for unwanted in ("site-packages", "dist-packages", "/test/", "tkinter", "idlelib"):
        assert not [name for name in found if unwanted in name]
    assert {(e.uid, e.gid, e.uname, e.gname) for e in entries} == {(0, 0, "", "")}
    assert all(entry.mode & 0o444 == 0o444 for entry in entries)
    assert sum(entry.size for entry in entries) < 150 * 2**20


@linux
def test_two_roots_of_one_python_are_the_same_bytes() -> None:
    roots = [io.BytesIO(), io.BytesIO()]
    for root in roots:
        image.write_root(root)
    assert roots[0].getvalue() == roots[1].getvalue()


@linux
def test_without_ldd_the_other_way_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SandboxUnavailable, match="--dockerfile"):
        image.write_root(io.BytesIO())


def test_an_engine_of_another_machine_is_told_of_the_other_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Other:
        def version(self) -> dict[str, str]:
            return {"Os": "linux", "Arch": "s390x"}

    monkeypatch.setattr(image, "has_image", lambda engine, tag: False)
    with pytest.raises(SandboxUnavailable, match="--dockerfile"):
        image.make_local(Other())


async def runs(client: Any, tag: str) -> None:
    sandbox = DockerSandbox(client, tag, 1)
    inputs = InputSet("two", (1, [2]))
    await sandbox.put(inputs)
    try:
        await sandbox.start(strict=True)
        batch = await sandbox.run("def f(x): return x", "f", inputs.digest, "values", Limits())
        assert batch.values == ({"value": 1}, {"value": [2]})
    finally:
        await sandbox.close()


@linux
def test_the_image_of_the_local_python_runs(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image, "RECIPE", f"of process {os.getpid()}")  # so that none is there yet
    tag = image.make_local(client)
    try:
        assert tag == image.ensure_image(client) == image.image_tags()[1]
        assert client.inspect_image(tag)["Config"]["Labels"] == {engine.MARK: "1"}
        asyncio.run(runs(client, tag))
    finally:
        client.remove_image(tag)
    assert not image.has_image(client, tag)


@linux
def test_the_program_prints_the_tag(client: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "peirce.sandbox.backends.image"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [image.image_tags()[1]]


@linux
def test_the_dockerfile_gives_an_image_that_runs(client: Any) -> None:
    base = image.make_local(client)  # in place of python:3.X-slim, which takes a registry
    tag = image.make_from_dockerfile(client, base)
    try:
        assert client.inspect_image(tag)["Config"]["Labels"] == {engine.MARK: "1"}
        asyncio.run(runs(client, tag))
    finally:
        client.remove_image(tag)


def test_a_base_that_cannot_be_fetched_is_one_sentence_with_the_other_way(client: Any) -> None:
    with pytest.raises(SandboxUnavailable) as caught:
        image.make_from_dockerfile(client, "localhost:1/no-such-image:none")
    said = str(caught.value)
    assert "\n" not in said and "peirce.sandbox.backends.image" in said


def test_without_an_engine_the_program_says_so_and_ends_with_4() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "peirce.sandbox.backends.image"],
        capture_output=True,
        text=True,
        env={**os.environ, "DOCKER_HOST": "unix:///nowhere"},
    )
    assert done.returncode == 4 and done.stdout == ""
    assert done.stderr.startswith("peirce: no Docker engine") and done.stderr.count("\n") == 1
