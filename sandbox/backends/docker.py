"""The sandbox backend `docker`, which runs hypotheses in Docker containers.

Each container runs one zygote, a process that forks a child for every hypothesis. The zygote
communicates over the Docker engine's attach socket. The backend is used only if it is selected
(`--sandbox docker`). A container has no network, no writable files, no capabilities, no possibility
to gain privileges, limits on memory, processes and CPU, and a list of allowed system calls. The
backend trusts the Docker engine, which runs as root, and the kernel. A container ends when its
standard input is closed, so it never outlives its session.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import threading
import time
from typing import Any

from ...records import Limits, SandboxUnavailable
from ..inside.jail import ALLOWED_CALLS
from ..supervisor.pool import ROOM_MB, PooledSandbox
from ..supervisor.zygote import Link
from . import image
from .engine import MARK, OWNER, as_sandbox_error, connect, owner_label

PIDS = 32
GONE_S = 30.0  # seconds until a killed container must be gone
END_S = 2.0  # seconds for a zygote to exit by itself
# The container enforces these layers, whatever the zygote reports: no child can reach beyond it.
CONTAINER_LAYERS = ("network_namespace", "process_namespace", "own_root", "own_user")

# In addition to the child's calls: those that runc, the init and the zygote need.
ZYGOTE_CALLS = (
    "access", "arch_prctl", "capget", "capset", "chdir", "chmod", "chroot", "clock_getres",
    "clock_nanosleep", "close", "close_range", "dup", "dup2", "dup3", "epoll_create1",
    "epoll_ctl", "epoll_pwait", "epoll_wait", "eventfd2", "execve", "exit", "faccessat",
    "faccessat2", "fchdir", "fchmod", "fchmodat", "fcntl", "fork", "fstat", "fstatfs",
    "getcwd", "getdents64", "getegid", "geteuid", "getgid", "getitimer", "getpgid",
    "getpgrp", "getpid", "getppid", "getpriority", "getrandom", "getrlimit", "getrusage",
    "getsid", "gettid", "gettimeofday", "getuid", "ioctl", "kill",
    "landlock_create_ruleset", "landlock_restrict_self", "lseek", "lstat", "memfd_create",
    "nanosleep", "newfstatat", "open", "openat", "pipe", "pipe2", "poll", "ppoll", "prctl",
    "pread64", "prlimit64", "pselect6", "readlink", "readlinkat", "readv", "recvfrom",
    "recvmsg", "restart_syscall", "rseq", "rt_sigpending", "rt_sigsuspend",
    "rt_sigtimedwait", "sched_getaffinity", "sched_yield", "seccomp", "select", "sendmsg",
    "sendto", "set_robust_list", "set_tid_address", "setpgid", "setrlimit", "setsid",
    "shutdown", "sigaltstack", "socketpair", "stat", "statfs", "statx", "tgkill", "time",
    "tkill", "umask", "uname", "vfork", "wait4", "waitid", "writev",
)  # fmt: skip
NO_RANDOM_ADDRESSES = 0x40000  # personality(2); the engine's own profile refuses it
NEW_NAMESPACES = 0x7E020000  # clone(2): CLONE_NEW*
ENOSYS = 38


def seccomp_profile() -> str:
    """Return the seccomp profile of allowed system calls, as JSON in the Docker engine's format.

    System calls that the profile does not allow fail with EPERM.
    """

    def rule(names: list[str], action: str = "SCMP_ACT_ALLOW", **rest: Any) -> dict[str, Any]:
        return {"names": names, "action": action, **rest}

    def first(mask: int, wanted: int) -> list[dict[str, Any]]:
        test = {"index": 0, "value": mask, "valueTwo": wanted, "op": "SCMP_CMP_MASKED_EQ"}
        return [test]

    rules = [rule(sorted({*ALLOWED_CALLS, *ZYGOTE_CALLS}))]
    # The last value asks for the present personality.
    for persona in (0, NO_RANDOM_ADDRESSES, 0xFFFFFFFF):
        rules.append(rule(["personality"], args=first(0xFFFFFFFF, persona)))  # 32 bits, extended
    rules.append(rule(["clone"], args=first(NEW_NAMESPACES, 0)))
    # The C library then tries clone.
    rules.append(rule(["clone3"], "SCMP_ACT_ERRNO", errnoRet=ENOSYS))
    return json.dumps({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": rules})


class Container:
    """A zygote (the process that forks a child for every hypothesis) in a Docker container."""

    def __init__(self, engine: Any, name: str, memory_mb: int, limited: bool) -> None:
        self.engine, self.name, self.memory_mb, self.limited = engine, name, memory_mb, limited

    async def raise_memory_limit(self, memory_mb: int) -> None:
        """Raise the container's memory limit to at least `memory_mb` MiB."""
        if memory_mb > self.memory_mb:
            self.memory_mb = memory_mb
            await asyncio.to_thread(self._raise_memory)

    async def kill(self) -> None:
        """Kill and remove the container."""
        await asyncio.to_thread(self.remove)

    async def wait_or_kill(self) -> None:
        """Wait for the container to exit, then remove it."""
        # If the engine is gone, the container is too.
        with contextlib.suppress(SandboxUnavailable):
            await asyncio.to_thread(self._await_end)

    def remove(self) -> None:
        """Kill and remove the container. When this method returns, the container is gone.

        Calling this method for a container that has already ended is not an error.
        """
        from docker.errors import APIError, NotFound

        with as_sandbox_error("remove a container"), contextlib.suppress(NotFound):
            try:
                self.engine.remove_container(self.name, force=True)
            except APIError as error:
                if error.status_code != 409:
                    raise
                if not self._goes(GONE_S):  # Its removal is in progress.
                    raise SandboxUnavailable(
                        f"the Docker engine does not remove the container {self.name}"
                    ) from error

    def _goes(self, within_s: float) -> bool:
        """Poll until the container is gone, because the engine's own wait can miss a removal."""
        from docker.errors import NotFound

        until = time.monotonic() + within_s
        while time.monotonic() < until:
            try:
                self.engine.inspect_container(self.name)
            except NotFound:
                return True
            time.sleep(0.02)
        return False

    def _await_end(self) -> None:
        with as_sandbox_error("end a container"):
            if not self._goes(END_S):
                self.remove()

    def _raise_memory(self) -> None:
        most = f"{self.memory_mb + ROOM_MB}m"
        with as_sandbox_error("raise a container's memory"):
            self.engine.update_container(self.name, mem_limit=most, memswap_limit=most)


class Demultiplexer(asyncio.StreamReaderProtocol):
    """An asyncio protocol that extracts the container's standard output from the engine's stream.

    The stream consists of frames. A frame has a type, three zeros, the length (uint32, big endian)
    and the content.
    """

    def __init__(self, reader: asyncio.StreamReader) -> None:
        super().__init__(reader)
        self._reader = reader
        self._head = bytearray()
        self._left = 0  # bytes left in the current frame

    def data_received(self, data: bytes) -> None:
        """Pass the content of standard output frames on to the reader."""
        view = memoryview(data)
        while view:
            if self._left:
                piece, view = view[: self._left], view[self._left :]
                self._left -= len(piece)
                if self._head[0] == 1:
                    # This pauses the transport when the reader is full.
                    self._reader.feed_data(bytes(piece))
                if not self._left:
                    self._head.clear()
                continue
            wanted = 8 - len(self._head)
            self._head += view[:wanted]
            view = view[wanted:]
            if len(self._head) == 8:
                self._left = int.from_bytes(self._head[4:], "big")
                if self._head[0] > 2 or any(self._head[1:4]):
                    self._reader.set_exception(ConnectionError("not a frame of the engine"))
                    return
                if not self._left:
                    self._head.clear()


class DockerSandbox(PooledSandbox):
    """A sandbox (`records.Sandbox`) that uses several Docker containers.

    Args:
        engine: A client of the Docker engine.
        tag: Tag of the image.
        workers: Largest number of containers; None for one container per usable core.
    """

    def __init__(self, engine: Any, tag: str, workers: int | None = None) -> None:
        super().__init__(self._start_container, workers)
        self.engine, self.tag = engine, tag
        self._settings = container_settings(engine)

    async def _start_container(self) -> Link:
        unwanted = threading.Event()
        work = asyncio.ensure_future(asyncio.to_thread(self._launch, unwanted))
        try:
            container, stream = await asyncio.shield(work)
            reader = asyncio.StreamReader(limit=2**20)
            loop = asyncio.get_running_loop()
            transport, protocol = await loop.create_connection(
                lambda: Demultiplexer(reader), sock=stream
            )
        except BaseException:
            unwanted.set()
            self._in_background(_drop(work))  # `close` waits for it.
            raise
        writer = asyncio.StreamWriter(transport, protocol, reader, loop)
        adds = {**dict.fromkeys(CONTAINER_LAYERS, True), "cgroup": container.limited}
        return Link(reader, writer, container, adds)

    def _launch(self, unwanted: threading.Event) -> tuple[Container, socket.socket]:
        """Start a container; it is attached before the start, so that no output is lost."""
        with as_sandbox_error("start a container"):
            name = f"peirce-{os.getpid()}-{os.urandom(4).hex()}"
            made = self._create(name)
            warned = made.get("Warnings") or []
            container = Container(self.engine, name, Limits().memory_mb, limited=not warned)
            try:
                asked = {"stdin": 1, "stdout": 1, "stderr": 0, "stream": 1}
                stream = plain_socket(self.engine.attach_socket(name, asked))
                self.engine.start(name)
                if unwanted.is_set():
                    stream.close()
                    raise SandboxUnavailable("the sandbox was closed")
            except BaseException:
                container.remove()
                raise
        return container, stream

    def _create(self, name: str) -> Any:
        from docker.errors import ImageNotFound

        try:
            return self.engine.create_container(self.tag, name=name, **self._settings)
        except ImageNotFound:  # The image has been removed since.
            self.tag = image.ensure_image(self.engine)
            return self.engine.create_container(self.tag, name=name, **self._settings)

    async def close(self) -> None:
        """Stop all containers and close the connection to the Docker engine."""
        await super().close()
        self.engine.close()


async def _drop(work: asyncio.Future[tuple[Container, socket.socket]]) -> None:
    """Remove a container that was still starting when it was no longer needed."""
    with contextlib.suppress(SandboxUnavailable):
        container, stream = await work
        stream.close()
        await container.kill()


def container_settings(engine: Any) -> dict[str, Any]:
    """Return the arguments of `create_container` except the image and the name."""
    memory = f"{Limits().memory_mb + ROOM_MB}m"
    host = engine.create_host_config(
        auto_remove=True,
        network_mode="none",
        read_only=True,
        mem_limit=memory,
        memswap_limit=memory,
        pids_limit=PIDS,
        nano_cpus=10**9,
        cap_drop=["ALL"],
        security_opt=["no-new-privileges:true", f"seccomp={seccomp_profile()}"],
        ipc_mode="none",
        init=True,
        ulimits=[
            {"Name": "core", "Soft": 0, "Hard": 0},
            {"Name": "nofile", "Soft": 256, "Hard": 256},
        ],
        log_config={"type": "none"},
    )
    return {
        "command": [image.PYTHON, "-s", "-S", "-P", "-B", "-X", "utf8", image.HARNESS],
        "host_config": host,
        "environment": {"PYTHONHASHSEED": "0"},
        "user": "65534:65534",
        # As in jail.py; otherwise a hypothesis could see the container's id.
        "hostname": "sandbox",
        "stdin_open": True,
        "tty": False,
        "labels": {MARK: "1", OWNER: owner_label()},
        "use_config_proxy": False,
    }


def plain_socket(attached: Any) -> socket.socket:
    """Return the socket of a connection that the Docker SDK has opened.

    Raises:
        SandboxUnavailable: The connection uses TLS, SSH or a pipe, which asyncio cannot take over.
    """
    raw = getattr(attached, "_sock", attached)
    if type(raw) is not socket.socket:
        raise SandboxUnavailable(
            "the docker backend needs an engine at unix:// or plain tcp://. For another engine,"
            " forward its socket, for example with ssh -L, and set DOCKER_HOST"
        )
    stream = raw.dup()
    response = getattr(attached, "_response", None)
    if response is not None:
        response.close()  # The SDK must not use this connection again.
    attached.close()
    stream.setblocking(False)
    return stream


async def open_backend(workers: int | None, strict: bool) -> DockerSandbox:
    """Connect to the Docker engine and start a sandbox.

    Raises:
        SandboxUnavailable: The engine cannot be reached, or the sandbox cannot be started.
    """
    engine = await asyncio.to_thread(connect)
    try:
        tag = await asyncio.to_thread(image.ensure_image, engine)
        sandbox = DockerSandbox(engine, tag, workers)
    except BaseException:
        engine.close()
        raise
    await sandbox.start(strict)
    return sandbox
