"""Build the image of the docker backend and print its tag.

By default, `python -m peirce.sandbox.backends.image` builds the image from the Python that runs it.
This needs Linux, but no image registry. The local Python must use glibc or musl at the usual place,
so a Python of Nix does not work. With --dockerfile, the image is built from backends/Dockerfile on
python:3.X-slim. The tag of an image is a digest of its content.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import platform
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ...records import PeirceError, SandboxUnavailable
from .engine import MARK, as_sandbox_error, connect

HERE = Path(__file__).parent
INSIDE = HERE.parent / "inside"
HARNESS_FILES = tuple(sorted(path.name for path in INSIDE.glob("[a-z]*.py")))
REPOSITORY = "peirce-sandbox"
PYTHON = "/usr/local/bin/python3"  # the same in both images
HARNESS = "/peirce/harness.py"
RECIPE = "1"  # Change this with the root file system below, so that the image changes.
BASE = f"python:{sys.version_info.major}.{sys.version_info.minor}-slim"

EXCLUDED = frozenset({"test", "tests", "site-packages", "dist-packages", "idlelib", "tkinter",
                      "turtledemo", "lib2to3", "ensurepip", "venv", "pydoc_data"})  # fmt: skip
EXCLUDED_PREFIXES = ("config-", "_test", "_tkinter", "_ctypes_test", "xx")
EXCLUDED_SUFFIXES = (".a", ".opt-1.pyc", ".opt-2.pyc")
FOLDERS = ("bin", "dev", "etc", "peirce", "proc", "sbin", "sys", "tmp", "usr/local/bin")


def ensure_image(engine: Any) -> str:
    """Return the tag of an image for the docker backend, building the image if necessary.

    If the image from the Dockerfile exists, its tag is returned. Otherwise the image of the local
    Python is used, and built if it does not exist.

    Raises:
        SandboxUnavailable: The image cannot be built.
    """
    built = image_tags()[0]
    return built if has_image(engine, built) else make_local(engine)


def image_tags() -> tuple[str, str]:
    """Return two tags: of the image from the Dockerfile, and of the image of the local Python."""
    recipe = (HERE / "Dockerfile").read_text("utf-8")
    return make_tag("dockerfile", recipe, BASE), make_tag("local", RECIPE, *_local_python())


def make_tag(*ingredients: str) -> str:
    """Return the tag of an image that contains the current harness files and `ingredients`.

    The image is built from `ingredients`, such as the text of a Dockerfile, and those files.
    """
    digest = hashlib.sha256(json.dumps(ingredients).encode())
    for name in HARNESS_FILES:
        digest.update(f"{name}\0".encode() + (INSIDE / name).read_bytes() + b"\0")
    return f"{REPOSITORY}:{digest.hexdigest()[:16]}"


def has_image(engine: Any, tag: str) -> bool:
    """Return whether the engine has an image with this tag."""
    from docker.errors import ImageNotFound

    with as_sandbox_error("look for an image"):
        try:
            engine.inspect_image(tag)
        except ImageNotFound:
            return False
    return True


# --- Image from the Dockerfile -------------------------------------------------


def make_from_dockerfile(engine: Any, base: str = BASE) -> str:
    """Build the image from the Dockerfile unless it exists, and return its tag.

    The Docker engine downloads the image `base` if necessary.

    Raises:
        SandboxUnavailable: The image cannot be built.
    """
    recipe = (HERE / "Dockerfile").read_text("utf-8")
    tag = make_tag("dockerfile", recipe, base)
    if has_image(engine, tag):
        return tag
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as archive:
        archive.add(HERE / "Dockerfile", "Dockerfile", filter=_anonymous)
        for name in HARNESS_FILES:
            archive.add(INSIDE / name, name, filter=_anonymous)
    context.seek(0)
    with as_sandbox_error("build an image"):
        built = engine.build(
            fileobj=context,
            custom_context=True,
            tag=tag,
            buildargs={"BASE": base},
            rm=True,
            forcerm=True,
            decode=True,
        )
        events = list(built)  # Reading to the end closes the connection.
    for event in events:
        if "error" in event:
            raise SandboxUnavailable(
                f"no image from {base}: {' '.join(str(event['error']).split())}; without a "
                "registry use `python -m peirce.sandbox.backends.image`"
            )
    return tag


# --- Image from the local Python -----------------------------------------------


def make_local(engine: Any) -> str:
    """Build the image of the local Python unless it exists, and return its tag.

    Raises:
        SandboxUnavailable: The image cannot be built.
    """
    tag = image_tags()[1]
    if has_image(engine, tag):
        return tag
    with as_sandbox_error("say what it is"):
        about = engine.version()
    system, machine = platform.system(), platform.machine()
    if system != "Linux" or about.get("Os", "linux") != "linux" or machine != _machine_of(about):
        raise SandboxUnavailable(
            f"no image for a {about.get('Os')} {about.get('Arch')} engine can be made of a {system} "
            f"{machine} Python; run `python -m peirce.sandbox.backends.image --dockerfile`"
        )
    with tempfile.TemporaryFile() as file:
        write_root(file)
        file.seek(0)
        repository, _, version = tag.partition(":")
        with as_sandbox_error("import an image"):
            said = engine.import_image(file, repository, version, changes=[f"LABEL {MARK}=1"])
    if "errorDetail" in said:
        raise SandboxUnavailable(f"the engine did not import the image: {' '.join(said.split())}")
    return tag


def _machine_of(about: Any) -> str:
    names = {"amd64": "x86_64", "arm64": "aarch64"}
    return names.get(about.get("Arch"), str(about.get("Arch")))


def _local_python() -> tuple[str, ...]:
    binary = _binary()
    stat = os.stat(binary)
    return sys.version, platform.machine(), str(stat.st_size), str(stat.st_mtime_ns)


def _binary() -> str:
    """Return the interpreter behind a virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def write_root(file: IO[bytes]) -> None:
    """Write a tar archive of the image's files: Python, its libraries and the harness.

    Raises:
        SandboxUnavailable: A necessary file is missing.
    """
    library = Path(os.__file__).parent
    extensions = next((Path(p) for p in sys.path if Path(p).name == "lib-dynload"), None)
    there = Path("usr/local", sys.platlibdir, library.name)
    files = dict(_files(library, there))
    if extensions is not None:
        files |= dict(_files(extensions, there / "lib-dynload"))
    native = [path for path in files.values() if ".so" in path.name]
    files[Path(PYTHON[1:])] = Path(_binary())
    files |= {Path("lib", path.name): path for path in _shared_objects([Path(_binary()), *native])}
    files |= {Path("peirce", name): INSIDE / name for name in HARNESS_FILES}
    with tarfile.open(fileobj=file, mode="w", dereference=True) as archive:
        for folder in FOLDERS:
            archive.addfile(_entry(folder, tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755))
        for link, to in _loader_paths():
            archive.addfile(_entry(link, tarfile.SYMTYPE, 0o777, to))
        for inside, path in sorted(files.items()):
            archive.add(path, str(inside), recursive=False, filter=_anonymous)


def _files(folder: Path, inside: Path) -> Iterator[tuple[Path, Path]]:
    for entry in sorted(folder.iterdir()):
        name = entry.name
        if (
            name in EXCLUDED
            or name.startswith(EXCLUDED_PREFIXES)
            or name.endswith(EXCLUDED_SUFFIXES)
        ):
            continue
        if entry.is_dir():
            yield from _files(entry, inside / name)
        elif entry.is_file():
            yield inside / name, entry


def _shared_objects(binaries: list[Path]) -> set[Path]:
    """Return the shared objects that the loader would load for these, including the loader."""
    environment = {name: v for name, v in os.environ.items() if name != "LD_PRELOAD"}
    try:
        listed = subprocess.run(
            ["ldd", *map(str, binaries)], capture_output=True, text=True, env=environment
        )
    except OSError as error:
        raise SandboxUnavailable(
            f"no image can be made of the local Python without ldd ({error.strerror}); "
            "run `python -m peirce.sandbox.backends.image --dockerfile`"
        ) from None
    # "name => /path (0x...)" or, the loader, "/path (0x...)"
    words = (line.strip().split(" => ")[-1].split(" (")[0] for line in listed.stdout.splitlines())
    return {Path(word) for word in words if word.startswith("/") and not word.endswith(":")}


def _loader_paths() -> list[tuple[str, str]]:
    """Return links to /lib, which holds all shared objects, from other places a loader searches."""
    multiarch = sysconfig.get_config_var("MULTIARCH")
    paths = [("lib64", "lib"), ("usr/lib", "../lib"), ("usr/lib64", "../lib")]
    return [("lib/" + multiarch, "."), *paths] if multiarch else paths


def _entry(name: str, kind: bytes, mode: int, to: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.linkname = kind, mode, to
    return entry


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    # An unprivileged user must be able to read it.
    entry.mode |= 0o444 | (0o111 if entry.mode & 0o100 else 0)
    entry.mtime = int(entry.mtime)  # Compiled files hold their source's time in whole seconds.
    return entry


def main() -> None:
    """Build an image and print its tag; this is the command of the module docstring."""
    parser = argparse.ArgumentParser(
        prog="python -m peirce.sandbox.backends.image", description=__doc__
    )
    parser.add_argument("--dockerfile", action="store_true", help=f"from {BASE}, fetched if absent")
    wanted = parser.parse_args()
    try:
        engine = connect()
        print(make_from_dockerfile(engine) if wanted.dockerfile else make_local(engine))
    except PeirceError as error:
        print(f"peirce: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None


if __name__ == "__main__":
    main()
