"""What tables call the data of sessions: one rule for every evaluation and study.

A session's problems come from a file, or from the task's generator. Those of a file stand under the
task's name, generated ones under "TASK (generated)", whatever their seed. Where the sessions of one
table read several files of a task, these are one data set if they share problems and no problem
that they both name has other pairs: a part of the file, or the same compressed. Files of different
problems stand apart as "TASK (FILE)".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..records import Json, Problem, canonical_json, digest_of

GENERATED = "generated"


@dataclass
class _File:
    """A file of a task, and its problems as far as the sessions have them."""

    name: str
    digest: str
    problems: dict[str, Problem] = field(default_factory=dict)


def data_sets(
    settings: Sequence[Mapping[str, Json]], problems: Sequence[Sequence[Problem]]
) -> list[str]:
    """The name for each session, from what it records and the problems it has."""
    files: dict[str, dict[str, _File]] = {}  # by task and digest
    found: list[tuple[str, str | None]] = []
    for one, some in zip(settings, problems, strict=True):
        task, source = str(one.get("task")), _source(one)
        found.append((task, None if source is None else source.digest))
        if source is not None:
            of_task = files.setdefault(task, {}).setdefault(source.digest, source)
            for problem in some:
                of_task.problems.setdefault(problem.id, problem)
    names = {task: _named(task, list(of_task.values())) for task, of_task in files.items()}
    return [
        f"{task} ({GENERATED})" if digest is None else names[task][digest] for task, digest in found
    ]


def _source(settings: Mapping[str, Json]) -> _File | None:
    """The data, or the file of a user's own task; None where a generator made the problems."""
    operational = settings.get("operational") or {}
    file = operational.get("data") or operational.get("task_file")
    return None if file is None else _File(str(file["name"]), str(file.get("sha256")))


def _named(task: str, files: Sequence[_File]) -> dict[str, str]:
    """By digest."""
    sets = [list(files)] if len(files) == 1 else _together(files)
    seen = Counter(some[0].name for some in sets)
    names: dict[str, str] = {}
    for some in sets:
        first = some[0]
        again = f" {first.digest[:8]}" if seen[first.name] > 1 else ""
        called = f"{task} ({first.name}{again})" if len(sets) > 1 else task
        names |= {file.digest: called for file in some}
    return names


def _together(files: Sequence[_File]) -> list[list[_File]]:
    """The files of each data set. The largest come first: a part of one joins it."""
    sets: list[tuple[list[_File], dict[str, str]]] = []
    for file in sorted(files, key=lambda one: (-len(one.problems), one.name, one.digest)):
        own = {name: _content(problem) for name, problem in file.problems.items()}
        for some, known in sets:
            both = own.keys() & known.keys()
            if both and all(own[name] == known[name] for name in both):
                some.append(file)
                known |= own
                break
        else:
            sets.append(([file], own))
    return [some for some, _ in sets]


def _content(problem: Problem) -> str:
    """Of all pairs as a set, whichever are shown."""
    pairs = {
        canonical_json([pair.input, pair.output]) for pair in (*problem.shown, *problem.hidden)
    }
    return digest_of(sorted(pairs))
