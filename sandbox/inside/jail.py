"""Functions that remove the rights of a Linux process, using only ctypes.

The zygote enters namespaces once (`Jail.enter`). Each child then gives up its other rights
(`Jail.drop_rights`, `Jail.filter_calls`). An isolation layer that the kernel refuses is skipped and
reported. The caller decides whether to continue without it (pool.REQUIRED, --strict-sandbox). On
systems other than Linux this module does nothing. This file uses only the standard library.

Sources: the manual pages of unshare, seccomp, landlock, personality and capset, and the kernel's
tables of system calls for x86_64 and aarch64.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import struct
import sys
from typing import Any

EMPTY_ROOT = "/dev/shm"  # It exists on every Linux; an empty tmpfs of the zygote's own hides it.
STACK_BYTES = 8 * 2**20  # the usual limit on Linux
LAYERS = ("own_user", "no_new_privileges", "seccomp", "landlock", "network_namespace",
          "process_namespace", "user_namespace", "own_root", "fixed_addresses")  # fmt: skip

# System calls that a child may make: (name, number on x86_64, number on aarch64). CPython needs them
# to compute: memory, the result's pipe, the timer of an input. Deliberately missing is whatever
# tells one run from another or waits: files and their inode numbers, process ids, counters of
# memory and time, the machine, signals, processes, threads, sockets, random bytes.
ALLOWED: tuple[tuple[str, int, int], ...] = (
    ("read", 0, 63), ("write", 1, 64), ("mmap", 9, 222), ("mprotect", 10, 226),
    ("munmap", 11, 215), ("brk", 12, 214), ("rt_sigaction", 13, 134), ("rt_sigprocmask", 14, 135),
    ("rt_sigreturn", 15, 139), ("mremap", 25, 216), ("madvise", 28, 233), ("setitimer", 38, 103),
    ("exit_group", 231, 94),
)  # fmt: skip
# Allowed only with certain arguments; see `build_filter`.
FUTEX, CLOCK_GETTIME = (202, 98), (228, 113)
ALLOWED_CALLS = (*(name for name, _, _ in ALLOWED), "futex", "clock_gettime")

_MACHINES = {
    "x86_64": (0, 0xC000003E, 317),
    "aarch64": (1, 0xC00000B7, 277),
}  # column, audit architecture, number of seccomp
_NEWNS, _NEWUTS, _NEWIPC = 0x20000, 0x4000000, 0x8000000
_NEWUSER, _NEWPID, _NEWNET = 0x10000000, 0x20000000, 0x40000000
_ADDR_NO_RANDOMIZE = 0x40000
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 36, 38
_SIGKILL = 9
_CAPABILITY_VERSION_3, _NO_CAPABILITIES = struct.pack("=Ii", 0x20080522, 0), bytes(24)


class LayerRefused(Exception):
    """Raised when an isolation layer that the zygote's probe found is not available to a child."""


class Jail:
    """The isolation layers of one zygote.

    Call `enter` first, then `drop_rights` and `filter_calls` in each child.
    """

    def __init__(self) -> None:
        self.active: dict[str, bool] = dict.fromkeys(LAYERS, False)
        self._libc: Any = None
        self._user = 0
        self.landlock = -1
        self._filter: Any = None
        self._mounted = False  # whether an empty file system lies at EMPTY_ROOT
        if sys.platform.startswith("linux"):
            with contextlib.suppress(OSError):
                self._libc = ctypes.CDLL(None, use_errno=True)

    # --- Once, by the zygote ---

    def fix_addresses(self) -> bool:
        """Disable address space randomisation, and return whether it is disabled.

        The first call restarts the program for this purpose. With randomisation, hash(None) differs
        between zygotes before CPython 3.12. The limit on the stack is set to the same value
        everywhere, because the kernel places libraries depending on it.
        """
        if self._libc is None:
            return False
        now = self._libc.personality(0xFFFFFFFF)
        if now != -1 and "PEIRCE_ANEW" not in os.environ:
            if self._libc.personality(now | _ADDR_NO_RANDOMIZE) == -1:
                return False
            _, hard = resource.getrlimit(resource.RLIMIT_STACK)
            soft = STACK_BYTES if hard == resource.RLIM_INFINITY else min(STACK_BYTES, hard)
            set_limit("RLIMIT_STACK", soft, hard)
            # All symbols are resolved once, instead of some anew in each child.
            anew = {"PEIRCE_ANEW": "1", "LD_BIND_NOW": "1"}
            os.execve(sys.executable, sys.orig_argv, {**os.environ, **anew})
        self.active["fixed_addresses"] = now != -1 and bool(now & _ADDR_NO_RANDOMIZE)
        return self.active["fixed_addresses"]

    def enter(self) -> None:
        """Enter namespaces, mount an empty root folder, and prepare resources for children."""
        if self._libc is None:
            return
        self._enter_namespaces()
        self._user = self._free_user()
        self.landlock = self._ruleset()
        self._filter = self._assemble()
        self._libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        for name in ("capset", "prctl", "syscall"):  # ctypes keeps what children need.
            getattr(self._libc, name)

    def _unshare(self, flags: int) -> bool:
        return bool(self._libc.unshare(flags) == 0)

    def _enter_namespaces(self) -> None:
        together = _NEWNS | _NEWUTS | _NEWIPC | _NEWNET
        user, group = os.geteuid(), os.getegid()
        if self._unshare(together):
            mounts = network = True
        elif self._unshare(_NEWUSER | together):
            mounts = network = self.active["user_namespace"] = True
            for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"),
                               ("gid_map", f"{group} {group} 1")):  # fmt: skip
                with contextlib.suppress(OSError), open(f"/proc/self/{name}", "w") as file:
                    file.write(text)
        else:
            mounts, network = self._unshare(_NEWNS), self._unshare(_NEWNET)
            self._unshare(_NEWIPC)
        self.active["network_namespace"] = network
        if mounts and network:
            # This changes only the namespace's host name.
            self._libc.sethostname(b"sandbox", ctypes.c_size_t(7))
        private = 0x4000 | 0x40000  # MS_REC | MS_PRIVATE: mounts made here do not appear outside.
        if mounts and self._libc.mount(b"none", b"/", None, private, None) == 0:
            readonly_nosuid_nodev_noexec = 1 | 2 | 4 | 8
            at, kind = EMPTY_ROOT.encode(), b"tmpfs"
            mounted = self._libc.mount(kind, at, kind, readonly_nosuid_nodev_noexec, b"mode=555")
            self._mounted = mounted == 0
        pid = os.fork()  # A process that takes its own process namespace can fork only once.
        if pid == 0:
            os._exit(0 if self._unshare(_NEWPID) else 1)
        self.active["process_namespace"] = os.waitpid(pid, 0)[1] == 0

    def _free_user(self) -> int:
        """Return a user id that no other program has, if this process may take it; otherwise 0.

        All zygotes use the same one, because a hypothesis could return it.
        """
        if os.geteuid() != 0 or self.active["user_namespace"]:
            return 0
        mapped = 0
        with contextlib.suppress(OSError, ValueError), open("/proc/self/uid_map") as file:
            mapped = max(int(line.split()[0]) + int(line.split()[2]) for line in file)
        for user in (0x70000000, 61184, 65534):
            if user < mapped:
                return user
        return 0

    def _ruleset(self) -> int:
        """Return a Landlock rule set that allows no file; -1 without Landlock."""
        call = self._libc.syscall
        abi = call(444, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
        if abi < 1:
            return -1
        files = (1 << 13) - 1
        for since, bit in ((2, 13), (3, 14), (5, 15)):
            if abi >= since:
                files |= 1 << bit
        fields = [files, *([3] if abi >= 4 else []), *([3] if abi >= 6 else [])]
        attributes = struct.pack(f"={len(fields)}Q", *fields)
        return int(call(444, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0)))

    # --- The filter of system calls ---

    def _assemble(self) -> Any:
        """Return the filter as classic BPF in a buffer; None on a machine without a table."""
        if os.uname().machine not in _MACHINES or sys.maxsize < 2**32:
            return None
        column, audit, _ = _MACHINES[os.uname().machine]
        words = build_filter(column, audit)
        self._bytes = ctypes.create_string_buffer(b"".join(words), 8 * len(words))
        address = ctypes.addressof(self._bytes)
        return ctypes.create_string_buffer(struct.pack("@HP", len(words), address))

    # --- For each stage and child ---

    def fork_init(self) -> int:
        """Fork, and return 0 in the child as os.fork does.

        If possible, the child is the first process of a new process namespace. When the first
        process dies, all other processes in the namespace die. The returned id is then the id of an
        intermediate process, which dies together with the first process.
        """
        pid = os.fork()
        if pid or not self.active["process_namespace"]:
            return pid
        self.die_with_parent()
        first = os.fork() if self._unshare(_NEWPID) else -1
        if first == 0:
            return 0
        os.closerange(0, 4096)  # The pipes belong to the child alone.
        if first > 0:
            os.waitpid(first, 0)
        os._exit(0)

    def die_with_parent(self) -> None:
        """Let the kernel kill this process when its parent dies."""
        if self._libc is not None:
            self._libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)

    def drop_rights(self) -> dict[str, bool]:
        """Give up the rights of a child that no further step needs: files, user, capabilities.

        `filter_calls` must follow before any untrusted code runs. It takes the result of this
        method.

        Returns:
            For each layer of this method, whether it is active.
        """
        if self._libc is None:
            return {}
        found = {"own_root": False, "own_user": False}
        call = self._libc.syscall
        if self._mounted and (os.geteuid() == 0 or self.active["user_namespace"]):
            with contextlib.suppress(OSError):
                os.chroot(EMPTY_ROOT)
                os.chdir("/")
                found["own_root"] = True
        if self._user:
            with contextlib.suppress(OSError):
                os.setgroups([])
                os.setresgid(self._user, self._user, self._user)
                os.setresuid(self._user, self._user, self._user)
                found["own_user"] = True
        dropped = self._libc.capset(_CAPABILITY_VERSION_3, _NO_CAPABILITIES) == 0
        new = self._libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
        found["no_new_privileges"] = new and dropped
        self.die_with_parent()  # A change of user resets it.
        if self.landlock >= 0:
            found["landlock"] = call(446, self.landlock, 0) == 0
            os.close(self.landlock)
        return found

    def filter_calls(self, found: dict[str, bool], layers: dict[str, bool]) -> None:
        """Filter the system calls of a child, and check that no layer is missing.

        Args:
            found: The result of `drop_rights`.
            layers: The layers that a probe found. A probe itself passes an empty dict, which is
                filled with the result for each layer.

        Raises:
            LayerRefused: A layer that the probe found is not available.
        """
        if self._libc is None:
            return
        if self._filter is not None:
            number = _MACHINES[os.uname().machine][2]
            no_speculation_penalty = 4  # SECCOMP_FILTER_FLAG_SPEC_ALLOW
            found["seccomp"] = (
                self._libc.syscall(number, 1, no_speculation_penalty, self._filter) == 0
            )
        missing = [name for name, held in layers.items() if held and found.get(name) is False]
        if missing:
            raise LayerRefused(", ".join(missing))
        layers.update(found)


def build_filter(column: int, audit: int) -> list[bytes]:
    """Return a filter of system calls as instructions of 8 bytes each.

    A system call that is not allowed fails with EPERM. A system call of another processor
    architecture ends the process.

    Args:
        column: Column of the tables of system call numbers that belongs to this architecture.
        audit: The kernel's number for this architecture.
    """
    load, equal, above, both, give = 0x20, 0x15, 0x35, 0x54, 0x06
    allow, refuse, kill = 0x7FFF0000, 0x00050001, 0x80000000
    words: list[bytes] = []

    def say(code: int, value: int, yes: int = 0, no: int = 0) -> None:
        words.append(struct.pack("=HBBI", code, yes, no, value))

    def argument(number: int) -> int:
        return 16 + 8 * number  # the low half

    say(load, 4)
    say(equal, audit, 1)
    say(give, kill)
    say(load, 0)
    say(above, 0x40000000, 0, 1)  # the x32 calls of x86_64
    say(give, refuse)
    say(equal, FUTEX[column], 0, 5)
    say(load, argument(1))
    say(both, 0x7F)
    # Waking is harmless. Waiting is not allowed, because nobody could wake a process that is alone.
    say(equal, 1, 0, 1)
    say(give, allow)
    say(give, refuse)
    say(equal, CLOCK_GETTIME[column], 0, 4)
    say(load, argument(0))
    # Other clocks are those of other processes, which count what ran before.
    say(above, 4, 1)
    say(give, allow)
    say(give, refuse)
    calls = [numbers[column] for _, *numbers in ALLOWED]
    for index, one in enumerate(calls):
        say(equal, one, len(calls) - index)
    say(give, refuse)
    say(give, allow)
    return words


def set_limit(name: str, soft: int, hard: int | None = None) -> None:
    """Set a resource limit, if this system supports it.

    Args:
        name: Name of the limit, such as "RLIMIT_CPU".
        soft: The soft limit.
        hard: The hard limit; None for the same value as `soft`.
    """
    number = getattr(resource, name, None)
    if number is not None:
        with contextlib.suppress(OSError, ValueError):  # macOS refuses some values of RLIMIT_AS.
            resource.setrlimit(number, (soft, soft if hard is None else hard))
