"""Fixtures every room uses. `shared_data` is where the public benchmarks lie; tests that need
them are skipped with a reason where they are absent. And how the tests are shared out where several
processes run them (`make test`, by pytest-xdist)."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import certifi
import pytest
from hypothesis import HealthCheck, settings
from peirce.tests import forked_workers
from peirce.tests.long_tests import mark_long_tests, read_long_tests

REPOSITORY = Path(__file__).resolve().parent.parent

# Tests start hundreds of Python processes. Without bytecode on disk, each would compile the package anew,
# which takes a third of the time of its imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# No property is a test of time, and the machine that runs the tests may be busy.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    path = Path(os.environ.get("PEIRCE_SHARED", REPOSITORY.parent / "shared")) / "data"
    if not path.is_dir():
        pytest.skip(f"PUBLIC BENCHMARK DATA ABSENT: no folder {path} (set PEIRCE_SHARED)")
    return path


@pytest.fixture(scope="session", autouse=True)
def cache_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The user's cache folder, one of the tests' own."""
    folder = tmp_path_factory.getbasetemp() / "cache_home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """Restore SIGINT, which a shell ignores in background jobs, and SIGHUP, which nohup ignores.

    Child processes inherit this, so a test that signals one of them would wait in vain.
    """
    for number, handler in (
        (signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL),
    ):  # fmt: skip
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.fixture(scope="session", autouse=True)
def one_certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Clients of endpoints on the loopback read one trusted certificate instead of the machine's 140,
    which took nine tenths of the time in which a client is made."""
    path = tmp_path_factory.getbasetemp() / "one_certificate.pem"
    end = "-----END CERTIFICATE-----\n"
    path.write_text(Path(certifi.where()).read_text("utf-8").partition(end)[0] + end, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(path))
        patch.delenv("SSL_CERT_DIR", raising=False)
        yield


@pytest.fixture(scope="module", autouse=True)
def workers_that_are_forked(request: pytest.FixtureRequest) -> Iterator[None]:
    """Workers of the search are forked, in folders of tests that are about other things."""
    with pytest.MonkeyPatch.context() as patch:
        if request.node.nodeid.startswith(forked_workers.FOLDERS):
            forked_workers.fork_workers(patch)
        yield


@pytest.fixture(scope="module", autouse=True)
def imported_is_no_garbage() -> None:
    """What a module has imported stays to the end, so the collector does not look at it again: of
    torch and its kin one look takes 0.3 s, and each local model that closes collects."""
    gc.freeze()


def pytest_unconfigure() -> None:
    gc.unfreeze()  # or extension modules report at exit that they leak what was frozen


# One process runs all tests of a room in ALONE: they make, count and clean up images, containers and
# control groups, of which the machine has one set. It begins with them, as they take a third of the
# whole time; the others take the other files, the rooms with the longest first.
ALONE = ("tests/sandbox/", "tests/hostile/")
# Rooms whose sessions, server or cluster are started once for all their files.
TOGETHER = ("tests/reports/page/", "tests/adapters/studio/", "tests/tools/workers/")
LONG = (
    *TOGETHER,
    "tests/endtoend/",
    "tests/adapters/",
    "tests/graphs/",
    "tests/agents/",
    "tests/reports/",
)


def share(nodeid: str) -> str:
    """What runs in one process: a file, a room in TOGETHER, or the rooms in ALONE."""
    together = (room for room in TOGETHER if nodeid.startswith(room))
    return "alone" if nodeid.startswith(ALONE) else next(together, nodeid.split("::", 1)[0])


def turn(nodeid: str) -> int:
    """Shares begin in this order."""
    return next(
        (n for n, some in enumerate((ALONE, *LONG)) if nodeid.startswith(some)), 1 + len(LONG)
    )


def search_tests() -> tuple[str, ...]:
    """Beginnings of the node ids of the tests that concern the embedded search alone."""
    lines = (REPOSITORY / ".ci" / "search_paths").read_text("utf-8").splitlines()
    return tuple(line for line in lines if line.startswith("tests/"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    searches = search_tests()
    for item in items:
        if item.nodeid.startswith(searches):
            item.add_marker("search")
    mark_long_tests(items, read_long_tests())
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: turn(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getvalue("dist") != "load":  # another was asked for by name
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Shares(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return share(nodeid)

    config.option.loadscopereorder = False  # the order of `turn`
    return Shares(config, log)
