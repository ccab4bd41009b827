# attack: what the kernel counts: memory, load, page faults, time, limits that follow from what ran before
# verdict: ok
# values[seccomp]: [[], [], [], []]
import os
import sys


def f(x):
    resource, ctypes = sys.modules.get("resource"), sys.modules.get("ctypes")
    asks = [
        ("load", os.getloadavg),
        ("signals", lambda: sys.modules["_signal"].getitimer(2)),
    ]
    if resource is not None:
        asks += [
            ("usage", lambda: resource.getrusage(0)),
            ("limit", lambda: resource.getrlimit(resource.RLIMIT_AS)),
        ]
    if ctypes is not None:
        room, call = ctypes.create_string_buffer(4096), ctypes.CDLL(None, use_errno=True).syscall
        at = ctypes.addressof(room)

        def by_number(number, *arguments):
            if call(number, *map(ctypes.c_long, arguments)) < 0:
                raise OSError

        for name, numbers, arguments in (
            ("sysinfo", (99, 179), (at,)),
            ("residence", (27, 232), (at // 4096 * 4096, 1, at)),
            ("times by number", (100, 153), (at,)),
            ("usage by number", (98, 165), (0, at)),
            ("limits by number", (302, 261), (0, 9, 0, at)),
        ):
            number = numbers["aarch64" in sys.implementation._multiarch]
            asks.append((name, lambda n=number, a=arguments: by_number(n, *a)))
    told = []
    for name, ask in asks:
        try:
            ask()
            told.append(name)
        except (OSError, KeyError):
            pass
    return told
