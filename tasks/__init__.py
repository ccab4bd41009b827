"""Tasks supply problems; families define which hypotheses about a problem are possible.

Tasks and families are looked up by name in the registry (`records/registry.py`). A task implements
the Protocol `records.Task`, and may also implement the optional Protocols in `records/tasks.py`.
A user's own task is a YAML or Python file; the path of the file serves as the name of the task
(`custom/task_file.py`). Commands call `load_problems`.
"""

from __future__ import annotations

if "." not in __name__:  # imported from the folder of the repository, without its package
    raise ImportError(f"{__name__} is a part of the package peirce: import peirce.{__name__}")

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from ..records import (
    Family,
    FindsContradictions,
    HasTaskWording,
    InputSet,
    Problem,
    Task,
    ToleratesErrors,
    UsageError,
    registry,
)
from ..records.tasks import (
    DEFAULT_GENERATED,
    ChoosesProblems,
    DrawsObservations,
    HasGenerators,
    IncludesProblems,
    JudgesPairs,
    ProblemQuery,
    ReadsInputs,
    SharesSpaces,
)
from .custom import task_file
from .custom.words import JUDGEABLE
from .io import observations as observations_
from .io.bad_records import skip_bad_records
from .io.messages import DataWarning as DataWarning
from .io.messages import shorten, suggest_nearest, warn
from .io.spaces import read_space

SPACE_SEED = 0  # not the session's seed, so that sessions with different seeds are comparable


def load_tasks() -> list[Task]:
    """Return all registered tasks, sorted by name."""
    return registry.load_all("tasks")


def load_task(name: str) -> Task:
    """Return the task with this name, or the task that a user's file defines.

    Args:
        name: the name of a registered task, "TASK:GENERATOR" for a task with several generators, or
            the path of a task file in YAML or Python.

    Raises:
        UsageError: there is no such task; the message names the task with the most similar name.
        DataError: the file does not define a task.
    """
    base, mark, generator = name.partition(":")
    known = registry.is_registered("tasks", base)
    data = Path(name)
    if name and not known and not name.lower().endswith(task_file.ENDINGS) and data.exists():
        kind = "folder" if data.is_dir() else "data file"
        raise UsageError(
            f"{name} is a {kind}, but a task is required: use peirce run labels --data {name}"
            f" for labelled rows, or peirce run examples --data {name} for pairs of input and"
            f" output; peirce discover {name} looks at the file and runs what fits (names of task files end in {', '.join(task_file.ENDINGS)})"
        )
    if task_file.is_path(name):
        return task_file.load_task_file(name, registry.component_names("tasks"))
    if not known:
        raise UsageError(
            f"no task {name!r}{suggest_nearest(name, registry.component_names('tasks'))}"
        )
    found: Task = registry.load("tasks", base)
    if not mark:
        return found
    if isinstance(found, HasGenerators):
        return found.with_generator(generator)
    raise UsageError(f"no task {name!r}{suggest_nearest(name, registry.component_names('tasks'))}")


def load_family(name: str, *, strict_contract: bool = False) -> Family:
    """Return the family with this name; a family defines the form of hypotheses and tests them.

    Args:
        name: a registered name, such as "programs".
        strict_contract: whether an answer that breaks the rules for answers counts as malformed.

    Raises:
        UsageError: there is no such family; the message names the family with the most similar
            name.
    """
    if not registry.is_registered("families", name):
        raise UsageError(
            f"no family {name!r}{suggest_nearest(name, registry.component_names('families'))}"
        )
    found: Family = registry.load("families", name)
    return found.with_strict_contract() if strict_contract else found


def problem_family(
    problem: Problem, *, strict_contract: bool = False, tau: float | None = None
) -> Family:
    """Return the family of a problem, with the prompt wording of the problem's task, if the task
    has any.

    Args:
        problem: the problem.
        strict_contract: as for `load_family`.
        tau: the share of the covered observations on which a hypothesis must be right to count as
            consistent. None keeps the default, and families without such a threshold ignore `tau`.
    """
    found = load_family(problem.family, strict_contract=strict_contract)
    if tau is not None and isinstance(found, ToleratesErrors):
        found = found.with_tau(tau)
    return found.with_task_wording(problem.public) if isinstance(found, HasTaskWording) else found


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
    target: str | None = None,
    units: str | None = None,
    default_observations: int | None = None,
    keep: Callable[[Problem], bool] | None = None,
    skip_bad: bool = False,
) -> list[tuple[Problem, InputSet]]:
    """Return the problems of a session, each with its sample space S (the inputs to predict).

    Loaders issue a `DataWarning` that says which data were left out.

    Args:
        task_name: the name of a task, or a task object.
        data: the path of published data or of the user's own data. If None, the task returns the
            problems that it includes, or generates `problems` new problems (default 12) from
            `seed`.
        observations: the number of pairs to show of each problem, drawn at random, or the path of a
            file that lists the pairs to show (`tasks/io/observations.py`). If None, the shown and
            hidden pairs stay as they are in the data.
        problems: the number of problems to keep. All other selections are applied before, and then
            the first `problems` problems are kept.
        ids: the ids of the problems to keep, in this order; empty to keep all.
        sample: the number of problems to draw from the data at random, by `seed`. The drawn
            problems keep the order of the data.
        seed: the seed of the session.
        space_file: a JSONL file whose inputs are the sample space of all problems. If None, the
            task makes the sample spaces from `space_seed`.
        space_seed: the seed of the sample spaces. The default does not depend on `seed`, so that
            sessions with different seeds are scored on the same sample spaces.
        label: the name of the label column; only for labelled text.
        ood: the choice of out-of-distribution rows (`tasks/text/labels.py`); only for labelled
            text.
        target: the name of the column to explain; only for tables of numbers.
        units: units of the columns, such as `m=kg,v=m/s`; only for tables of numbers.
        default_observations: the number of pairs to show of each problem if `observations` is None;
            only for labelled text, which shows 200 rows by default.
        keep: returns whether a problem is kept. Problems from data are filtered before they are
            drawn or counted. Generated problems and labelled text are filtered afterwards, so fewer
            problems may be returned than were requested.
        skip_bad: whether unreadable records of the data are left out and counted in a warning. If
            False, the first unreadable record is an error.

    Raises:
        UsageError: the task, an id or a path is unknown, a count is below 1, or `sample` is
            combined with `ids` or with generated problems.
        DataError: a file cannot be read or has invalid content.
    """
    source = load_task(task_name) if isinstance(task_name, str) else task_name
    if problems is not None and problems < 1:
        raise UsageError(f"--problems {problems}: it must be at least 1")
    if sample is not None and ids:
        raise UsageError("--sample and --problem cannot be combined: draw problems or name them")
    if isinstance(source, ChoosesProblems):
        wanted = ProblemQuery(
            observations, problems, ids, sample, seed, label, ood, target, units,
            default_observations,
        )  # fmt: skip
        with skip_bad_records(skip_bad):
            everything = source.choose(data, wanted)
        if keep is not None:
            everything = [problem for problem in everything if keep(problem)]
        spaces = _spaces(source, everything, {one.id for one in everything}, space_file, space_seed)
        return [(problem, spaces[problem.id]) for problem in everything]
    for option, value in (("label", label), ("ood", ood)):
        if value is not None:
            raise UsageError(f"--{option} {value}: {source.name} has no labelled text")
    for option, value in (("target", target), ("units", units)):
        if value is not None:
            raise UsageError(
                f"--{option} {value}: {source.name} has no column of numbers to explain"
            )
    with skip_bad_records(skip_bad):
        brought = (
            source.problems() if data is None and isinstance(source, IncludesProblems) else None
        )
        loaded = None if data is None else source.load(data, None, seed)
    if loaded is not None:
        everything = loaded
    elif brought is not None:
        everything = brought
    else:
        if sample is not None:
            raise UsageError(
                f"--sample {sample} draws from existing problems, but without --data the"
                f" problems of {source.name} are generated from the seed: use --problems"
                f" {sample} to generate that many"
            )
        everything = source.generate(problems or DEFAULT_GENERATED, seed)
    chosen = everything
    if observations is not None:
        observe = (
            source.observe
            if isinstance(source, DrawsObservations)
            else observations_.choose_observations
        )
        chosen = observe(everything, observations, seed)
    if keep is not None:
        chosen = [problem for problem in chosen if keep(problem)]
    if sample is not None:
        chosen = observations_.draw_problems(chosen, sample, seed)
    by_id = {problem.id: problem for problem in chosen}
    for name in ids:
        if name not in by_id:
            raise UsageError(
                f"no problem {name!r} in {data or source.name}{suggest_nearest(name, by_id)}"
            )
    if ids:
        chosen = [by_id[name] for name in dict.fromkeys(ids)]
    if problems is not None and problems > len(chosen):
        there = (
            "there is 1 problem, which is"
            if len(chosen) == 1
            else f"there are {len(chosen)} problems, all of which are"
        )
        warn(f"--problems {problems}: {there} used")
    chosen = chosen[:problems]
    _warn_of_contradictions(chosen)
    spaces = _spaces(source, everything, {problem.id for problem in chosen}, space_file, space_seed)
    return [(problem, spaces[problem.id]) for problem in chosen]


def _warn_of_contradictions(problems: Iterable[Problem]) -> None:
    """Warn about problems for which no hypothesis can be consistent; they run all the same."""
    found = {}
    for problem in problems:
        kind = load_family(problem.family)
        if isinstance(kind, FindsContradictions) and (pairs := kind.find_contradiction(problem)):
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


def judgeable_pairs(problem: Problem) -> tuple[bool, ...]:
    """Return, for each hidden pair, whether a hypothesis can be right or wrong on the pair.

    The result is True for all pairs unless the task excludes some. For example, ACRE has scenes
    whose output cannot be determined, so hypotheses cannot be judged on these scenes. For a user's
    own task, the result comes from marks that are stored in the problem.
    """
    if (marks := problem.secret.get(JUDGEABLE)) is not None:
        return tuple(bool(mark) for mark in marks)
    source = (
        registry.load("tasks", problem.task)
        if registry.is_registered("tasks", problem.task)
        else None
    )
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
    """Return the sample spaces of the chosen problems.

    Where the task draws them from all problems of the data, it does so here.
    """
    if space_file is not None:
        read_input = source.read_input if isinstance(source, ReadsInputs) else None
        shared = read_space(space_file, read_input)
        return {problem.id: shared for problem in problems}
    if not isinstance(source, SharesSpaces):
        return {one.id: source.space(one, seed) for one in problems if one.id in chosen}
    of_all = source.spaces(problems, seed)
    return {problem.id: space for problem, space in zip(problems, of_all, strict=True)}
