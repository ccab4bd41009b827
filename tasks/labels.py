"""Task `labels`: labelled text in the layout of HypoGeniC and HypoBench, and a user's own files.

A problem is a data set with a sample of its training rows, `NAME#K`; `NAME` alone is its first. See
label_problems.py for what a problem holds, label_sets.py for the files and docs/labels.md for all
of it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..records import InputSet, Json, Problem, UsageError
from . import problem_sample
from .files import joint_identity
from .label_config import CONFIG, METADATA
from .label_problems import FAMILY, NAME, SHOWN, Rows, rows_of_tables
from .label_sets import DataSet, places, published
from .label_tables import read_table, typed
from .sentences import nearest
from .space_files import each_once

SPACE = 100  # unlabelled inputs at most: a model may judge each hypothesis on each


@dataclass(frozen=True)
class Wanted:
    """Which problems the options name: as in `tasks.load_problems`."""

    observations: str | None = None
    problems: int | None = None
    ids: Sequence[str] = ()
    sample: int | None = None
    seed: int = 0
    label: str | None = None
    ood: str | None = None


class Labels:
    name = NAME
    family = FAMILY
    about = "what makes a text get its label (HypoGeniC, HypoBench, or your own labelled rows)"
    files = (CONFIG,)

    def load(self, path: str, observations: str | None, seed: int) -> list[Problem]:
        return self.choose(path, Wanted(observations=observations, seed=seed))

    def choose(self, path: str | None, wanted: Wanted) -> list[Problem]:
        """The problems that the options name. Raises UsageError, DataError."""
        if path is None:
            raise UsageError("labels needs --data")
        shown = _count(wanted.observations)
        there = {one.name: one for one in places(path)}
        numbered = _numbered(list(there), wanted)
        read: dict[str, Rows] = {}
        for name, _ in numbered:
            if name not in read:
                read[name] = rows_of_set(published(there[name], wanted.ood), wanted.label)
        return [read[name].problem(sample, shown, wanted.seed) for name, sample in numbered]

    def generate(self, count: int, seed: int) -> list[Problem]:
        raise UsageError("labels needs --data")

    def space(self, problem: Problem, seed: int) -> InputSet:
        """At most 100 unlabelled inputs: of the validation rows, else of the shown ones; never of
        the test rows."""
        start, stop = problem.secret["splits"].get("val", (0, 0))
        rows = problem.hidden[start:stop] or problem.shown
        inputs = each_once(one.input for one in rows)
        drawn = random.Random(f"{seed} {problem.id}").sample(inputs, min(SPACE, len(inputs)))
        return InputSet(f"{problem.id} space", tuple(drawn))

    def identity(self, path: str | Path) -> dict[str, Json]:
        found = places(path)
        files = {one for place in found for one in _files(published(place))}
        root = Path(path).expanduser()
        return joint_identity(root.resolve().name, root, sorted(files))


def rows_of_set(found: DataSet, label: str | None = None) -> Rows:
    """A data set whose files are known, read whole or not at all."""
    flat = [(split, path) for split, paths in found.files.items() for path in paths]
    tables = typed([read_table(path) for _, path in flat])
    by_split = {
        split: [table for (one, _), table in zip(flat, tables, strict=True) if one == split]
        for split in found.files
    }
    return rows_of_tables(found, by_split, label)


def _files(found: DataSet) -> list[Path]:
    data = [path for paths in found.files.values() for path in paths]
    beside = [found.folder / name for name in (CONFIG, METADATA)]
    return data + [path for path in beside if path.is_file()]


def _count(observations: str | None) -> int:
    if observations is None:
        return SHOWN
    text = observations.strip()
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(
            f"--observations {observations}: a number of training rows from 1 for labels, which"
            " takes no file of them"
        )
    return int(text)


# --- samples --------------------------------------------------------------------------


def _numbered(names: Sequence[str], wanted: Wanted) -> list[tuple[str, int]]:
    """(data set, sample) of each problem. `--problem NAME#K` is that sample, `NAME` the first;
    `--problems N` are the first N of all first samples, then all second ones, and so on."""
    fixed: list[tuple[str, int]] = []
    bases = list(names)
    if wanted.ids:
        asked = [_parted(one, names) for one in dict.fromkeys(wanted.ids)]
        fixed = [(name, sample or 0) for name, sample in asked]
        bases = [name for name, sample in asked if sample is None]
    elif wanted.sample is not None:
        stubs = [Problem(f"{name}#0", NAME, FAMILY, ()) for name in names]
        drawn = problem_sample.draw(stubs, wanted.sample, wanted.seed)
        bases = [one.id.removesuffix("#0") for one in drawn]
    found = dict.fromkeys(fixed or [(name, 0) for name in bases])
    count = wanted.problems or len(found)
    sample = 1
    while bases and len(found) < count:
        found.update(dict.fromkeys((name, sample) for name in bases))
        sample += 1
    return list(found)[:count]


def _parted(wanted: str, names: Sequence[str]) -> tuple[str, int | None]:
    if wanted in names:
        return wanted, None
    name, mark, sample = wanted.rpartition("#")
    if mark and name in names and sample.isdecimal():
        return name, int(sample)
    raise UsageError(f"no problem {wanted!r} in the data{nearest(name or wanted, names)}")


TASK = Labels()
