"""Connecting to a Docker engine, explaining its errors, and identifying the owners of containers.

The package `docker` is imported only when an engine is first needed.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...records import SandboxUnavailable

MARK = "peirce.sandbox"  # the label of everything that is ours, "1"
OWNER = "peirce.owner"  # the label that names the process a container works for
CONNECT_S = 5.0
REQUEST_S = 60.0
REMEDY = "start one or set DOCKER_HOST, or use --sandbox process"


def engine_address() -> str:
    """Return the address of the Docker engine: DOCKER_HOST, or the default of this system."""
    if os.environ.get("DOCKER_HOST"):
        return os.environ["DOCKER_HOST"]
    windows = platform.system() == "Windows"
    return "npipe:////./pipe/docker_engine" if windows else "unix:///var/run/docker.sock"


def connect() -> Any:
    """Return a client (docker.APIClient) of the Docker engine.

    Raises:
        SandboxUnavailable: The package `docker` or the engine is missing, or the engine refuses
            access.
    """
    try:
        from docker import APIClient
        from docker.utils import kwargs_from_env
    except ImportError as error:
        raise SandboxUnavailable(
            f"the docker backend needs the package docker ({error}); pip install docker"
        ) from None
    with as_sandbox_error():
        settings = {"base_url": engine_address(), **kwargs_from_env()}
        try:
            engine = APIClient(version="auto", timeout=CONNECT_S, **settings)
        except ValueError as error:  # The address cannot be parsed.
            raise OSError(str(error)) from None
        engine.timeout = REQUEST_S
        # The SDK would keep a connection for each URL, and so for every container ever created.
        engine.headers["Connection"] = "close"
    return engine


@contextmanager
def as_sandbox_error(doing: str = "") -> Iterator[None]:
    """Convert errors of the Docker engine and of the connection to SandboxUnavailable.

    `doing` says what is being attempted, such as "list images", for the error message.
    """
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    try:
        yield
    except (DockerException, RequestException, OSError) as error:
        raise SandboxUnavailable(explain_error(error, doing)) from error


def explain_error(error: BaseException, doing: str = "") -> str:
    """Return a sentence that explains an error of the Docker engine and names a remedy.

    `doing` says what was being attempted, such as "list images".
    """
    from docker.errors import APIError

    where = engine_address()
    to = f" to {doing}" if doing else ""
    causes = list(_chain(error))
    for one in causes:
        if isinstance(one, APIError):
            said = str(one.explanation or one)
            return f"the Docker engine at {where} refused{to}: {_line(said)}"
    if any(isinstance(one, PermissionError) for one in causes):
        return (
            f"no permission for the Docker engine at {where}; "
            "become a member of its group, or use --sandbox process"
        )
    if any(isinstance(one, FileNotFoundError) for one in causes):
        return f"no Docker engine: there is no socket {where}; {REMEDY}"
    if any(isinstance(one, ConnectionRefusedError) for one in causes):
        return f"no Docker engine listens at {where}; {REMEDY}"
    if any(isinstance(one, TimeoutError) or "Timeout" in type(one).__name__ for one in causes):
        return f"the Docker engine at {where} does not answer{to}; {REMEDY}"
    told = (
        causes[-1] if str(error).startswith("Error while fetching") else error
    )  # The SDK wraps the cause.
    return f"the Docker engine at {where} cannot be used{to}: {_line(str(told))}; {REMEDY}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and everything that led to it; urllib3 keeps causes among the arguments."""
    seen: set[int] = set()
    pending: list[Any] = [error]
    while pending:
        one = pending.pop()
        if isinstance(one, BaseException) and id(one) not in seen:
            seen.add(id(one))
            yield one
            pending += [one.__cause__, one.__context__, getattr(one, "reason", None), *one.args]


def _line(text: str) -> str:
    return " ".join(text.split())[:300]


# --- Owners of containers ------------------------------------------------------


def owner_label(pid: int | None = None) -> str:
    """Return a text that identifies a process uniquely: machine, pid namespace, pid and start time.

    `pid` is None for the current process.
    """
    number = pid or os.getpid()
    return f"{_machine()}/{number}/{_started(number)}"


def owner_is_gone(label: str) -> bool:
    """Return whether the process that an `owner_label` identifies is known to have ended.

    The result is False if the process ran on another machine, because this cannot be checked.
    """
    machine, _, rest = label.rpartition("/")[0].rpartition("/")
    return machine == _machine() and rest.isdecimal() and owner_label(int(rest)) != label


def _machine() -> str:
    """Return a name that two processes share if they can see each other's pids."""
    boot = space = ""
    if platform.system() == "Linux":
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        space = str(os.stat("/proc/self/ns/pid").st_ino)
    return f"{platform.node()}/{boot}/{space}"


def _started(pid: int) -> str:
    """Return the start time of a process in any unit; empty if there is none."""
    if platform.system() == "Linux":
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        except OSError:
            return ""
    listed = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True)
    return "-".join(listed.stdout.split())
