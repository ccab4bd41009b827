"""Tasks and families: where problems come from, and what a hypothesis about them is.

Both are found by name in the registry (records/registry.py). A task is a `records.Task`; what it may be
able to do beside that says records/tasks.py. A user's own task is a file, YAML or Python, and named
by its path (custom/task_file.py). `load_problems` is what the commands call.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from ..records import (
    Family,
    FindsContradictions,
    InputSet,
    Problem,
    Task,
    Tolerant,
    UsageError,
    Worded,
    registry,
)
from ..records.tasks import (
    GENERATED,
    BringsProblems,
    ChoosesProblems,
    DrawsObservations,
    HasGenerators,
    JudgesPairs,
    ReadsInputs,
    SharesSpaces,
    Wanted,
)
from .custom import task_file
from .custom.words import JUDGED
from .io import observations as observations_
from .io.messages import DataWarning as DataWarning
from .io.messages import nearest, shorten, warn
from .io.spaces import read_space

SPACE_SEED = 0  # of every sample space unless asked: sessions of different seeds compare


def tasks() -> list[Task]:
    """All tasks, by name."""
    return [registry.load("tasks", name) for name in registry.names("tasks")]


def task(name: str) -> Task:
    """The task of this name, or that of a user's own file. Raises `UsageError` naming the nearest
    task, `DataError` for a file that is none."""
    base, mark, generator = name.partition(":")
    known = registry.has("tasks", base)
    if not known and not name.lower().endswith(task_file.ENDINGS) and Path(name).exists():
        raise UsageError(
            f"{name} is data, where a task is needed: peirce run labels --data {name} for labelled"
            f" rows, peirce run examples --data {name} for pairs of input and output (a task file's"
            f" name ends in {', '.join(task_file.ENDINGS)})"
        )
    if task_file.is_path(name):
        return task_file.task_of(name, registry.names("tasks"))
    if not known:
        raise UsageError(f"no task {name!r}{nearest(name, registry.names('tasks'))}")
    found: Task = registry.load("tasks", base)
    if not mark:
        return found
    if isinstance(found, HasGenerators):
        return found.made_by(generator)
    raise UsageError(f"no task {name!r}{nearest(name, registry.names('tasks'))}")


def family(name: str, *, strict_contract: bool = False) -> Family:
    """strict_contract: as by `records.Family.strictly`. Raises `UsageError` naming the families."""
    if not registry.has("families", name):
        raise UsageError(f"no family {name!r}{nearest(name, registry.names('families'))}")
    found: Family = registry.load("families", name)
    return found.strictly() if strict_contract else found


def family_of(
    problem: Problem, *, strict_contract: bool = False, tau: float | None = None
) -> Family:
    """The family of a problem, in the words that its task brings, if any (custom/words.py). tau: of a
    family whose consistency has a threshold."""
    found = family(problem.family, strict_contract=strict_contract)
    if tau is not None and isinstance(found, Tolerant):
        found = found.with_tau(tau)
    return found.told(problem.public) if isinstance(found, Worded) else found


def load_problems(
    task_name: str | Task,
    data: str | None = None,
    *,
    observations: str | None = None,
    problems: int | None = None,
    ids: Sequence[str] = (),
    sample: int | None = None,
    seed: int = 0,
    space_file: str | None = None,
    space_seed: int = SPACE_SEED,
    label: str | None = None,
    ood: str | None = None,
    keep: Callable[[Problem], bool] | None = None,
) -> list[tuple[Problem, InputSet]]:
    """The problems of a session, each with its sample space S.

    data: published or user's files; without it the task's own generator makes `problems`
    (default 12) from `seed`. observations: N drawn for each problem, or a file in GEAR's form
    (tasks/io/observations.py); without it the original split. ids: these problems, in this order;
    sample: so many of the data drawn by `seed` (observations.py), in their order; problems: the
    first so many of what is left. space_file: JSONL of inputs, S for all problems;
    without it the task's own from `space_seed`, which is not the session's seed, so that sessions
    of different seeds are scored on one S. label, ood: of labelled text, the column of the labels
    and which OOD rows (labels.py). keep: only problems of which it says so, before any is drawn or
    counted; of labelled text and of generated problems, those of the ones that there would be.

    Raises UsageError (an unknown task, id or path, a count below 1, a sample of problems that
    are named or generated), DataError (a bad file).
    What a loader leaves out it tells by `files.DataWarning`.
    """
    source = task(task_name) if isinstance(task_name, str) else task_name
    if problems is not None and problems < 1:
        raise UsageError(f"--problems {problems}: at least 1 problem is needed")
    if sample is not None and ids:
        raise UsageError("--sample draws problems and --problem names them: give one of the two")
    if isinstance(source, ChoosesProblems):
        wanted = Wanted(observations, problems, ids, sample, seed, label, ood)
        everything = source.choose(data, wanted)
        if keep is not None:
            everything = [problem for problem in everything if keep(problem)]
        spaces = _spaces(source, everything, {one.id for one in everything}, space_file, space_seed)
        return [(problem, spaces[problem.id]) for problem in everything]
    for option, value in (("label", label), ("ood", ood)):
        if value is not None:
            raise UsageError(f"--{option} {value}: {source.name} has no labelled text")
    brought = source.problems() if data is None and isinstance(source, BringsProblems) else None
    if data is not None:
        everything = source.load(data, None, seed)
    elif brought is not None:
        everything = brought
    else:
        if sample is not None:
            raise UsageError(
                f"--sample {sample} draws from problems that are there, and without --data those of"
                f" {source.name} are made from the seed: --problems {sample} makes so many"
            )
        everything = source.generate(problems or GENERATED, seed)
    chosen = everything
    if observations is not None:
        observe = source.observe if isinstance(source, DrawsObservations) else observations_.apply
        chosen = observe(everything, observations, seed)
    if keep is not None:
        chosen = [problem for problem in chosen if keep(problem)]
    if sample is not None:
        chosen = observations_.draw_problems(chosen, sample, seed)
    by_id = {problem.id: problem for problem in chosen}
    for name in ids:
        if name not in by_id:
            raise UsageError(f"no problem {name!r} in {data or source.name}{nearest(name, by_id)}")
    if ids:
        chosen = [by_id[name] for name in dict.fromkeys(ids)]
    chosen = chosen[:problems]
    _warn_of_contradictions(chosen)
    spaces = _spaces(source, everything, {problem.id for problem in chosen}, space_file, space_seed)
    return [(problem, spaces[problem.id]) for problem in chosen]


def _warn_of_contradictions(problems: Iterable[Problem]) -> None:
    """A `DataWarning` that names the problems where no hypothesis can be consistent. They run as they
    are."""
    found = {}
    for problem in problems:
        kind = family(problem.family)
        if isinstance(kind, FindsContradictions) and (pairs := kind.contradiction(problem)):
            found[problem.id] = pairs
    if not found:
        return
    (name, (one, other)), *more = found.items()
    others = ", ".join(other for other, _ in more)
    warn(
        f"no hypothesis can be consistent with problem {name!r}, which shows the input"
        f" {shorten(one.input)} with two outputs, {shorten(one.output, 40)} and"
        f" {shorten(other.output, 40)}{f'; nor with {len(more)} more: {shorten(others)}' * bool(more)}"
    )


def judgeable(problem: Problem) -> tuple[bool, ...]:
    """One mark a hidden pair: whether a hypothesis can be judged by it. All can, unless the task
    of the problem says otherwise: ACRE's undetermined scenes have no output to predict. What a
    user's own task said stands in the problem."""
    if (marks := problem.secret.get(JUDGED)) is not None:
        return tuple(bool(mark) for mark in marks)
    source = registry.load("tasks", problem.task) if registry.has("tasks", problem.task) else None
    if not isinstance(source, JudgesPairs):
        return (True,) * len(problem.hidden)
    return tuple(bool(source.judgeable(pair)) for pair in problem.hidden)


def _spaces(
    source: Task,
    problems: Sequence[Problem],
    chosen: Collection[str],
    space_file: str | None,
    seed: int,
) -> dict[str, InputSet]:
    """Of the chosen problems; drawn from all of them where the task does so."""
    if space_file is not None:
        read_input = source.read_input if isinstance(source, ReadsInputs) else None
        shared = read_space(space_file, read_input)
        return {problem.id: shared for problem in problems}
    if not isinstance(source, SharesSpaces):
        return {one.id: source.space(one, seed) for one in problems if one.id in chosen}
    of_all = source.spaces(problems, seed)
    return {problem.id: space for problem, space in zip(problems, of_all, strict=True)}
