"""Check the name, the pair template and the rule of equality of a task file, in YAML or Python.

The form of a rule of equality is described in `sandbox/inside/tolerance.py`.
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
    """Return a rule of equality after checking its form. The text "exact" becomes an empty rule.

    Args:
        value: the rule in the task file.
        fail: makes the exception to raise from (keys that lead to the error, error message).

    Raises:
        Exception: the exception that `fail` made, if `value` is not a rule of equality.
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
    """Warn if the rule of equality rounds expected outputs, so that they differ from the values
    written.

    Predictions are then compared with the rounded outputs instead of the outputs in the data.

    Args:
        rule: the rule of equality.
        where: the location of the pairs, with which the warning begins.
        pairs: the pairs with the expected outputs.
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
    """Check that `name` is valid as the name of a task.

    Args:
        name: the name in the task file.
        reserved_names: names of registered tasks, which are not allowed.
        fail: makes the exception to raise from an error message.

    Raises:
        Exception: the exception that `fail` made, if the name is invalid or reserved.
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
    """Return a description of the error in a pair template, or "" if the template is valid.

    Args:
        template: text with placeholders such as {input} and {output[0]}.
        pairs: (location, pair) for the pairs that the template must be able to show.
    """
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
