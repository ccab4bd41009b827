"""Read new worlds, to which `peirce predict` applies the rules of a session.

The file has one of the two forms in which problems are read (own_worlds.py, published_files.py). It
may also contain worlds without a theory; the theory and regime of the session's problem are then
used. If the file contains several problems, one of them must have the id of the session's problem.
The theory must be that of the session's problem, because a rule about other predicates cannot be
applied. The regime is the one in the file. A warning names the predicates that the worlds of the
session have and that the file does not mention, because the file may have left them out.
"""

from __future__ import annotations

from pathlib import Path

from ...records import DataError, Problem
from ...tools.logic.theories import theory_from_json
from ..io.files import locate, refuse_table
from . import own_worlds, published_files

YAML = (".yaml", ".yml")


def read_new_worlds(path: Path, problem: Problem) -> Problem:
    """Return a problem with the worlds in a file, to which rules about `problem` can be applied.

    Raises:
        DataError: the file cannot be read, has several problems but none with the id of `problem`,
            or is about a theory with other axioms or predicates.
    """
    place = locate(path, (*published_files.FILES, *own_worlds.FILES))
    refuse_table(place, "give a file of worlds, because the rules of the bank are about worlds")
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
