"""Equality rules of a task: ignore the last digits of numbers, the case of letters, or list order.

A relation such as "at most 0.1 apart" would not work: of three values the first may equal the
second and the second the third, but not the first the third. Then coverage, gamma and codes would
have no meaning. So a rule gives each value one normal form, and two predictions are equal if
`canonical` says that their normal forms are. A rule is JSON:

    {"numbers": {"decimals": 1} or {"nearest": 0.5} or {"significant": 3},
     "strings": {"ignore": ["case", "blanks"]},
     "lists": {"ignore": "order" or "repeats", "at": "outermost" or "everywhere"}}

Each key is optional. Rules read the values that `canonical.to_json_value` writes, in the child for
codes and in the parent for observations, so that one function decides in both. Keys of dicts stay
unchanged. Standard library only: the harness loads this file inside the sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from . import canonical
else:
    import canonical  # loaded by harness.py

Normal = Callable[[Any], Any]
GROWTH = 4  # maximum growth of a form: casefolding writes up to three letters for one
_TAGS = frozenset({"$float", "$int"})


def make_normaliser(rule: Mapping[str, Any]) -> Normal:
    """Return a function from a value that `canonical.to_json_value` wrote to its normal form."""
    number = _number_rule(rule.get("numbers"))
    text = _text_rule(rule.get("strings"))
    lists = rule.get("lists") or {}
    ignored, everywhere = lists.get("ignore"), lists.get("at") == "everywhere"

    def inner(value: Any, known: dict[int, tuple[Any, bytes]], outermost: bool = False) -> Any:
        kind = type(value)
        if kind is list:
            parts = [inner(part, known) for part in value]
            if ignored and (outermost or everywhere):
                return _unordered(parts, ignored, known)
            return parts
        if kind is dict:
            tag, body = next(iter(value.items())) if len(value) == 1 else ("", ())
            if tag in _TAGS:
                return value
            if tag == "$dict":
                return {tag: [[key, inner(item, known)] for key, item in body]}
            return {key: inner(item, known) for key, item in value.items()}
        if kind is str:
            return text(value) if text else value
        return number(value) if number and value is not None else value

    return lambda value: inner(value, {}, True)


def normal_bytes(value: Any, normal: Normal, max_bytes: int = canonical.MAX_BYTES) -> bytes:
    """Return an injective encoding of the normal form of a value that `canonical.to_json_value`
    wrote.

    Raises what `canonical.stored_bytes` raises.
    """
    # This rejects values of another form, on which the code below could not rely.
    canonical.stored_bytes(value, max_bytes)
    return canonical.stored_bytes(normal(value), GROWTH * max_bytes)


def make_coder(
    normal: Normal, max_bytes: int, check: Callable[[bytes], None] | None = None
) -> Callable[[Any], bytes]:
    """Return `canonical.make_coder` for normal forms; `check` sees forms before normalisation.

    No method of an untrusted object runs before `canonical_bytes` has checked that the value
    consists of plain types.
    """

    def code(value: Any) -> bytes:
        exact = canonical.canonical_bytes(value, max_bytes)
        if canonical.ADDRESS_MARK in exact and check is not None:
            check(exact)
        form = canonical.stored_bytes(normal(canonical.to_json_value(value)), GROWTH * max_bytes)
        return blake2b(form, digest_size=8).digest()

    return code


def _unordered(parts: list[Any], ignored: str, known: dict[int, tuple[Any, bytes]]) -> list[Any]:
    """Return a list in the order of its elements' forms.

    Its own form is added to `known`, so that no list is written again for each list around it. The
    list itself is kept there too, because a new object could otherwise get its `id`.
    """
    forms = {i: canonical.stored_bytes(part, 2**31, known) for i, part in enumerate(parts)}
    places = sorted(forms, key=forms.__getitem__)
    if ignored == "repeats":
        places = list({forms[i]: i for i in places}.values())
    ordered = [parts[i] for i in places]
    known[id(ordered)] = ordered, canonical.list_bytes([forms[i] for i in places])
    return ordered


def _text_rule(rule: Mapping[str, Any] | None) -> Callable[[str], str] | None:
    ignored: Any = rule["ignore"] if rule else ()
    if not ignored:
        return None

    def text(value: str) -> str:
        if "blanks" in ignored:
            value = " ".join(value.split())
        return value.casefold() if "case" in ignored else value

    return text


def _number_rule(rule: Mapping[str, Any] | None) -> Callable[[Any], Any] | None:
    """Return a rule that depends only on a number's value: True, 1 and 1.0 have one form."""
    if not rule:
        return None
    if "significant" in rule:
        digits = int(rule["significant"]) - 1

        def leading(value: Any) -> Any:
            try:
                rounded = float(f"{float(value):.{digits}e}")
            except OverflowError:  # The integer exceeds every float.
                return value
            return rounded if abs(rounded) != float("inf") else value

        return leading
    up, down = (
        exact_ratio(rule["nearest"])
        if "nearest" in rule
        else _ten_to_the_minus(int(rule["decimals"]))
    )

    def nearest(value: Any) -> Any:
        above, below = value.as_integer_ratio()
        count, rest = divmod(above * down, below * up)
        if 2 * rest > below * up or (2 * rest == below * up and count % 2):
            count += 1  # Half goes to the even multiple, as in round().
        whole, rest = divmod(count * up, down)
        if not rest:
            return whole
        try:
            return count * up / down
        except OverflowError:
            return whole

    return nearest


def _ten_to_the_minus(decimals: int) -> tuple[int, int]:
    return (1, 10**decimals) if decimals >= 0 else (10**-decimals, 1)


def exact_ratio(number: float) -> tuple[int, int]:
    """Return the exact fraction of a number's shortest decimal text: 0.1 is (1, 10)."""
    text, _, exponent = repr(number).partition("e")
    whole, _, part = text.partition(".")
    digits, power = int(whole + part), int(exponent or 0) - len(part)
    return (digits * 10**power, 1) if power >= 0 else (digits, 10**-power)
