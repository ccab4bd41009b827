"""Equality rules of a task that ignore digits of numbers, case of letters, or order of lists.

A rule such as "at most 0.1 apart" would not work, because the first of three values could equal the
second and the second the third, while the first does not equal the third. Coverage, gamma and codes
would then have no meaning. Therefore a rule gives each value a normal form, and two predictions are
equal if their normal forms are equal according to `canonical`. A rule is written as JSON:

    {"numbers": {"decimals": 1} or {"nearest": 0.5} or {"significant": 3},
     "strings": {"ignore": ["case", "blanks"]},
     "lists": {"ignore": "order" or "repeats", "at": "outermost" or "everywhere"}}

Each key is optional. Rules apply to values in the form of `canonical.to_json_value`. The same
function computes normal forms in the child process (for codes) and in the parent process (for
observations). Keys of dicts do not change. This file uses only the standard library, because the
harness loads it inside the sandbox.
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
    """Return a function that computes the normal form of a value under an equality rule.

    The value must have the form of `canonical.to_json_value`.
    """
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
    """Return the canonical bytes of the normal form of a value.

    Args:
        value: A value in the form of `canonical.to_json_value`.
        normal: A function from `make_normaliser`.
        max_bytes: Maximum length of the canonical form of the value before normalisation.

    Raises:
        Unrepresentable: A form is too large, or the value has no canonical form.
        ValueError: The value has an unknown tag or a duplicate key.
    """
    # This rejects values of another form, on which the code below could not rely.
    canonical.stored_bytes(value, max_bytes)
    return canonical.stored_bytes(normal(value), GROWTH * max_bytes)


def make_coder(
    normal: Normal, max_bytes: int, check: Callable[[bytes], None] | None = None
) -> Callable[[Any], bytes]:
    """Return a function that computes the code of a value's normal form.

    No method of an untrusted object runs before `canonical_bytes` has checked that the value
    consists of built-in types.

    Args:
        normal: A function from `make_normaliser`.
        max_bytes: Maximum length of the canonical form before normalisation.
        check: A function that is called with each form, before normalisation, that contains
            ADDRESS_MARK, and may raise; None for no check.
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
    """Return a number as an exact fraction of its shortest decimal text: 0.1 gives (1, 10)."""
    text, _, exponent = repr(number).partition("e")
    whole, _, part = text.partition(".")
    digits, power = int(whole + part), int(exponent or 0) - len(part)
    return (digits * 10**power, 1) if power >= 0 else (digits, 10**-power)
