"""Programs that the built-in search finds on generated problems, and their outputs on many inputs.

The `Library` of a task has programs about lists or grids, a pool of inputs from the task's
generator, and a matrix of the programs' outputs on these inputs. Comparing a few columns of the
matrix finds the programs that agree on some inputs and differ on others. Therefore a new training
example with new inputs takes only microseconds. Rules about scenes (ACRE) name the objects of their
scenes, so the library of scenes consists of chains: problems with the successive answers of the
search. The objects are renamed in each example, which does not change whether a rule is true.

Programs run in this process without a sandbox. They always come from the search, never from a
model.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...records import Json, Observation, Problem, canonical_json, digest_of, digest_of_text
from ...records.private_files import make_folder, open_lock, write_atomically
from ...tasks.io.yaml_records import find_cache_folder
from ...tasks.programs.difficulty import MAX_EASY_CELLS, is_easy

MAX_SOURCE_CHARS = 420  # the most characters of a source; longer programs are left out
LIST_WORK, GRID_WORK, SCENE_WORK = 1_500, 500, 3_000  # the most expansions of a search
ALTERNATIVES = 3  # programs of one problem that behave differently, cheapest first
MAX_LIST_COST = 9.0  # the highest cost of a program of lists
MAX_EXTRA_COST = 3.0  # the most that a program may cost above the cheapest one of its problem
LIST_POOL_SIZE, GRID_POOL_SIZE = 600, 300  # number of inputs in a pool
MAX_CHAIN_ANSWERS = 4  # the most answers to a problem of scenes
FAILURES = (
    ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, StopIteration, TypeError, ValueError,
)  # fmt: skip
UNDEFINED = -1
FIRST_SEED = 7_000_000  # first seed of the generators, far from seeds that people choose

SolvedCallback = Callable[[int], None]
"""Called with the number of problems that the search has dealt with."""


def _ignore(solved: int) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class Program:
    """A program that the search found.

    Attributes:
        source: The source code.
        sentence: A description of the program in one sentence.
        cost: The cost that the search assigns to the program; simple programs have a low cost.
        weight: The number of problems on which the search found the program.
    """

    source: str
    sentence: str
    cost: float
    weight: int = 1


@dataclass(frozen=True)
class Library:
    """The programs of one task, and their outputs on a pool of inputs.

    Attributes:
        task: The name of the task.
        programs: The programs.
        inputs: The pool of inputs.
        outputs: The distinct outputs.
        codes: The position in `outputs` of each program's output on each input, int32 of shape
            (programs, inputs); `UNDEFINED` if there is no output.
        changed: Whether the output differs from the input, bool of shape (programs, inputs).
    """

    task: str
    programs: tuple[Program, ...]
    inputs: tuple[Json, ...]
    outputs: tuple[Json, ...]
    codes: NDArray[np.int32]
    changed: NDArray[np.bool_]


@dataclass(frozen=True)
class Chain:
    """A problem about scenes, with the successive answers of the search."""

    shown: tuple[Observation, ...]
    answers: tuple[Program, ...]


def search_list_programs(
    seed: int, problems: int, progress: SolvedCallback = _ignore
) -> list[Program]:
    """Generate list problems, and return the distinct programs that the search finds for them.

    Args:
        seed: The seed of the generator.
        problems: The number of problems.
        progress: Called with the number of problems solved so far.
    """
    from ...tasks.programs import list_functions as generator

    found: dict[str, Program] = {}
    for k, shown in enumerate(_problems(generator.generate, seed, problems, (2, 3, 4))):
        progress(k)
        _add(found, search_programs(shown))
    return list(found.values())


def list_library(programs: Sequence[Program], seed: int) -> Library:
    """Return a library of list programs, with their outputs on generated inputs.

    Args:
        programs: The programs.
        seed: The seed of the inputs.
    """
    from ...tasks.programs import list_functions as generator

    rng = random.Random(f"pretrain lists {seed}")
    drawn = {tuple(_short_row(rng, generator)): None for _ in range(2 * LIST_POOL_SIZE)}
    pool = [list(row) for row in drawn][:LIST_POOL_SIZE]
    return _library("list_functions", programs, pool, _is_row)


def search_grid_programs(
    task: str, seed: int, problems: int, progress: SolvedCallback = _ignore
) -> list[Program]:
    """Generate grid problems, and return the distinct programs that the search finds for them.

    Args:
        task: The task that generates the problems: mini_arc or arc.
        seed: The seed of the generator.
        problems: The number of problems.
        progress: Called with the number of problems solved so far.
    """
    from ...tasks.programs import grid_generator as generator

    found: dict[str, Program] = {}
    drawn = _problems(partial(generator.generate, task), seed, problems, (1, 2, 3))
    for k, shown in enumerate(drawn):
        progress(k)
        _add(found, _of_grids(shown))
    return list(found.values())


def grid_library(task: str, programs: Sequence[Program], seed: int) -> Library:
    """Return a library of grid programs, with their outputs on generated inputs.

    Args:
        task: The task that generates the inputs: mini_arc or arc.
        programs: The programs.
        seed: The seed of the inputs.
    """
    from ...tasks.programs import grid_generator as generator

    pool = [
        g
        for g in generator.draw_inputs(task, FIRST_SEED + seed, 3 * GRID_POOL_SIZE)
        if _is_small(g)
    ][:GRID_POOL_SIZE]
    return _library(task, programs, pool, _is_small)


def search_scene_chains(
    seed: int, problems: int, progress: SolvedCallback = _ignore
) -> list[Chain]:
    """Generate scene problems, and return a chain of the search's answers for each.

    Args:
        seed: The seed of the generator.
        problems: The number of problems.
        progress: Called with the number of problems solved so far.
    """
    from ...search.acre.engine import Problem as Search
    from ...search.acre.engine import prepare_space
    from ...tasks.programs import acre, acre_generator

    space = prepare_space(list(acre.sample_space(0).inputs[::24]))
    made = acre_generator.generate(problems, FIRST_SEED + seed)
    chains = []
    solved = itertools.count()
    for count in (2, 3, 4):
        for problem in acre.TASK.observe(made[count - 2 :: 3], str(count), seed):
            progress(next(solved))
            search = Search([[o.input, o.output] for o in problem.shown], space, SCENE_WORK)
            said: list[str] = []
            answers: list[Program] = []
            while len(answers) < MAX_CHAIN_ANSWERS:
                answer = search.propose(said, frozenset(said))
                if answer is None:
                    break
                said.append(answer.source.strip())
                answers.append(Program(said[-1], answer.description, float(len(answers))))
            if answers:
                chains.append(Chain(problem.shown, tuple(answers)))
    return chains


# --- what the search finds ----------------------------------------------------------


def _problems(
    generate: Callable[[int, int], Sequence[Problem]], seed: int, count: int, sizes: Sequence[int]
) -> Iterator[tuple[Observation, ...]]:
    """Yield the shown pairs of `count` easy generated problems.

    The number of pairs cycles through `sizes`. Problems that are not easy are skipped, because
    hardly any of them has a program among a few hundred.
    """
    easy = (
        one
        for k in range(20)
        for one in generate(count, FIRST_SEED + 100 * seed + k)
        if is_easy(one)
    )
    for k, problem in enumerate(itertools.islice(easy, count)):
        yield problem.shown[: sizes[k % len(sizes)]]


def search_programs(shown: Sequence[Observation]) -> list[Program]:
    """Return up to `ALTERNATIVES` list programs that are correct on all observations.

    The programs behave differently from each other.
    """
    from ...search.lists.codegen import TooLong
    from ...search.lists.engine import Candidate
    from ...search.lists.grammar import is_modest
    from ...search.lists.search import Search

    inputs = tuple(tuple(o.input) for o in shown)
    search = Search(inputs, tuple(tuple(o.output) for o in shown), "list", LIST_WORK)
    pairs = [[o.input, o.output] for o in shown]
    written = []
    for node in search.run()[: 20 * ALTERNATIVES]:
        if not is_modest(node) or node.cost > MAX_LIST_COST:
            continue
        try:
            one = Candidate(node, "list")
        except TooLong:
            continue
        if one.is_consistent(pairs) and not one.has_patch(pairs):
            written.append(Program(one.text, one.sentence, one.cost))
    return _differing(written, _list_probes())


def _of_grids(shown: Sequence[Observation]) -> list[Program]:
    from ...search.grids.engine import Candidate
    from ...search.grids.search import Search

    search = Search(tuple(o.input for o in shown), tuple(o.output for o in shown), GRID_WORK)
    pairs = [[o.input, o.output] for o in shown]
    written = [Candidate(found) for found in search.run(True)[: 4 * ALTERNATIVES]]
    right = [Program(c.text, c.sentence, c.cost) for c in written if c.is_consistent(pairs)]
    return _differing(right, _grid_probes())


def _differing(programs: Sequence[Program], probes: Sequence[Json]) -> list[Program]:
    """Return the cheapest programs that behave differently from each other on the probes."""
    behaviours: set[str] = set()
    chosen: list[Program] = []
    for program in programs:
        if len(program.source) > MAX_SOURCE_CHARS:
            continue
        if chosen and program.cost > chosen[0].cost + MAX_EXTRA_COST:
            break
        function = compile_program(program.source)
        behaviour = repr([_output(function, probe) for probe in probes])
        if behaviour not in behaviours:
            behaviours.add(behaviour)
            chosen.append(program)
        if len(chosen) == ALTERNATIVES:
            break
    return chosen


def _list_probes() -> list[Json]:
    rng = random.Random("pretrain list probes")
    return [
        [int(rng.random() * high) for _ in range(k % 9)] for k in range(18) for high in (10, 99)
    ]


def _grid_probes() -> list[Json]:
    from ...tasks.programs.grid_generator import draw_inputs

    return [*draw_inputs("mini_arc", 3, 12), *draw_inputs("arc", 3, 12)]


def _add(found: dict[str, Program], programs: Sequence[Program]) -> None:
    for one in programs:
        before = found.get(one.source, one)
        weight = before.weight + (one.source in found)
        found[one.source] = Program(one.source, before.sentence, min(before.cost, one.cost), weight)


# --- outputs of programs ------------------------------------------------------------


def compile_program(source: str) -> Callable[[Any], Any]:
    """Execute a source text, and return the function `f` that it defines.

    The source must come from the search, because it runs without a sandbox.
    """
    names: dict[str, Any] = {}
    exec(compile(source, "<program of the search>", "exec"), names)
    made: Callable[[Any], Any] = names["f"]
    return made


def _output(function: Callable[[Any], Any], given: Json) -> Json:
    try:
        return function([row[:] if type(row) is list else row for row in given])
    except FAILURES:
        return None


def _library(
    task: str, programs: Sequence[Program], pool: Sequence[Json], fit: Callable[[Any], bool]
) -> Library:
    """Return the programs whose output is `fit` on at least a fifth of the pool."""
    kept: list[Program] = []
    rows: list[list[int]] = []
    places: dict[str, int] = {}
    outputs: list[Json] = []
    keys = [repr(given) for given in pool]
    for program in programs:
        function = compile_program(program.source)
        row = []
        for given in pool:
            output = _output(function, given)
            if not fit(output):
                row.append(UNDEFINED)
                continue
            key = repr(output)
            if key not in places:
                places[key] = len(outputs)
                outputs.append(output)
            row.append(places[key])
        if 5 * (len(row) - row.count(UNDEFINED)) >= len(row):
            kept.append(program)
            rows.append(row)
    codes = np.array(rows, np.int32).reshape(len(kept), len(pool))
    same = np.array([places.get(key, UNDEFINED - 1) for key in keys], np.int32)
    return Library(task, tuple(kept), tuple(pool), tuple(outputs), codes, codes != same[None, :])


def _short_row(rng: random.Random, generator: Any) -> list[int]:
    high = 9 if rng.random() < 0.45 else 99
    row: list[int] = generator._row(rng, high, ())
    return row


def _is_row(value: Any) -> bool:
    return (
        type(value) is list
        and len(value) <= 25
        and all(type(v) is int and 0 <= v <= 999 for v in value)
    )


def _is_small(value: Any) -> bool:
    """Return whether a value is a grid of colours with few cells."""
    if type(value) is not list or not value or type(value[0]) is not list or not value[0]:
        return False
    width = len(value[0])
    if len(value) * width > MAX_EASY_CELLS or any(
        type(r) is not list or len(r) != width for r in value
    ):
        return False
    return all(type(cell) is int and 0 <= cell <= 9 for row in value for cell in row)


# --- The cache of libraries in the user's cache folder, by a hash of their settings. Two models
# that learn from the same problems search them once, even at the same time: while one process
# searches, another one waits or does something else.

CACHE_VERSION = 1  # version of the file and of the searches that fill it


def load_programs(
    task: str, seed: int, problems: int, *, wait: bool = True, progress: SolvedCallback = _ignore
) -> list[Program] | None:
    """Return programs about lists or grids, from the cache or, if they are not cached, by a search.

    Args:
        task: The name of the task.
        seed: The seed of the generated problems.
        problems: The number of generated problems.
        wait: Wait if another process is running the same search. If false, return None in this
            case.
        progress: Called during a search with the number of problems solved so far.
    """

    def search_programs() -> Json:
        found = (
            search_list_programs(seed, problems, progress)
            if task == "list_functions"
            else search_grid_programs(task, seed, problems, progress)
        )
        return [_of_program(one) for one in found]

    kept = _kept([task, seed, problems], search_programs, wait)
    return None if kept is None else [Program(*one) for one in kept]


def load_chains(
    seed: int, problems: int, *, wait: bool = True, progress: SolvedCallback = _ignore
) -> list[Chain] | None:
    """Return chains of answers about scenes, from the cache or, if they are not cached, by a
    search.

    The arguments are those of `load_programs`.
    """

    def search_chains() -> Json:
        return [
            [
                [[o.input, o.output] for o in chain.shown],
                [_of_program(one) for one in chain.answers],
            ]
            for chain in search_scene_chains(seed, problems, progress)
        ]

    kept = _kept(["acre", seed, problems], search_chains, wait)
    if kept is None:
        return None
    return [
        Chain(tuple(Observation(*pair) for pair in shown), tuple(Program(*one) for one in answers))
        for shown, answers in kept
    ]


def _of_program(one: Program) -> list[Json]:
    return [one.source, one.sentence, one.cost, one.weight]


def _kept(named: list[Json], make: Callable[[], Json], wait: bool) -> Json:
    """Return the cached value under the name, or compute and cache it.

    It is None where another process computes the value and `wait` is false. A folder that cannot be
    written is no error.
    """
    folder = find_cache_folder()
    if folder is None:
        return make()
    path = folder / f"pretrain-{digest_of([CACHE_VERSION, *named])}.json"
    found = _read(path)
    if found is not None:
        return found
    with _alone(path.with_suffix(".lock"), wait) as mine:
        if not mine:
            return None
        found = _read(path)  # another process may have written it meanwhile
        if found is not None:
            return found
        value = json.loads(canonical_json(make()))
        text = canonical_json(value)
        with contextlib.suppress(OSError):
            write_atomically({path: f"{digest_of_text(text)}\n{text}".encode()})
        return value


def _read(path: Path) -> Json:
    """Return the cached value, or None where the file is missing or damaged."""
    try:
        name, _, rest = path.read_text("utf-8").partition("\n")
        return json.loads(rest) if name == digest_of_text(rest) else None
    except (OSError, ValueError):
        return None


@contextlib.contextmanager
def _alone(path: Path, wait: bool) -> Iterator[bool]:
    """Yield whether this process has the lock; a folder that cannot be written needs none."""
    try:
        make_folder(path.parent)
        file = open_lock(path)
    except OSError:
        yield True
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError as error:
            yield not isinstance(error, BlockingIOError)  # a file system without locks has none
            return
        yield True
