"""A Docker engine: how it is reached, in one sentence why not, and whose container is whose.

The package `docker` is imported when an engine is first asked for, never before.
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

MARK = "peirce.sandbox"  # the label of all that is ours, "1"
OWNER = "peirce.owner"  # the label that names the process a container works for
CONNECT_S = 5.0
REQUEST_S = 60.0
REMEDY = "start one or set DOCKER_HOST, or use --sandbox process"


def address() -> str:
    if os.environ.get("DOCKER_HOST"):
        return os.environ["DOCKER_HOST"]
    windows = platform.system() == "Windows"
    return "npipe:////./pipe/docker_engine" if windows else "unix:///var/run/docker.sock"


def connect() -> Any:
    """A client (docker.APIClient) of the engine at DOCKER_HOST or the usual socket.

    Raises SandboxUnavailable without the package, without an engine, and where it refuses us.
    """
    try:
        from docker import APIClient
        from docker.utils import kwargs_from_env
    except ImportError as error:
        raise SandboxUnavailable(
            f"the docker backend needs the package docker ({error}); pip install docker"
        ) from None
    with telling():
        settings = {"base_url": address(), **kwargs_from_env()}
        try:
            engine = APIClient(version="auto", timeout=CONNECT_S, **settings)
        except ValueError as error:  # an address that cannot be parsed
            raise OSError(str(error)) from None
        engine.timeout = REQUEST_S
        # The SDK would keep a connection for each URL, so for each container there ever was.
        engine.headers["Connection"] = "close"
    return engine


@contextmanager
def telling(doing: str = "") -> Iterator[None]:
    """Whatever the engine or the way to it raises inside, as one SandboxUnavailable."""
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    try:
        yield
    except (DockerException, RequestException, OSError) as error:
        raise SandboxUnavailable(why(error, doing)) from error


def why(error: BaseException, doing: str = "") -> str:
    """One sentence with its remedy."""
    from docker.errors import APIError

    where = address()
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
    )  # the SDK's wrapping
    return f"the Docker engine at {where} cannot be used{to}: {_line(str(told))}; {REMEDY}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and all that led to it; urllib3 keeps causes among the arguments."""
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


# --- whose is it ---------------------------------------------------------------


def owner(pid: int | None = None) -> str:
    """Names a process for ever: machine, pid namespace, pid and when it started."""
    number = pid or os.getpid()
    return f"{_machine()}/{number}/{_started(number)}"


def owner_is_gone(label: str) -> bool:
    """False for a process that lives, and for one that cannot be seen from here."""
    machine, _, rest = label.rpartition("/")[0].rpartition("/")
    return machine == _machine() and rest.isdecimal() and owner(int(rest)) != label


def _machine() -> str:
    """Two processes with the same one see each other's pids."""
    boot = space = ""
    if platform.system() == "Linux":
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        space = str(os.stat("/proc/self/ns/pid").st_ino)
    return f"{platform.node()}/{boot}/{space}"


def _started(pid: int) -> str:
    """Of a process, in whatever unit; empty if there is none."""
    if platform.system() == "Linux":
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        except OSError:
            return ""
    listed = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True)
    return "-".join(listed.stdout.split())
