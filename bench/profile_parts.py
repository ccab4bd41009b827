"""How the samples of bench/profile_sessions.py are sorted: processes by role, samples by work.

perf gives each sample the process, the library and the kernel's call stack; py-spy gives the Python
stack. The tables here turn both into a few words that a reader knows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# A process has the role of the first words that its command line contains, else its parent's role.
ROLES = (
    ("harness.py", "sandbox"),
    ("peirce.search.worker", "search"),
    ("z3_worker", "solver"),
    ("bin/peirce", "session"),
)
SESSION, OTHER = "session", "other"

# Work in the kernel, by a function on the stack. The first that fits counts.
KERNEL = (
    ("page_fault|handle_mm_fault", "page faults"),
    ("sys_(clone|fork|vfork)|ret_from_fork|schedule_tail", "fork"),
    ("sys_exit|do_exit|exit_mm|sys_wait|sys_kill", "exit, wait and kill"),
    ("sys_execve", "start of a program"),
    ("sys_(fsync|fdatasync|pwrite64|ftruncate|fallocate|unlink|rename)", "writing to disk"),
    ("sys_(mmap|munmap|brk|mprotect|madvise|mremap)", "mapping memory"),
    ("sys_(seccomp|landlock|prctl|chroot|unshare|setresuid|setuid|setgroups|prlimit|setrlimit)", "confining"),
    ("sys_(open|openat|close|newfstatat|statx|stat|lstat|getdents|readlink|pread64)", "reading files"),
    ("sys_(read|write|readv|writev|recv|send|poll|epoll|futex|select|ppoll|sendto|recvfrom)", "pipes, sockets and locks"),
)  # fmt: skip
# Work outside the kernel, by the file of the library or program.
LIBRARIES = (
    (r"/_json\.", "JSON"),
    ("numpy|openblas|scipy", "NumPy and SciPy"),
    ("duckdb", "DuckDB"),
    ("libz3", "Z3"),
    ("zstd|libz|lzma", "compression"),
    ("pydantic|orjson|jiter", "pydantic"),
    ("ssl|crypto|hashlib|sha|blake|md5", "hashing"),
    ("ld-linux|ld-2", "loading libraries"),
    ("sklearn", "scikit-learn"),
    (r"libpython|bin/python", "Python"),
    ("libc[.-]|libm[.-]|libstdc|vdso|libgcc|libpthread", "C library"),
)

# A thread with one of these functions on top waits.
WAITING = re.compile(
    r"^(select|poll|wait|wait_for|acquire|accept|_do_waitpid|read_into|_worker|get|_poll|join"
    r"|_wait_for_tstate_lock|readinto|recv|recv_into|readline|do_poll|run_forever"
    r"|serve\.<locals>\.read|Condition\.wait|Event\.wait|Thread\.join|EpollSelector\.select"
    r"|socket\.accept|SocketIO\.readinto|ThreadedChildWatcher\._do_waitpid|Popen\.\w+"
    r"|Queue\.get|SimpleQueue\.get|_wait_for_writer|_watch\w*|PollSelector\.select|Zygote\.\w+"
    r"|read_exactly|Stage\._await_result|Jail\.fork_init)$"
)
# The work of the deepest frame that fits, by file (and function). {tree} is the folder of the package.
FRAMES = (
    (r"<candidate>|<hypothesis>", "candidates, called as Python"),
    (r"^(json|simplejson)/|orjson", "JSON"),
    (r"^(openai|httpx2?|httpcore2?|h11|langchain_openai|jiter|anyio)/", "HTTP client"),
    (r"^(langgraph|langchain_core|langsmith)/", "graph (LangGraph)"),
    (r"^(rich|pygments)/", "screen"),
    (r"^(typer|click)/", "command line"),
    (r"^(duckdb|{tree}/store)/", "journal and store"),
    (r"^{tree}/sandbox/", "calls of the sandbox"),
    (r"^{tree}/(tools/line_process|tools/workers/|agents/search_model)", "calls of workers"),
    (r"^{tree}/search/novelty|^{tree}/search/\w+/(voting|novelty|ranking|following|sharing)", "ranking by novelty"),
    (r"^{tree}/search/", "enumeration"),
    (r"^{tree}/tools/gear/", "GEAR metrics"),
    (r"^{tree}/tools/logic/", "worlds and rules"),
    (r"^{tree}/tools/sentence_rules/", "sentences on rows"),
    (r"^{tree}/tools/", "tools"),
    (r"^{tree}/graphs/(bank|inference)/", "banks and inference"),
    (r"^{tree}/graphs/", "graph (own nodes)"),
    (r"^{tree}/agents/", "prompts and models"),
    (r"^{tree}/tasks/", "problems and reading of answers"),
    (r"^{tree}/reports/", "metrics and reports"),
    (r"^{tree}/(commands|cli|config|records|secrecy)", "commands and settings"),
    (r"^(asyncio|concurrent)/", "event loop"),
)  # fmt: skip


@dataclass
class Samples:
    """CPU samples of a command and of all its processes.

    Attributes:
        work: Number of samples by role of the process and kind of work.
        forked: Number of processes that were forked, by role.
        synced: Number of calls of fsync and fdatasync, by role.
    """

    work: Counter[tuple[str, str]] = field(default_factory=Counter)
    forked: Counter[str] = field(default_factory=Counter)
    synced: Counter[str] = field(default_factory=Counter)


def find_role(command: str) -> str | None:
    """Return the role of a command line, None if it says nothing."""
    return next((role for words, role in ROLES if words in command), None)


def kind_of_sample(frames: Sequence[tuple[str, str]]) -> str:
    """Return the kind of work of one sample of perf.

    Args:
        frames: Pairs of function and library, the innermost first.
    """
    kernel = [name for name, library in frames if library.startswith("[kernel")]
    if kernel:
        stack = " ".join(kernel)
        return next(
            (kind for words, kind in KERNEL if re.search(words, stack)), "other system calls"
        )
    if not frames:
        return "Python"
    name = "/".join(Path(frames[0][1]).parts[-3:])
    return next((kind for words, kind in LIBRARIES if re.search(words, name)), "other libraries")


EVENT = re.compile(r"\s(\d+)/(\d+)\s+[\d.]+:\s+(\S.*?):?\s*$")
FORK = re.compile(r"PERF_RECORD_FORK\((\d+):(\d+)\):\((\d+):")
FRAME = re.compile(r"^\s+[0-9a-f]+ (.*) \(([^()]*(?:\([^()]*\))?[^()]*)\)$")


def read_perf(lines: Iterable[str], commands: dict[int, str]) -> Samples:
    """Return the samples of the text that `perf script --show-task-events` prints.

    Args:
        lines: The text.
        commands: Command lines of processes by id, as far as they were seen.
    """
    found = Samples()
    roles: dict[int, str] = {}

    def role_of(pid: int) -> str:
        own = find_role(commands.get(pid, ""))
        return own or roles.get(pid, OTHER)

    pid, event, frames = 0, "", list[tuple[str, str]]()

    def end_sample() -> None:
        if event == "cpu-clock":
            found.work[role_of(pid), kind_of_sample(frames)] += 1
        elif "sync" in event:
            found.synced[role_of(pid)] += 1

    for line in lines:
        if fork := FORK.search(line):
            child, _thread, parent = map(int, fork.groups())
            if child != parent:
                roles[child] = role_of(parent)
                found.forked[role_of(child)] += 1
        elif frame := FRAME.match(line):
            frames.append((frame[1], frame[2]))
        elif head := EVENT.search(line):
            end_sample()
            pid, event, frames = int(head[1]), head[3], []
    end_sample()
    return found


def read_stacks(lines: Iterable[str]) -> Iterator[tuple[str, list[str], int]]:
    """Yield (command line of the process, frames with the outermost first, count) of py-spy's raw text."""
    for line in lines:
        stack, _, count = line.rstrip("\n").rpartition(" ")
        frames = stack.split(";")
        command = next((one for one in reversed(frames) if one.startswith("process ")), "")
        yield command, [one for one in frames if not one.startswith("process ")], int(count)


def part_of_stack(frames: Sequence[str], tree: str) -> str | None:
    """Return the part of the program that a Python stack is in; None if the thread waits.

    Args:
        frames: Frames such as "f (numpy/core.py:3)", the outermost first.
        tree: Name of the folder that holds the package.
    """
    split = [one.rpartition(" (") for one in frames]
    places = [(name, place.rstrip(")")) for name, _, place in split]
    if not places or WAITING.match(places[-1][0]):
        return None
    if any("importlib._bootstrap" in place for _, place in places):
        return "imports"
    for _, place in reversed(places):
        for words, part in FRAMES:
            if re.search(words.replace("{tree}", re.escape(tree)), place):
                return part
    return "other"
