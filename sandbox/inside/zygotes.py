"""The zygote: a small single-threaded process that forks a child for every hypothesis.

harness.py starts it. There are three generations of processes:

- The zygote enters the isolation layers that can be shared (jail.py) and passes requests on.
- A stage is forked for each input set, which it parses and keeps. The stage "" keeps no input
  set; it serves small sets that come with the request. A stage forks a child for each request,
  where possible before the request comes. It passes on the child's result, up to a size limit and
  a deadline, and then kills the child with all its processes.
- A child (child.py) reads its source directly from the stream. Therefore neither the code nor the
  results of a hypothesis are ever in memory from which another child is forked.

This file uses only the standard library. The same files are used inside a container.
"""

from __future__ import annotations

import contextlib
import gc
import mmap
import os
import resource
import select
import signal
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING or __package__:
    from . import child, frames, jail, state, trial, warming
else:  # loaded by harness.py
    import child
    import frames
    import jail
    import state
    import trial
    import warming

PREFIX_BYTES = len(child.SOURCE_READ) + 1  # length of a child's messages before its frame
LARGE_BYTES = 2**18  # Smaller input sets lie on too few pages to look for them.
FAILED = 70  # exit status of a stage that could not start
PROBE_LIMITS = {"cpu_s": 5, "memory_mb": 64}
DONE = b"."


class Forked(BaseException):
    """Raised in a new child to unwind the call stack of the zygote and its stage.

    The stack frames hold counts of stages and runs, which a hypothesis must not see. The argument
    is passed to `child.become_child`.
    """


# --- The zygote ---------------------------------------------------------------


class Zygote:
    """The process that starts stages and passes requests on to them."""

    def __init__(self, requests: int, replies: int, own_jail: jail.Jail) -> None:
        self.requests, self.replies, self.jail = requests, replies, own_jail
        # digest: pid of the stage, pipes to and from it
        self.stages: dict[str, tuple[int, int, int]] = {}

    def serve(self) -> NoReturn:
        """Serve requests until the parent process closes the stream (frames.Closed).

        Requests:
            {"op": "put", "digest"} starts a stage. The body is the inputs as a JSON list. No reply.
            {"op": "drop", "digest"} ends the stage. No reply.
            {"op": "run", ...} runs a hypothesis. The other keys are "nonce", "digest", "keep",
            "equality", "limits", "again", "entry_bytes", "source_bytes", "inputs_bytes" and "also".
            The body has the name of the function and the source. The inputs follow if the digest is
            "". At the end are the inputs of additional sets. For each additional set, the list under
            the key "also" has a pair [keep, bytes]. One reply with the same nonce.
            {"op": "cancel", "nonce"} ends the run with this nonce if it is in progress.
        """
        held = probe_layers(self.jail)
        hello = {"op": "hello", "protocol": frames.PROTOCOL, "python": sys.version.split()[0]}
        layers = {**dict.fromkeys(("process_group", "rlimits", "empty_environment",
                                   "closed_descriptors"), True), **held}  # fmt: skip
        frames.write_all(self.replies, frames.frame({**hello, "layers": layers}))
        self.held = held
        self.footprint = warming.Footprint()
        self.footprint.add(warming.run_first)
        self._start("", 0)
        while True:
            header, body_bytes, data = frames.read_forwardable(self.requests)
            if header["op"] == "put":
                self._start(header["digest"], body_bytes)
            elif header["op"] == "drop":
                self._end(header["digest"])
            elif header["op"] == "run":
                _, down, up = self.stages[header["digest"]]
                frames.write_all(down, data)
                frames.read_exactly(up, 1)

    def _start(self, digest: str, body_bytes: int) -> None:
        (read_down, write_down), (read_up, write_up) = os.pipe(), os.pipe()
        pid = self.jail.fork_init()
        if pid == 0:
            try:
                for _, down, up in self.stages.values():
                    os.close(down)
                    os.close(up)
                os.close(write_down)
                os.close(read_up)
                self.jail.die_with_parent()
                Stage(self, read_down, write_up).serve(body_bytes if digest else None)
            except Forked:
                raise
            except (frames.Closed, OSError):
                os._exit(0)
            except BaseException:  # noqa: BLE001 - the zygote notices that a stage has ended
                os._exit(FAILED)
        os.close(read_down)
        os.close(write_up)
        self.stages[digest] = pid, write_down, read_up
        # The stage has read its inputs. If it could not, everything ends here.
        frames.read_exactly(read_up, 1)

    def _end(self, digest: str) -> None:
        pid, down, up = self.stages.pop(digest)
        os.close(down)
        os.close(up)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def probe_layers(own_jail: jail.Jail) -> dict[str, bool]:
    """Return which isolation layers are active, by letting a forked child enter all of them."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        found: dict[str, bool] = {}
        try:
            held = child.give_up_rights(own_jail)
            child.confine(own_jail, held, found, PROBE_LIMITS, mapped_bytes())
            os.write(theirs, "\n".join(name for name, held in found.items() if held).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    names = os.read(ours, 4096).decode().split("\n")
    os.close(ours)
    os.waitpid(pid, 0)
    return {name: held or name in names for name, held in own_jail.active.items()}


def mapped_bytes() -> int:
    """Return the size of this process's address space in bytes; 0 if it is unknown.

    Memory limits are added to this size.
    """
    with contextlib.suppress(OSError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * resource.getpagesize()
    return 0


# --- A stage ------------------------------------------------------------------


class Waiting(NamedTuple):
    """A child that waits for its request, with the pipe from it and the pipe to it."""

    pid: int
    result: int
    orders: int


class Stage:
    """The process that keeps one input set and forks a child for each run on this set."""

    def __init__(self, zygote: Zygote, down: int, up: int) -> None:
        self.requests, self.replies = zygote.requests, zygote.replies
        self.jail, self.held = zygote.jail, zygote.held
        self.footprint = zygote.footprint
        # This namespace holds only this process and its children.
        self.alone = zygote.jail.active["process_namespace"]
        # Whether a child may wait for its request. Without these layers, a hypothesis that runs in
        # another stage could reach it.
        self.forks_ahead = self.alone and self.held.get("seccomp", False)
        self.down, self.up = down, up
        self.inputs: trial.Inputs | None = None
        self.waiting: Waiting | None = None

    def serve(self, body_bytes: int | None) -> NoReturn:
        """Read the inputs from the stream, then serve runs until the stream is closed.

        `body_bytes` is the size of the inputs, or None if this stage keeps no inputs.

        Raises:
            frames.Closed: The stream has ended.
        """
        if body_bytes is not None:
            self.inputs = trial.Inputs(frames.read_exactly(self.requests, body_bytes))
            if body_bytes >= LARGE_BYTES:
                self.footprint.add(self.inputs.copy_all)
        gc.collect()
        gc.freeze()  # A child's collector must leave the shared pages alone.
        self.mapped_bytes = mapped_bytes()
        while True:
            frames.write_all(self.up, DONE)
            if self.forks_ahead:
                self._fork()
            request, _, data = frames.read_forwardable(self.down)
            self._run(request, data)

    def _fork(self) -> Waiting:
        """Fork the child of the next run. No child of an earlier run exists any more."""
        (ours, theirs), (orders, our_orders) = os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            self.footprint.copy_pages()
            channels = child.Channels(theirs, self.requests, orders)
            raise Forked(channels, self.inputs, self.jail, self.held, self.mapped_bytes)
        os.close(theirs)
        os.close(orders)
        self.waiting = Waiting(pid, ours, our_orders)
        return self.waiting

    def _run(self, request: dict[str, Any], header: bytes) -> None:
        """Run the child of a request, whose header is also given as bytes, and say its result."""
        reply = {"op": "result", "nonce": request["nonce"]}
        pid, ours, orders = self.waiting or self._fork()
        self.waiting = None
        header_bytes = frames.HEAD.size + frames.HEADER_BYTES
        size = PREFIX_BYTES + header_bytes + int(request["limits"]["output_bytes"])
        # The buffer ends with the result.
        with mmap.mmap(-1, size) as buffer, memoryview(buffer) as data:
            try:
                with contextlib.suppress(BrokenPipeError):  # A dead child gives no result.
                    frames.write_all(orders, header)
                os.close(orders)
                ending, got = self._await_result(ours, request, data)
                if ending == "ok":
                    head = {**reply, "ending": "ok", "reach": data[1] - ord("0")}
                    self._say(head, data[PREFIX_BYTES:got])
            finally:
                os.close(ours)
                status, cpu_s = self._end_all(pid)
            if ending == "ok":
                return
            cpu_limit_s = float(request["limits"]["cpu_s"])
            verdict, detail = explain_ending(ending, status, cpu_s, cpu_limit_s, got)
            said = {**child.refusal_header(verdict, detail), "ending": verdict, "cpu_s": cpu_s}
            self._say({**said, **reply})

    def _say(self, header: dict[str, Any], body: memoryview | bytes = b"") -> None:
        head = frames.head(header, len(body))
        # One call for both, so that the parent process wakes once.
        sent = os.writev(self.replies, [head, body])
        frames.write_all(self.replies, memoryview(head)[sent:])
        frames.write_all(self.replies, memoryview(body)[max(0, sent - len(head)) :])

    def _await_result(
        self, pipe: int, request: dict[str, Any], data: memoryview
    ) -> tuple[str, int]:
        """Return ("ok", size) with a complete frame in `data`, or how the run ended otherwise."""
        deadline = time.monotonic() + float(request["limits"]["wall_s"])
        got, needed = 0, PREFIX_BYTES + frames.HEAD.size
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        listening = False
        while True:
            left = deadline - time.monotonic()
            ready = dict(poll.poll(left * 1000)) if left > 0 else {}
            if not ready:
                return "wall", got
            if self.requests in ready:
                header, _ = frames.read_header(self.requests)
                if header["op"] == "cancel" and header["nonce"] == request["nonce"]:
                    return "cancelled", got
            if pipe not in ready:
                continue
            count = os.readv(pipe, [data[got : got + 2**20]])
            if not count:
                return ("protocol" if got > PREFIX_BYTES else "ended"), got
            got += count
            if not listening:
                poll.register(self.requests, select.POLLIN)
                listening = True
            if needed == PREFIX_BYTES + frames.HEAD.size and got >= needed:
                magic, header_size, body_size = frames.HEAD.unpack_from(data, PREFIX_BYTES)
                if magic != frames.MAGIC or header_size > frames.HEADER_BYTES:
                    return "protocol", got
                needed += header_size + body_size
                if needed > len(data):
                    return "output_too_large", got
                complete = needed
            if needed > PREFIX_BYTES + frames.HEAD.size and got >= complete:
                return ("ok" if got == needed else "protocol"), got

    def _end_all(self, pid: int) -> tuple[int, float]:
        """Kill the child and everything it started; return its wait status and CPU seconds."""
        if self.alone:
            # all of this namespace except its first process, which is this one
            os.kill(-1, signal.SIGKILL)
        for kill in (os.killpg, os.kill):  # Before its setsid a child has no group of its own.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(pid, signal.SIGKILL)
        _, status, usage = os.wait4(pid, 0)
        while True:  # Orphaned descendants that left the group are children of this process now.
            try:
                if os.waitpid(-1, 0 if self.alone else os.WNOHANG)[0] == 0:
                    with open("/proc/thread-self/children", "rb") as file:
                        for orphan in file.read().split():
                            os.kill(int(orphan), signal.SIGKILL)
            except (ChildProcessError, OSError):
                break
        return status, usage.ru_utime + usage.ru_stime


def explain_ending(
    ending: str, status: int, cpu_s: float, cpu_limit_s: float, got: int
) -> tuple[str, str]:
    """Return why a child gave no result, as a verdict and a detail.

    Args:
        ending: How the stage ended the child, such as "wall" for the wall-clock limit.
        status: Exit status of the child, as `os.waitpid` returns it.
        cpu_s: CPU time that the child used, in seconds.
        cpu_limit_s: Limit on CPU time, in seconds.
        got: Number of bytes that the child had sent.
    """
    if ending == "wall" and got:
        return "too_slow", "wall time"
    if ending in ("protocol", "output_too_large", "cancelled"):
        return ending, "its result is no frame of ours" if ending == "protocol" else ""
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    failed = not number and os.WEXITSTATUS(status) == child.FAULT_STATUS
    if not got or (failed and got < PREFIX_BYTES):
        return "fault", "a child failed before any untrusted code ran"
    if number == signal.SIGXCPU or (number == signal.SIGKILL and cpu_s >= cpu_limit_s):
        return "too_slow", "CPU time"
    if number == signal.SIGKILL:
        return "crashed", "killed, or its result was closed"
    if number:
        return "crashed", f"died of signal {number}"
    return "crashed", f"ended with status {os.WEXITSTATUS(status)} before its result"


def serve_requests(requests: int, replies: int, own_jail: jail.Jail) -> NoReturn:
    """Enter the isolation layers and serve requests until the stream is closed.

    In a forked child, it runs the child's hypothesis instead.
    """
    # Dataclasses look up the module of a class.
    sys.modules["hypothesis"] = type(sys)("hypothesis")
    for name in state.PRELOADED:
        __import__(name)
    if sys.version_info >= (3, 12):
        __import__("_pylong")  # It converts long integers to text.
    # No file is searched from here on: the modules are the same wherever Python is installed.
    sys.path.clear()
    sys.meta_path = [f for f in sys.meta_path if getattr(f, "__name__", "") != "PathFinder"]
    os.environ.clear()
    warming.warm_up()
    own_jail.enter()
    gc.collect()
    gc.freeze()
    try:
        Zygote(requests, replies, own_jail).serve()
    except (frames.Closed, BrokenPipeError, ConnectionResetError):
        os._exit(0)
    except Forked as forked:
        arguments = forked.args
    child.become_child(*arguments)
