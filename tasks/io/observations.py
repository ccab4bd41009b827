"""Choose which pairs of each problem are shown, and draw the problems of a session.

The pool of a problem consists of its shown and hidden pairs (GEAR, section 4.1). The pairs that are
not chosen from the pool become hidden. A new choice changes neither the id nor the group of a
problem, so all versions of a problem stay in the same split of the data. The option
`--observations` has two forms:

- `"N"` draws N pairs of each pool without replacement. The random generator is seeded with (seed,
  problem id, N). The draw does not depend on the other problems or on their order. Draws for
  different N are independent, as in the published runs. Problems with fewer than N pairs are left
  out with a warning.
- `FILE` names a JSON file in GEAR's form, `{"id": [[input, output], …], …}`. Exactly the listed
  pairs are shown, in the listed order. A value may be a string if the data also have a string
  there. Each shown pair removes one equal pair from the pool. So if the data contain a pair twice,
  one copy can be shown and the other hidden. Problems that the file does not name are dropped. A
  warning names the ids that are not in the data, and the problems with shown pairs that are not in
  the pool.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ...records import DataError, Json, Observation, Problem, UsageError, canonical_json
from .files import locate, parse_json_file_text, read_text
from .json_text import find_line
from .messages import shorten, suggest_nearest, warn

# (input, output, location in the file) -> the pair as in the data; raises DataError
ReadPair = Callable[[Json, Json, str], Observation]


def _keep_pair(given: Json, output: Json, where: str) -> Observation:
    return Observation(given, output)


def choose_observations(
    problems: Sequence[Problem],
    observations: str,
    seed: int,
    read_pair: ReadPair = _keep_pair,
) -> list[Problem]:
    """Choose the shown pairs of each problem, by number or from a file.

    Args:
        problems: The problems. The shown and hidden pairs of a problem form the pool of pairs from
            which its shown pairs are chosen.
        observations: The number of pairs to show, as text, or the path of a file that lists them.
        seed: The seed of the random draw; not used for a file.
        read_pair: Converts (input, output, location) of a pair in the file to an observation. The
            location is text for error messages.

    Raises:
        UsageError: `observations` is neither a number of at least 1 nor an existing file, or no
            problem has enough pairs.
        DataError: The file is invalid, or none of its ids is in the data.
    """
    text = observations.strip()
    if text.lstrip("+-").isdecimal():
        count = int(text)
        if count < 1:
            raise UsageError(f"--observations {text}: at least 1 pair must be shown")
        return draw_observations(problems, count, seed)
    return select_observations(problems, locate(observations, ()), read_pair)


def draw_observations(problems: Sequence[Problem], count: int, seed: int) -> list[Problem]:
    """Return the problems with `count` random pairs shown and all other pairs hidden.

    Shown and hidden pairs keep the order that they had in the problem. Problems with fewer than
    `count` pairs are left out with a warning.

    Raises:
        UsageError: No problem has `count` pairs.
    """
    drawn: list[Problem] = []
    short: list[str] = []
    for problem in problems:
        pool = problem.shown + problem.hidden
        if len(pool) < count:
            short.append(problem.id)
            continue
        chosen = set(random.Random(f"{seed}:{problem.id}:{count}").sample(range(len(pool)), count))
        shown = tuple(pair for i, pair in enumerate(pool) if i in chosen)
        hidden = tuple(pair for i, pair in enumerate(pool) if i not in chosen)
        drawn.append(_replace_pairs(problem, shown, hidden))
    if not drawn:
        most = max((len(one.shown) + len(one.hidden) for one in problems), default=0)
        raise UsageError(
            f"--observations {count}: no problem has that many pairs; the maximum is {most}"
        )
    if short:
        warn(
            f"{len(short)} of {len(problems)} problems have fewer than {count} pairs and are"
            f" skipped: {shorten(', '.join(short))}"
        )
    return drawn


def select_observations(
    problems: Sequence[Problem], path: Path, read_pair: ReadPair = _keep_pair
) -> list[Problem]:
    """Return the problems that the file at `path` names, with the listed pairs shown and all others
    hidden.

    Args:
        problems: The problems to choose from.
        path: A JSON file `{"id": [[input, output], …], …}`.
        read_pair: Converts (input, output, location) of a pair in the file to an observation.

    Raises:
        DataError: The file is invalid, or none of its ids is in the data.
    """
    given = _read(path, read_pair)
    chosen: list[Problem] = []
    foreign: list[str] = []
    for problem in problems:
        shown = given.pop(problem.id, None)
        if shown is None:
            continue
        left = Counter(_pair_key(pair) for pair in shown)
        hidden: list[Observation] = []
        for pair in problem.shown + problem.hidden:
            name = _pair_key(pair)
            if left[name]:
                left[name] -= 1
            else:
                hidden.append(pair)
        if any(left.values()):
            foreign.append(problem.id)
        chosen.append(_replace_pairs(problem, shown, tuple(hidden)))
    if not chosen:
        some = next(iter(given), "")
        raise DataError(
            f"{path}: none of its {len(given)} ids is in the data, for example {some!r}"
            f"{suggest_nearest(some, [problem.id for problem in problems])}"
        )
    if given:
        warn(f"{path}: {len(given)} ids are not in the data: {shorten(', '.join(given))}")
    if foreign:
        warn(
            f"{path}: problems with shown pairs that are not in their data:"
            f" {shorten(', '.join(foreign))}"
        )
    return chosen


def _read(path: Path, read_pair: ReadPair) -> dict[str, tuple[Observation, ...]]:
    text = read_text(path)
    table = parse_json_file_text(text, path)
    if not isinstance(table, dict) or not table:
        raise DataError(
            f'{path}, line 1: the file must contain one object {{"id": [[input, output], …]}}'
        )
    given: dict[str, tuple[Observation, ...]] = {}
    for name, pairs in table.items():
        said = f"problem {name!r}"
        if not isinstance(pairs, list) or not pairs:
            where = f"{path}, line {find_line(text, [name])}, {said}"
            raise DataError(f"{where}: must be a list of pairs, not {shorten(pairs)}")
        shown: list[Observation] = []
        for i, pair in enumerate(pairs):
            try:
                if not isinstance(pair, list) or len(pair) != 2:
                    raise DataError(
                        f"{said}, pair {i}: must be [input, output], not {shorten(pair)}"
                    )
                shown.append(read_pair(pair[0], pair[1], f"{said}, pair {i}"))
            except DataError as error:  # finding the line is slow, so do it only for an error
                raise DataError(f"{path}, line {find_line(text, [name, i])}, {error}") from None
        given[name] = tuple(shown)
    return given


def _pair_key(pair: Observation) -> str:
    return canonical_json([pair.input, pair.output])


def _replace_pairs(
    problem: Problem, shown: tuple[Observation, ...], hidden: tuple[Observation, ...]
) -> Problem:
    return replace(problem, shown=shown, hidden=hidden, group=problem.group or problem.id)


# --- Which problems of a data set a session works on: a draw without repeats (GEAR, section 4.1).
#
# The SHA-256 of (seed, id) gives each problem its place in the draw, and `--sample N` takes the
# first N places, on any machine. So a sample contains every smaller one, and leaving out a problem
# with too few pairs for `--observations n` does not change the others: sessions with n = 1 to 4 and
# one seed cover the same problems. Their order stays that of the data. Which pairs are shown is
# drawn separately, for each problem, by the functions above.
#
# `--observations FILE` runs GEAR's own problems, 100 per data set, drawn by another generator.


def draw_problems(problems: Sequence[Problem], count: int, seed: int) -> list[Problem]:
    """Draw `count` problems at random. If there are fewer, return all problems and issue a warning.

    Raises:
        UsageError: `count` is less than 1.
    """
    if count < 1:
        raise UsageError(f"--sample {count}: it must be at least 1")
    if count > len(problems):
        warn(f"--sample {count}: there are only {len(problems)} problems, and all are used")
    chosen = {p.id for p in sorted(problems, key=lambda p: _draw_order(p.id, seed))[:count]}
    return [problem for problem in problems if problem.id in chosen]


def _draw_order(name: str, seed: int) -> bytes:
    return hashlib.sha256(f"sample of problems, seed {seed}: {name}".encode()).digest()
