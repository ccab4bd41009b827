"""Build problems of the task `abd`, and check the values that files of problems contain.

`shown` holds the prompt worlds and `hidden` the holdouts, each in the JSON form of
`tools/logic/worlds.py`. The expected output is True, because a rule has to be valid in every world.
`public` is {"theory": …}, in the JSON form of `tools/logic/theories.py` with the key "regime".
`secret` has those of the following keys whose values are known: "reference" (a formula as text),
"reference_cost" (in all prompt worlds), "bounds" and "hidden_bounds" (the stored lower bound of
each world, null if there is none), "difficulty", "scenario" (as published) and
"holdouts_published" (the number of holdouts that came with the problem).

The check functions raise `BadValue` with the keys that lead to the invalid value.
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
    """Return a problem of the task `abd`.

    Args:
        name: the id of the problem.
        theory: the theory.
        regime: the regime, which defines how unknown atoms are treated.
        worlds: the prompt worlds.
        holdouts: the holdout worlds.
        secret: facts that models never see, with the keys in the module docstring. Keys with the
            value None are left out.
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
    """Return `value` if it is the name of a regime.

    Raises:
        BadValue: there is no such regime; `keys` is the location of the value.
    """
    if value not in REGIMES:
        raise BadValue(keys, f"must be one of {', '.join(REGIMES)}, not {shorten(value)}")
    return cast(Regime, value)


def find_theory(name: str, keys: Keys, known: Sequence[Theory]) -> Theory:
    """Return the theory in `known` with this name. A theory may have several names.

    Raises:
        BadValue: there is no such theory; `keys` is the location of the name.
    """
    for theory in known:
        if name in theory.names:
            return theory
    names = [one for theory in known for one in theory.names]
    raise BadValue(keys, f"no theory {shorten(name)!r}{suggest_nearest(name, names, len(names))}")


def parse_instance_world(data: Json, keys: Keys, theory: Theory, regime: Regime) -> World:
    """Return the world for a JSON value after checking that it fits the theory and the regime."""
    try:
        found = parse_world(data, theory.signature, "")
    except DataError as error:
        raise BadValue(keys, str(error).removeprefix(": ")) from None
    if regime == "full" and found.unknown:
        raise BadValue(keys, "unknown atoms, which there are none of in the full regime")
    return found


def check_unique_names(worlds: Sequence[World], keys: Keys, field: str) -> None:
    """Raise BadValue if two worlds have the same name.

    Args:
        worlds: the worlds.
        keys: the location of the list of worlds in the file.
        field: the key under which a world has its name.
    """
    seen: set[str] = set()
    for place, one in enumerate(worlds):
        if one.id in seen:
            raise BadValue((*keys, place, field), f"{shorten(one.id)} occurs twice")
        seen.add(one.id)


def check_reference(value: Json, keys: Keys, theory: Theory) -> str | None:
    """Return the reference rule as text after checking that it is a formula; None if `value` is
    None.

    The formula may contain predicates that the theory forbids in rules, because some published
    references do.

    Args:
        value: the reference rule.
        keys: the location of the rule in the file.
        theory: the theory of the problem.

    Raises:
        BadValue: the value is not a formula.
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
    """Return `value` if it is None or an integer of at least 0; otherwise raise BadValue."""
    if value is not None and (type(value) is not int or value < 0):
        raise BadValue(keys, f"must be a number of at least 0, not {shorten(value)}")
    return value


def check_name(value: Json, keys: Keys) -> str:
    """Return a name as text if it is a number or a non-empty string; otherwise raise BadValue."""
    if type(value) not in (int, str) or value == "":
        raise BadValue(keys, f"must be a number or a string, not {shorten(value)}")
    return str(value)


def check_object(data: Json, keys: Keys, expected: str) -> dict[str, Json]:
    """Return `data` if it is a JSON object; otherwise raise BadValue.

    Args:
        data: the value to check.
        keys: the location of the value in the file.
        expected: what the value should be, for the message, such as "an object with domain".
    """
    if not isinstance(data, dict):
        raise BadValue(keys, f"must be {expected}, not {shorten(data)}")
    return data


def check_list(data: Json, keys: Keys, expected: str) -> list[Json]:
    """Return `data` if it is a list with at least one element; otherwise raise BadValue.

    Args:
        data: the value to check.
        keys: the location of the value in the file.
        expected: what the elements should be, for the message.
    """
    if not isinstance(data, list) or not data:
        raise BadValue(keys, f"must be a list of {expected}, not {shorten(data)}")
    return data
