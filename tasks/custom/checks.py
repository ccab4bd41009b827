"""Checks of a task file, YAML or Python: its name, its template of a pair and its rule of equality.

The form of the rule of equality is that of `sandbox/inside/tolerance.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from ...records import Json, Observation
from ...sandbox.inside.canonical import to_json_value
from ...sandbox.inside.tolerance import make_normaliser, normal_bytes
from ..io.messages import shorten, suggest_nearest, warn
from .words import FIELD_PATTERN, STEP_PATTERN, get_part

MakeError = Callable[
    [Sequence[str | int], str], Exception
]  # (keys in the rule, what is wrong) -> error

EQUALITY_KEYS: dict[str, tuple[str, ...]] = {
    "numbers": ("decimals", "nearest", "significant"),
    "strings": ("ignore",),
    "lists": ("ignore", "at"),
}
NAME_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")  # the name of a task
DECIMALS_RANGE, SIGNIFICANT_RANGE = (-12, 15), (1, 15)
NEAREST_RANGE = (1e-12, 1e12)


def check_equality(value: Json, fail: MakeError) -> dict[str, Json]:
    """Return a rule of equality, checked; "exact" becomes an empty rule.

    Raises:
        Exception: `fail(keys, sentence)`, where the value is not a rule.
    """
    if value == "exact":
        return {}
    rule: dict[str, Json] = _mapping(value, (), tuple(EQUALITY_KEYS), fail)
    for name, of_kind in rule.items():
        _mapping(of_kind, (name,), EQUALITY_KEYS[name], fail)
        if name == "numbers":
            _check_numbers(of_kind, fail)
        elif name == "strings":
            ignored = of_kind.get("ignore")
            if not isinstance(ignored, list) or not ignored:
                raise fail(
                    (name, "ignore"), f"must be a list of case and blanks, not {shorten(ignored)}"
                )
            for i, one in enumerate(ignored):
                _one_of(one, ("case", "blanks"), (name, "ignore", i), fail)
        else:
            _one_of(of_kind.get("ignore"), ("order", "repeats"), (name, "ignore"), fail)
            at = of_kind.get("at", "outermost")
            _one_of(at, ("outermost", "everywhere"), (name, "at"), fail)
    return rule


def _mapping(value: Json, at: Sequence[str | int], valid: Sequence[str], fail: MakeError) -> Json:
    if not isinstance(value, dict) or not value:
        raise fail(at, f"must be a mapping with keys from {', '.join(valid)}, not {shorten(value)}")
    for name in value:
        if name not in valid:
            raise fail((*at, str(name)), f"unknown key{suggest_nearest(str(name), valid)}")
    return value


def _one_of(value: Json, valid: Sequence[str], at: Sequence[str | int], fail: MakeError) -> None:
    if value not in valid:
        raise fail(at, f"must be {' or '.join(valid)}, not {shorten(value)}")


def _check_numbers(rule: dict[str, Json], fail: MakeError) -> None:
    if len(rule) != 1:
        raise fail(
            ("numbers",),
            f"must have one of the keys {', '.join(EQUALITY_KEYS['numbers'])}, not {len(rule)}",
        )
    ((name, value),) = rule.items()
    at = ("numbers", name)
    if name == "nearest":
        low, high = NEAREST_RANGE
        if type(value) not in (int, float) or not low <= value <= high:
            raise fail(at, f"must be a number from {low:g} to {high:g}, not {shorten(value)}")
        return
    least, most = DECIMALS_RANGE if name == "decimals" else SIGNIFICANT_RANGE
    if type(value) is not int or not least <= value <= most:
        raise fail(at, f"must be a whole number from {least} to {most}, not {shorten(value)}")


def warn_about_rounding(rule: dict[str, Json], where: str, pairs: Sequence[Observation]) -> None:
    """Warn about expected outputs that the rule itself rounds.

    A prediction is compared with the rounded output, which may be nearer to one side.
    """
    if "numbers" not in rule:
        return
    exact, rounded = make_normaliser({}), make_normaliser({"numbers": rule["numbers"]})
    off = [
        pair.output
        for pair in pairs
        if normal_bytes(to_json_value(pair.output), exact)
        != normal_bytes(to_json_value(pair.output), rounded)
    ]
    if off:
        warn(
            f"{where}: {len(off)} of {len(pairs)} outputs are rounded by the rule of equality"
            f" before they are compared, such as {shorten(off[0])}"
        )


def check_name(name: object, reserved_names: Collection[str], fail: object) -> None:
    """Raise an error if a task cannot have this name.

    Args:
        name: the name in the task file.
        reserved_names: the names of Peirce's own tasks.
        fail: returns the exception for a message.
    """
    assert callable(fail)
    if not isinstance(name, str) or not NAME_PATTERN.fullmatch(name):
        raise fail(
            "a name must begin with a letter and contain only letters, digits, - and _; this one"
            f" is {shorten(name)}"
        )
    if name in reserved_names:
        raise fail(f"{name!r} is the name of a task of Peirce; choose another name")


def check_pair_template(template: str, pairs: Sequence[tuple[str, Observation]]) -> str:
    """Return the fault of a template for these (where, pair) tuples, or "" if it has none."""
    valid = "{number}, {input}, {output} and parts of these as in {input[name]}"
    rest = FIELD_PATTERN.sub("", template)
    if "{" in rest or "}" in rest:
        return f"besides plain text it may contain only {valid}; it is {shorten(template)}"
    for name, path in FIELD_PATTERN.findall(template):
        for where, pair in pairs:
            try:
                get_part({"number": 0, "input": pair.input, "output": pair.output}[name], STEP_PATTERN.findall(path))  # fmt: skip
            except LookupError:
                return f"{{{name}{path}}} does not exist in the pair {where}"
    return (
        ""
        if FIELD_PATTERN.search(template)
        else f"it shows neither input nor output; it may contain {valid}"
    )
