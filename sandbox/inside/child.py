"""The child process, which runs one hypothesis on one input set without any rights.

The child writes to a single pipe. First it writes TAKEN when it has read the source, so that its
parent process can continue to read requests. Then it writes one digit, which says how far effects
of the source can reach (state.Reach), before any untrusted code runs. Then it writes the result as
one frame. Everything after the digit is untrusted. This file uses only the standard library.
"""

from __future__ import annotations

import mmap
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING or __package__:
    from . import frames, jail, state, trial
else:  # loaded by harness.py
    import frames
    import jail
    import state
    import trial


class Channels(NamedTuple):
    """The descriptors that a new child keeps: pipes, and the stream from the parent process."""

    result: int  # to which the child writes its result
    requests: int  # from which it reads the name of the function, the source and the inputs
    orders: int  # from which it reads the header of its request


LIMIT_VERDICTS = ("too_slow", "memory", "output_too_large")
RESULT_DESCRIPTOR = 3  # the only descriptor of a child besides the null device
SOURCE_READ = b"t"
FREE_DESCRIPTOR = 64  # From here on no descriptor of a stage is open. A user may allow few.
FAULT_STATUS = 71  # With this status before the digit of its reach, the harness itself failed.
RESERVE_BYTES = 32 * 2**20  # beyond the memory limit, freed to report that the limit was reached


def become_child(
    channels: Channels,
    inputs: trial.Inputs | None,
    own_jail: jail.Jail,
    layers: dict[str, bool],
    mapped_bytes: int,
) -> NoReturn:
    """Give up rights, wait for one request and run it; exit by os._exit without exit handlers.

    Args:
        channels: The descriptors of this child.
        inputs: The inputs that the stage keeps; None if the inputs come with the request.
        own_jail: The isolation layers to apply.
        layers: The layers that a probe found.
        mapped_bytes: Size of the address space before the fork, to which the memory limit is added.
    """
    status = FAULT_STATUS
    try:
        requests, orders = keep_descriptors(channels, own_jail)
        found = give_up_rights(own_jail)
        request, _ = frames.read_header(orders)
        entry = frames.read_exactly(requests, request["entry_bytes"]).decode(
            "utf-8", "surrogatepass"
        )
        source = frames.read_exactly(requests, request["source_bytes"])
        text = frames.read_exactly(requests, request["inputs_bytes"])
        also = [(keep, frames.read_into(requests, size)) for keep, size in request["also"]]
        os.closerange(RESULT_DESCRIPTOR + 1, 4096)
        frames.write_all(RESULT_DESCRIPTOR, SOURCE_READ)
        if inputs is None:
            inputs = trial.Inputs(text)
        taken_bytes = len(text) + sum(len(more) for _, more in also)
        confine(own_jail, found, layers, request["limits"], mapped_bytes + taken_bytes)
        header, body = run_request(request, entry, source, inputs, also)
        frames.write_all(
            RESULT_DESCRIPTOR, frames.frame({**header, "nonce": request["nonce"]}, body)
        )
        status = 0
    finally:
        os._exit(status)


def keep_descriptors(channels: Channels, own_jail: jail.Jail) -> tuple[int, int]:
    """Close all descriptors but those in `channels` and the one that the jail still needs.

    The kept descriptors get low numbers. The result's pipe gets RESULT_DESCRIPTOR, and 0 to 2
    become the null device.

    Returns:
        The new numbers of the stream with the source and of the pipe with the request's header.
    """
    # The flags of a new descriptor belong to this process alone.
    nothing = os.open(os.devnull, os.O_RDWR)
    kept = [nothing, nothing, nothing, *channels]
    if own_jail.landlock >= 0:
        kept.append(own_jail.landlock)
        own_jail.landlock = len(kept) - 1
    for place, descriptor in enumerate(kept):  # away from the low numbers first
        os.dup2(descriptor, FREE_DESCRIPTOR + place)
    for place in range(len(kept)):
        os.dup2(FREE_DESCRIPTOR + place, place)
    os.closerange(len(kept), 4096)
    return RESULT_DESCRIPTOR + 1, RESULT_DESCRIPTOR + 2


def run_request(
    request: dict[str, Any],
    entry: str,
    source: bytes,
    inputs: trial.Inputs,
    also: list[tuple[str, bytearray]],
) -> tuple[dict[str, Any], bytes]:
    """Run a hypothesis on its inputs, and return the header and body of the result message.

    Args:
        request: The header of the request (zygotes.py).
        entry: Name of the function to call.
        source: The source code as UTF-8.
        inputs: The inputs.
        also: Additional input sets, each with "codes" or "values" (what to return) and the inputs
            as JSON text.
    """
    limits = request["limits"]
    reserve = mmap.mmap(-1, RESERVE_BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANON)
    # The limit on frames applies to the hypothesis, so the frames below it are added.
    sys.setrecursionlimit(max(200, int(limits["recursion"])) + _depth() + 1)
    said = False
    try:
        text = source.decode("utf-8", "surrogatepass")
        tried = trial.Trial(text, entry, request["keep"], limits, request["equality"])
        refused = tried.parse()
        order = None
        if request["again"]:
            order = other_order(len(inputs))
        said = True
        frames.write_all(RESULT_DESCRIPTOR, b"%d" % tried.reach)
        if tried.reach != state.Reach.STATELESS:
            erase_inputs(also)
        if refused is not None:
            return refusal_header(*refused), b""
        tried.watch_clock()
        function = tried.compile()
        if not callable(function):
            return refusal_header(*function), b""
        tried.run(function, inputs, order)
        signal.setitimer(signal.ITIMER_PROF, 0)
        header, body = tried.encode_result()
        if len(body) > limits["output_bytes"]:
            raise trial.BatchLimitReached("output_too_large", "the outputs together")
        if not also:
            return header, body
        parts, bodies = run_further_sets(tried, also, limits["output_bytes"] - len(body))
        return {**header, "parts": parts}, body + bodies
    except trial.BatchLimitReached as over:
        return refusal_header(*over.args), b""
    except MemoryError:
        reserve.close()
        if not said:
            frames.write_all(RESULT_DESCRIPTOR, b"2")
        return refusal_header("memory", "out of memory outside of a call"), b""


def erase_inputs(also: list[tuple[str, bytearray]]) -> None:
    """Overwrite and remove additional input sets, to hide them from untrusted code."""
    for _, text in also:
        text[:] = bytes(len(text))
    also.clear()


def run_further_sets(
    first: trial.Trial, also: list[tuple[str, bytearray]], most_bytes: int
) -> tuple[list[dict[str, Any]], bytes]:
    """Run the same function on additional input sets.

    Args:
        first: The finished run on the first input set.
        also: Additional input sets, as in `run_request`.
        most_bytes: Maximum size of all results together.

    Returns:
        A header for each input set, which contains the size of its body, and all bodies joined.
        Both are empty if a limit is reached, because each set then has to run in a separate child
        process.
    """
    # this frame is in addition to those of `run_request`
    sys.setrecursionlimit(sys.getrecursionlimit() + 1)
    parts, bodies = [], bytearray()
    try:
        for keep, text in also:
            tried = first.copy_for(keep)
            tried.watch_clock()
            function = tried.compile()
            if not callable(function):
                return [], b""
            tried.run(function, trial.Inputs(text))
            signal.setitimer(signal.ITIMER_PROF, 0)
            header, body = tried.encode_result()
            parts.append({**header, "bytes": len(body)})
            bodies += body
    except (trial.BatchLimitReached, MemoryError):
        return [], b""
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return (parts, bytes(bodies)) if len(bodies) <= most_bytes else ([], b"")


def other_order(count: int) -> list[int]:
    """Return a second order in which to run `count` inputs, and change addresses of later objects.

    The order is reversed, so that an input that ran before another input now runs after it. If the
    number of inputs is odd, a reversal alone would leave the middle input at its position, and
    would keep inputs at even or odd positions. In this case the first input of the order is called
    twice, and its second result counts.
    """
    order = list(range(count - 1, -1, -1))
    order[:0] = order[:1] * (count % 2)
    # Some objects for each of the allocator's size classes and free lists.
    for place in range(520):
        _kept.append((bytes(place), object(), place + 0.5, [place], {place: place}, (place,)))
    return order


_kept: list[Any] = []


def refusal_header(verdict: str, detail: str) -> dict[str, Any]:
    """Return the header of a result message without values."""
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


def give_up_rights(own_jail: jail.Jail) -> dict[str, bool]:
    """Apply the isolation layers that do not depend on a request.

    Returns:
        For each of these layers, whether it is active.
    """
    os.setsid()
    jail.set_limit("RLIMIT_NOFILE", 32)
    jail.set_limit("RLIMIT_FSIZE", 0)
    jail.set_limit("RLIMIT_CORE", 0)
    jail.set_limit("RLIMIT_MEMLOCK", 0)
    jail.set_limit("RLIMIT_NPROC", 0)  # No forks, if the user has no privileges.
    return own_jail.drop_rights()


def confine(
    own_jail: jail.Jail,
    found: dict[str, bool],
    layers: dict[str, bool],
    limits: dict[str, Any],
    mapped_bytes: int,
) -> None:
    """Apply the limits of a hypothesis, then the filter of system calls.

    With `give_up_rights`, these are all isolation layers of a child. Open descriptors are already
    closed and the environment is already empty.

    Args:
        own_jail: The layers of this system.
        found: The result of `give_up_rights`.
        layers: The layers that a probe found; see `Jail.filter_calls`.
        limits: The limits of the hypothesis.
        mapped_bytes: Size of the address space, to which the memory limit is added.

    Raises:
        jail.LayerRefused: A layer that the probe found is not available.
    """
    cpu_s = max(1, -int(-float(limits["cpu_s"]) // 1))  # whole seconds, rounded up
    memory = mapped_bytes + int(limits["memory_mb"]) * 2**20
    jail.set_limit("RLIMIT_AS", memory + RESERVE_BYTES)
    jail.set_limit("RLIMIT_CPU", cpu_s, cpu_s + 1)
    own_jail.filter_calls(found, layers)
