# attack: the calls of another architecture, which have other numbers, from machine code of its own (x86_64)
# verdict[seccomp]: crashed|ok
# verdict[else]: ok|crashed
# values[seccomp]: [[], [], [], []]
# needs: seccomp
import sys


def f(x):
    ctypes, mmap = sys.modules.get("ctypes"), sys.modules.get("mmap")
    if ctypes is None or mmap is None or sys.maxsize < 2**32:
        return []
    try:
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except (OSError, ValueError):
        return []
    # mov eax, 20 (getpid of i386); int 0x80; ret
    page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    return ["answered"] if call() > 0 else []
