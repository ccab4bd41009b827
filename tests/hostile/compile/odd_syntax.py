# attack: constructs that a reader of sources may not know, all in one
# verdict: ok
# values: [[3, 1, 2], [1], [], [5, 5]]
from __future__ import annotations
global nothing
case: int = 3
match: "unknown" = 4
(lambda *a, **k: (yield))()
[(a := 1) for _ in ()]
a, *b = *(), 1, *[2]
@(lambda g: g)
async def later(*, a=(), **k) -> unknown:
    async with a as b, c as (d, e):
        async for d.e in f: await g
    return [i async for i in k]


class Odd(metaclass=type, **{}):
    __slots__ = ("a",)
    x: int
    def __init_subclass__(cls, /, **k): nonlocal_ = __class__
    del __slots__


def f(x, /, *, _=0):
    nonlocal_ = f"{x!r:>{3}}" f'{"a" if x else "b"}' if x else rb"" Rb"\d"
    try:
        pass
    except* (ValueError, TypeError) as group:
        pass
    else:
        match x:
            case [int() as first, *_] | {"a": first} if first: del first
            case {"b": 1, **rest}: pass
            case Odd(a=None) | -1.5e3 + 2j: ...
            case _: pass
    finally:
        assert True, (yield_ := 1)
    for x[0:0], [] in (): pass
    else: return x
