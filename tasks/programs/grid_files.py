"""Read grid problems from files in the published forms.

| form | content | id of a problem |
|---|---|---|
| JSONL, plain or gzip | one object per line: idx (or id), train, test | idx |
| a JSON file of one task | an object with train and test | name of the file |
| a folder | a copy of the repository of ARC-AGI or MINI-ARC, its folder `data` or a subfolder of it | as above |
| one JSON object {id: {train, test}} | Kaggle's …challenges.json; the outputs of test in …solutions.json in the same folder, {id: [output, …]} | key of the object |

An error names the file, the line and the field. The user can choose to skip problems that cannot be
read (`io/bad_records.py`). All pairs need an output, except the test pairs of ARC challenges. A
test input without an output cannot be a hidden pair. Such an input is left out, a `DataWarning`
counts the inputs and names the first, and the secret part of the problem keeps the input for the
sample space (`grid_values.UNANSWERED`).

The same problem may occur in two files. If the train pairs and test inputs are equal, the problem
is read once, with the outputs of whichever file has them. If the pairs differ, this is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ...records import DataError, Json, Observation, UsageError, canonical_json
from ..io.bad_records import BadRecords
from ..io.files import (
    expand_home,
    identify_file,
    identify_files,
    locate,
    parse_json_file_text,
    read_jsonl,
    read_text,
)
from ..io.json_text import find_line, is_json_lines
from ..io.messages import BadValue, Keys, shorten, warn
from .grid_values import UNANSWERED, Grid, check_grid


class GridFileOptions(Protocol):
    """Settings of a task that control how grid files are read (`grids.GridTask`)."""

    @property
    def files(self) -> tuple[str, ...]:
        """The usual names of the data file in a folder."""
        ...

    @property
    def folders(self) -> tuple[tuple[str, ...], ...]:
        """Groups of folders that contain JSON files. The first group in which a folder has files is
        read.
        """
        ...

    @property
    def from_editor(self) -> bool:
        """Whether cells may be digits in quotes or null, as the editor of MINI-ARC writes them."""
        ...

    @property
    def challenges(self) -> bool:
        """Whether test inputs may lack an output."""
        ...


ProblemParts = tuple[tuple[Observation, ...], tuple[Observation, ...], dict[str, Json]]


@dataclass
class _Task:
    train: list[Observation]
    test: list[tuple[Grid, Grid | None]]
    secret: dict[str, Json]
    where: str
    path: Path = field(default_factory=Path)

    @property
    def question_text(self) -> str:
        """Text that must agree in two files for their tasks to be the same."""
        pairs = [[pair.input, pair.output] for pair in self.train]
        return canonical_json([pairs, [one for one, _ in self.test]])


def read_grid_files(path: str | Path, form: GridFileOptions) -> dict[str, ProblemParts]:
    """Return the shown pairs, hidden pairs and secret facts of each grid problem, by problem id.

    The problems are in the order of the files.

    Args:
        path: a file or a folder.
        form: the settings of the task.

    Raises:
        DataError: a file is invalid or empty.
        UsageError: there are no files.
    """
    tasks: dict[str, _Task] = {}
    doubled = 0
    places = find_files(path, form)
    with BadRecords(expand_home(path)) as bad:
        for place in places:
            with bad.record("") if len(places) > 1 else nullcontext():
                for name, task in _tasks_of(place, form, bad):
                    task.path = place
                    with bad.record("", place):
                        if name not in tasks:
                            tasks[name] = task
                        elif tasks[name].path == place:
                            raise DataError(f"{task.where}, idx: {name} occurs twice")
                        else:
                            _merge(tasks[name], task, name)
                            doubled += 1
        if not tasks:
            raise bad.no_records_error(f"{path}: the file is empty")
    if doubled:
        warn(
            f"{path}: {doubled} problems stand in two files with the same pairs, and are read once"
        )
    return _answered(tasks, path)


def _merge(first: _Task, second: _Task, name: str) -> None:
    both = list(zip(first.test, second.test, strict=False))
    if first.question_text != second.question_text or any(
        one is not None and other is not None and one != other for (_, one), (_, other) in both
    ):
        raise DataError(f"{second.where}: {name} stands in {first.path} too, with other pairs")
    first.test = [(i, one if one is not None else other) for (i, one), (_, other) in both]


def _answered(tasks: dict[str, _Task], path: str | Path) -> dict[str, ProblemParts]:
    found: dict[str, ProblemParts] = {}
    lacking = missing = 0
    first = ""
    for name, task in tasks.items():
        hidden = tuple(Observation(i, output) for i, output in task.test if output is not None)
        without = [i for i, output in task.test if output is None]
        lacking += bool(without)
        missing += len(without)
        if without and not first:
            first = f"{task.where}, test[{[output for _, output in task.test].index(None)}]"
        secret = {**task.secret, UNANSWERED: without} if without else task.secret
        found[name] = (tuple(task.train), hidden, secret)
    if missing:
        warn(
            f"{path}: {missing} test inputs of {lacking} problems have no output, the first in"
            f" {first}: they are in the sample space, and no hidden pairs"
        )
    return found


# --- where the files are ------------------------------------------------------------


def find_files(path: str | Path, form: GridFileOptions) -> list[Path]:
    """Return the files with grid problems at `path`, which is a file or a folder.

    Raises:
        UsageError: there are no such files.
    """
    place = expand_home(path)
    if not place.is_dir():
        return [locate(path, form.files)]
    for name in form.files:
        if (place / name).is_file():
            return [place / name]
    challenges = [one for one in _json_files(place) if "challenges" in one.name]
    if challenges:
        return challenges
    for group in form.folders:
        parts = [one for name in group for one in _json_files(place / name)]
        if parts:
            return parts
    own = _json_files(place)
    if own:
        return own
    raise UsageError(
        f"{place}: no data here; looked for {', '.join(form.files)}, JSON files of one task, and"
        f" {', '.join(name for group in form.folders for name in group)}"
    )


def _json_files(folder: Path) -> list[Path]:
    """Return the JSON files by name; of Kaggle's, training before evaluation before test."""
    if not folder.is_dir():
        return []
    order = ("training", "evaluation")
    return sorted(
        (
            one
            for one in folder.iterdir()
            if _is_json(one) and not one.name.startswith(".") and one.is_file()
        ),
        key=lambda one: (
            (next((i for i, k in enumerate(order) if k in one.name), 2), one.name)
            if "challenges" in one.name
            else (0, one.name)
        ),
    )


def _is_json(path: Path) -> bool:
    return path.name.removesuffix(".gz").endswith(".json")


def _solutions(path: Path) -> Path | None:
    beside = path.with_name(path.name.replace("challenges", "solutions"))
    return beside if beside != path and beside.is_file() else None


def data_identity(path: str | Path, form: GridFileOptions) -> dict[str, Json]:
    """Return {"name", "sha256"} of the data at `path`; the hash covers all files that are read."""
    place = expand_home(path)
    files = find_files(path, form)
    files += [beside for one in files if (beside := _solutions(one))]
    if len(files) == 1:
        return identify_file(files[0])
    top = place if place.is_dir() else place.parent
    return identify_files(place.name, top, files)


# --- what is in a file --------------------------------------------------------------


def _tasks_of(path: Path, form: GridFileOptions, bad: BadRecords) -> Iterator[tuple[str, _Task]]:
    """Yield the tasks of a file that can be read, each with its id."""
    if not _is_json(path):
        yield from _lines(path, form.challenges, bad)
        return
    text = read_text(path)
    if is_json_lines(text):
        yield from _lines(path, form.challenges, bad)
        return
    value = parse_json_file_text(text, path)
    if isinstance(value, dict) and "train" in value:
        name = path.name.removesuffix(".gz").removesuffix(".json")
        name = _name(value) if type(value.get("idx")) in (int, str) else name
        with bad.record(lambda keys: f"line {find_line(text, keys)}", path):
            task = _task(value, form.challenges, bad, form.from_editor)
            task.where = str(path)
            yield name, task
        return
    if not isinstance(value, dict) or not value:
        raise DataError(f"{path}, line 1: neither a task with train and test nor an object of them")
    answered = _read_solutions(path, value, bad)
    for name, row in value.items():
        found: list[_Task] = []
        with bad.record(_place_in(text, name), path):
            found.append(_task(row, form.challenges or answered is not None, bad))
        if answered is not None and found:
            beside, beside_text, outputs = answered
            with bad.record(_place_in(beside_text, name), beside):
                task = found.pop()
                if name not in outputs:
                    raise DataError(
                        f"{beside}: no outputs of problem {name!r}, which {path.name} holds"
                    )
                found.append(_answer(task, outputs[name]))
        for task in found:
            task.where = f"{path}, problem {name!r}"
            yield name, task


def _place_in(text: str, name: str) -> Callable[[Keys], str]:
    """Return the function that says where a value of a problem is, in a JSON object of problems."""
    return lambda keys: f"line {find_line(text, (name, *keys))}, problem {name!r}"


def _lines(path: Path, challenges: bool, bad: BadRecords) -> Iterator[tuple[str, _Task]]:
    for number, row in read_jsonl(path, bad):
        with bad.record(f"line {number}", path):
            name, task = _name(row), _task(row, challenges, bad)
            task.where = f"{path}, line {number}"
            yield name, task


def _read_solutions(
    path: Path, problems: dict[str, Json], bad: BadRecords
) -> tuple[Path, str, dict[str, Json]] | None:
    """Return the file of solutions, its text and its outputs by problem, or None without it."""
    beside = _solutions(path)
    if beside is None:
        return None
    text = read_text(beside)
    table = parse_json_file_text(text, beside)
    if not isinstance(table, dict):
        raise DataError(f"{beside}, line 1: must be an object of outputs by problem")
    for name in table:
        with bad.record("", beside):
            if name not in problems:
                raise DataError(f"{beside}: outputs of problem {name!r}, which {path.name} lacks")
    return beside, text, table


def _answer(task: _Task, outputs: Json) -> _Task:
    if not isinstance(outputs, list) or len(outputs) != len(task.test):
        raise BadValue(
            (),
            f"must be a list of {len(task.test)} outputs, one for each test input, not"
            f" {shorten(outputs)}",
        )
    for k, output in enumerate(outputs):
        answer = _grid(output, (k,))
        if task.test[k][1] not in (None, answer):
            raise BadValue((k,), "another output than the challenges have")
        task.test[k] = (task.test[k][0], answer)
    return task


# --- what is in a task ---------------------------------------------------------------


def _name(row: Json) -> str:
    if not isinstance(row, dict):
        raise BadValue((), f"must be an object with idx, train and test, not {shorten(row)}")
    key = "idx" if "idx" in row or "id" not in row else "id"
    name = row.get(key)
    if type(name) not in (int, str) or name == "":
        raise BadValue((key,), f"must be a number or a string, not {shorten(name)}")
    return str(name)


def _task(row: Json, challenges: bool, bad: BadRecords, from_editor: bool = False) -> _Task:
    """Read a task.

    Args:
        row: the task as JSON.
        challenges: whether a test input may lack an output.
        bad: handles optional fields.
        from_editor: as for `grid_values.grid`.
    """
    if not isinstance(row, dict):
        raise BadValue((), f"must be an object with train and test, not {shorten(row)}")

    def secret() -> dict[str, Json]:
        found = row.get("secret", {})  # only problems that `tasks generate` wrote have one
        if not isinstance(found, dict):
            raise BadValue(("secret",), f"must be an object, not {shorten(found)}")
        return found

    train = [Observation(i, o) for i, o in _pairs(row, "train", from_editor)]
    test = list(_pairs(row, "test", from_editor, challenges))
    return _Task(train, test, bad.field("secret", secret) or {}, "")


def _pairs(
    row: dict[str, Json], part: str, from_editor: bool, challenges: bool = False
) -> Iterator[tuple[Grid, Grid | None]]:
    pairs = row.get(part)
    if not isinstance(pairs, list) or (part == "train" and not pairs):
        raise BadValue((part,), f"must be a list of pairs, not {shorten(pairs)}")
    for k, pair in enumerate(pairs):
        if not isinstance(pair, dict):
            raise BadValue((part, k), f"must be a pair with input and output, not {shorten(pair)}")
        if "input" not in pair or ("output" not in pair and not challenges):
            lacking = "output" if "input" in pair else "input"
            raise BadValue((part, k, lacking), "missing")
        given = _grid(pair["input"], (part, k, "input"), from_editor)
        if "output" in pair:
            yield given, _grid(pair["output"], (part, k, "output"), from_editor)
        else:
            yield given, None


def _grid(value: Json, keys: tuple[str | int, ...], from_editor: bool = False) -> Grid:
    try:
        return check_grid(value, from_editor=from_editor)
    except BadValue as error:
        raise error.within(*keys) from None
