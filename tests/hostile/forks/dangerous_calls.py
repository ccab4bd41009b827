# attack: calls of the kernel by number that start, trace, mount, wait, share, load or escape (x86_64)
# verdict: ok|crashed
# values[seccomp]: [[], [], [], []]
# needs: seccomp
import errno
import sys

CALLS = (
    7, 22, 23, 24 * 0 + 29, 34, 35, 40, 41, 42, 49, 50, 53, 56, 57, 58, 59, 64, 68, 73, 80, 81, 86, 88, 90, 92, 95, 101, 103, 105, 109, 112, 116,
    133, 135, 141, 142, 144, 149, 154, 155, 157, 158, 159, 160, 161, 163, 164, 165, 166, 167, 169, 170, 172, 173, 175, 179, 203, 206, 213, 216,
    222, 237, 240, 246, 248, 250, 251, 253, 256, 265, 266, 272, 275, 276, 278, 279, 280, 282, 283, 284, 285, 289, 290, 293, 298, 300, 303, 304,
    305, 308, 310, 311, 312, 313, 314, 317, 318, 319, 321, 322, 323, 325, 326, 329, 424, 425, 426, 428, 429, 430, 434, 435, 437, 438, 440, 441,
    442, 443, 444, 445, 446, 447, 448, 449, 450, 462, 0x40000000 + 57, 0x40000000 + 520, 0x40000000 + 0, 10**6,
)


def f(x):
    ctypes = sys.modules.get("ctypes")
    if ctypes is None or ctypes.sizeof(ctypes.c_void_p) != 8 or ctypes.CDLL(None, use_errno=True).syscall(39) < 2:
        return []
    libc, allowed = ctypes.CDLL(None, use_errno=True), []
    for number in CALLS:
        ctypes.set_errno(0)
        if libc.syscall(number, -1, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
            allowed.append(number)
    return allowed
