"""Find the published data sets and observations in a folder, and split their problems.

The splits follow section 6.1 of the GEAR paper: half of a data set's problems are for training, a
tenth for validation, and the rest is held out. Problems of different data sets with the same id
share a split, because preference pairs know a problem by its id (`training/splits.py`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ...records import DataError, Json, Problem, UsageError
from ...records.tasks import IdentifiesData, NamesFiles
from ...tasks import load_task
from ...tasks.io.files import expand_home, identify_file, locate
from ...training.splits import Split, problem_group

# By task: the name in the files of observations, and the files or folders of the data set.
DATA_SETS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "list_functions": ("list_function", ("list_function.jsonl", "list_functions.jsonl")),
    "acre": ("acre", ("acre.jsonl",)),
    "mini_arc": ("mini_arc", ("miniarc.jsonl", "mini_arc.jsonl", "MiniARC")),
    "arc": ("arc_2025", ("arc_2025.jsonl", "arc.jsonl", "ARC-AGI-2", "arc-prize-2025", "arc_2025")),
}
SHOWN_COUNTS = range(1, 9)  # numbers N of shown pairs whose file io_pairs/NAME_N.json is looked for
SHARES = {Split.TRAIN: Fraction(1, 2), Split.VALIDATION: Fraction(1, 10), Split.HELD_OUT: Fraction(2, 5)}  # fmt: skip


@dataclass(frozen=True)
class DataSet:
    """A published data set with its observations.

    Attributes:
        task: The name of the task.
        data: The file or folder of the problems.
        observations: The file of observations, by the number of shown pairs.
        problems: The problems with observations, in the order in which `limit` takes them.
        shown: The ids of the problems in each file of observations, by the number of shown pairs.
    """

    task: str
    data: Path
    observations: Mapping[int, Path]
    problems: tuple[Problem, ...]
    shown: Mapping[int, frozenset[str]]

    def identify(self) -> Json:
        """Return the hashes of the data and of each file of observations."""
        source = load_task(self.task)
        if isinstance(source, IdentifiesData):
            data = source.identify_data(self.data)
        else:
            files = source.files if isinstance(source, NamesFiles) else ()
            data = identify_file(locate(self.data, files))
        return {
            "data": data,
            "observations": {str(n): identify_file(path) for n, path in self.observations.items()},
        }


def read_data_sets(folder: str | Path, seed: int, limit: int | None) -> list[DataSet]:
    """Return the published data sets in a folder, with at most `limit` problems each.

    Args:
        folder: The folder of the data sets and of `io_pairs`.
        seed: The seed of the order in which problems are taken.
        limit: The maximum number of problems of a data set; None for all.

    Raises:
        UsageError: The folder does not exist, or contains no data set with observations.
        DataError: A file is invalid, or no observation belongs to a problem of the data set.
    """
    place = expand_home(folder)
    if not place.is_dir():
        raise UsageError(f"--data {folder}: this is no folder; {EXPECTED}")
    found = []
    for task, (name, files) in DATA_SETS.items():
        data = _find(place, [one + end for one in files for end in ("", ".gz")])
        observations = {
            n: path for n in SHOWN_COUNTS
            if (path := _find(place, [f"io_pairs/{name}_{n}.json", f"io_pairs/{name}/{name}_{n}.json",
                                      f"{name}_{n}.json"])) is not None
        }  # fmt: skip
        if data is not None and observations:
            found.append(_read(task, data, observations, seed, limit))
    if not found:
        raise UsageError(f"--data {folder}: no data set with its observations is there; {EXPECTED}")
    return found


EXPECTED = (
    "it must contain list_function.jsonl, acre.jsonl, miniarc.jsonl or arc_2025.jsonl (plain or"
    " .gz), and the observations that GEAR published, such as io_pairs/list_function_1.json"
)


def _find(folder: Path, names: Sequence[str]) -> Path | None:
    places = [folder / part / name for name in names for part in ("", "data")]
    return next((one for one in places if one.exists()), None)


def _read(
    task: str, data: Path, observations: Mapping[int, Path], seed: int, limit: int | None
) -> DataSet:
    loaded = {one.id: one for one in load_task(task).load(str(data), None, 0)}
    shown = {n: frozenset(_ids(path)) & loaded.keys() for n, path in observations.items()}
    shown = {n: ids for n, ids in shown.items() if ids}
    if not shown:
        raise DataError(
            f"no problem in {data} has observations in {next(iter(observations.values()))}: the"
            " files belong to different data sets"
        )
    # Of a data set whose files name different problems, those in most files come first.
    times = {name: sum(name in ids for ids in shown.values()) for name in loaded}
    order = sorted((name for name in loaded if times[name]),
                   key=lambda name: (-times[name], _place(name, f"{seed} {task}")))  # fmt: skip
    kept = order[:limit]
    return DataSet(
        task, data, {n: observations[n] for n in shown}, tuple(loaded[name] for name in kept),
        {n: ids & frozenset(kept) for n, ids in shown.items()},
    )  # fmt: skip


def _ids(path: Path) -> list[str]:
    try:
        held = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} cannot be read: {error}") from None
    if not isinstance(held, dict):
        raise DataError(f'{path}: the file must contain one object {{"id": [[input, output], …]}}')
    return list(held)


def _place(name: str, salt: str) -> bytes:
    return hashlib.sha256(f"{salt}: {name}".encode("utf-8", "surrogatepass")).digest()


def split_problems(data_sets: Sequence[DataSet], seed: int) -> dict[str, Split]:
    """Assign each problem to a split, so that every data set is split 50/10/40.

    Problems with equal pairs have the same split too, whatever their ids. A data set may miss its
    quota by a few problems if most of its ids occur in other data sets.

    Args:
        data_sets: The data sets.
        seed: The seed of the assignment.

    Returns:
        The split of each group of problems.
    """
    quota = {
        (one.task, split): share * len(one.problems)
        for one in data_sets for split, share in SHARES.items()
    }  # fmt: skip
    used = dict.fromkeys(quota, 0)
    tied = _tie_equal_problems(data_sets)
    # Groups in several data sets first: the others then fill up what is left of each quota.
    order = sorted(tied, key=lambda block: (-len(block.tasks), -len(block.groups),
                                            _place(block.groups[0], f"{seed} split")))  # fmt: skip
    found: dict[str, Split] = {}
    for block in order:

        def left(split: Split, block: _Block = block) -> Fraction:
            """Return the smallest share of a quota that is still free in the block's data sets."""
            return min((quota[task, split] - used[task, split]) / max(quota[task, split], Fraction(1, 9))
                       for task in block.tasks)  # fmt: skip

        chosen = max(SHARES, key=left)
        for group in block.groups:
            found[group] = chosen
        for task, count in block.tasks.items():
            used[task, chosen] += count
    return found


@dataclass
class _Block:
    """Groups that must have the same split, with the number of their problems in each task."""

    groups: list[str]
    tasks: dict[str, int]


def _tie_equal_problems(data_sets: Sequence[DataSet]) -> list[_Block]:
    """Return the groups of problems, joined where two problems have the same pairs."""
    first: dict[str, str] = {}  # the first group with these pairs
    tasks: dict[str, dict[str, int]] = {}
    parent: dict[str, str] = {}

    def root(group: str) -> str:
        while parent[group] != group:
            group = parent[group]
        return group

    for one in data_sets:
        for problem in one.problems:
            group = problem_group(problem)
            parent.setdefault(group, group)
            counts = tasks.setdefault(group, {})
            counts[one.task] = counts.get(one.task, 0) + 1
            pairs = sorted(
                json.dumps([pair.input, pair.output]) for pair in (*problem.shown, *problem.hidden)
            )
            other = first.setdefault(json.dumps([one.task, pairs]), group)
            parent[root(group)] = root(other)
    blocks: dict[str, _Block] = {}
    for group, counts in tasks.items():
        block = blocks.setdefault(root(group), _Block([], {}))
        block.groups.append(group)
        for task, count in counts.items():
            block.tasks[task] = block.tasks.get(task, 0) + count
    return list(blocks.values())
