"""Task `acre`: infer which objects set off a machine, from scenes in which its light is on or off.

The task reads the published JSONL files: one object per line with `idx`, `train` and `test`. A pair
is {"input": scene, "output": "on" | "off" | "undetermined"}, and the pairs of `test` have a `type`.
The task can also generate problems (`acre_generator.py`). A scene is a list of entities "color
material shape" from a vocabulary of 48; the order of the entities has no meaning.
`Problem.secret["types"]` holds the published type of each hidden scene: direct, indirect,
screen_off or potential.

"undetermined" means that the shown scenes do not determine the light of a scene. No rule that
answers "on" or "off" can predict such a pair. These pairs are therefore never shown, and
`judgeable` excludes them from pass rates unless the user includes them.

`--observations N` (2 or more) shows, as in GEAR, one scene that is on, one scene that is off, and N
- 2 more scenes. A file in GEAR's form is used without changes.

The sample space (the scenes to predict) follows GEAR and has 7,049 scenes: the empty scene, the 48
scenes with one entity, and 1,000 scenes for each size from 2 to 8. The paper's text ends at size 7
and allows repeated entities, but the number of scenes in the paper requires size 8. No entity
occurs twice in a scene, as in the published code and the published scenes. All scenes of a size
differ as sets. Scenes with one entity are in the order of the vocabulary. All other scenes, and the
entities within a scene, are in random order. So the order reveals nothing, and the first n scenes
of a size are a random sample of the scenes of that size.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ...records import Compute, DataError, InputSet, Json, Observation, Problem, UsageError
from ...tools.workers.computing import compute_here
from ..io import observations as observations_
from ..io.bad_records import BadRecords
from ..io.messages import shorten, suggest_nearest, warn
from ..io.problem_lines import Row, parse_id, parse_pairs, parse_secret, read_problems
from .acre_scenes import (
    ENTITIES,
    OFF,
    ON,
    OUTPUTS,
    UNDETERMINED,
    sample_without_replacement,
    scene_name,
)
from .difficulty import KINDS

FILES = ("acre.jsonl", "acre.jsonl.gz")
SIZES = range(2, 9)
PER_SIZE = 1_000


@dataclass(frozen=True)
class Acre:
    """The task `acre`, with published or generated problems.

    Args:
        compute: where problems are generated.
    """

    compute: Compute = compute_here

    name = "acre"
    family = "programs"
    about = "which objects set off a machine, from scenes (ACRE)"
    takes = (
        "the published JSONL: a problem a line, scenes of objects that are on, off or undetermined"
    )
    commands = (
        "peirce run acre --problems 12",
        "peirce run acre --data acre.jsonl --sample 100",
        "peirce tasks show acre --problems 1",
    )
    files = FILES
    kinds = KINDS

    def load(self, path: str, observations: str | None, seed: int) -> list[Problem]:
        """Read published problems, or a user's problems in the published form, from a file."""
        loaded = read_problems(path, FILES, _problem)
        return loaded if observations is None else self.observe(loaded, observations, seed)

    def observe(self, problems: Sequence[Problem], observations: str, seed: int) -> list[Problem]:
        """Return the problems with other shown scenes, drawn at random or listed in a file.

        Raises:
            UsageError: the number of scenes is below 2, or no problem has that many scenes.
            DataError: the file is invalid or shows an undetermined pair.
        """
        text = observations.strip()
        if text.lstrip("+-").isdecimal():
            return _draw(problems, int(text), seed)
        return observations_.choose_observations(problems, observations, seed, _observation)

    def generate(self, count: int, seed: int) -> list[Problem]:
        """Generate `count` problems from `seed`."""
        from .acre_generator import generate

        return generate(count, seed, self.compute)

    def with_compute(self, compute: Compute) -> Acre:
        """Return a copy that generates problems with `compute`."""
        return replace(self, compute=compute)

    def space(self, problem: Problem, seed: int) -> InputSet:
        """Return the sample space (the scenes to predict), which is the same for all problems."""
        return sample_space(seed)

    def read_input(self, value: Json, where: str) -> Json:
        """Return a scene from a sample space file after checking it.

        Args:
            value: the scene.
            where: the location of the scene, with which error messages begin.
        """
        return _scene(value, where)

    def judgeable(self, observation: Observation) -> bool:
        """Return whether a hypothesis can be right on the pair: True unless the output is
        "undetermined".
        """
        return bool(observation.output != UNDETERMINED)


# --- files ------------------------------------------------------------------------


def _problem(row: Row, where: str, bad: BadRecords) -> Problem:
    name, secret = parse_id(row, where), parse_secret(row, where, bad)
    shown, _ = _pairs(row, "train", where, bad)
    hidden, types = _pairs(row, "test", where, bad)
    return Problem(
        id=name,
        task=Acre.name,
        family=Acre.family,
        shown=shown,
        hidden=hidden,
        secret={**secret, "types": types} if types else secret,
        group=name,
    )


def _pairs(
    row: Row, part: str, where: str, bad: BadRecords
) -> tuple[tuple[Observation, ...], dict[str, str]]:
    """Return the pairs of a part and, by `scene_name`, the types of those that have one."""
    read: list[Observation] = []
    types: dict[str, str] = {}
    of_pair = _observation if part == "train" else _pair
    for place, pair in parse_pairs(row, part, where):
        read.append(of_pair(pair["input"], pair["output"], place))
        kind = bad.field("the type of a scene", lambda: _type(pair.get("type"), f"{place}.type"))  # noqa: B023 -- called at once
        if kind is not None:
            types[scene_name(read[-1].input)] = kind
    return tuple(read), types


def _type(value: Json, where: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise DataError(f"{where}: must be a string, not {shorten(value)}")
    return value


def _observation(scene: Json, output: Json, where: str) -> Observation:
    if output == UNDETERMINED:
        raise DataError(f"{where}.output: an undetermined scene cannot be shown; on and off can")
    return _pair(scene, output, where)


def _pair(scene: Json, output: Json, where: str) -> Observation:
    read = _scene(scene, f"{where}.input")
    if output not in OUTPUTS:
        raise DataError(f"{where}.output: none of {', '.join(OUTPUTS)}: {shorten(output)}")
    return Observation(read, output)


def _scene(value: Json, where: str) -> list[str]:
    if not isinstance(value, list) or any(not isinstance(entity, str) for entity in value):
        raise DataError(f"{where}: must be a list of entities, not {shorten(value)}")
    for entity in value:
        if entity not in ENTITIES:
            raise DataError(
                f"{where}: {shorten(entity)!r} is none of the {len(ENTITIES)} entities"
                f" (color material shape){suggest_nearest(entity, ENTITIES, 3)}"
            )
    return value


# --- what is shown ---------------------------------------------------------------


def _draw(problems: Sequence[Problem], count: int, seed: int) -> list[Problem]:
    """Show one scene that is on, one that is off, then `count` - 2 others, in the order drawn.

    The other scenes are hidden, in the order of the pool. As in `observations.draw_observations`,
    the choice for a problem depends only on the seed, its id and the count.
    """
    if count < 2:
        raise UsageError(
            f"--observations {count}: at least 2 scenes of acre must be shown, one on and one off"
        )
    drawn: list[Problem] = []
    short: list[str] = []
    for problem in problems:
        chosen = _choice(problem, count, random.Random(f"{seed}:{problem.id}:{count}"))
        if chosen is None:
            short.append(problem.id)
            continue
        pool = problem.shown + problem.hidden
        hidden = tuple(pair for i, pair in enumerate(pool) if i not in chosen)
        shown = tuple(pool[i] for i in chosen)
        drawn.append(
            replace(problem, shown=shown, hidden=hidden, group=problem.group or problem.id)
        )
    if not drawn:
        raise UsageError(f"--observations {count}: no problem has as many scenes, one on, one off")
    if short:
        warn(
            f"{len(short)} of {len(problems)} problems have fewer than {count} scenes with a known"
            f" light, or none on, or none off, and are left out: {shorten(', '.join(short))}"
        )
    return drawn


def _choice(problem: Problem, count: int, rng: random.Random) -> list[int] | None:
    pool = problem.shown + problem.hidden
    left = [i for i, pair in enumerate(pool) if pair.output in (ON, OFF)]
    chosen: list[int] = []
    for wanted in (ON, OFF, *[None] * (count - 2)):
        fit = [i for i in left if wanted is None or pool[i].output == wanted]
        if not fit:
            return None
        chosen.append(fit[int(rng.random() * len(fit))])
        left.remove(chosen[-1])
    return chosen


# --- the sample space ------------------------------------------------------------


@lru_cache(maxsize=4)
def sample_space(seed: int) -> InputSet:
    """Return the sample space of 7,049 scenes for a seed. The result is cached and must not be
    modified.

    The scenes are the same on all machines, because only `Random.random` is used. Python keeps the
    numbers of this function stable across versions.
    """
    rng = random.Random(f"acre space {seed}")
    rows: list[Json] = [[], *([entity] for entity in ENTITIES)]
    for size in SIZES:
        drawn: dict[frozenset[str], list[str]] = {}
        while len(drawn) < PER_SIZE:
            scene = sample_without_replacement(rng, ENTITIES, size)
            drawn.setdefault(frozenset(scene), scene)
        rows += drawn.values()
    return InputSet(f"acre space, seed {seed}", tuple(rows))


TASK = Acre()
