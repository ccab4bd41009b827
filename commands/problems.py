"""Select the problems that a command works on, and the command `peirce tasks`.

`peirce run`, `check`, `import` and `tasks` use the same selection. Therefore a problem, its
observations and its sample space are the same in all these commands.
"""

from __future__ import annotations

import difflib
import shlex
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import DataConfig
from ..records import DataError, InputSet, Json, LabelsRows, PeirceError, Problem, Task, UsageError
from ..records.tables import TableLike, read_table
from ..records.tasks import DefinedByFile, DocumentsUsage, DrawsProblems, IdentifiesData, NamesFiles
from ..tasks import load_family, load_problems
from ..tasks import load_task as task_named
from ..tasks import load_tasks as all_tasks
from ..tasks.io.files import check_writable, identify_file, locate
from ..tasks.io.spaces import SPACE_FILES, write_space
from ..tasks.io.table_files import open_data
from ..tasks.recognition.file_kinds import is_for_other_task
from .arguments import validate_call
from .data.results import ProblemShown, SpaceFile, TaskHelp, TaskRow

if TYPE_CHECKING:
    from ..training.splits import Split, Splits


# --- Problems of one split only: `--subset held-out` evaluates on what was not trained on, by the
# rule that splits preference pairs (training/splits.py).


def _reads_some_records(load: Callable[..., Sequence[Any]]) -> bool:
    """Return whether a task reads its data once bad records are left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return bool(load(skip_bad=True))
        except PeirceError:
            return False


@dataclass(frozen=True)
class Subset:
    """A selection of splits, such as validation, with the rule that assigns problems to splits."""

    names: tuple[Split, ...]  # in the order of `Split`
    splits: Splits

    def contains(self, problem: Problem) -> bool:
        """Return whether the problem belongs to one of the selected splits."""
        return self.splits.split_of(problem) in self.names

    def as_json(self) -> dict[str, Json]:
        """Return the selection as a JSON object, as a session records it."""
        parts, fixed = self.splits.fractions, self.splits.fixed
        return {
            "names": [str(name) for name in self.names],
            "seed": self.splits.seed,
            "fractions": [parts.train, parts.validation, parts.held_out],
            **({"fixed": {group: str(fixed[group]) for group in sorted(fixed)}} if fixed else {}),
        }


def make_subset(
    names: Sequence[str],
    seed: int,
    fractions: Sequence[float] | None,
    fixed: str | Path | None = None,
) -> Subset | None:
    """Return the selection of splits that the options describe, or None if `names` is empty.

    Args:
        names: names of the splits to select.
        seed: seed of the rule that assigns groups of problems to splits.
        fractions: as in `make_splits`.
        fixed: as in `make_splits`.

    Raises:
        UsageError: a split is unknown, or `names` is empty so that another option has no effect.
        DataError: the file `fixed` is invalid.
    """
    if not names:
        for option, told in (("--split-seed", seed or None), ("--fractions", fractions),
                             ("--fixed", fixed)):  # fmt: skip
            if told is not None:
                raise UsageError(f"{option} has no effect without --subset: set both or neither")
        return None
    from ..training.splits import Split

    known = [str(split) for split in Split]
    for name in names:
        if name not in known:
            raise UsageError(f"--subset {name}: it must be one of {', '.join(known)}")
    chosen = tuple(split for split in Split if split in names)
    return Subset(chosen, make_splits(seed, fractions, fixed))


def make_splits(
    seed: int, fractions: Sequence[float] | None, fixed: str | Path | None = None
) -> Splits:
    """Return the rule that assigns groups of problems to splits.

    Args:
        seed: seed of the rule.
        fractions: the fractions of training, validation and held-out groups, in this order; None
            for the default.
        fixed: a JSON file that assigns groups to splits by hand (see `read_fixed_splits`).
    """
    from ..training.splits import Fractions, Splits

    if fractions is not None and len(fractions) != 3:
        raise UsageError(
            f"fractions are {list(fractions)}: give three shares, for train, validation and"
            " held-out"
        )
    parts = Fractions() if fractions is None else Fractions(*fractions)
    return Splits(seed, parts, {} if fixed is None else read_fixed_splits(fixed))


def read_fixed_splits(path: str | Path) -> dict[str, Split]:
    """Read a JSON file {split: [groups]}, and return the split of each group.

    Raises:
        DataError: the file has another form, or puts a group into two splits.
    """
    from ..tasks.io.files import expand_home, read_json
    from ..training.splits import Split

    place = expand_home(path)
    told = read_json(place)
    names = [split.value for split in Split]
    if not isinstance(told, Mapping) or not all(
        name in names and isinstance(groups, list) and all(isinstance(g, str) for g in groups)
        for name, groups in told.items()
    ):
        raise DataError(
            f"{place}: the file must contain an object with the keys {', '.join(names)}, each"
            " with a list of groups (names of problems)")  # fmt: skip
    found: dict[str, Split] = {}
    for name, groups in told.items():
        for group in groups:
            if found.setdefault(group, Split(name)) is not Split(name):
                raise DataError(f"{place}: group {group!r} is in both {found[group]} and {name}")
    return found


@dataclass(frozen=True)
class ChosenProblems:
    """The problems that a command works on, with their sample spaces.

    Args:
        task: the task of the problems.
        pairs: each problem with its sample space.
        sources: where the problems come from, as a session records it. "data", "observations" and
            "space" are each None or {"name", "sha256"} of a file (without its folder);
            "observations" may also be the number of observations drawn. "sample" is the number of
            problems drawn, or None. "subset" is present if splits were selected. "task_file" is
            present for a user's own task. The sources are not part of a session's digest, because
            the problems and spaces already contain their effect.
    """

    task: Task
    pairs: tuple[tuple[Problem, InputSet], ...]
    sources: dict[str, Json]

    @property
    def problems(self) -> list[Problem]:
        """The problems, without their sample spaces."""
        return [problem for problem, _ in self.pairs]


def choose_problems(
    task: str, config: DataConfig, observations: int | None = None
) -> ChosenProblems:
    """Return the problems that `config` selects from a task.

    If `config` names splits, only their problems are kept. The splits are the same as for
    preference pairs. It raises the same errors as `tasks.load_problems`.

    Args:
        task: name of the task, or path of a task file.
        config: the options that select problems and their data.
        observations: the number of observations to show of each problem if `config` sets none, for tasks that take
            it; None for the number of the task.
    """
    data, space = config.data, config.space
    if data is not None and not isinstance(data, str | Path):
        table = read_table(data)
        with open_data(table) as path:
            copied = config.model_copy(update={"data": path})
            chosen = choose_problems(task, copied, observations)
        return replace(chosen, sources=chosen.sources | {"data": table.identify()})
    shown = None if config.observations is None else str(config.observations)
    told = make_subset(config.subset, config.split_seed, config.fractions, config.fixed)
    keep = None if told is None else told.contains
    source = task_named(task)
    load = partial(
        load_problems,
        source,
        None if data is None else str(data),
        observations=shown,
        default_observations=observations,
        problems=config.problems,
        ids=tuple(config.problem),
        sample=config.sample,
        seed=config.seed,
        space_file=None if space is None else str(space),
        label=config.label,
        ood=config.ood,
        target=config.target,
        units=config.units,
        keep=keep,
    )
    try:
        pairs = load(skip_bad=config.skip_bad)
    except (DataError, UsageError) as error:
        if (
            data is None
            or not is_for_other_task(source.name, data, config.label or config.target)
            or _reads_some_records(load)
        ):
            raise
        raise type(error)(
            f"{error}; peirce discover {shlex.quote(str(data))} looks at the data and runs what fits"
        ) from error
    if not pairs:
        raise UsageError(f"{data or task} contains no problem to work on.")
    file = source.task_file if isinstance(source, DefinedByFile) else None
    sources = {
        "data": None if data is None else _identity(source, data),
        "observations": _observed(shown),
        "sample": config.sample,
        **({} if told is None else {"subset": told.as_json()}),
        "space": None if space is None else identify_file(locate(space, SPACE_FILES)),
        **({} if file is None else {"task_file": file}),
    }
    return ChosenProblems(source, tuple(pairs), sources)


def has_labelled_text(task: str) -> bool:
    """Return whether the problems of a task consist of labelled rows of text.

    Raises:
        UsageError: there is no such task.
    """
    return isinstance(load_family(task_named(task).family), LabelsRows)


def _identity(source: Task, data: str | Path) -> Json:
    """Return the identity (name and hash) of the data.

    It is that of the data file, or the task's own where the data has several files.
    """
    if isinstance(source, IdentifiesData):
        return source.identify_data(data)
    return identify_file(locate(data, source.files if isinstance(source, NamesFiles) else ()))


def _observed(observations: str | None) -> Json:
    if observations is None or observations.strip().isdecimal():
        return None if observations is None else int(observations)
    return identify_file(locate(observations, ()))


# --- The command `peirce tasks`.


@validate_call
def tasks_list() -> list[TaskRow]:
    """Return one row per task, with its name, its family and a one-line description."""
    return [TaskRow(task=one.name, family=one.family, about=one.about) for one in all_tasks()]


@validate_call
def tasks_help(task: str) -> TaskHelp:
    """Return a description of a task, with commands that run a session on the task.

    Args:
        task: name of a task, or path of a task file.

    Returns:
        The task's name, family and description; `takes`, the data that `--data` accepts ("" if the
        task does not document this); `commands`, command lines to copy; and `methods`, a one-line
        description of each method that works on the task.

    Raises:
        UsageError: there is no such task.
    """
    from ..graphs import all_methods

    found = task_named(task)
    plain = (
        f"peirce run {task}",
        f"peirce tasks show {task} --problems 1",
        f"peirce tasks generate {task} --out made",
    )
    # A generator may take other data than its task, so only the task's own name shows the task's
    # text.
    takes, commands = "", list(plain)
    if found.name == task and isinstance(found, DocumentsUsage):
        takes, commands = found.takes, list(found.commands)
    return TaskHelp(
        task=task,
        family=found.family,
        about=found.about,
        takes=takes,
        commands=commands,
        methods={
            one.name: one.about for one in all_methods().values() if one.supports(found.family)
        },
    )


@validate_call
def tasks_show(
    task: str,
    problem: str | None = None,
    *,
    data: str | Path | TableLike | None = None,
    problems: int | None = None,
    sample: int | None = None,
    observations: int | str | Path | None = None,
    seed: int = 0,
    label: str | None = None,
    ood: str | None = None,
    target: str | None = None,
    units: str | None = None,
    skip_bad: bool = False,
) -> list[ProblemShown]:
    """Return problems with all their data, including the hidden observations.

    Args:
        task: name of a task, or path of a task file.
        problem: id of one problem; None for all problems that the other options select.
        data: a file or folder of problems, or a table; None for the task's generator.
        problems: number of problems, counted from the first.
        sample: number of problems to draw at random with the seed.
        observations: number of observations to show of each problem, or a file that lists them.
        seed: seed of generated or drawn problems and observations.
        label: for labelled text, the column that contains the labels.
        ood: for labelled text, which out-of-distribution file to use.
        target: for laws, the column to explain.
        units: for laws, units of columns, for example m=kg,v=m/s.
        skip_bad: leave out records of the data that cannot be read, and count them in a warning.

    Returns:
        One object for each problem. Its key "drawn" is a drawing of the problem as text, if the
            task
        draws its problems.
    """
    wanted = () if problem is None else (problem,)
    config = DataConfig(
        data=data, problems=problems, problem=wanted, sample=sample, observations=observations,
        seed=seed, label=label, ood=ood, target=target, units=units, skip_bad=skip_bad,
    )  # fmt: skip
    chosen = choose_problems(task, config)
    drawn = chosen.task.draw_problem if isinstance(chosen.task, DrawsProblems) else None
    return [
        ProblemShown.from_dict(
            {**one.as_json(), "space": len(space), **({"drawn": drawn(one)} if drawn else {})}
        )
        for one, space in chosen.pairs
    ]


@validate_call
def tasks_space(
    task: str,
    out: str | Path,
    *,
    data: str | Path | TableLike | None = None,
    problem: str | None = None,
    label: str | None = None,
    target: str | None = None,
    skip_bad: bool = False,
) -> SpaceFile:
    """Write the sample space of a task as JSONL, in the form that `--space` reads.

    The sample space is the set of inputs on which hypotheses are compared. With `data`, it is the
    space of a run on the same data. Without `data`, it is the space of the problems that the task's
    generator makes by default.

    Args:
        task: name of a task, or path of a task file.
        out: the file to write.
        data: a file or folder of problems, or a table; None for the task's generator.
        problem: id of the problem whose space to write; None for the first problem.
        label: for labelled text, the column that contains the labels.
        target: for laws, the column to explain.
        skip_bad: leave out records of the data that cannot be read, and count them in a warning.
    """
    check_writable(out)
    wanted = () if problem is None else (problem,)
    config = DataConfig(data=data, problem=wanted, label=label, target=target, skip_bad=skip_bad)
    space = choose_problems(task, config).pairs[0][1]
    write_space(space, out)
    return SpaceFile(task=task, inputs=len(space), digest=space.digest, path=str(out))


def find_similar_task(dataset: str, file: str | Path) -> str:
    """Return the task whose name is most similar to `dataset`, the name of a data set.

    Args:
        dataset: the name of a data set.
        file: the file that contains the name, for the error message.

    Raises:
        UsageError: no task has a similar name.
    """
    names = [row.task for row in tasks_list()]
    near = difflib.get_close_matches(dataset, names, 1, 0.8)
    if not near:
        raise UsageError(
            f"{file} does not name a task: choose one with --task ({', '.join(names)})"
        )
    return str(near[0])
