# attack: keeps a little more with every call, in a place of the module and in one of the interpreter
# verdict: ok|memory
# limits: memory_mb=64
import sys

kept = []


def f(x):
    store = sys.__dict__.setdefault("peirce_hostile", [])
    store.append(bytearray(2**25))
    kept.append(bytearray(2**25))
    return len(kept)
