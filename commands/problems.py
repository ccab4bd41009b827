"""Which problems a verb works on, how a session names their data, and the verb `tasks`.

`peirce run`, `check`, `import` and `tasks` share these rules, so that a problem, its observations
and its sample space are the same whichever verb asks.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import DataConfig
from ..records import DataError, InputSet, Json, LabelsRows, Problem, Task, UsageError
from ..records.tasks import Documented, Draws, IdentifiesData, IsFile, NamesFiles
from ..tasks import family, load_problems
from ..tasks import task as task_named
from ..tasks import tasks as all_tasks
from ..tasks.io.files import identity, locate, writable
from ..tasks.io.spaces import SPACE_FILES, write_space
from .arguments import checked
from .data.results import ProblemShown, SpaceFile, TaskHelp, TaskRow

if TYPE_CHECKING:
    from ..training.splits import Split, Splits


# --- Problems of one split alone: `--subset held-out` for the evaluation of what was trained on the
# rest, by the rule that splits preference pairs (training/splits.py).


@dataclass(frozen=True)
class Subset:
    """The splits that are kept, and the rule that says which problem stands in which."""

    names: tuple[Split, ...]  # in the order of `Split`
    splits: Splits

    def keeps(self, problem: Problem) -> bool:
        return self.splits.of(problem) in self.names

    def as_json(self) -> dict[str, Json]:
        parts, fixed = self.splits.fractions, self.splits.fixed
        return {
            "names": [str(name) for name in self.names],
            "seed": self.splits.seed,
            "fractions": [parts.train, parts.validation, parts.held_out],
            **({"fixed": {group: str(fixed[group]) for group in sorted(fixed)}} if fixed else {}),
        }


def subset_of(
    names: Sequence[str],
    seed: int,
    fractions: Sequence[float] | None,
    fixed: str | Path | None = None,
) -> Subset | None:
    """None where no split is named. UsageError for another name, and for a seed, fractions or fixed
    groups without a name, which would change nothing; DataError for the file of fixed groups."""
    if not names:
        for option, told in (("--split-seed", seed or None), ("--fractions", fractions),
                             ("--fixed", fixed)):  # fmt: skip
            if told is not None:
                raise UsageError(f"{option} says nothing without --subset")
        return None
    from ..training.splits import Split

    known = [str(split) for split in Split]
    for name in names:
        if name not in known:
            raise UsageError(f"--subset {name}: it is one of {', '.join(known)}")
    chosen = tuple(split for split in Split if split in names)
    return Subset(chosen, splits_of(seed, fractions, fixed))


def splits_of(
    seed: int, fractions: Sequence[float] | None, fixed: str | Path | None = None
) -> Splits:
    """fractions: of train, validation, held-out, None for the default; fixed: as `read_fixed`."""
    from ..training.splits import Fractions, Splits

    if fractions is not None and len(fractions) != 3:
        raise UsageError(f"fractions {list(fractions)}: train, validation and held-out are needed")
    parts = Fractions() if fractions is None else Fractions(*fractions)
    return Splits(seed, parts, {} if fixed is None else read_fixed(fixed))


def read_fixed(path: str | Path) -> dict[str, Split]:
    """Groups by name with their split, from {split: [groups]}. Raises DataError, with the file."""
    from ..tasks.io.files import expanded, read_json
    from ..training.splits import Split

    place = expanded(path)
    told = read_json(place)
    names = [split.value for split in Split]
    if not isinstance(told, Mapping) or not all(
        name in names and isinstance(groups, list) and all(isinstance(g, str) for g in groups)
        for name, groups in told.items()
    ):
        raise DataError(f"{place}: an object is needed that holds, by {', '.join(names)}, lists of"
                        " the groups (names of problems) in each")  # fmt: skip
    found: dict[str, Split] = {}
    for name, groups in told.items():
        for group in groups:
            if found.setdefault(group, Split(name)) is not Split(name):
                raise DataError(f"{place}: group {group!r} stands in {found[group]} and in {name}")
    return found


@dataclass(frozen=True)
class Chosen:
    """The problems of one verb with their sample spaces. sources: whence they come, as a session
    records it: {"data", "observations", "space"}, each None or {"name", "sha256"} of a file (no
    path), observations also the number drawn; "sample", how many problems were drawn, or None;
    "subset", of which split, where one was asked for. The problems and spaces say all that follows from it, so it is no part of a session's digest. The
    file of a user's own task stands beside them as "task_file"."""

    task: Task
    pairs: tuple[tuple[Problem, InputSet], ...]
    sources: dict[str, Json]

    @property
    def problems(self) -> list[Problem]:
        return [problem for problem, _ in self.pairs]


def choose(task: str, config: DataConfig) -> Chosen:
    """The problems that `config` names; see `tasks.load_problems` for the rules and errors. A subset
    keeps the problems that stand in it as they do in a set of preference pairs."""
    data, space = config.data, config.space
    shown = None if config.observations is None else str(config.observations)
    told = subset_of(config.subset, config.split_seed, config.fractions, config.fixed)
    keep = None if told is None else told.keeps
    source = task_named(task)
    pairs = load_problems(
        source,
        None if data is None else str(data),
        observations=shown,
        problems=config.problems,
        ids=tuple(config.problem),
        sample=config.sample,
        seed=config.seed,
        space_file=None if space is None else str(space),
        label=config.label,
        ood=config.ood,
        keep=keep,
    )
    if not pairs:
        raise UsageError(f"{data or task} leaves no problem to work on.")
    file = source.task_file if isinstance(source, IsFile) else None
    sources = {
        "data": None if data is None else _identity(source, data),
        "observations": _observed(shown),
        "sample": config.sample,
        **({} if told is None else {"subset": told.as_json()}),
        "space": None if space is None else identity(locate(space, SPACE_FILES)),
        **({} if file is None else {"task_file": file}),
    }
    return Chosen(source, tuple(pairs), sources)


def has_texts(task: str) -> bool:
    """Whether a task is about labelled rows. Raises UsageError for one that there is not."""
    return isinstance(family(task_named(task).family), LabelsRows)


def _identity(source: Task, data: str | Path) -> Json:
    """Of the file, or as the task says where its data may be several."""
    if isinstance(source, IdentifiesData):
        return source.identity(data)
    return identity(locate(data, source.files if isinstance(source, NamesFiles) else ()))


def _observed(observations: str | None) -> Json:
    if observations is None or observations.strip().isdecimal():
        return None if observations is None else int(observations)
    return identity(locate(observations, ()))


# --- the verb `tasks` ----------------------------------------------------------


@checked
def tasks_list() -> list[TaskRow]:
    """Every task: its name, its family, one line about it."""
    return [TaskRow(task=one.name, family=one.family, about=one.about) for one in all_tasks()]


@checked
def tasks_help(task: str) -> TaskHelp:
    """How to run on a task: {task, family, about, takes, commands, methods}; takes: what `--data` may
    be, "" where the task does not say; commands: lines to copy. Raises UsageError for one that there
    is not."""
    from ..graphs import all_methods

    found = task_named(task)
    plain = (
        f"peirce run {task}",
        f"peirce tasks show {task} --problems 1",
        f"peirce tasks generate {task} --out made",
    )
    # what a generator takes is not what its task does
    takes, commands = "", list(plain)
    if found.name == task and isinstance(found, Documented):
        takes, commands = found.takes, list(found.commands)
    return TaskHelp(
        task=task,
        family=found.family,
        about=found.about,
        takes=takes,
        commands=commands,
        methods={one.name: one.about for one in all_methods().values() if one.serves(found.family)},
    )


@checked
def tasks_show(
    task: str,
    problem: str | None = None,
    *,
    data: str | Path | None = None,
    problems: int | None = None,
    sample: int | None = None,
    observations: int | str | Path | None = None,
    seed: int = 0,
    label: str | None = None,
    ood: str | None = None,
) -> list[ProblemShown]:
    """Problems whole, hidden parts too: all that the options name, or the one asked for. "drawn":
    what a person is shown of one, where its task says so."""
    wanted = () if problem is None else (problem,)
    config = DataConfig(
        data=data, problems=problems, problem=wanted, sample=sample, observations=observations,
        seed=seed, label=label, ood=ood,
    )  # fmt: skip
    chosen = choose(task, config)
    drawn = chosen.task.drawn if isinstance(chosen.task, Draws) else None
    return [
        ProblemShown.from_dict(
            {**one.as_json(), "space": len(space), **({"drawn": drawn(one)} if drawn else {})}
        )
        for one, space in chosen.pairs
    ]


@checked
def tasks_space(
    task: str,
    out: str | Path,
    *,
    data: str | Path | None = None,
    problem: str | None = None,
    label: str | None = None,
) -> SpaceFile:
    """Writes the sample space of a task (or of one problem) as JSONL that `--space` reads back:
    that of a run with the same data, without data that of the default number of problems."""
    writable(out)
    wanted = () if problem is None else (problem,)
    space = choose(task, DataConfig(data=data, problem=wanted, label=label)).pairs[0][1]
    write_space(space, out)
    return SpaceFile(task=task, inputs=len(space), digest=space.digest, path=str(out))


def task_like(dataset: str, file: str | Path) -> str:
    """The task whose name is nearest to the data set that a record names."""
    names = [row.task for row in tasks_list()]
    near = difflib.get_close_matches(dataset, names, 1, 0.8)
    if not near:
        raise UsageError(f"{file} names no task: give one with --task ({', '.join(names)})")
    return str(near[0])
