# attack: code in every method that a check might call; what ran is told by the next call
# verdict: ok
# values: [{"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}, [0]]
import sys

ran = sys.__dict__.setdefault("peirce_hostile_ran", [])


def tell(*_):
    ran.append(1)
    return 1


names = ("bool", "len", "iter", "index", "int", "float", "hash", "eq", "ne", "lt", "str", "repr", "getitem", "contains", "bytes", "format",
         "reduce", "reduce_ex", "getstate", "copy", "deepcopy", "sizeof", "length_hint", "fspath", "buffer", "complex", "instancecheck", "class_getitem")
Trap = type("Trap", (), {f"__{name}__": tell for name in names})


def f(x):
    return [len(ran)] if x == [5, 5] else [Trap(), {"k": Trap()}, x]
