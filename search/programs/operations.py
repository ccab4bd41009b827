"""The operations of interpreted programs: operators, builtins and methods with bounded work.

Only values of the listed types exist in an interpreted program, and only the listed operations. Each
charges the program's meter (metering.py).
"""

from __future__ import annotations

import collections
import functools
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

from .metering import (
    CONTAINERS,
    FEW,
    ITERATORS,
    MAX_BITS,
    MAX_CALLS,
    MAX_LENGTH,
    SEQUENCES,
    SETS,
    Halt,
    Meter,
    count_elements,
    iterate,
)

# --- Operators.


def _add(meter: Meter, left: Any, right: Any) -> Any:
    if isinstance(left, SEQUENCES) and isinstance(right, SEQUENCES):
        if len(left) + len(right) > MAX_LENGTH:
            raise Halt
        meter.spend((len(left) + len(right)) >> 3)
    return meter.check(left + right)


def _multiply(meter: Meter, left: Any, right: Any) -> Any:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, SEQUENCES) and isinstance(other, int):
            if len(one) * max(0, other) > MAX_LENGTH:
                raise Halt
            meter.spend(len(one) * max(0, other) >> 3)
    return meter.check(left * right)


def _power(meter: Meter, left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int) and left.bit_length() * right > MAX_BITS:
        raise Halt
    return meter.check(left**right)


def _shift_left(meter: Meter, left: Any, right: Any) -> Any:
    if isinstance(right, int) and right > MAX_BITS:
        raise Halt
    return meter.check(left << right)


def _modulo(meter: Meter, left: Any, right: Any) -> Any:
    if isinstance(left, str):
        raise Halt  # a format may ask for a text of any width
    return meter.check(left % right)


def _plain(operation: Callable[[Any, Any], Any]) -> Callable[[Meter, Any, Any], Any]:
    def apply(meter: Meter, left: Any, right: Any) -> Any:
        for one in (left, right):
            if isinstance(one, CONTAINERS):
                meter.measure(one)
        return meter.check(operation(left, right))

    return apply


BINARY: dict[str, Callable[[Meter, Any, Any], Any]] = {
    "Add": _add, "Sub": _plain(operator.sub), "Mult": _multiply, "Div": _plain(operator.truediv),
    "FloorDiv": _plain(operator.floordiv), "Mod": _modulo, "Pow": _power, "LShift": _shift_left,
    "RShift": _plain(operator.rshift), "BitAnd": _plain(operator.and_),
    "BitOr": _plain(operator.or_), "BitXor": _plain(operator.xor),
}  # fmt: skip
UNARY: dict[str, Callable[[Any], Any]] = {
    "USub": operator.neg, "UAdd": operator.pos, "Not": operator.not_, "Invert": operator.invert,
}  # fmt: skip


def _contains(left: Any, right: Any) -> bool:
    if isinstance(right, ITERATORS):
        raise Halt  # it would be searched without a charge
    if isinstance(right, range) and type(left) not in (int, bool):
        raise Halt  # Python compares any other value with each element of the range
    return left in right


COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "Eq": operator.eq, "NotEq": operator.ne, "Lt": operator.lt, "LtE": operator.le,
    "Gt": operator.gt, "GtE": operator.ge, "Is": operator.is_, "IsNot": operator.is_not,
    "In": _contains, "NotIn": lambda left, right: not _contains(left, right),
}  # fmt: skip


# --- Builtins: functions (meter, …).


def _sequence(kind: Callable[[Any], Any], ordered: bool = True) -> Callable[..., Any]:
    def build(meter: Meter, value: Any = ()) -> Any:
        found = kind(count_elements(meter, iterate(meter, value, ordered)))
        if kind in SETS:
            meter.measure(found)
        return found

    return build


def _sorted(meter: Meter, value: Any, key: Any = None, reverse: Any = False) -> Any:
    values = list(count_elements(meter, iterate(meter, value, ordered=key is not None)))
    meter.measure(values)
    return sorted(values, key=key, reverse=bool(reverse))


def _extreme(choose: Callable[..., Any]) -> Callable[..., Any]:
    def apply(meter: Meter, *values: Any, **options: Any) -> Any:
        options = {name: one for name, one in options.items() if name in ("key", "default")}
        if len(values) == 1:
            ordered = options.get("key") is not None
            values = (list(count_elements(meter, iterate(meter, values[0], ordered))),)
        meter.measure(list(values))
        return choose(*values, **options)

    return apply


def _sum(meter: Meter, value: Any, start: Any = 0) -> Any:
    total = start
    for one in count_elements(meter, iterate(meter, value)):
        total = _add(meter, total, one)
    return total


def _over(choose: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda meter, value: choose(count_elements(meter, iterate(meter, value, ordered=False)))


def _length(meter: Meter, value: Any) -> int:
    return len(value)


def _integer(meter: Meter, value: Any = 0, base: Any = None) -> int:
    if isinstance(value, str):
        meter.spend(1 + (len(value) >> 3))
        if len(value) > 1_000:
            raise Halt
    return int(value) if base is None else int(value, base)


def _text(meter: Meter, value: Any = "") -> str:
    if isinstance(value, SETS) or callable(value):
        raise Halt  # the order of a set and the address of a function differ between processes
    meter.measure(value)
    return str(meter.check(str(value)))


def _dictionary(meter: Meter, value: Any = (), **items: Any) -> dict[Any, Any]:
    if isinstance(value, dict):
        meter.spend(1 + (len(value) >> 3))
        return dict(value, **items)
    return dict(count_elements(meter, iterate(meter, value)), **items)


def _power_of(meter: Meter, base: Any, exponent: Any, modulus: Any = None) -> Any:
    if modulus is None:
        return _power(meter, base, exponent)
    if any(isinstance(one, int) and one.bit_length() > 64 for one in (base, exponent, modulus)):
        raise Halt
    return pow(base, exponent, modulus)


def _round(meter: Meter, value: Any, digits: Any = None) -> Any:
    if isinstance(digits, int) and abs(digits) > MAX_CALLS:
        raise Halt  # a power of ten with that many digits
    return round(value, digits)


def _next(meter: Meter, value: Any, *default: Any) -> Any:
    if not isinstance(value, ITERATORS):
        raise TypeError("next of a value that is no iterator")
    meter.spend(1)
    try:
        return next(value, *default)
    except StopIteration as error:  # inside a generator it would end that generator
        raise ValueError("next of an empty iterator") from error


def _isinstance(meter: Meter, value: Any, kinds: Any) -> bool:
    wanted = kinds if isinstance(kinds, tuple) else (kinds,)
    found = [TYPES.get(one.name) if isinstance(one, Builtin) else None for one in wanted]
    if None in found:
        raise Halt
    return isinstance(value, tuple(one for one in found if one is not None))


def _lazily(kind: Callable[..., Any], functions: int = 0) -> Callable[..., Any]:
    """Wrap a builtin that returns an iterator. The first `functions` arguments are no iterables."""

    def build(meter: Meter, *values: Any, **options: Any) -> Any:
        parts = [count_elements(meter, iterate(meter, one)) for one in values[functions:]]
        return kind(*values[:functions], *parts, **options)

    return build


def _enumerate(meter: Meter, value: Any, start: Any = 0) -> Any:
    return enumerate(count_elements(meter, iterate(meter, value)), start)


def _reversed(meter: Meter, value: Any) -> Any:
    if not isinstance(value, (*SEQUENCES, range, dict)):
        raise TypeError("reversed of a value without an order")
    if isinstance(value, range):
        return count_elements(meter, reversed(value))
    meter.spend(1 + (len(value) >> 3))
    return reversed(value)


def _iter(meter: Meter, value: Any) -> Any:
    return iter(count_elements(meter, iterate(meter, value)))


def _plainly(function: Callable[..., Any]) -> Callable[..., Any]:
    def apply(meter: Meter, *values: Any) -> Any:
        if len(values) > FEW:
            raise Halt  # the least common multiple of many integers is long
        return meter.check(function(*values))

    return apply


def _factorial(meter: Meter, value: Any) -> int:
    if value > 300:
        raise Halt
    return math.factorial(value)


def _limited(function: Callable[..., Any], most: int) -> Callable[..., Any]:
    """Wrap a builtin of itertools whose result grows fast, of at most `most` values."""

    def build(meter: Meter, value: Any, *counts: Any, **options: Any) -> Any:
        values = list(count_elements(meter, iterate(meter, value)))
        if len(values) > most or any(
            isinstance(one, int) and one > most for one in options.values()
        ):
            raise Halt
        return count_elements(meter, function(values, *counts, **options))

    return build


def _accumulate(meter: Meter, value: Any, function: Any = None, *, initial: Any = None) -> Any:
    add = (lambda left, right: _add(meter, left, right)) if function is None else function
    return itertools.accumulate(count_elements(meter, iterate(meter, value)), add, initial=initial)


def _reduce(meter: Meter, function: Any, value: Any, *start: Any) -> Any:
    return functools.reduce(function, count_elements(meter, iterate(meter, value)), *start)


def _counter(meter: Meter, value: Any = ()) -> Any:
    return collections.Counter(
        value if isinstance(value, dict) else count_elements(meter, iterate(meter, value))
    )


def _default_dict(meter: Meter, factory: Any = None) -> Any:
    return collections.defaultdict(factory)


def _groups(meter: Meter, value: Any, key: Any = None) -> Any:
    """Yield the groups of `itertools.groupby` as lists, because a group is read once anyway."""
    for name, group in itertools.groupby(count_elements(meter, iterate(meter, value)), key):
        yield name, iter(list(group))


BUILTINS: dict[str, Callable[..., Any]] = {
    "abs": _plainly(abs), "all": _over(all), "any": _over(any), "bin": _plainly(bin),
    "bool": lambda meter, value=False: bool(value), "chr": _plainly(chr), "dict": _dictionary,
    "divmod": _plainly(divmod), "enumerate": _enumerate, "filter": _lazily(filter, 1),
    "float": lambda meter, value=0.0: float(value), "frozenset": _sequence(frozenset, False),
    "hex": _plainly(hex), "int": _integer, "isinstance": _isinstance, "iter": _iter,
    "len": _length, "list": _sequence(list), "map": _lazily(map, 1), "max": _extreme(max),
    "min": _extreme(min), "next": _next, "ord": _plainly(ord), "pow": _power_of,
    "print": lambda meter, *values, **options: None, "range": _plainly(range),
    "repr": _text, "reversed": _reversed, "round": _round,
    "set": _sequence(set, False), "slice": _plainly(slice), "sorted": _sorted, "str": _text,
    "sum": _sum, "tuple": _sequence(tuple), "zip": _lazily(zip),
}  # fmt: skip
TYPES: dict[str, type] = {
    "bool": bool, "dict": dict, "float": float, "frozenset": frozenset, "int": int, "list": list,
    "set": set, "str": str, "tuple": tuple,
}  # fmt: skip
CONSTANTS: dict[str, Any] = {"True": True, "False": False, "None": None}
ERRORS: dict[str, type[Exception]] = {
    one.__name__: one
    for one in (
        ArithmeticError, AttributeError, Exception, IndexError, KeyError, LookupError,
        OverflowError, TypeError, ValueError, ZeroDivisionError,
    )
}  # fmt: skip
MODULES: dict[str, dict[str, Any]] = {
    "math": {
        **{
            name: _plainly(getattr(math, name))
            for name in ("ceil", "floor", "gcd", "isqrt", "lcm", "log", "log10", "log2", "sqrt",
                         "trunc", "fabs", "sin", "cos", "tan", "exp", "hypot")
        },
        "factorial": _factorial, "prod": lambda meter, value: _reduce(
            meter, lambda left, right: _multiply(meter, left, right), value, 1),
        "pow": _plainly(math.pow), "inf": math.inf, "pi": math.pi, "e": math.e, "nan": math.nan,
    },
    "collections": {"Counter": _counter, "defaultdict": _default_dict, "deque": _sequence(collections.deque),
                    "OrderedDict": _dictionary},
    "functools": {"reduce": _reduce},
    "itertools": {
        "accumulate": _accumulate, "chain": _lazily(itertools.chain), "groupby": _groups,
        "pairwise": _lazily(itertools.pairwise), "zip_longest": _lazily(itertools.zip_longest),
        "takewhile": _lazily(itertools.takewhile, 1), "dropwhile": _lazily(itertools.dropwhile, 1),
        "combinations": _limited(itertools.combinations, 12),
        "permutations": _limited(itertools.permutations, 6),
        "product": _limited(itertools.product, 6),
    },
}  # fmt: skip


def _keys(meter: Meter, value: Any, default: Any = None) -> dict[Any, Any]:
    keys = list(count_elements(meter, iterate(meter, value)))
    meter.measure(keys)
    return dict.fromkeys(keys, default)


def _chain(meter: Meter, value: Any) -> Any:
    for part in count_elements(meter, iterate(meter, value)):
        yield from count_elements(meter, iterate(meter, part))


# Methods of classes, by the names of both.
CLASS_METHODS: dict[tuple[str, str], Callable[..., Any]] = {
    ("dict", "fromkeys"): _keys,
    ("chain", "from_iterable"): _chain,
}


class Builtin:
    """A builtin as a value of an interpreted program, so that it may be called or passed on."""

    def __init__(self, meter: Meter, name: str, function: Callable[..., Any]) -> None:
        self.meter, self.name, self.function = meter, name, function

    def __call__(self, *values: Any, **options: Any) -> Any:
        """Call the builtin, and charge for it."""
        self.meter.spend(1)
        return self.function(self.meter, *values, **options)


# --- Methods.

_WORDS = str.split
METHODS: dict[type, frozenset[str]] = {
    list: frozenset(_WORDS("append extend insert pop remove index count sort reverse copy clear")),
    tuple: frozenset(_WORDS("index count")),
    str: frozenset(_WORDS(
        "upper lower title capitalize swapcase casefold strip lstrip rstrip split rsplit splitlines"
        " join replace find rfind index rindex count startswith endswith isdigit isalpha isalnum"
        " isupper islower isspace isnumeric isdecimal zfill ljust rjust center partition rpartition"
        " removeprefix removesuffix")),
    dict: frozenset(_WORDS("get items keys values pop setdefault update copy")),
    set: frozenset(_WORDS(
        "add remove discard union intersection difference symmetric_difference issubset issuperset"
        " copy update")),
    int: frozenset(_WORDS("bit_length bit_count")),
    float: frozenset(_WORDS("is_integer")),
    collections.deque: frozenset(_WORDS("append appendleft pop popleft extend rotate")),
}  # fmt: skip
METHODS[frozenset] = METHODS[set] - {"add", "remove", "discard", "update"}
METHODS[bool] = METHODS[int]
METHODS[collections.Counter] = METHODS[dict] | {"most_common"}
METHODS[collections.defaultdict] = METHODS[dict]
_PADDED = frozenset({"zfill", "ljust", "rjust", "center"})
_SEARCHED = frozenset({"index", "count", "remove", "sort"})
_OF_ITERABLES = frozenset(
    {"extend", "join", "update", "union", "intersection", "difference", "symmetric_difference",
     "issubset", "issuperset"}
)  # fmt: skip


def call_method(meter: Meter, value: Any, name: str, args: Any, options: Any) -> Any:
    """Call a method of a value.

    Raises:
        AttributeError: Values of this type have no such method here.
        Halt: The call would exceed a limit.
    """
    if name not in METHODS.get(type(value), ()):
        raise AttributeError(name)
    meter.spend(1)
    if isinstance(value, (*SEQUENCES, dict, *SETS)):
        meter.spend(len(value) >> 4)
        if name in _SEARCHED and not isinstance(value, str):
            meter.measure(value)
    if name in _PADDED and args and isinstance(args[0], int) and args[0] > MAX_LENGTH:
        raise Halt
    if name == "replace" and len(args) > 1 and all(isinstance(one, str) for one in args[:2]):
        meter.spend(len(value) * len(args[1]) >> 3)
        if (len(value) + 1) * (len(args[1]) + 1) > MAX_LENGTH:
            raise Halt
    if name in _OF_ITERABLES:
        args = [
            one if isinstance(one, dict) else list(count_elements(meter, iterate(meter, one)))
            for one in args
        ]
        if name == "join" and sum(len(one) + len(value) for one in args[0]) > MAX_LENGTH:
            raise Halt
    for one in args:
        if isinstance(one, CONTAINERS) and name not in ("append", "insert", "appendleft"):
            meter.measure(one)
    result = getattr(value, name)(*args, **options)
    if type(value) in (list, collections.deque) and len(value) > MAX_LENGTH:
        raise Halt
    return meter.check(result)
