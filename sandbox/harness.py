"""The zygote: a small single-threaded process that forks one child for each hypothesis.

Run as a script, `python -s -S -P harness.py` (that is `-I`, but with the hash seed of the
environment), with a byte stream to its parent on descriptors 0 and 1. It keeps input sets by
digest, forks a child for a (hypothesis, input set), reads the child's one result frame from a
dedicated pipe under a byte cap and deadlines, kills the child's process group, reaps it and
forwards the result. A child is untrusted: it sees its own source and inputs, and what it says is
checked here and again by the parent. Standard library only; the same file serves inside a
container.

A message either way is a frame: 4 bytes magic, the lengths of header (uint32) and body (uint64),
little endian, a JSON object, bytes. See `serve` for the requests.
"""

from __future__ import annotations

import ast
import errno
import gc
import json
import marshal
import os
import random
import resource
import select
import signal
import struct
import sys
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NoReturn

if __package__:
    from . import canonical
else:  # as a script: the file beside this one, without a search path
    import importlib.util

    _where = os.path.join(os.path.dirname(os.path.abspath(__file__)), "canonical.py")
    _spec = importlib.util.spec_from_file_location("canonical", _where)
    assert _spec is not None and _spec.loader is not None
    canonical = importlib.util.module_from_spec(_spec)
    sys.modules["canonical"] = canonical
    _spec.loader.exec_module(canonical)

PROTOCOL = 1
MAGIC = b"PEI1"
HEAD = struct.Struct("<4sIQ")
HEADER_BYTES = 65_536
CACHE_BYTES = 64 * 2**20  # of input sets as JSON; the set in use always stays
TICK = "__peirce_tick__"  # ends in underscores: a class body does not mangle it
DETAIL_CHARACTERS = 500

# Common harmless modules, imported once so that a child which asks for them does not pay.
PRELOADED = ("bisect", "collections", "copy", "functools", "heapq", "itertools", "math", "operator",
             "re", "statistics", "string", "typing")  # fmt: skip

STEPS, TIMEOUT, EXIT = "steps", "timeout", "exit"
LIMIT_REASONS = frozenset({STEPS, TIMEOUT, "MemoryError", "RecursionError", canonical.TOO_LARGE})
_BUILTIN_EXCEPTIONS = {
    kind: name
    for name, kind in vars(__builtins__ if not isinstance(__builtins__, dict) else sys.modules["builtins"]).items()
    if isinstance(kind, type) and issubclass(kind, Exception)
}  # fmt: skip


class Closed(Exception):
    """The other side of a stream is gone."""


# --- frames ------------------------------------------------------------------


def frame(header: dict[str, Any], body: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return HEAD.pack(MAGIC, len(text), len(body)) + text + body


def read_exactly(descriptor: int, size: int) -> bytes:
    chunks = bytearray()
    while len(chunks) < size:
        chunk = os.read(descriptor, min(size - len(chunks), 2**20))
        if not chunk:
            raise Closed
        chunks += chunk
    return bytes(chunks)


def read_frame(descriptor: int) -> tuple[dict[str, Any], bytes]:
    magic, header_size, body_size = HEAD.unpack(read_exactly(descriptor, HEAD.size))
    if magic != MAGIC or header_size > HEADER_BYTES:
        raise Closed
    return json.loads(read_exactly(descriptor, header_size)), read_exactly(descriptor, body_size)


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


# --- the loop over inputs: runs in the child, and in bench/ as the bare loop --


class Steps(BaseException):
    """An input used up its passes of `while` loops."""


class InputTimeout(BaseException):
    """An input used up its CPU time."""


class Inputs:
    """A parsed input set with the cheapest way to a fresh copy of each input."""

    def __init__(self, text: bytes) -> None:
        values = json.loads(text)
        if all(type(v) is list and _immutable(v) for v in values):
            self.stored, self.fresh = values, list.copy
        else:
            self.stored, self.fresh = [marshal.dumps(v, 2) for v in values], marshal.loads
        self.size = len(text)

    def __len__(self) -> int:
        return len(self.stored)


def _immutable(values: list[Any]) -> bool:
    return {int, float, str, bool, type(None)}.issuperset(map(type, values))


class Trial:
    """One hypothesis over one input set, in this process: compile once, then call for each input.

    results: for each input bytes (its code, or its value as JSON text) or a reason (str).
    """

    def __init__(self, source: str, entry: str, keep: str, limits: dict[str, Any]) -> None:
        self.source, self.entry, self.keep, self.limits = source, entry, keep, limits
        self.results: list[bytes | str] = []
        self.overrun: dict[int, str] = {}  # inputs that a limit touched, though they swallowed it
        self._tick, self._new_budget = self._counter(int(limits["loop_steps"]))
        self._clock_at, self._clock_since = -1, 0.0

    def _counter(self, budget: int) -> tuple[Callable[[], None], Callable[[], None]]:
        left = budget

        def tick() -> None:
            nonlocal left
            left -= 1
            if left < 0:  # and at every later pass, so that a loop cannot swallow it
                self.overrun[len(self.results)] = STEPS
                raise Steps

        def new_budget() -> None:
            nonlocal left
            left = budget

        return tick, new_budget

    def compile(self) -> tuple[str, str] | Callable[[Any], Any]:
        """The hypothesis' function, or (verdict, detail) where there is none."""
        namespace: dict[str, Any] = {"__name__": "hypothesis", "__builtins__": __builtins__}
        try:
            code = compile_source(self.source)
        except SyntaxError as error:
            return "syntax", f"{type(error).__name__}: {error.msg} (line {error.lineno})"
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            return "syntax", f"{type(error).__name__}: {error}"
        namespace[TICK] = self._tick
        try:
            exec(code, namespace)
        except (Steps, InputTimeout):
            return "too_slow", "the module's top level does not end"
        except MemoryError:
            return "memory", "the module's top level took too much memory"
        except BaseException as error:
            return "no_function", f"the module's top level raised {describe(error)}"
        if self.overrun:
            return "too_slow", "the module's top level does not end"
        function = namespace.get(self.entry)
        if not callable(function):
            return "no_function", f"no function named {self.entry[:80]!r} at the top level"
        return function  # type: ignore[no-any-return]

    def run(self, function: Callable[[Any], Any], inputs: Inputs) -> None:
        stored, fresh, results = inputs.stored, inputs.fresh, self.results
        image = self._image()
        append = results.append
        plain_loop = "while" not in self.source and "random" not in self.source
        new_budget, total = self._new_budget, len(stored)
        while len(results) < total:  # `results` alone says where we are, whatever was raised where
            try:
                if plain_loop:
                    for index in range(len(results), total):
                        append(image(function(fresh(stored[index]))))
                else:
                    for index in range(len(results), total):
                        new_budget()
                        random.seed(0)
                        append(image(function(fresh(stored[index]))))
            except BaseException as error:
                append(reason_of(error))

    def _image(self) -> Callable[[Any], bytes]:
        max_bytes = int(self.limits["value_bytes"])
        if self.keep == "codes":
            return canonical.coder(max_bytes)

        def text(value: Any) -> bytes:
            canonical.canonical_bytes(value, max_bytes)
            return json.dumps(canonical.plain(value)).encode()

        return text

    def watch_clock(self) -> None:
        """A repeating timer of CPU time finds the input that runs too long: no call costs a syscall."""
        limit = float(self.limits["input_cpu_s"])
        signal.signal(signal.SIGPROF, self._check_clock)
        signal.setitimer(signal.ITIMER_PROF, limit / 4, limit / 4)

    def _check_clock(self, _signal: int, interrupted: Any) -> None:
        if interrupted is not None and interrupted.f_code is Trial.run.__code__:
            return  # between two calls
        at, now = len(self.results), time.process_time()
        if at != self._clock_at:
            self._clock_at, self._clock_since = at, now
        elif now - self._clock_since >= float(self.limits["input_cpu_s"]) * 0.7:
            self.overrun[at] = TIMEOUT
            raise InputTimeout

    def outcome(self) -> tuple[dict[str, Any], bytes]:
        """The result frame: codes (8 bytes each), reasons (1 byte each), values as a JSON list."""
        for index, reason in self.overrun.items():
            if index < len(self.results):
                self.results[index] = reason
        names = sorted({r for r in self.results if type(r) is str})
        number = {name: i + 1 for i, name in enumerate(names)}
        reasons = bytes(number[r] if type(r) is str else 0 for r in self.results) if names else bytes(len(self.results))  # fmt: skip
        if self.keep == "codes":
            nothing = bytes(8)
            body = b"".join(nothing if type(r) is str else r for r in self.results) if names else b"".join(self.results)  # type: ignore[arg-type, misc]  # fmt: skip
        else:
            body = b"[" + b",".join(b"null" if type(r) is str else r for r in self.results) + b"]"  # type: ignore[misc]
        header = {
            "verdict": "ok",
            "reason_names": names,
            "limited": bool(LIMIT_REASONS.intersection(names)),
            "cpu_s": time.process_time(),
        }
        return header, reasons + body


def compile_source(source: str) -> Any:
    """Code of the module, with a tick at the top of each pass of a `while` loop."""
    if "while" not in source:
        return compile(source, "<hypothesis>", "exec", dont_inherit=True)
    tree = ast.parse(source, "<hypothesis>")
    for node in ast.walk(tree):
        if isinstance(node, ast.While):
            call = ast.Expr(ast.Call(ast.Name(TICK, ast.Load()), [], []))
            ast.copy_location(call, node)
            node.body.insert(0, ast.fix_missing_locations(call))
    return compile(tree, "<hypothesis>", "exec", dont_inherit=True)


def reason_of(error: BaseException) -> str:
    """A short stable name, by exact type: a custom class is "Exception", an exit is "exit"."""
    kind = type(error)
    if kind is Steps:
        return STEPS
    if kind is InputTimeout:
        return TIMEOUT
    if kind is canonical.Unrepresentable:
        return str(error.reason)
    if kind in (SystemExit, KeyboardInterrupt, GeneratorExit):
        return EXIT
    return _BUILTIN_EXCEPTIONS.get(kind, "Exception")  # type: ignore[arg-type]


def describe(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:DETAIL_CHARACTERS]
    except BaseException:
        return "an exception that cannot be shown"


# --- the child ---------------------------------------------------------------


def child(result: int, nonce: str, request: dict[str, Any], source: bytes, inputs: Inputs) -> NoReturn:  # fmt: skip
    """Everything after the fork. Leaves by os._exit only."""
    status = 70
    try:
        limits = request["limits"]
        confine(result, limits)
        verdict, detail = "crashed", ""
        try:
            trial = Trial(source.decode("utf-8", "surrogatepass"), request["entry"], request["keep"], limits)  # fmt: skip
            sys.setrecursionlimit(int(limits["recursion"]) + _depth())
            trial.watch_clock()
            function = trial.compile()
            if callable(function):
                trial.run(function, inputs)
                signal.setitimer(signal.ITIMER_PROF, 0)
                header, body = trial.outcome()
                if len(body) > limits["output_bytes"]:
                    header, body = refused("output_too_large", f"{len(body)} bytes"), b""
            else:
                header, body = refused(*function), b""
        except MemoryError:
            header, body = refused("memory", "out of memory outside of a call"), b""
        except UnicodeDecodeError as error:
            header, body = refused("syntax", str(error)), b""
        header["nonce"] = nonce
        write_all(3, frame(header, body))
        status = 0
    finally:
        os._exit(status)


def refused(verdict: str, detail: str) -> dict[str, Any]:
    return {"verdict": verdict, "detail": detail[:DETAIL_CHARACTERS], "limited": verdict != "syntax",
            "cpu_s": time.process_time()}  # fmt: skip


def _depth() -> int:
    depth, at = 0, sys._getframe()
    while at is not None:
        depth, at = depth + 1, at.f_back  # type: ignore[assignment]
    return depth


def confine(result: int, limits: dict[str, Any]) -> None:
    """The required layers: own process group, rlimits, closed descriptors, no environment."""
    os.setsid()
    _die_with_parent()
    os.dup2(result, 3)
    os.closerange(4, 4096)
    os.environ.clear()
    megabytes = int(limits["memory_mb"])
    cpu = max(1, -int(-float(limits["cpu_s"]) // 1))
    _limit("RLIMIT_AS", _mapped_bytes() + megabytes * 2**20)
    _limit("RLIMIT_CPU", cpu, cpu + 1)
    _limit("RLIMIT_NOFILE", 32)
    _limit("RLIMIT_FSIZE", 0)
    _limit("RLIMIT_CORE", 0)
    _limit("RLIMIT_NPROC", 0)  # no forks, where the user is not privileged
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    random.seed(0)


def _limit(name: str, soft: int, hard: int | None = None) -> None:
    number = getattr(resource, name, None)
    if number is None:
        return
    try:
        resource.setrlimit(number, (soft, soft if hard is None else hard))
    except (OSError, ValueError):  # macOS refuses some values of RLIMIT_AS
        pass


def _mapped_bytes() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


_prctl: Any = None
_zygote_pid = 0


def _die_with_parent() -> None:
    if _prctl is not None:
        _prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
        if os.getppid() != _zygote_pid:
            os._exit(70)


def _load_prctl() -> None:
    global _prctl, _zygote_pid
    _zygote_pid = os.getpid()
    if sys.platform.startswith("linux"):
        try:
            import ctypes

            _prctl = ctypes.CDLL(None).prctl
        except (ImportError, OSError, AttributeError):
            _prctl = None


# --- the zygote --------------------------------------------------------------


class Zygote:
    def __init__(self, requests: int, replies: int) -> None:
        self.requests, self.replies = requests, replies
        self.inputs: OrderedDict[str, Inputs] = OrderedDict()

    def serve(self) -> None:
        """Until the parent is gone. Requests: {"op": "put", "digest"} with the inputs as a JSON
        list, no reply; {"op": "run", "id", "digest", "entry", "keep", "limits"} with the source,
        one reply with the same id; {"op": "cancel", "id"} ends that run early if it still runs."""
        self._say({"op": "hello", "protocol": PROTOCOL, "python": sys.version.split()[0],
                   "layers": layers()})  # fmt: skip
        while True:
            header, body = read_frame(self.requests)
            if header["op"] == "put":
                self._put(header["digest"], body)
            elif header["op"] == "run":
                self._run(header, body)

    def _say(self, header: dict[str, Any], body: bytes = b"") -> None:
        write_all(self.replies, frame(header, body))

    def _put(self, digest: str, text: bytes) -> None:
        self.inputs[digest] = Inputs(text)
        self.inputs.move_to_end(digest)
        while len(self.inputs) > 1 and sum(i.size for i in self.inputs.values()) > CACHE_BYTES:
            self.inputs.popitem(last=False)
        gc.collect()
        gc.freeze()  # a child's collector leaves the pages of inputs alone

    def _run(self, request: dict[str, Any], source: bytes) -> None:
        reply = {"op": "result", "id": request["id"]}
        inputs = self.inputs.get(request["digest"])
        if inputs is None:
            self._say({**reply, "verdict": "unknown_inputs"})
            return
        self.inputs.move_to_end(request["digest"])
        nonce = os.urandom(8).hex()
        read_end, write_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            child(write_end, nonce, request, source, inputs)
        os.close(write_end)
        try:
            verdict, header, body = self._await_result(read_end, request, nonce)
        except Closed:
            self._end(pid)
            raise
        finally:
            os.close(read_end)
        if verdict == "ok":
            self._say({**header, **reply}, body)
            self._end(pid)
        else:
            status, cpu = self._end(pid)
            self._say({**refused(*explain(verdict, status, cpu, request["limits"])), **reply, "cpu_s": cpu})  # fmt: skip

    def _await_result(
        self, pipe: int, request: dict[str, Any], nonce: str
    ) -> tuple[str, dict[str, Any], bytes]:
        limits = request["limits"]
        deadline = time.monotonic() + float(limits["wall_s"])
        cap = HEAD.size + HEADER_BYTES + int(limits["output_bytes"])
        data = bytearray()
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        poll.register(self.requests, select.POLLIN)
        needed: int | None = None
        while needed is None or len(data) < needed:
            left = deadline - time.monotonic()
            ready = dict(poll.poll(max(0, left) * 1000)) if left > 0 else {}
            if not ready:
                return "too_slow", {}, b""
            if self.requests in ready:
                header, _ = read_frame(self.requests)
                if header["op"] == "cancel" and header["id"] == request["id"]:
                    return "cancelled", {}, b""
            if pipe not in ready:
                continue
            chunk = os.read(pipe, 2**20)
            if not chunk:
                return ("protocol" if data else "ended"), {}, b""
            data += chunk
            if len(data) > cap:
                return "output_too_large", {}, b""
            if needed is None and len(data) >= HEAD.size:
                magic, header_size, body_size = HEAD.unpack_from(data)
                if magic != MAGIC or header_size > HEADER_BYTES:
                    return "protocol", {}, b""
                needed = HEAD.size + header_size + body_size
                if needed > cap:
                    return "output_too_large", {}, b""
        return self._checked(data, needed, nonce)

    def _checked(
        self, data: bytearray, needed: int, nonce: str
    ) -> tuple[str, dict[str, Any], bytes]:
        body_at = HEAD.size + HEAD.unpack_from(data)[1]
        try:
            header = json.loads(data[HEAD.size : body_at])
        except (ValueError, RecursionError):
            return "protocol", {}, b""
        if len(data) != needed or type(header) is not dict or header.pop("nonce", None) != nonce:
            return "protocol", {}, b""
        return "ok", header, bytes(data[body_at:])

    def _end(self, pid: int) -> tuple[int, float]:
        """Kills the child's whole group and reaps it: wait status and CPU seconds."""
        while True:
            for kill in (os.killpg, os.kill):  # before its setsid a child has no group of its own
                try:
                    kill(pid, signal.SIGKILL)
                except OSError as error:
                    if error.errno not in (errno.ESRCH, errno.EPERM):
                        raise
            try:
                _, status, usage = os.wait4(pid, 0)
                return status, usage.ru_utime + usage.ru_stime
            except InterruptedError:
                continue


def explain(verdict: str, status: int, cpu: float, limits: dict[str, Any]) -> tuple[str, str]:
    """Why a child gave no result: (verdict, detail)."""
    if verdict != "ended":
        return verdict, {"too_slow": "wall time"}.get(verdict, "")
    signalled = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if signalled == signal.SIGXCPU or (signalled == signal.SIGKILL and cpu >= float(limits["cpu_s"])):  # fmt: skip
        return "too_slow", "CPU time"
    if signalled:
        return "crashed", f"died of signal {signalled}"
    return "crashed", f"ended with status {os.WEXITSTATUS(status)} before its result"


def layers() -> dict[str, bool]:
    """Which protections are active for children of this zygote."""
    return {
        "process_group": True,
        "rlimits": True,
        "empty_environment": True,
        "closed_descriptors": True,
        "parent_death_signal": _prctl is not None,
        "own_user": False,
        "no_new_privileges": False,
        "seccomp": False,
        "landlock": False,
        "network_namespace": False,
        "cgroup": False,
    }


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
    _load_prctl()
    gc.freeze()
    try:
        Zygote(requests, replies).serve()
    except (Closed, BrokenPipeError, ConnectionResetError):
        os._exit(0)


if __name__ == "__main__":
    main()
