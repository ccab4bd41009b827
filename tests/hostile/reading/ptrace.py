# attack: ptrace and process_vm_readv on the zygote and on the process of the test
# verdict: ok
# values: [[], [], [], []]
import os
import sys


def f(x):
    done = []
    ctypes = sys.modules.get("ctypes")
    if ctypes is None:
        return done
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(64)
    for pid in (os.getppid(), int("@PID@"), int("@DECOY@"), 1):
        if libc.ptrace(16, pid, 0, 0) == 0:
            done.append(["ptrace", pid])
            libc.ptrace(17, pid, 0, 0)
        vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 64)
        far = (ctypes.c_void_p * 2)(id(x), 16)
        if libc.process_vm_readv(pid, vector, 1, far, 1, 0) > 0:
            done.append(["read", pid])
    return done
