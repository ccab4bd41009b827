"""Tasks and families: where problems come from, and what a hypothesis about them is.

A module in this folder that defines `TASK` (records.Task) is a task, one that defines `FAMILY`
(records.Family) is a family; nothing else registers them. `load_problems` is what the commands call.

A task may define more than `records.Task` asks for:
- `spaces(problems, seed) -> list[InputSet]`, where S is drawn from the inputs of all the problems
  of the data (grids, a user's examples) and not from one;
- `observe(problems, observations, seed) -> list[Problem]`, where its observations are not drawn
  by `observations.apply`;
- `choose(path | None, wanted: labels.Wanted) -> list[Problem]`, where the problems are samples of
  data sets: those that the options name, instead of `load`, `generate` and `observe`;
- `made_by(generator) -> Task`, the task that `TASK:GENERATOR` names;
- `judgeable(observation) -> bool`, where a hypothesis cannot be right on some hidden pairs;
- `drawn(problem) -> str`, the lines that `tasks show` shows a person of a problem, at most 98
  columns wide, instead of its pairs; `--json` has all of it;
- `read_input(value, where) -> Json`, an input of `--space FILE`, checked: raises `DataError`;
- `takes: str`, what `--data` may be, and `commands: tuple[str, ...]`, lines to copy: `peirce TASK` shows
  them;
- `files: tuple[str, ...]`, the usual names of its file: it is looked for by these in a folder;
- `identity(path) -> {"name", "sha256"}`, where its data may be more files than one;
- `problems() -> list[Problem] | None`, those that it brings: what runs without data;
- `write(out, count, seed, kinds) -> dict`, where new problems are more than a file of pairs: writes
  them, whole or not at all, and says {"problems", "files", …}; `kinds`, which of `--regime`,
  `--difficulty` and `--mined` it takes;
- `task_file`, {"name", "sha256"} of the file that it is, as a session records it.

A user's own task is a file, YAML or Python, and named by its path (own.py).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from ..records import Family, InputSet, Problem, Task, UsageError
from . import contradictions, own, problem_sample
from . import observations as observations_
from .labels import Wanted
from .sentences import DataWarning as DataWarning
from .sentences import nearest
from .space_files import read_space

SPACE_SEED = 0  # of every sample space unless asked: sessions of different seeds compare
GENERATED = 12  # problems of a run without data


@cache
def _modules() -> tuple[ModuleType, ...]:
    names = sorted(info.name for info in pkgutil.iter_modules(__path__))
    return tuple(importlib.import_module(f".{name}", __name__) for name in names)


def tasks() -> list[Task]:
    """All tasks, by name."""
    found: list[Task] = [module.TASK for module in _modules() if hasattr(module, "TASK")]
    return sorted(found, key=lambda task: task.name)


def task(name: str) -> Task:
    """The task of this name, or that of a user's own file. Raises `UsageError` naming the nearest
    task, `DataError` for a file that is none."""
    found = {task.name: task for task in tasks()}
    base, mark, generator = name.partition(":")
    if base not in found and not name.lower().endswith(own.ENDINGS) and Path(name).exists():
        raise UsageError(
            f"{name} is data, where a task is needed: peirce run labels --data {name} for labelled"
            f" rows, peirce run examples --data {name} for pairs of input and output (a task file's"
            f" name ends in {', '.join(own.ENDINGS)})"
        )
    if own.is_path(name):
        return own.task_of(name, set(found))
    if mark and (made_by := getattr(found.get(base), "made_by", None)) is not None:
        return cast(Task, made_by(generator))
    if name not in found:
        raise UsageError(f"no task {name!r}{nearest(name, found)}")
    return found[name]


def family(name: str, *, strict_contract: bool = False) -> Family:
    """strict_contract: as by `records.Family.strictly`. Raises `UsageError` naming the families."""
    found: dict[str, Family] = {m.FAMILY.name: m.FAMILY for m in _modules() if hasattr(m, "FAMILY")}
    if name not in found:
        raise UsageError(f"no family {name!r}{nearest(name, found)}")
    return found[name].strictly() if strict_contract else found[name]


def family_of(
    problem: Problem, *, strict_contract: bool = False, tau: float | None = None
) -> Family:
    """The family of a problem, in the words that its task brings, if any (own_words.py). tau: of a
    family whose consistency has a threshold."""
    found = family(problem.family, strict_contract=strict_contract)
    if tau is not None and hasattr(found, "tau"):
        found = replace(cast(Any, found), tau=tau)
    told = getattr(found, "told", None)
    return found if told is None else cast(Family, told(problem.public))


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
    (tasks/observations.py); without it the original split. ids: these problems, in this order;
    sample: so many of the data drawn by `seed` (problem_sample.py), in their order; problems: the
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
    brought = getattr(source, "problems", None)
    choose = getattr(source, "choose", None)
    if choose is not None:
        asked = Wanted(observations, problems, ids, sample, seed, label, ood)
        everything = choose(data, asked)
        if keep is not None:
            everything = [problem for problem in everything if keep(problem)]
        spaces = _spaces(source, everything, {one.id for one in everything}, space_file, space_seed)
        return [(problem, spaces[problem.id]) for problem in everything]
    for option, value in (("label", label), ("ood", ood)):
        if value is not None:
            raise UsageError(f"--{option} {value}: {source.name} has no labelled text")
    if data is not None:
        everything = source.load(data, None, seed)
    elif brought is None or (everything := brought()) is None:
        if sample is not None:
            raise UsageError(
                f"--sample {sample} draws from problems that are there, and without --data those of"
                f" {source.name} are made from the seed: --problems {sample} makes so many"
            )
        everything = source.generate(problems or GENERATED, seed)
    chosen = everything
    if observations is not None:
        observe = getattr(source, "observe", observations_.apply)
        chosen = observe(everything, observations, seed)
    if keep is not None:
        chosen = [problem for problem in chosen if keep(problem)]
    if sample is not None:
        chosen = problem_sample.draw(chosen, sample, seed)
    by_id = {problem.id: problem for problem in chosen}
    for wanted in ids:
        if wanted not in by_id:
            raise UsageError(
                f"no problem {wanted!r} in {data or source.name}{nearest(wanted, by_id)}"
            )
    if ids:
        chosen = [by_id[wanted] for wanted in dict.fromkeys(ids)]
    chosen = chosen[:problems]
    contradictions.warn_of_contradictions(chosen)
    spaces = _spaces(source, everything, {problem.id for problem in chosen}, space_file, space_seed)
    return [(problem, spaces[problem.id]) for problem in chosen]


def judgeable(problem: Problem) -> tuple[bool, ...]:
    """One mark a hidden pair: whether a hypothesis can be judged by it. All can, unless the task
    of the problem says otherwise: ACRE's undetermined scenes have no output to predict. What a
    user's own task said stands in the problem."""
    if (marks := problem.secret.get(own.JUDGED)) is not None:
        return tuple(bool(mark) for mark in marks)
    source = next((one for one in tasks() if one.name == problem.task), None)
    judged = getattr(source, "judgeable", None)
    return tuple(judged is None or bool(judged(pair)) for pair in problem.hidden)


def _spaces(
    source: Task,
    problems: Sequence[Problem],
    chosen: Collection[str],
    space_file: str | None,
    seed: int,
) -> dict[str, InputSet]:
    """Of the chosen problems; drawn from all of them where the task does so."""
    if space_file is not None:
        shared = read_space(space_file, getattr(source, "read_input", None))
        return {problem.id: shared for problem in problems}
    spaces = getattr(source, "spaces", None)
    if spaces is None:
        return {one.id: source.space(one, seed) for one in problems if one.id in chosen}
    of_all = spaces(problems, seed)
    return {problem.id: space for problem, space in zip(problems, of_all, strict=True)}
