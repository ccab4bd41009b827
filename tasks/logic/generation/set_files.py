"""Write a set of instances to files, in the published form or as JSON.

`docs/tutorials/exception-rules.md` describes both forms. Either all files are written or none.
Compressed files contain no time stamp, so equal sets give equal bytes.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Sequence
from pathlib import Path

from ....records import Json, Problem, UsageError, canonical_json
from ....records.private_files import write_atomically
from ...io.files import check_writable, expand_home
from ...io.yaml_records import format_yaml
from ..problems import build_problem
from ..published_files import FILES, HOLDOUTS_FILES, holdouts_file_name
from .instances import GeneratedInstance
from .published_form import SCENARIOS, holdout_rows, instance_record

YAML, JSON = (".yaml", ".yml"), (".jsonl", ".json")


def target_paths(out: str | Path) -> tuple[Path, ...]:
    """Return the paths of the files to write: instances and holdouts, or one JSON file.

    Raises:
        UsageError: the name of `out` has an unsupported ending, or `out` cannot be written to.
    """
    place = expand_home(out)
    name = place.name.removesuffix(".gz")
    packed = ".gz" if place.name.endswith(".gz") else ""
    if place.is_dir() or "." not in place.name:
        if place.exists() and not place.is_dir():
            raise UsageError(f"{place}: a file, where a folder is to be; name another")
        found = (place / f"{FILES[0]}.gz", place / f"{HOLDOUTS_FILES[0]}.gz")
    elif name.endswith(YAML):
        found = (place, place.with_name(holdouts_file_name(place) + packed))
    elif name.endswith(JSON):
        return (check_writable(place),)
    else:
        raise UsageError(
            f"{place}: instances of abd are written to a folder, or to a name that ends in"
            f" {', '.join((*YAML, *JSON))}, plain or with .gz"
        )
    return tuple(map(check_writable, found))


def save_instances(instances: Sequence[GeneratedInstance], out: str | Path) -> tuple[Path, ...]:
    """Write a set of instances and return the written files: instances, then holdouts if separate."""
    places = target_paths(out)
    if len(places) == 2:
        rows = [row for one in instances for row in holdout_rows(one)]
        texts = [format_yaml([instance_record(one) for one in instances]), _lines(rows)]
    elif places[0].name.removesuffix(".gz").endswith(".jsonl"):
        texts = [_lines(to_own_worlds(one) for one in instances)]
    else:
        texts = [canonical_json([to_own_worlds(one) for one in instances]) + "\n"]
    contents = {
        place: gzip.compress(text.encode(), mtime=0)
        if place.name.endswith(".gz")
        else text.encode()
        for place, text in zip(places, texts, strict=True)
    }
    # Holdouts come first, so that new instances are never found with old holdouts of their names.
    write_atomically(dict(reversed(contents.items())))
    return places


def _lines(rows: Iterable[Json]) -> str:
    return "".join(canonical_json(row) + "\n" for row in rows)


def to_own_worlds(one: GeneratedInstance) -> dict[str, Json]:
    """Return an instance as JSON in the form of a user's own problem (`logic/own_worlds.py`)."""
    return {
        "id": one.id,
        "regime": one.recipe.regime,
        "theory": one.theory.names[0],
        "worlds": [candidate.world.as_json() for candidate in one.worlds],
        "holdouts": [holdout.candidate.world.as_json() for holdout in one.holdouts],
        "reference": one.reference.text,
    }


def as_problem(one: GeneratedInstance) -> Problem:
    """Return an instance as a problem, as if it had been read from a file in the published form."""
    return build_problem(
        one.id,
        one.theory,
        one.recipe.regime,
        [candidate.world for candidate in one.worlds],
        [holdout.candidate.world for holdout in one.holdouts],
        {
            "reference": one.reference.text,
            "reference_cost": one.reference.cost,
            "difficulty": one.recipe.difficulty,
            "scenario": SCENARIOS[one.recipe.regime],
            "bounds": [candidate.judgement.bound for candidate in one.worlds],
            "hidden_bounds": [holdout.candidate.judgement.bound for holdout in one.holdouts],
            "holdouts_published": len(one.holdouts),
        },
    )
