"""A user's own task as a Python module that defines `TASK`, a `records.Task`.

The object `TASK` has these attributes and methods:

    name, about             texts
    generate(count, seed)   returns new problems
    problems()              returns fixed problems
    load(path, observations, seed)   reads the problems that --data names; without this method,
                            --data has the form of the task `examples`
    space(problem, seed)    returns the sample space S of a problem (the inputs to predict), an
                            InputSet that may have weights
    spaces(problems, seed)  returns the sample spaces of all problems at once; without either
                            method, S is made as by the task `examples`
    observe(problems, observations, seed)   chooses the shown pairs by the value of
                            --observations; without this method, N pairs are drawn
    judgeable(observation)  returns False for a hidden pair on which no hypothesis can be judged
    instructions, pair, equality     as in a YAML file

`TASK` needs at least one of the methods `generate`, `problems` and `load`.

The module is the user's own code. It runs only when a session begins, in this process, with the
user's rights and without a sandbox. The values that it returns are checked and stored completely.
Its standard output goes to stderr. If it raises an exception, the user sees one sentence with file
and line. The original exception is the `__cause__` of the error, for callers who use Peirce from
Python.
"""

from __future__ import annotations

import ast
import contextlib
import sys
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Literal

from ...records import (
    DataError,
    InputSet,
    Json,
    Observation,
    PeirceError,
    Problem,
    Task,
    canonical_json,
    digest_of_text,
)
from ..io import observations as observations_
from ..io.files import expand_home, identify_file, locate
from ..io.json_text import to_json
from ..io.messages import shorten
from ..io.spaces import drop_repeated_inputs
from . import examples
from .checks import check_equality, check_name, check_pair_template, warn_about_rounding
from .sample_space import check_weight
from .words import EQUALITY, INSTRUCTIONS, JUDGEABLE, PAIR

METHODS = ("generate", "problems", "load", "space", "spaces", "observe", "judgeable")


class _UserCodeBoundary:
    """Context in which a user's own code runs.

    It is the third boundary where any exception may arrive: the exception leaves as one sentence
    that names the line of the file. Output to stdout goes to stderr.
    """

    def __init__(self, file: Path, doing: str, line: int = 1) -> None:
        self.file, self.doing, self.line = file, doing, line
        self._stdout = contextlib.redirect_stdout(sys.stderr)

    def __enter__(self) -> None:
        self._stdout.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> Literal[False]:
        self._stdout.__exit__(kind, error, at)
        if error is None or isinstance(error, (PeirceError, KeyboardInterrupt, MemoryError)):
            return False
        frames = traceback.extract_tb(at)
        lines = [frame.lineno for frame in frames if frame.filename == str(self.file)]
        line = lines[-1] if lines and lines[-1] else self.line
        if isinstance(error, SyntaxError) and error.filename == str(self.file):
            line = error.lineno or line
        said = " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
        name = type(error).__name__
        raise DataError(
            f"{self.file}, line {line}, {self.doing}: {name}{': ' if said else ''}{shorten(said, 300)}"
        ) from error


def load_python_task(
    file: Path, content: bytes, file_identity: Mapping[str, Json], reserved_names: Collection[str]
) -> Task:
    """Execute a Python module and return its TASK.

    Args:
        file: the path of the module.
        content: the source of the module.
        file_identity: {"name", "sha256"} of the file.
        reserved_names: names that the task must not have.

    Raises:
        DataError: the module fails, defines no TASK, or its TASK is invalid.
    """
    module = ModuleType(f"peirce_task_{file_identity['sha256'][:12]}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # dataclasses look up their module here
    with _UserCodeBoundary(file, "loading the module"):
        exec(compile(content, str(file), "exec", dont_inherit=True), vars(module))
    if not hasattr(module, "TASK"):
        raise DataError(
            f"{file}: the module must define TASK, an object with name, about, generate and space"
        )
    if hasattr(module, "FAMILY"):
        raise DataError(
            f"{file}: a task file cannot define FAMILY; use instructions, pair and equality instead"
        )
    return PythonTask(
        file,
        module.TASK,
        file_identity,
        reserved_names,
        _lines(content, type(module.TASK).__name__),
    )


def _lines(content: bytes, kind: str) -> dict[str, int]:
    """Return the lines of TASK and of what the class named `kind` defines."""
    found: dict[str, int] = {}
    for node in ast.parse(content).body:
        whole = isinstance(node, ast.ClassDef) and node.name == kind
        for one in (node, *(node.body if isinstance(node, ast.ClassDef) and whole else ())):
            if isinstance(one, ast.ClassDef) and whole:
                found.setdefault("", one.lineno)
            elif isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) and whole:
                found[one.name] = one.lineno
            elif isinstance(one, (ast.Assign, ast.AnnAssign)):
                targets = one.targets if isinstance(one, ast.Assign) else [one.target]
                names = [target.id for target in targets if isinstance(target, ast.Name)]
                found |= dict.fromkeys(names, one.lineno) if whole or "TASK" in names else {}
    return found


# The object is the user's and may be of any class. Its parts are found by name and checked one by
# one, so that an error can name the part and its line; a Protocol would only accept or reject it.
class PythonTask:
    """A task that calls the object TASK of a user's Python file and checks the values it returns.

    Each returned problem also gets the prompt wording and the rule of equality of the user's task.
    """

    def __init__(
        self,
        file: Path,
        user_task: Any,
        file_identity: Mapping[str, Json],
        reserved_names: Collection[str],
        lines: Mapping[str, int],
    ) -> None:
        self.file, self.user_task, self.task_file, self._lines = (
            file,
            user_task,
            dict(file_identity),
            lines,
        )
        if isinstance(user_task, type):
            raise self._error(
                "TASK", f"must be an object, not a class; write TASK = {user_task.__name__}()"
            )
        for key in ("name", "about"):
            if not hasattr(user_task, key):
                raise self._error(f"TASK.{key}", "missing")
            if not isinstance(value := getattr(user_task, key), str):
                raise self._error(f"TASK.{key}", f"must be a text, not {shorten(value)}")
        self.name, self.about = str(user_task.name), str(user_task.about)
        check_name(self.name, reserved_names, lambda said: self._error("TASK.name", said))
        self.family = getattr(user_task, "family", "programs")
        if self.family != "programs":
            raise self._error("TASK.family", f"must be 'programs', not {shorten(self.family)}")
        self.files = tuple(getattr(user_task, "files", examples.FILES))
        for name in METHODS:
            if not callable(value := getattr(user_task, name, len)):
                raise self._error(f"TASK.{name}", f"must be a method, not {shorten(value)}")
        if not any(hasattr(user_task, name) for name in ("generate", "problems", "load")):
            raise self._error("TASK", "needs one of the methods generate, problems and load")
        self._public = self._words()

    # --- records.Task ---

    def problems(self) -> list[Problem] | None:
        """Return the fixed problems of the user's task, or None if it has no method `problems`."""
        if not hasattr(self.user_task, "problems"):
            return None
        return self._checked("problems", self._call("problems"))

    def generate(self, count: int, seed: int) -> list[Problem]:
        """Return `count` new problems from the method `generate` of the user's task."""
        if not hasattr(self.user_task, "generate"):
            raise self._error("TASK", "has no method generate; give its data with --data PATH")
        return self._checked("generate", self._call("generate", count, seed))[:count]

    def load(self, path: str, observations: str | None, seed: int) -> list[Problem]:
        """Read problems from `path` with the method `load` of the user's task.

        Without such a method, the file is read as by the task `examples`.
        """
        if hasattr(self.user_task, "load"):
            loaded = self._checked("load", self._call("load", path, None, seed))
        else:
            loaded = self._checked("load", examples.TASK.load(path, None, seed))
        return loaded if observations is None else self.observe(loaded, observations, seed)

    def identify_data(self, path: str | Path) -> dict[str, Json]:
        """Return {"name", "sha256"} of a data file, or of a folder if the user's task can load
        folders.

        The digest of a folder covers the files directly in the folder, not those in subfolders.
        """
        place = expand_home(path)
        if not (place.is_dir() and hasattr(self.user_task, "load")):
            return identify_file(locate(place, self.files))
        files = sorted(one for one in place.iterdir() if one.is_file())
        rows = [f"{identify_file(one)['sha256']}  {one.name}\n" for one in files]
        return {"name": place.name, "sha256": digest_of_text("".join(rows))}

    def observe(self, problems: Sequence[Problem], observations: str, seed: int) -> list[Problem]:
        """Choose the shown pairs with the method `observe` of the user's task.

        Without such a method, the pairs are chosen by `tasks.io.observations.choose_observations`.
        """
        if not hasattr(self.user_task, "observe"):
            return self._judged(observations_.choose_observations(problems, observations, seed))
        return self._checked("observe", self._call("observe", problems, observations, seed))

    def space(self, problem: Problem, seed: int) -> InputSet:
        """Return the sample space of one problem, which contains the inputs to predict."""
        return self.spaces([problem], seed)[0]

    def spaces(self, problems: Sequence[Problem], seed: int) -> list[InputSet]:
        """Return the sample space of each problem, which contains the inputs to predict.

        If the user's task returns the same object for several problems, the object is checked only
        once.
        """
        known: dict[int, tuple[InputSet, InputSet]] = {}

        def checked(name: str, one: Any) -> InputSet:
            if id(one) not in known:
                known[id(one)] = one, self._checked_space(name, one)
            return known[id(one)][1]

        if hasattr(self.user_task, "spaces"):
            given = self._call("spaces", problems, seed)
            if not isinstance(given, (list, tuple)) or len(given) != len(problems):
                raise self._wrong("spaces", f"a list of {len(problems)} InputSets", given)
            return [checked("spaces", one) for one in given]
        if hasattr(self.user_task, "space"):
            return [checked("space", self._call("space", one, seed)) for one in problems]
        return examples.TASK.spaces(problems, seed)

    # --- calls ---

    def _call(self, name: str, *arguments: Any) -> Any:
        method = getattr(self.user_task, name)
        with _UserCodeBoundary(self.file, f"TASK.{name}", self._line(name)):
            given = method(*arguments)
            return list(given) if isinstance(given, Iterator) else given

    def _line(self, name: str) -> int:
        places = (self._lines.get(key) for key in (name, "", "TASK"))
        return next((line for line in places if line), 1)

    def _error(self, where: str, said: str) -> DataError:
        line = self._line(where.removeprefix("TASK").lstrip(".").partition(".")[0] or "TASK")
        return DataError(f"{self.file}, line {line}, {where}: {said}")

    def _wrong(self, name: str, wanted: str, given: object) -> DataError:
        return self._returned(name, f"{wanted}, not {type(given).__name__}: {shorten(given)}")

    def _returned(self, name: str, said: str) -> DataError:
        return DataError(
            f"{self.file}, line {self._line(name)}, TASK.{name}: it must return {said}"
        )

    # --- what is checked ---

    def _words(self) -> dict[str, Json]:
        public: dict[str, Json] = {}
        for key in (INSTRUCTIONS, PAIR):
            text = getattr(self.user_task, key, None)
            if text is not None and (not isinstance(text, str) or not text.strip()):
                raise self._error(f"TASK.{key}", f"must be a text, not {shorten(text)}")
            public |= {} if text is None else {key: text}
        given = getattr(self.user_task, EQUALITY, None)
        if given is None:
            return public

        def wrong(at: Sequence[str | int], said: str) -> DataError:
            return self._error(".".join(("TASK.equality", *map(str, at))), said)

        rule = check_equality(given, wrong)
        return public | ({EQUALITY: rule} if rule else {})

    def _checked(self, name: str, given: Any) -> list[Problem]:
        """Return the problems that a method returned, checked and marked as this task's."""
        if not isinstance(given, (list, tuple)) or not given:
            raise self._wrong(name, "a nonempty list of records.Problem", given)
        made: dict[str, Problem] = {}
        for i, one in enumerate(given):
            where = f"{self.file}, line {self._line(name)}, TASK.{name}, problem {i}"
            problem = self._checked_problem(one, where)
            if problem.id in made:
                raise DataError(f"{where}: the id {problem.id!r} occurs twice")
            made[problem.id] = problem
        pairs = [
            (f"of {problem.id!r}", pair)
            for problem in made.values()
            for pair in problem.shown + problem.hidden
        ]
        if PAIR in self._public and (wrong := check_pair_template(self._public[PAIR], pairs)):
            raise self._error("TASK.pair", wrong)
        if EQUALITY in self._public:
            said = f"{self.file}, TASK.{name}"
            warn_about_rounding(self._public[EQUALITY], said, [pair for _, pair in pairs])
        return self._judged(list(made.values()))

    def _checked_problem(self, one: Any, where: str) -> Problem:
        if not isinstance(one, Problem):
            raise DataError(f"{where}: must be a records.Problem, not {shorten(one)}")
        if not isinstance(one.id, str) or not one.id:
            raise DataError(f"{where}, id: must be a text, not {shorten(one.id)}")
        sides: dict[str, tuple[Observation, ...]] = {}
        for side, some in (("shown", one.shown), ("hidden", one.hidden)):
            if not isinstance(some, (list, tuple)) or (side == "shown" and not some):
                raise DataError(
                    f"{where}, {side}: must be a tuple of Observation, not {shorten(some)}"
                )
            read = []
            for i, pair in enumerate(some):
                at = f"{where}, {side}[{i}]"
                if not isinstance(pair, Observation):
                    raise DataError(f"{at}: must be a records.Observation, not {shorten(pair)}")
                values = (_json(pair.input, f"{at}.input"), _json(pair.output, f"{at}.output"))
                read.append(Observation(*values))
            sides[side] = tuple(read)
        if one.family != self.family:
            raise DataError(f"{where}, family: must be 'programs', not {shorten(one.family)}")
        public = _json(dict(one.public), f"{where}, public") | self._public
        secret = _json(dict(one.secret), f"{where}, secret")
        if not isinstance(one.group, str):
            raise DataError(f"{where}, group: must be a text, not {shorten(one.group)}")
        return replace(
            one, task=self.name, family=self.family, shown=sides["shown"], hidden=sides["hidden"],
            public=public, secret=secret, group=one.group or one.id,
        )  # fmt: skip

    def _judged(self, problems: list[Problem]) -> list[Problem]:
        """Return the problems with a mark for each hidden pair, if the task has `judgeable`."""
        if not hasattr(self.user_task, "judgeable"):
            return problems
        return [
            replace(
                one, secret={**one.secret, JUDGEABLE: [self._mark(pair) for pair in one.hidden]}
            )
            for one in problems
        ]

    def _mark(self, pair: Observation) -> bool:
        mark = self._call("judgeable", pair)
        if not isinstance(mark, bool):
            raise self._wrong("judgeable", "True or False", mark)
        return mark

    def _checked_space(self, name: str, given: Any) -> InputSet:
        if not isinstance(given, InputSet):
            raise self._wrong(name, "a records.InputSet", given)
        if not isinstance(given.inputs, (list, tuple)) or not given.inputs:
            raise self._returned(name, "a nonempty InputSet")
        where = f"{self.file}, line {self._line(name)}, TASK.{name}"
        inputs = tuple(_json(one, f"{where}, inputs[{i}]") for i, one in enumerate(given.inputs))
        if given.weights is None:
            return drop_repeated_inputs(
                InputSet(str(given.name), inputs), where, lambda i: f"{where}, inputs[{i}]"
            )
        if not isinstance(given.weights, (list, tuple)) or len(given.weights) != len(inputs):
            raise self._returned(name, f"a weight for each of its {len(inputs):,} inputs")
        weights = tuple(
            check_weight(weight, _fails(f"{where}, weights[{i}]"))
            for i, weight in enumerate(given.weights)
        )
        if not any(weights):
            raise DataError(f"{where}: all weights are 0; at least one must be positive")
        space = InputSet(str(given.name), inputs, weights)
        return drop_repeated_inputs(space, where, lambda i: f"{where}, inputs[{i}]")


def _fails(where: str) -> Callable[[str], DataError]:
    return lambda said: DataError(f"{where}: {said}")


def _json(value: object, where: str) -> Any:
    """Return a value as JSON, with tuples as lists.

    Raises:
        DataError: JSON or UTF-8 cannot hold the value.
    """
    try:
        read = to_json(value, where)
        canonical_json(read).encode("utf-8")
    except RecursionError:
        raise DataError(f"{where}: the value is nested too deeply") from None
    except (ValueError, UnicodeEncodeError):  # an integer of over 4,300 digits; a lone surrogate
        raise DataError(
            f"{where}: JSON cannot represent the value {shorten(ascii(value))}"
        ) from None
    return read
