"""The zygote: a small single-threaded process that forks one child for each hypothesis.

Run as a script, `python -s -S -P harness.py` (that is `-I`, but it keeps the hash seed of the
environment), with a byte stream to its parent on descriptors 0 and 1. It keeps input sets by
digest, forks a child for a (hypothesis, input set), reads the child's one result frame from a
dedicated pipe under a byte cap and a deadline, kills the child's process group, reaps it and
forwards the result. A child is untrusted: it sees its own source and inputs, and what it says is
checked here and again by the parent. Standard library only; the same file serves inside a
container.

See `Zygote.serve` for the requests.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import random
import resource
import select
import signal
import sys
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING or __package__:
    from . import frames, trial
else:  # as a script: the files beside this one, without a search path
    from importlib import util

    for _name in ("canonical", "frames", "trial"):
        _path = os.path.join(os.path.dirname(os.path.abspath(__file__)), _name + ".py")
        _spec = util.spec_from_file_location(_name, _path)
        sys.modules[_name] = util.module_from_spec(_spec)
        _spec.loader.exec_module(sys.modules[_name])
    frames, trial = sys.modules["frames"], sys.modules["trial"]

CACHE_BYTES = 16 * 2**20  # of input sets, as JSON; a fork costs more the more is held
CHILD_VERDICTS = ("ok", "syntax", "no_function", "too_slow", "memory", "output_too_large")
LIMIT_VERDICTS = ("too_slow", "memory", "output_too_large")
RESERVE_BYTES = 32 * 2**20  # beyond the memory limit, to say in that it was reached
RESULT_DESCRIPTOR = 3  # the only one a child has besides the null device

# Common harmless modules, imported once so that a child which asks for them does not pay.
PRELOADED = ("bisect", "collections", "copy", "functools", "heapq", "itertools", "math", "operator",
             "re", "statistics", "string", "typing")  # fmt: skip


# --- the child ---------------------------------------------------------------


def child(
    pipe: int, nonce: str, request: dict[str, Any], source: bytes, inputs: trial.Inputs
) -> NoReturn:
    """Everything after the fork. Leaves by os._exit alone, so no handler of anyone runs."""
    status = 70
    try:
        confine(pipe, request["limits"])
        header, body = attempt(request, source, inputs)
        frames.write_all(RESULT_DESCRIPTOR, frames.frame({**header, "nonce": nonce}, body))
        status = 0
    finally:
        os._exit(status)


def attempt(
    request: dict[str, Any], source: bytes, inputs: trial.Inputs
) -> tuple[dict[str, Any], bytes]:
    limits = request["limits"]
    # as many frames as the limit says for the hypothesis, besides those below it
    sys.setrecursionlimit(max(200, int(limits["recursion"])) + _depth() + 1)
    try:
        text = source.decode("utf-8", "surrogatepass")
        tried = trial.Trial(text, request["entry"], request["keep"], limits)
        tried.watch_clock()
        function = tried.compile()
        if not callable(function):
            return refusal(*function), b""
        tried.run(function, inputs)
        signal.setitimer(signal.ITIMER_PROF, 0)
        header, body = tried.outcome()
        if len(body) > limits["output_bytes"]:
            raise trial.OverBatch("output_too_large", "the outputs together")
        return header, body
    except trial.OverBatch as over:
        return refusal(*over.args), b""
    except MemoryError:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        _limit("RLIMIT_AS", hard, hard)
        return refusal("memory", "out of memory outside of a call"), b""


def refusal(verdict: str, detail: str) -> dict[str, Any]:
    return {
        "verdict": verdict,
        "detail": detail[: trial.DETAIL_CHARACTERS],
        "limited": verdict in LIMIT_VERDICTS,
        "cpu_s": time.process_time(),
    }


def _depth() -> int:
    depth, at = 0, sys._getframe().f_back
    while at is not None:
        depth, at = depth + 1, at.f_back
    return depth


def confine(pipe: int, limits: dict[str, Any]) -> None:
    """The required layers: own process group, rlimits, closed descriptors, no environment."""
    os.setsid()
    _die_with_zygote()
    os.dup2(pipe, RESULT_DESCRIPTOR)
    os.closerange(RESULT_DESCRIPTOR + 1, 4096)
    cpu_s = max(1, -int(-float(limits["cpu_s"]) // 1))  # whole seconds, upwards
    memory = _mapped_bytes + int(limits["memory_mb"]) * 2**20
    _limit("RLIMIT_AS", memory, memory + RESERVE_BYTES)
    _limit("RLIMIT_CPU", cpu_s, cpu_s + 1)
    _limit("RLIMIT_NOFILE", 32)
    _limit("RLIMIT_FSIZE", 0)
    _limit("RLIMIT_CORE", 0)
    _limit("RLIMIT_NPROC", 0)  # no forks, where the user has no privileges


def _limit(name: str, soft: int, hard: int | None = None) -> None:
    number = getattr(resource, name, None)
    if number is not None:
        with contextlib.suppress(OSError, ValueError):  # macOS refuses some values of RLIMIT_AS
            resource.setrlimit(number, (soft, soft if hard is None else hard))


_mapped_bytes = 0  # of the zygote, and so of a child at its start


def _measure_mapped() -> None:
    global _mapped_bytes
    with contextlib.suppress(OSError), open("/proc/self/statm", "rb") as file:
        _mapped_bytes = int(file.read().split()[0]) * resource.getpagesize()


# --- Linux's prctl, where it can be had --------------------------------------

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_prctl: Any = None
_zygote_pid = 0
_adopts_orphans = False


def _die_with_zygote() -> None:
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != _zygote_pid:  # it died before the call
            os._exit(70)


def _prepare_prctl() -> None:
    global _prctl, _zygote_pid, _adopts_orphans
    _zygote_pid = os.getpid()
    if sys.platform.startswith("linux"):
        try:
            import ctypes

            _prctl = ctypes.CDLL(None).prctl
        except (ImportError, OSError, AttributeError):
            return
        children = f"/proc/self/task/{_zygote_pid}/children"
        if os.path.exists(children):
            _adopts_orphans = _prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def layers() -> dict[str, bool]:
    """Which protections hold for the children of this zygote."""
    return {
        "process_group": True,
        "rlimits": True,
        "empty_environment": True,
        "closed_descriptors": True,
        "parent_death_signal": _prctl is not None,
        "orphans_killed": _adopts_orphans,
        "own_user": False,
        "no_new_privileges": False,
        "seccomp": False,
        "landlock": False,
        "network_namespace": False,
        "cgroup": False,
    }


# --- the zygote --------------------------------------------------------------


class Zygote:
    def __init__(self, requests: int, replies: int) -> None:
        self.requests, self.replies = requests, replies
        self.inputs: OrderedDict[str, trial.Inputs] = OrderedDict()

    def serve(self) -> NoReturn:
        """Until the parent is gone (frames.Closed). Requests: {"op": "put", "digest"} with the inputs as
        a JSON list, no reply; {"op": "run", "id", "digest", "entry", "keep", "limits"} with the
        source, one reply with the same id; {"op": "cancel", "id"} ends that run if it is on."""
        python = sys.version.split()[0]
        self._say(
            {"op": "hello", "protocol": frames.PROTOCOL, "python": python, "layers": layers()}
        )
        while True:
            header, body = frames.read_frame(self.requests)
            if header["op"] == "put":
                self._put(header["digest"], body)
            elif header["op"] == "run":
                self._run(header, body)

    def _say(self, header: dict[str, Any], body: bytes = b"") -> None:
        frames.write_all(self.replies, frames.frame(header, body))

    def _put(self, digest: str, text: bytes) -> None:
        """Keeps this set, whatever its size, and of the others the latest used."""
        self.inputs[digest] = trial.Inputs(text)
        while len(self.inputs) > 1 and sum(i.size for i in self.inputs.values()) > CACHE_BYTES:
            self.inputs.popitem(last=False)
        gc.freeze()  # a child's collector leaves the shared pages alone
        _measure_mapped()

    def _run(self, request: dict[str, Any], source: bytes) -> None:
        reply = {"op": "result", "id": request["id"]}
        inputs = self.inputs.get(request["digest"])
        if inputs is None:
            self._say({**reply, "verdict": "unknown_inputs"})
            return
        self.inputs.move_to_end(request["digest"])
        nonce = os.urandom(8).hex()
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            child(theirs, nonce, request, source, inputs)
        os.close(theirs)
        try:
            ending, header, body = self._await_result(ours, request, nonce)
            if ending == "ok":
                self._say({**header, **reply}, body)
        finally:
            os.close(ours)
            status, cpu_s = end_group(pid)
        if ending != "ok":
            said = refusal(*explain(ending, status, cpu_s, float(request["limits"]["cpu_s"])))
            self._say({**said, **reply, "cpu_s": cpu_s})

    def _await_result(
        self, pipe: int, request: dict[str, Any], nonce: str
    ) -> tuple[str, dict[str, Any], bytes]:
        """("ok", header, body), or how it ended otherwise."""
        limits = request["limits"]
        deadline = time.monotonic() + float(limits["wall_s"])
        cap = frames.HEAD.size + frames.HEADER_BYTES + int(limits["output_bytes"])
        data, needed = bytearray(), frames.HEAD.size
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        poll.register(self.requests, select.POLLIN)
        while True:
            left = deadline - time.monotonic()
            ready = dict(poll.poll(left * 1000)) if left > 0 else {}
            if not ready:
                return "wall", {}, b""
            if self.requests in ready:
                header, _ = frames.read_frame(self.requests)
                if header["op"] == "cancel" and header["id"] == request["id"]:
                    return "cancelled", {}, b""
            if pipe not in ready:
                continue
            chunk = os.read(pipe, 2**20)
            if not chunk:
                return ("protocol" if data else "ended"), {}, b""
            data += chunk
            if needed == frames.HEAD.size and len(data) >= needed:
                magic, header_size, body_size = frames.HEAD.unpack_from(data)
                if magic != frames.MAGIC or header_size > frames.HEADER_BYTES:
                    return "protocol", {}, b""
                needed += header_size + body_size
                if needed > cap:
                    return "output_too_large", {}, b""
                body_at = frames.HEAD.size + header_size
            if len(data) == needed > frames.HEAD.size:
                return checked(data[frames.HEAD.size : body_at], nonce, bytes(data[body_at:]))
            if len(data) > needed:
                return "protocol", {}, b""


def checked(text: bytearray, nonce: str, body: bytes) -> tuple[str, dict[str, Any], bytes]:
    """What a child's header may say, and nothing else of it."""
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        return "protocol", {}, b""
    if (
        type(header) is not dict
        or header.get("nonce") != nonce
        or header.get("verdict") not in CHILD_VERDICTS
    ):
        return "protocol", {}, b""
    told = ("verdict", "detail", "reason_names", "limited", "cpu_s")
    header = {name: header[name] for name in told if name in header}
    if len(json.dumps(header)) > frames.HEADER_BYTES // 2:
        return "protocol", {}, b""
    return "ok", header, body


def end_group(pid: int) -> tuple[int, float]:
    """Kills the child's whole group, reaps it, then what it left: wait status, CPU seconds."""
    for kill in (os.killpg, os.kill):  # before its setsid a child has no group of its own
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    if _adopts_orphans:
        _end_orphans()
    return status, usage.ru_utime + usage.ru_stime


def _end_orphans() -> None:
    """Descendants that left their group: orphaned, they are the zygote's children now."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:
                    for pid in file.read().split():
                        os.kill(int(pid), signal.SIGKILL)
        except ChildProcessError:
            return


def explain(ending: str, status: int, cpu_s: float, cpu_limit_s: float) -> tuple[str, str]:
    """Why a child gave no result: (verdict, detail)."""
    if ending == "wall":
        return "too_slow", "wall time"
    if ending != "ended":
        return ending, "its result is no frame of ours" if ending == "protocol" else ""
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if number == signal.SIGXCPU or (number == signal.SIGKILL and cpu_s >= cpu_limit_s):
        return "too_slow", "CPU time"
    if number == signal.SIGKILL:
        return "crashed", "killed, or its result was closed"
    if number:
        return "crashed", f"died of signal {number}"
    return "crashed", f"ended with status {os.WEXITSTATUS(status)} before its result"


def main() -> None:
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
    os.chdir("/")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    sys.set_int_max_str_digits(0)
    for name in PRELOADED:
        __import__(name)
    os.environ.clear()
    random.seed(0)
    _prepare_prctl()
    gc.freeze()
    with contextlib.suppress(frames.Closed, BrokenPipeError, ConnectionResetError):
        Zygote(requests, replies).serve()
    os._exit(0)


if __name__ == "__main__":
    main()
