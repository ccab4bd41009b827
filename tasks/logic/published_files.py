"""Read the published files of ABD (abduction-v1.2).

The instances are a list of records in YAML (`yaml_records.py`). The holdouts are JSONL with one
world per line. Both may be gzipped. The file of holdouts is searched in the folder of the
instances. Its name is the name of the instances with "holdouts" instead of "instances" or appended,
or the published name. The field instanceId assigns each holdout to an instance. The following are
left out and counted by a `DataWarning`: rows whose meta.status is not "success", rows with an empty
world, rows of unknown instances, and prompt worlds with isHeldout.

A record that cannot be read is an error, or is left out (`io/bad_records.py`). The optional fields
(the reference, its cost, and lower bounds) are left out with a warning if they cannot be read. Two
of the 600 published references are written `(exists Var(y) …`, which the grammar of the published
evaluator does not allow either; their costs are kept.

The theory of an instance, with the predicates that a rule may contain, follows from theoryId,
because the lists of allowed and forbidden predicates in a record are incomplete. Of the other
fields, only those that a problem contains are read (`problems.py`).

Reading 5.6 MB of YAML takes a second, and reading JSON a tenth of that. The records of a large file
are therefore cached as JSON in the user's cache folder (`yaml_records.py`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ...records import Json, Problem
from ...tools.logic.fast_path import Regime
from ...tools.logic.formula import format_sexpr
from ...tools.logic.theories import PUBLISHED_THEORIES, Theory
from ...tools.logic.worlds import World
from ..io.bad_records import BadRecords
from ..io.files import identify_file, identify_files, read_jsonl, read_text
from ..io.messages import BadValue, Keys, shorten, suggest_nearest, warn
from ..io.yaml_records import Record, read_cached_records, read_records
from .problems import (
    build_problem,
    check_count,
    check_list,
    check_name,
    check_object,
    check_reference,
    check_unique_names,
    find_theory,
    parse_instance_world,
)

FILES = tuple(
    name + end for name in ("abd_instances_v1.yaml", "abd_instances.yaml") for end in ("", ".gz")
)
HOLDOUTS_FILES = ("abd_holdouts_v1.jsonl", "abd_holdouts.jsonl")
REGIMES: Mapping[str, Regime] = {
    "ABD_FULL": "full", "ABD_PARTIAL": "partial", "ABD_SKEPTICAL": "skeptical"
}  # fmt: skip


class StoredWorld(NamedTuple):
    """A world with its published lower bound on the cost of a rule, or None if there is no bound."""

    world: World
    bound: int | None


class PublishedInstance(NamedTuple):
    """A published instance of ABD, as read from its record.

    Args:
        name: the field instanceId.
        theory: the theory with the field theoryId.
        regime: the regime of the field scenario.
        worlds: the prompt worlds.
        secret: the secret facts of the problem, without lower bounds.
        heldout_count: the number of worlds in the record with isHeldout, which are left out.
        other_axioms: whether the record lists axioms that differ from those of the theory.
    """

    name: str
    theory: Theory
    regime: Regime
    worlds: list[StoredWorld]
    secret: dict[str, Json]
    heldout_count: int
    other_axioms: bool


def read_published_files(place: Path) -> list[Problem]:
    """Return the problems for the published instances in the file `place`, with their holdouts.

    Raises:
        DataError: the file is invalid or has no instances.
    """
    found: dict[str, PublishedInstance] = {}
    with BadRecords(place) as bad:
        for where, one, _ in instances(records_of(place), bad):
            with bad.record(where):
                if one.name in found:
                    raise BadValue(("instanceId",), f"{shorten(one.name)} occurs twice")
                found[one.name] = one
        if not found:
            raise bad.no_records_error(f"{place}: the file has no instances")
    _warn_of(place, found.values())
    holdouts = _holdouts(place, found)
    return [
        _problem(one, None if holdouts is None else holdouts[one.name]) for one in found.values()
    ]


def records_of(place: Path) -> list[Record]:
    """Return the raw records in a file of instances."""
    text = read_text(place)
    return read_cached_records(text, lambda: read_records(text, place))


def instances(
    records: Sequence[Record], bad: BadRecords
) -> Iterator[tuple[str, PublishedInstance, dict[str, Json]]]:
    """Yield (location of the record, instance, raw record) for each record that can be read."""
    for line, record in records:
        name = record.get("instanceId") if isinstance(record, dict) else None
        named = f", instance {shorten(name)!r}" if isinstance(name, str) and name else ""
        with bad.record(f"line {line}{named}"):
            yield f"line {line}{named}", _instance(record, bad), record


def _warn_of(place: Path, found: Collection[PublishedInstance]) -> None:
    held = sum(one.heldout_count for one in found)
    if held:
        warn(f"{place}: {held} prompt worlds say isHeldout and are left out")
    others = [one.name for one in found if one.other_axioms]
    if others:
        warn(
            f"{place}: {len(others)} instances list axioms that are not those of their theoryId,"
            f" which count: {shorten(', '.join(others))}"
        )


def find_holdouts_file(place: Path) -> Path | None:
    """Return the file of holdouts that belongs to the file of instances `place`, or None."""
    for name in (holdouts_file_name(place), *HOLDOUTS_FILES):
        for end in (".gz", "") if place.name.endswith(".gz") else ("", ".gz"):
            beside = place.with_name(name + end)
            if beside.is_file():
                return beside
    return None


def holdouts_file_name(place: Path) -> str:
    """Return the name of the file of holdouts for the file of instances `place`, without ".gz"."""
    stem = re.sub(r"\.ya?ml(\.gz)?$", "", place.name)
    named = stem.replace("instances", "holdouts") if "instances" in stem else f"{stem}_holdouts"
    return f"{named}.jsonl"


def _problem(one: PublishedInstance, holdouts: Sequence[StoredWorld] | None) -> Problem:
    hidden = holdouts or []
    return build_problem(
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


def _instance(record: Json, bad: BadRecords) -> PublishedInstance:
    record = check_object(record, (), "an object with instanceId and problem")
    name = check_name(record.get("instanceId"), ("instanceId",))
    of = check_object(
        record.get("problem"), ("problem",), "an object with theoryId and trainWorlds"
    )
    theory = _theory(of.get("theoryId"), ("problem", "theoryId"))
    regime = _regime(of.get("scenario"), ("problem", "scenario"))
    keys: Keys = ("problem", "trainWorlds")
    worlds: list[StoredWorld] = []
    held = 0
    for place, data in enumerate(check_list(of.get("trainWorlds"), keys, "worlds")):
        if isinstance(data, dict) and data.get("isHeldout") is True:
            held += 1
        else:
            worlds.append(_world(data, (*keys, place), theory, regime, bad))
    if not worlds:
        raise BadValue(keys, "no prompt world")
    check_unique_names([stored.world for stored in worlds], keys, "worldId")
    at: Keys = ("problem", "gold")
    gold = bad.field(
        "the object with the reference", lambda: check_object(of.get("gold") or {}, at, "an object")
    )
    gold, cost = gold or {}, "totalGoldAlphaCost"
    described = record.get("problemDescription")
    secret = {
        "reference": bad.field(
            "the reference", lambda: check_reference(gold.get("alpha"), (*at, "alpha"), theory)
        ),
        "reference_cost": bad.field(
            "the cost of the reference", lambda: check_count(gold.get(cost), (*at, cost))
        ),
        "difficulty": bad.field("the difficulty", lambda: _difficulty(described)),
        "scenario": of["scenario"],
    }
    axioms = of.get("axioms")
    others = axioms is not None and axioms != [format_sexpr(axiom) for axiom in theory.axioms]
    return PublishedInstance(name, theory, regime, worlds, secret, held, others)


def _difficulty(described: Json) -> str | None:
    keys: Keys = ("problemDescription",)
    value = check_object(described or {}, keys, "an object").get("difficulty")
    if value is not None and not isinstance(value, str):
        raise BadValue((*keys, "difficulty"), f"must be a text, not {shorten(value)}")
    return value


def _theory(value: Json, keys: Keys) -> Theory:
    return find_theory(check_name(value, keys), keys, list(PUBLISHED_THEORIES.values()))


def _regime(value: Json, keys: Keys) -> Regime:
    if not isinstance(value, str) or value not in REGIMES:
        raise BadValue(keys, f"must be one of {', '.join(REGIMES)}, not {shorten(value)}")
    return REGIMES[value]


def _world(data: Json, keys: Keys, theory: Theory, regime: Regime, bad: BadRecords) -> StoredWorld:
    """Read a world of the published form: worldId, domain, predicates, unknownAtoms, optCost."""
    data = check_object(data, keys, "an object with domain and predicates")
    if data.get("predicates") is None:
        raise BadValue((*keys, "predicates"), "missing")
    lists = check_object(
        data.get("predicates"), (*keys, "predicates"), "an object with an entry for each predicate"
    )
    form: dict[str, Json] = {
        "id": check_name(data.get("worldId"), (*keys, "worldId")),
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
        for key, some in check_object(of, at, "an object with true").items():
            if key not in ("true", "false"):
                raise BadValue((*at, key), f"unknown key{suggest_nearest(key, ('true', 'false'))}")
            form[key][name] = some
        if "true" not in of:
            raise BadValue((*at, "true"), "missing")
    bound = bad.field(
        "the lower bound of a world", lambda: check_count(data.get("optCost"), (*keys, "optCost"))
    )
    return StoredWorld(parse_instance_world(form, keys, theory, regime), bound)


# --- holdouts -----------------------------------------------------------------------


def _holdouts(
    place: Path, of: Mapping[str, PublishedInstance]
) -> dict[str, list[StoredWorld]] | None:
    """Return the holdouts of each instance, or None where there is no file of them."""
    path = find_holdouts_file(place)
    if path is None:
        warn(
            f"{place}: no file of holdouts beside it; looked for {HOLDOUTS_FILES[0]}, plain or gzip"
        )
        return None
    found: dict[str, list[StoredWorld]] = {name: [] for name in of}
    unsuccessful = foreign = 0
    with BadRecords(path) as bad:
        for line, row in read_jsonl(path, bad):
            name = row.get("instanceId") if isinstance(row, dict) else None
            named = f", instance {shorten(name)!r}" if type(name) in (int, str) and name else ""
            with bad.record(f"line {line}{named}"):
                row = check_object(row, (), "an object with instanceId and world")
                name = check_name(name, ("instanceId",))
                meta = check_object(row.get("meta") or {}, ("meta",), "an object with status")
                if meta.get("status") != "success" or not row.get("world"):
                    unsuccessful += 1
                elif name not in of:
                    foreign += 1
                else:
                    found[name].append(parse_holdout(row, of[name], bad))
    if unsuccessful:
        warn(f"{path}: {unsuccessful} holdouts without success or world are left out")
    if foreign:
        warn(f"{path}: {foreign} holdouts of instances that {place.name} lacks are left out")
    return found


def parse_holdout(row: dict[str, Json], one: PublishedInstance, bad: BadRecords) -> StoredWorld:
    """Return the world in one row of a file of holdouts.

    Args:
        row: the row.
        one: the instance to which the row belongs.
        bad: collects optional fields that cannot be read.

    Raises:
        BadValue: the row is invalid or does not fit the instance.
    """
    for key, same in (("theoryId", one.theory.names), ("scenario", (one.secret["scenario"],))):
        if key in row and row[key] not in same:
            raise BadValue((key,), f"{shorten(row[key])}, and the instance has {same[-1]}")
    return _world(row["world"], ("world",), one.theory, one.regime, bad)


def data_identity(place: Path) -> dict[str, Json]:
    """Return {"name", "sha256"} of the file of instances, or of instances and holdouts together."""
    beside = find_holdouts_file(place)
    if beside is None:
        return identify_file(place)
    return identify_files(place.name, place.parent, [place, beside])
