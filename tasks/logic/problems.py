"""Builds the problems of task `abd` from any kind of file, and checks their parts.

`shown` and `hidden` are prompt worlds and holdouts, each in the JSON form of
`tools/logic/worlds.py`; a rule has to be valid in them (output true). `public` is {"theory": the
JSON form of `tools/logic/theories.py` with the "regime"}. `secret` holds what is known of
"reference" (a formula as it is written), "reference_cost" (in all prompt worlds), "bounds" and
"hidden_bounds" (the stored lower bound of each world, null where there is none), "difficulty",
"scenario" (as published) and "holdouts_published" (the number that came with the problem).

A check raises `BadValue` with the keys that lead to the bad part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from ...records import DataError, Json, Observation, Problem
from ...tools.logic.fast_path import REGIMES, Regime
from ...tools.logic.parser import FormulaError, parse_formula
from ...tools.logic.theories import Theory
from ...tools.logic.worlds import World, parse_world
from ..io.messages import BadValue, Keys, shorten, suggest_nearest

TASK_NAME, FAMILY_NAME = "abd", "logic"


def build_problem(
    name: str,
    theory: Theory,
    regime: Regime,
    worlds: Sequence[World],
    holdouts: Sequence[World],
    secret: Mapping[str, Json],
) -> Problem:
    """Return a problem of task `abd`.

    `secret` has the keys described above; those that are None are left out.
    """
    return Problem(
        id=name,
        task=TASK_NAME,
        family=FAMILY_NAME,
        shown=tuple(Observation(world.as_json(), True) for world in worlds),
        hidden=tuple(Observation(world.as_json(), True) for world in holdouts),
        public={"theory": theory.as_json() | {"regime": regime}},
        secret={key: value for key, value in secret.items() if value is not None},
        group=name,
    )


def check_regime(value: Json, keys: Keys) -> Regime:
    """Return `value` if it names a regime. Raises BadValue otherwise."""
    if value not in REGIMES:
        raise BadValue(keys, f"must be one of {', '.join(REGIMES)}, not {shorten(value)}")
    return cast(Regime, value)


def find_theory(name: str, keys: Keys, known: Sequence[Theory]) -> Theory:
    """Return the known theory with this name; a theory may have several names."""
    for theory in known:
        if name in theory.names:
            return theory
    names = [one for theory in known for one in theory.names]
    raise BadValue(keys, f"no theory {shorten(name)!r}{suggest_nearest(name, names, len(names))}")


def parse_instance_world(data: Json, keys: Keys, theory: Theory, regime: Regime) -> World:
    """Return a world from its JSON form, checked against the theory and the regime."""
    try:
        found = parse_world(data, theory.signature, "")
    except DataError as error:
        raise BadValue(keys, str(error).removeprefix(": ")) from None
    if regime == "full" and found.unknown:
        raise BadValue(keys, "unknown atoms, which there are none of in the full regime")
    return found


def check_unique_names(worlds: Sequence[World], keys: Keys, field: str) -> None:
    """Raise BadValue if two worlds have equal names.

    Args:
        worlds: the worlds.
        keys: the keys that lead to them.
        field: the key of a world's name within it.
    """
    seen: set[str] = set()
    for place, one in enumerate(worlds):
        if one.id in seen:
            raise BadValue((*keys, place, field), f"{shorten(one.id)} occurs twice")
        seen.add(one.id)


def check_reference(value: Json, keys: Keys, theory: Theory) -> str | None:
    """Return the reference rule as text if it is a readable formula, or None if there is none.

    The scope of the theory is not checked, because published references do not always respect it.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadValue(keys, f"must be a formula, not {shorten(value)}")
    try:
        parse_formula(value, theory.predicates)
    except FormulaError as error:
        raise BadValue(keys, error.sentence) from None
    return value


def check_count(value: Json, keys: Keys) -> int | None:
    """Return an integer from 0, checked, or None."""
    if value is not None and (type(value) is not int or value < 0):
        raise BadValue(keys, f"must be a number of at least 0, not {shorten(value)}")
    return value


def check_name(value: Json, keys: Keys) -> str:
    """Return a name as text, checked: a number or a non-empty string."""
    if type(value) not in (int, str) or value == "":
        raise BadValue(keys, f"must be a number or a string, not {shorten(value)}")
    return str(value)


def check_object(data: Json, keys: Keys, expected: str) -> dict[str, Json]:
    """Return `data` if it is a mapping. Raises BadValue otherwise.

    `expected` names the expected value in the error, for example "an object with domain".
    """
    if not isinstance(data, dict):
        raise BadValue(keys, f"must be {expected}, not {shorten(data)}")
    return data


def check_list(data: Json, keys: Keys, expected: str) -> list[Json]:
    """Return a list with at least one element, checked; `expected` names the elements in the error."""
    if not isinstance(data, list) or not data:
        raise BadValue(keys, f"must be a list of {expected}, not {shorten(data)}")
    return data
