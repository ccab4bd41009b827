"""Reads a user's own worlds and theories from JSON.

A problem that cannot be read is an error, or is left out (`io/bad_records.py`); a reference that
cannot be read is left out of its problem with a warning.

JSONL holds a problem per line. A JSON file holds one problem or a list of them. Both are plain or
gzip.

    {"id": "birds", "regime": "partial", "theory": "T1",
     "worlds": [{"id": "W0", "domain": ["a0", "a1"],
                 "true": {"P": ["a0"], "R": [["a0", "a1"]]}, "unknown": {"R": [["a1", "a1"]]}}],
     "holdouts": [], "reference": "(exists y (and (R x y) (P y)))"}

| key | value |
|---|---|
| id | a name or a number, unique in the file |
| regime | full, partial or skeptical |
| theory | a published one by either of its names ("T1", "TH2"), or an object, below |
| worlds | the prompt worlds, at least one |
| holdouts | worlds that only `check` and `eval` use; optional |
| reference | a formula to compare costs with, where it is valid; optional |

A world has an id (by default W and its position, or H and its position for holdouts), a domain, the
atoms that are `true` and, outside of the full regime, those that are `unknown`. All other atoms are
false. An atom is a list of elements or, for a predicate with one argument, the element alone.
`false` may list the false atoms of a predicate, and then has to list them all.

A user's own theory is {"names", "axioms", "signature", "allowed"}. The signature gives the
predicates with their numbers of arguments, as in {"Bird": 1, "Parent": 2}. The axioms are closed
formulas over these predicates and Ab, which a rule defines. `allowed` lists the predicates that a
rule may contain (by default all), and `names` the names of the theory in tables (by default the id
of its problem).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from ...records import DataError, Json, Problem
from ...tools.logic.fast_path import BeyondFastPath, PreparedWorlds, Regime
from ...tools.logic.parser import parse_formula
from ...tools.logic.theories import PUBLISHED_THEORIES, Theory, parse_theory
from ...tools.logic.worlds import World
from ..io.bad_records import BadRecords
from ..io.files import parse_json_file_text, read_jsonl, read_text
from ..io.json_text import find_line
from ..io.messages import BadValue, Keys, shorten, suggest_nearest, warn
from .problems import (
    build_problem,
    check_list,
    check_name,
    check_object,
    check_reference,
    check_regime,
    check_unique_names,
    find_theory,
    parse_instance_world,
)

FILES = tuple(f"abd.{kind}{end}" for kind in ("jsonl", "json") for end in ("", ".gz"))
PROBLEM_KEYS = ("id", "regime", "theory", "worlds", "holdouts", "reference")
WORLD_KEYS = ("id", "domain", "true", "unknown", "false")
THEORY_KEYS = ("names", "axioms", "signature", "allowed")


def read_own_worlds(place: Path, like: Problem | None = None) -> list[Problem]:
    """Return the problems in a user's JSON or JSONL file.

    Args:
        place: the path of the file.
        like: a problem whose theory and regime are used for worlds that have none, and whose
            predicates the worlds are expected to mention; None to require complete problems.

    Raises:
        DataError: the file is invalid; the message names file, line and field.
    """
    found: dict[str, Problem] = {}
    of = _of_lines if place.name.removesuffix(".gz").endswith(".jsonl") else _of_file
    with BadRecords(place) as bad:
        rows: Iterable[tuple[Json, Line]] = of(place, bad)
        if like is not None:
            rows = _with_theory(list(rows), like)
        for row, line in rows:
            with bad.record(_place_of(row, line)):
                one = _problem(row, bad)
                if one.id in found:
                    raise BadValue(("id",), f"{shorten(one.id)} occurs twice")
                found[one.id] = one
                if like is not None and _signature(one) == _signature(like):
                    _warn_about_omitted(place, row, like)
        if not found:
            raise bad.no_records_error(f"{place}: the file is empty")
    return list(found.values())


Line: TypeAlias = Callable[[Keys], int]  # of the value at these keys of a problem


def _place_of(row: Json, line: Line) -> Callable[[Keys], str]:
    name = row.get("id") if isinstance(row, dict) else None
    named = f", problem {shorten(name)!r}" if type(name) is str and name else ""
    return lambda keys: f"line {line(keys)}{named}"


def _of_lines(place: Path, bad: BadRecords) -> Iterator[tuple[Json, Line]]:
    for number, row in read_jsonl(place, bad):
        yield row, partial(_always, number)


def _always(number: int, keys: Keys) -> int:
    return number


def _of_file(place: Path, bad: BadRecords) -> Iterator[tuple[Json, Line]]:
    text = read_text(place)
    value = parse_json_file_text(text, place)
    if not isinstance(value, list):
        yield value, lambda keys: find_line(text, keys)
        return
    for number, row in enumerate(value):
        yield row, partial(_line_in, text, number)


def _line_in(text: str, number: int, keys: Keys) -> int:
    return find_line(text, (number, *keys))


def _with_theory(rows: list[tuple[Json, Line]], like: Problem) -> list[tuple[Json, Line]]:
    """Return worlds that stand alone as one problem with the theory of `like`; else the rows."""
    if not rows or not all(isinstance(row, dict) and "domain" in row for row, _ in rows):
        return rows
    theory = dict(like.public["theory"])
    problem = {
        "id": like.id, "regime": theory.pop("regime"), "theory": theory,
        "worlds": [row for row, _ in rows],
    }  # fmt: skip

    def line(keys: Keys) -> int:
        at = keys[1] if len(keys) > 1 and keys[0] == "worlds" else 0
        return rows[int(at)][1](keys[2:])

    return [(problem, line)]


def _signature(problem: Problem) -> Json:
    return problem.public["theory"]["signature"]


def _warn_about_omitted(place: Path, row: Json, like: Problem) -> None:
    """Warn about predicates with atoms in the shown worlds of `like` that no world in `row` has."""
    parts = ("true", "unknown", "false")
    named = {name for world in row["worlds"] for part in parts for name in world.get(part) or ()}
    there = [pair.input.get(part) or {} for pair in like.shown for part in parts]
    omitted = [name for name in dict.fromkeys(chain(*there)) if name not in named]
    if omitted:
        warn(
            f"{place}: no world mentions {shorten(', '.join(omitted), 200)}, so no element has it;"
            f' if this is meant, write "{omitted[0]}": [] under true'
        )


# --- a problem ----------------------------------------------------------------------


def _problem(row: Json, bad: BadRecords) -> Problem:
    if isinstance(row, dict) and "schemaVersion" in row:
        raise BadValue((), "a published record: give the published instances, which are YAML")
    row = _with_keys(row, (), PROBLEM_KEYS, PROBLEM_KEYS[:4])
    name = check_name(row["id"], ("id",))
    regime = check_regime(row["regime"], ("regime",))
    theory = _theory(row["theory"], name)
    worlds = _worlds(check_list(row["worlds"], ("worlds",), "worlds"), "worlds", theory, regime)
    holdouts = row.get("holdouts") or []
    if not isinstance(holdouts, list):
        raise BadValue(("holdouts",), f"must be a list of worlds, not {shorten(holdouts)}")
    formula = row.get("reference")
    reference = bad.field("the reference", lambda: check_reference(formula, ("reference",), theory))
    cost = (
        None
        if reference is None
        else _cost(reference, PreparedWorlds(theory, tuple(worlds), regime))
    )
    return build_problem(
        name,
        theory,
        regime,
        worlds,
        _worlds(holdouts, "holdouts", theory, regime),
        {"reference": reference, "reference_cost": cost},
    )


def _cost(reference: str, worlds: PreparedWorlds) -> int | None:
    """Return the cost of the reference in all worlds.

    It is None where the reference is not valid or can only be judged by a solver.
    """
    try:
        worths = worlds.judge(parse_formula(reference, worlds.theory.predicates))
    except BeyondFastPath:
        return None
    costs = [one.cost for one in worths if one.cost is not None]
    return sum(costs) if len(costs) == len(worths) else None


def _worlds(some: Sequence[Json], part: str, theory: Theory, regime: Regime) -> list[World]:
    found = []
    for place, data in enumerate(some):
        keys: Keys = (part, place)
        data = _with_keys(data, keys, WORLD_KEYS, ("domain", "true"))
        name = check_name(data.get("id", f"{part[0].upper()}{place}"), (*keys, "id"))
        found.append(parse_instance_world({**data, "id": name}, keys, theory, regime))
    check_unique_names(found, (part,), "id")
    return found


def _with_keys(
    data: Json, keys: Keys, valid: Sequence[str], needed: Sequence[str]
) -> dict[str, Json]:
    found = check_object(data, keys, f"an object with {', '.join(needed)}")
    for key in found:
        if key not in valid:
            raise BadValue((*keys, key), f"unknown key{suggest_nearest(key, valid, len(valid))}")
    for key in needed:
        if key not in found:
            raise BadValue((*keys, key), "missing")
    return found


# --- a theory -----------------------------------------------------------------------


def _theory(value: Json, problem: str) -> Theory:
    if isinstance(value, str):
        return find_theory(value, ("theory",), list(PUBLISHED_THEORIES.values()))
    if not isinstance(value, dict):
        raise BadValue(("theory",), f"must be a theory's name or an object, not {shorten(value)}")
    value = _with_keys(value, ("theory",), THEORY_KEYS, ("axioms", "signature"))
    signature = check_object(value["signature"], ("theory", "signature"), "an object of numbers")
    texts = {
        "axioms": value["axioms"],
        "names": value.get("names", [problem]),
        "allowed": value.get("allowed", list(signature)),
    }
    for key, some in texts.items():
        if not isinstance(some, list) or not all(isinstance(one, str) and one for one in some):
            raise BadValue(("theory", key), f"must be a list of texts, not {shorten(some)}")
    for key in ("axioms", "names"):
        if not texts[key]:
            raise BadValue(("theory", key), "none is there")
    try:
        return parse_theory(texts["names"], texts["axioms"], signature, texts["allowed"], "")
    except DataError as error:
        raise BadValue(("theory",), str(error).removeprefix(": ")) from None
