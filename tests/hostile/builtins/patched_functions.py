# attack: replaces the functions that everybody uses
# verdict: ok|protocol|crashed|no_function|memory|too_slow
import builtins

builtins.peirce_hostile = True
for name in ("len", "sorted", "sum", "max", "min", "isinstance", "print", "open", "all", "any", "map", "zip", "iter", "next"):
    setattr(builtins, name, lambda *_, **__: 0)


def f(x):
    return 0
