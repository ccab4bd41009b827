"""Reads new worlds to which the rules of a session are applied (`peirce predict`).

The file has one of the two forms in which problems are read (own_worlds.py, published_files.py). It
may also hold worlds alone, which then have the theory and the regime of the session's problem. A
file of several problems must hold one with the id of that problem. The theory must be the same,
since a rule about other predicates says nothing here; the regime is that of the file.
"""

from __future__ import annotations

from pathlib import Path

from ...records import DataError, Problem
from ...tools.logic.theories import theory_from_json
from ..io.files import locate
from . import own_worlds, published_files

YAML = (".yaml", ".yml")


def read_new_worlds(path: Path, problem: Problem) -> Problem:
    """Return the problem of a file whose worlds the rules about `problem` apply to.

    Raises:
        DataError: the file cannot be read, holds several problems, or is about another theory.
    """
    place = locate(path, (*published_files.FILES, *own_worlds.FILES))
    if place.name.removesuffix(".gz").endswith(YAML):
        loaded = published_files.read_published_files(place)
    else:
        loaded = own_worlds.read_own_worlds(place, like=problem)
    same = [one for one in loaded if one.id == problem.id] or loaded
    if len(same) != 1:
        raise DataError(f"{place}: the file has {len(same)} problems, but not {problem.id!r}")
    theory, other = (theory_from_json(one.public["theory"]) for one in (problem, same[0]))
    if (theory.axioms, theory.signature) != (other.axioms, other.signature):
        raise DataError(
            f"{place}: the theory {other.title!r} has other axioms or predicates than the theory"
            f" {theory.title!r} of the bank"
        )
    return same[0]
