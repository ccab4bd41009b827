"""The published files of ABD (abduction-v1.2), read whole or not at all.

Instances are a list of records in YAML (`yaml_records.py`), holdouts JSONL, a world a line; both plain or
gzip. Holdouts are looked for beside the instances, under their name with "holdouts" for
"instances" or after it, else under the published one, and joined by instanceId in the order of their file. Rows
whose meta.status is not "success", rows with an empty world, and rows of instances that are not
there are left out and counted by a `DataWarning`, as are prompt worlds that say isHeldout.

Theory and scope are those of theoryId: what the record itself lists as allowed and forbidden is
incomplete. Of a record's other fields only those are read that a problem holds (logic/problems.py).

Reading 5.6 MB of YAML takes a second, of JSON a tenth of that: records of a large file are kept as
JSON in the user's cache folder (yaml_records.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ...records import DataError, Json, Problem
from ...tools.logic.formula import written
from ...tools.logic.judging import Regime
from ...tools.logic.theories import PUBLISHED, Theory
from ...tools.logic.worlds import World
from ..io.files import identity, joint_identity, read_jsonl, read_text
from ..io.messages import BadValue, nearest, shorten, warn
from ..io.yaml_records import kept_records, read_records
from .problems import (
    Keys,
    count_of,
    each_named_once,
    list_at,
    name_of,
    object_at,
    problem,
    reference_of,
    theory_named,
    world,
)

FILES = tuple(
    name + end for name in ("abd_instances_v1.yaml", "abd_instances.yaml") for end in ("", ".gz")
)
HOLDOUTS = ("abd_holdouts_v1.jsonl", "abd_holdouts.jsonl")
REGIMES: Mapping[str, Regime] = {
    "ABD_FULL": "full", "ABD_PARTIAL": "partial", "ABD_SKEPTICAL": "skeptical"
}  # fmt: skip


class Stored(NamedTuple):
    """A world, and its lower bound as it is published."""

    world: World
    bound: int | None


class Instance(NamedTuple):
    """What stands in a record. held: how many of its worlds say isHeldout and are left out.
    other_axioms: whether it lists axioms that are not its theory's."""

    name: str
    theory: Theory
    regime: Regime
    worlds: list[Stored]
    secret: dict[str, Json]
    held: int
    other_axioms: bool


def read(place: Path) -> list[Problem]:
    """The problems of the instances at `place`, with their holdouts. Raises `DataError`."""
    found: dict[str, Instance] = {}
    text = read_text(place)
    for line, record in kept_records(text, lambda: read_records(text, place)):
        where = f"{place}, line {line}"
        one = checked(record, where)
        if one.name in found:
            raise DataError(f"{where}, instanceId: {shorten(one.name)} stands there twice")
        found[one.name] = one
    if not found:
        raise DataError(f"{place}: the file has no instances")
    _warn_of(place, found.values())
    holdouts = _holdouts(place, found)
    return [
        _problem(one, None if holdouts is None else holdouts[one.name]) for one in found.values()
    ]


def _warn_of(place: Path, found: Collection[Instance]) -> None:
    held = sum(one.held for one in found)
    if held:
        warn(f"{place}: {held} prompt worlds say isHeldout and are left out")
    others = [one.name for one in found if one.other_axioms]
    if others:
        warn(
            f"{place}: {len(others)} instances list axioms that are not those of their theoryId,"
            f" which count: {shorten(', '.join(others))}"
        )


def holdouts_of(place: Path) -> Path | None:
    """The file of holdouts that belongs to one of instances."""
    for name in (own_holdouts(place), *HOLDOUTS):
        for end in (".gz", "") if place.name.endswith(".gz") else ("", ".gz"):
            beside = place.with_name(name + end)
            if beside.is_file():
                return beside
    return None


def own_holdouts(place: Path) -> str:
    """The name, when not packed, of the holdouts that no other file of instances has."""
    stem = re.sub(r"\.ya?ml(\.gz)?$", "", place.name)
    named = stem.replace("instances", "holdouts") if "instances" in stem else f"{stem}_holdouts"
    return f"{named}.jsonl"


def _problem(one: Instance, holdouts: Sequence[Stored] | None) -> Problem:
    hidden = holdouts or []
    return problem(
        one.name,
        one.theory,
        one.regime,
        [stored.world for stored in one.worlds],
        [stored.world for stored in hidden],
        {
            **one.secret,
            "bounds": [stored.bound for stored in one.worlds],
            "hidden_bounds": [stored.bound for stored in hidden],
            "holdouts_published": None if holdouts is None else len(hidden),
        },
    )


# --- instances ----------------------------------------------------------------------


def checked(record: Json, where: str) -> Instance:
    """The instance of a record. Raises `DataError` with `where`, the instance and the field."""
    name = record.get("instanceId") if isinstance(record, dict) else None
    said = f", instance {shorten(name)!r}" if isinstance(name, str) and name else ""
    try:
        return _instance(object_at(record, (), "an object with instanceId and problem"))
    except BadValue as error:
        raise DataError(f"{where}{said}{', ' * bool(error.keys)}{error.field}: {error}") from None


def _instance(record: dict[str, Json]) -> Instance:
    name = name_of(record.get("instanceId"), ("instanceId",))
    of = object_at(record.get("problem"), ("problem",), "an object with theoryId and trainWorlds")
    theory = _theory(of.get("theoryId"), ("problem", "theoryId"))
    regime = _regime(of.get("scenario"), ("problem", "scenario"))
    keys: Keys = ("problem", "trainWorlds")
    worlds: list[Stored] = []
    held = 0
    for place, data in enumerate(list_at(of.get("trainWorlds"), keys, "worlds")):
        if isinstance(data, dict) and data.get("isHeldout") is True:
            held += 1
        else:
            worlds.append(_world(data, (*keys, place), theory, regime))
    if not worlds:
        raise BadValue(keys, "no prompt world")
    each_named_once([stored.world for stored in worlds], keys, "worldId")
    gold = object_at(of.get("gold") or {}, ("problem", "gold"), "an object with alpha")
    described = record.get("problemDescription")
    at: Keys = ("problem", "gold")
    secret = {
        "reference": reference_of(gold.get("alpha"), (*at, "alpha"), theory),
        "reference_cost": count_of(gold.get("totalGoldAlphaCost"), (*at, "totalGoldAlphaCost")),
        "difficulty": described.get("difficulty") if isinstance(described, dict) else None,
        "scenario": of["scenario"],
    }
    axioms = of.get("axioms")
    others = axioms is not None and axioms != [written(axiom) for axiom in theory.axioms]
    return Instance(name, theory, regime, worlds, secret, held, others)


def _theory(value: Json, keys: Keys) -> Theory:
    return theory_named(name_of(value, keys), keys, list(PUBLISHED.values()))


def _regime(value: Json, keys: Keys) -> Regime:
    if not isinstance(value, str) or value not in REGIMES:
        raise BadValue(keys, f"not one of {', '.join(REGIMES)}: {shorten(value)}")
    return REGIMES[value]


def _world(data: Json, keys: Keys, theory: Theory, regime: Regime) -> Stored:
    """A world of the published form: worldId, domain, predicates, unknownAtoms, optCost."""
    data = object_at(data, keys, "an object with domain and predicates")
    lists = object_at(data.get("predicates"), (*keys, "predicates"), "an object by predicate")
    form: dict[str, Json] = {
        "id": name_of(data.get("worldId"), (*keys, "worldId")),
        "domain": data.get("domain"),
        "unknown": data.get("unknownAtoms"),
        "true": {},
        "false": {},
    }
    for name in theory.signature:
        if name not in lists:
            raise BadValue((*keys, "predicates", name), "missing")
    for name, of in lists.items():
        at: Keys = (*keys, "predicates", name)
        for key, some in object_at(of, at, "an object with true").items():
            if key not in ("true", "false"):
                raise BadValue((*at, key), f"no such key{nearest(key, ('true', 'false'))}")
            form[key][name] = some
        if "true" not in of:
            raise BadValue((*at, "true"), "missing")
    return Stored(
        world(form, keys, theory, regime), count_of(data.get("optCost"), (*keys, "optCost"))
    )


# --- holdouts -----------------------------------------------------------------------


def _holdouts(place: Path, of: Mapping[str, Instance]) -> dict[str, list[Stored]] | None:
    """The holdouts of each instance; None where there is no file of them."""
    path = holdouts_of(place)
    if path is None:
        warn(f"{place}: no file of holdouts beside it; looked for {HOLDOUTS[0]}, plain or gzip")
        return None
    found: dict[str, list[Stored]] = {name: [] for name in of}
    unsuccessful = foreign = 0
    for line, row in read_jsonl(path):
        said = ""
        try:
            row = object_at(row, (), "an object with instanceId and world")
            name = name_of(row.get("instanceId"), ("instanceId",))
            said = f", instance {shorten(name)!r}"
            meta = object_at(row.get("meta") or {}, ("meta",), "an object with status")
            if meta.get("status") != "success" or not row.get("world"):
                unsuccessful += 1
            elif name not in of:
                foreign += 1
            else:
                found[name].append(holdout_of(row, of[name]))
        except BadValue as error:
            field = f"{', ' * bool(error.keys)}{error.field}"
            raise DataError(f"{path}, line {line}{said}{field}: {error}") from None
    if unsuccessful:
        warn(f"{path}: {unsuccessful} holdouts without success or world are left out")
    if foreign:
        warn(f"{path}: {foreign} holdouts of instances that {place.name} lacks are left out")
    return found


def holdout_of(row: dict[str, Json], one: Instance) -> Stored:
    """The world of a row of an instance's. Raises `BadValue`."""
    for key, same in (("theoryId", one.theory.names), ("scenario", (one.secret["scenario"],))):
        if key in row and row[key] not in same:
            raise BadValue((key,), f"{shorten(row[key])}, and the instance has {same[-1]}")
    return _world(row["world"], ("world",), one.theory, one.regime)


def identity_of(place: Path) -> dict[str, Json]:
    """`files.identity` of the instances, or of both files as one where there are holdouts."""
    beside = holdouts_of(place)
    if beside is None:
        return identity(place)
    return joint_identity(place.name, place.parent, [place, beside])
