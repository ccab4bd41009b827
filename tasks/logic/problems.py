"""What a problem of task `abd` is, whichever file it comes from, and the checks of its parts.

shown, hidden: prompt worlds and holdouts, each in the JSON form of `tools/logic/worlds.py`, in
which a rule has to be valid (output true). public: {"theory": the JSON form of
`tools/logic/theories.py` with the "regime"}. secret holds of these what is known: "reference" (a
formula as it is written), "reference_cost" (in all prompt worlds), "bounds" and "hidden_bounds" (the
stored lower bound of each world, null where there is none), "difficulty", "scenario" (as
published), "holdouts_published" (how many came with the problem).

What is wrong with a part is a `BadValue` with the keys that lead to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from ...records import DataError, Json, Observation, Problem
from ...tools.logic.judging import REGIMES, Regime
from ...tools.logic.reading import FormulaError, read_formula
from ...tools.logic.theories import Theory
from ...tools.logic.worlds import World, world_of
from ..io.messages import BadValue, nearest, shorten

NAME, LOGIC = "abd", "logic"
Keys = tuple[str | int, ...]


def problem(
    name: str,
    theory: Theory,
    regime: Regime,
    worlds: Sequence[World],
    holdouts: Sequence[World],
    secret: Mapping[str, Json],
) -> Problem:
    """secret: as above; what is null stays away."""
    return Problem(
        id=name,
        task=NAME,
        family=LOGIC,
        shown=tuple(Observation(world.as_json(), True) for world in worlds),
        hidden=tuple(Observation(world.as_json(), True) for world in holdouts),
        public={"theory": theory.as_json() | {"regime": regime}},
        secret={key: value for key, value in secret.items() if value is not None},
        group=name,
    )


def regime_of(value: Json, keys: Keys) -> Regime:
    if value not in REGIMES:
        raise BadValue(keys, f"not one of {', '.join(REGIMES)}: {shorten(value)}")
    return cast(Regime, value)


def theory_named(name: str, keys: Keys, known: Sequence[Theory]) -> Theory:
    """The one of this name, of which a theory may have several."""
    for theory in known:
        if name in theory.names:
            return theory
    names = [one for theory in known for one in theory.names]
    raise BadValue(keys, f"no theory {shorten(name)!r}{nearest(name, names, len(names))}")


def world(data: Json, keys: Keys, theory: Theory, regime: Regime) -> World:
    """data: in the JSON form of worlds."""
    try:
        found = world_of(data, theory.signature, "")
    except DataError as error:
        raise BadValue(keys, str(error).removeprefix(": ")) from None
    if regime == "full" and found.unknown:
        raise BadValue(keys, "unknown atoms, which there are none of in the full regime")
    return found


def each_named_once(worlds: Sequence[World], keys: Keys, field: str) -> None:
    """field: where the name of a world stands in it."""
    seen: set[str] = set()
    for place, one in enumerate(worlds):
        if one.id in seen:
            raise BadValue((*keys, place, field), f"{shorten(one.id)} stands there twice")
        seen.add(one.id)


def reference_of(value: Json, keys: Keys, theory: Theory) -> str | None:
    """A formula that can be read. Whether it is in scope is another matter: published ones are not
    always."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadValue(keys, f"not a formula: {shorten(value)}")
    try:
        read_formula(value, theory.predicates)
    except FormulaError as error:
        raise BadValue(keys, error.sentence) from None
    return value


def count_of(value: Json, keys: Keys) -> int | None:
    if value is not None and (type(value) is not int or value < 0):
        raise BadValue(keys, f"not a number from 0: {shorten(value)}")
    return value


def name_of(value: Json, keys: Keys) -> str:
    if type(value) not in (int, str) or value == "":
        raise BadValue(keys, f"not a number or a string: {shorten(value)}")
    return str(value)


def object_at(data: Json, keys: Keys, said: str) -> dict[str, Json]:
    """said: what there has to be, as `an object with domain`."""
    if not isinstance(data, dict):
        raise BadValue(keys, f"not {said}: {shorten(data)}")
    return data


def list_at(data: Json, keys: Keys, said: str) -> list[Json]:
    if not isinstance(data, list) or not data:
        raise BadValue(keys, f"not a list of {said}: {shorten(data)}")
    return data
