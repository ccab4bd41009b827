"""Read the files of an audit, with one sentence for each record that cannot be read.

The audit reports unreadable records and continues with the other records. A file that is not a list
of records, or contains no instance, is rejected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ....records import Compute, DataError, Json
from ....tools.logic.fast_path import BeyondFastPath, PreparedWorlds, Regime
from ....tools.logic.formula import Formula
from ....tools.logic.parser import parse_formula
from ....tools.logic.theories import Theory, theory_from_json
from ....tools.logic.worlds import World, parse_world
from ....tools.workers.computing import compute_here
from ...io.bad_records import BadRecords
from ...io.files import locate, read_jsonl
from ...io.messages import BadValue, shorten
from ..generation.filters import Judgement
from ..generation.recipes import DIFFICULTIES, Difficulty, Recipe, get_recipe
from ..published_files import (
    FILES,
    PublishedInstance,
    find_holdouts_file,
    instances,
    parse_holdout,
    records_of,
)

Data = Mapping[str, Json]
JUDGE = "tasks.logic.audit.reading:judge_reference"


@dataclass(frozen=True)
class AuditedWorld:
    """A world in an audited file, together with its raw data.

    Args:
        world: the world.
        data: the raw data of the world in the file.
        judgement: the results of the reference rule in the world, or None if there are none.
        meta: for a holdout, the raw field `meta`.
    """

    world: World
    data: Data
    judgement: Judgement | None
    meta: Data = field(default_factory=dict)


@dataclass(frozen=True)
class AuditedInstance:
    """An instance in an audited file, together with its raw data.

    Args:
        name: the id of the instance.
        theory: the theory of the instance.
        regime: the regime of the instance, which defines how unknown atoms are treated.
        difficulty: the difficulty that the file records.
        recipe: the sizes and limits that instances with this regime and difficulty should have.
        reference: the reference rule, or None if the record has none.
        gold: the raw field `gold`.
        description: the raw field `problemDescription`.
        problem: the raw field `problem`.
        prompts: the prompt worlds.
        holdouts: the holdout worlds.
    """

    name: str
    theory: Theory
    regime: Regime
    difficulty: str
    recipe: Recipe
    reference: Formula | None
    gold: Data
    description: Data
    problem: Data
    prompts: tuple[AuditedWorld, ...]
    holdouts: tuple[AuditedWorld, ...]

    @property
    def code(self) -> str:
        """The first name of the theory, for example "T1"."""
        return self.theory.names[0]


@dataclass(frozen=True)
class AuditedSet:
    """The content of the files of an audit.

    Args:
        name: the name of the file of instances.
        instances: the instances that can be read.
        unread: a sentence for each instance that cannot be read.
        unread_holdouts: a sentence for each holdout that cannot be read.
        duplicates: the names of instances that occur more than once.
        strays: the instance names in holdouts that belong to no instance.
    """

    name: str
    instances: tuple[AuditedInstance, ...]
    unread: tuple[str, ...]
    unread_holdouts: tuple[str, ...]
    duplicates: tuple[str, ...]
    strays: tuple[str, ...]


def read_set(path: str | Path, compute: Compute = compute_here) -> AuditedSet:
    """Read the instances and holdouts that are to be audited, and judge the references.

    Args:
        path: the file of instances.
        compute: where the references are judged.

    Raises:
        UsageError: there is no such file.
        DataError: the file does not contain published instances.
    """
    place = locate(path, FILES)
    if not place.name.removesuffix(".gz").endswith((".yaml", ".yml")):
        raise DataError(
            f"{place}: an audit reads instances in the published form, which are .yaml or .yaml.gz"
        )
    records = records_of(place)
    read, twice = {}, []
    bad = BadRecords(place, skip=True)
    for _, one, data in instances(records, bad):
        if one.name in read:
            twice.append(one.name)
        else:
            read[one.name] = (one, data)
    if not read and not any(_is_instance(record.value) for record in records):
        raise bad.no_records_error(f"{place}: the file has no instances")
    held: dict[str, list[tuple[World, Data]]] = {name: [] for name in read}
    strays = []
    beside = find_holdouts_file(place)
    bad_holdouts = BadRecords(beside or place, skip=True)
    for line, row in read_jsonl(beside, bad_holdouts) if beside else ():
        name = row.get("instanceId") if isinstance(row, dict) else None
        if not isinstance(name, str) or name not in read:
            strays.append(f"line {line}: {shorten(name)}")
            continue
        with bad_holdouts.record(f"line {line}, {name}"):
            meta = row.get("meta")
            if not isinstance(meta, dict) or meta.get("status") != "success":
                raise BadValue(("meta", "status"), "not success")
            held[name].append((parse_holdout(row, read[name][0], bad_holdouts).world, row))
    unread, unread_holdouts = (
        tuple(sentence for _, sentence in some.left_out) for some in (bad, bad_holdouts)
    )
    requests = (_make_request(one, held[name]) for name, (one, _) in read.items())
    judged = compute(JUDGE, requests)
    audited = tuple(
        _instance(one, data, held[name], worths)
        for (name, (one, data)), worths in zip(read.items(), judged, strict=True)
    )
    return AuditedSet(place.name, audited, unread, unread_holdouts, tuple(twice), tuple(strays))


def _is_instance(data: Json) -> bool:
    """Return whether a record is meant as an instance, though it cannot be read."""
    return isinstance(data, dict) and "instanceId" in data and isinstance(data.get("problem"), dict)


def _make_request(one: PublishedInstance, held: list[tuple[World, Data]]) -> Json:
    """Return the request with which `judge_reference` judges the reference of an instance."""
    worlds = [*(stored.world for stored in one.worlds), *(world for world, _ in held)]
    return {
        "theory": one.theory.as_json(),
        "regime": one.regime,
        "rule": one.secret["reference"],
        "worlds": [world.as_json() for world in worlds],
    }


def judge_reference(request: Json) -> Json:
    """Return the fields of the `Judgement` of a reference in each world.

    Each is None if the instance has no reference, or one with other free variables than x.
    """
    theory = theory_from_json(request["theory"])
    worlds = [parse_world(data, theory.signature, "a world") for data in request["worlds"]]
    if request["rule"] is None:
        return [None] * len(worlds)
    rule = parse_formula(request["rule"], theory.predicates)
    if rule.free - {"x"}:
        return [None] * len(worlds)
    return [list(one) for one in judge_with_fallback(theory, worlds, request["regime"], rule)]


def _instance(
    one: PublishedInstance, data: Data, held: list[tuple[World, Data]], judged: Json
) -> AuditedInstance:
    problem, described = data["problem"], data.get("problemDescription")
    described = described if isinstance(described, dict) else {}
    gold = problem.get("gold")
    gold = gold if isinstance(gold, dict) else {}
    text = one.secret["reference"]
    reference = None if text is None else parse_formula(text, one.theory.predicates)
    raw = [w for w in problem["trainWorlds"] if w.get("isHeldout") is not True]
    worlds = [stored.world for stored in one.worlds]
    difficulty = one.secret["difficulty"]
    named: Difficulty = next((one for one in DIFFICULTIES if one == difficulty), "easy")
    worths = [None if values is None else Judgement(*values) for values in judged]
    shown, hidden = worths[: len(worlds)], worths[len(worlds) :]
    return AuditedInstance(
        one.name,
        one.theory,
        one.regime,
        str(difficulty),
        get_recipe(one.regime, named),
        reference,
        gold,
        described,
        problem,
        tuple(AuditedWorld(*three) for three in zip(worlds, raw, shown, strict=True)),
        tuple(
            AuditedWorld(world, row["world"], worth, row["meta"])
            for (world, row), worth in zip(held, hidden, strict=True)
        ),
    )


def judge_with_fallback(
    theory: Theory, worlds: list[World], regime: Regime, rule: Formula
) -> list[Judgement]:
    """Return the results of a rule in each world. Z3 is used where the fast algorithm cannot
    decide.
    """
    try:
        found = PreparedWorlds(theory, tuple(worlds), regime).judge(rule)
    except BeyondFastPath:
        from ....tools.logic.z3_solver import MAX_RESOURCES, GroundedWorlds

        found = tuple(GroundedWorlds(theory, worlds, regime, MAX_RESOURCES).judge(rule))
    return [
        Judgement(worth.cost, worth.bound or 0, len(world.names), worth.valid is not None)
        for worth, world in zip(found, worlds, strict=True)
    ]
