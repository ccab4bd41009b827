"""Generate problems for ACRE: some objects are blickets, and a scene is on if it contains a
blicket.

The problems follow the experiments of developmental psychology on which the published problems are
based. Each has six shown and four hidden scenes. Three shown scenes concern a blicket and a
screened-off object: the blicket alone is on, the two together are on, and the second object alone
is off. The other three shown scenes concern a group of 3 to 6 more objects. The sizes of scenes and
the frequencies of the types follow counts over the 50 published problems. `conclude` derives by
logic alone what the shown scenes imply about a hidden scene:

| output | type | condition |
|---|---|---|
| on | direct | the scene contains all objects of a scene that was shown on |
| on | indirect | some scene was shown on, and the scene contains all its objects except those seen off |
| off | screen_off | all objects of the scene were seen off, and one of them was also in a scene that was on |
| off | direct | all objects of the scene were seen off |
| undetermined | potential | otherwise |

Every problem has an object with direct evidence and a screened-off object. In half of the problems,
an object can be recognised as a blicket only by combining scenes. Some problems have hidden scenes
that stay undetermined. All scenes of a problem differ as sets. Problem k of a seed does not depend
on the number of generated problems. `Problem.secret` holds the rule as Python and in words, the
blickets, the conclusions about each object, and the type of each hidden scene.
"""

from __future__ import annotations

import random
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from ...records import Compute, Json, Observation, Problem
from ...tools.workers.computing import compute_here
from .acre_scenes import ENTITIES, OFF, ON, UNDETERMINED, sample_without_replacement, scene_name
from .distinct_rules import draw_part, generate_distinct

# Each table maps a value to the share with which it is drawn.
GROUP_SIZES = {3: 0.2, 4: 0.3, 5: 0.35, 6: 0.15}  # objects in the group of the second three scenes
SCENE_SIZES = {1: 0.2, 2: 0.3, 3: 0.28, 4: 0.17, 5: 0.05}  # objects in one of these scenes
HIDDEN_SCENE_SIZES = {1: 0.5, 2: 0.25, 3: 0.15, 4: 0.08, 5: 0.02}  # objects in a hidden scene
HIDDEN_TYPE_SHARES = {
    (UNDETERMINED, "potential"): 0.3,
    (ON, "direct"): 0.25,
    (OFF, "screen_off"): 0.22,
    (OFF, "direct"): 0.15,
    (ON, "indirect"): 0.08,
}
BLICKET_SHARE = 0.4  # probability that an object of the group is a blicket
HIDDEN_SCENES = 4
ATTEMPTS = 5_000

T = TypeVar("T")
Scene = list[str]
ShownScenes = Sequence[tuple[Scene, str]]


def generate(count: int, seed: int, compute: Compute = compute_here) -> list[Problem]:
    """Generate `count` problems of the task `acre` from `seed`.

    Raises:
        UsageError: `count` is below 1.
    """
    function = "tasks.programs.acre_generator:generate_part"
    return generate_distinct(count, compute, function, {"seed": seed}, partial(_draw_problem, seed))


def generate_part(request: Json) -> Json:
    """Return some of the problems of a seed, as `distinct_rules.generate_distinct` requests them."""
    return draw_part(request, partial(_draw_problem, request["seed"]))


def _draw_problem(seed: int, index: int, seen: Container[str]) -> tuple[Problem, list[str]]:
    """Return a problem, and its name: problems of ACRE may have the same rule."""
    problem = _problem(seed, index)
    return problem, [problem.id]


def conclude(shown: ShownScenes, scene: Iterable[str]) -> tuple[str, str]:
    """Return the (output, type) that the shown scenes imply for another scene.

    The scene is on if and only if it contains a blicket. The module docstring lists the types.
    """
    asked = set(scene)
    off = {entity for seen, light in shown if light == OFF for entity in seen}
    on = [set(seen) for seen, light in shown if light == ON]
    if any(seen <= asked for seen in on):
        return ON, "direct"
    if any(seen - off <= asked for seen in on):
        return ON, "indirect"
    if not asked <= off:
        return UNDETERMINED, "potential"
    return OFF, "screen_off" if any(asked & seen for seen in on) else "direct"


def _problem(seed: int, index: int) -> Problem:
    rng = random.Random(f"acre problem {seed} {index}")
    indirect = rng.random() < 0.5
    for _ in range(ATTEMPTS):
        objects = sample_without_replacement(rng, ENTITIES, 2 + _weighted(rng, GROUP_SIZES))
        blicket, screened, *group = objects
        blickets = {blicket, *(entity for entity in group if rng.random() < BLICKET_SHARE)}
        first = sample_without_replacement(
            rng, [[blicket], [screened], sample_without_replacement(rng, [blicket, screened], 2)], 3
        )
        scenes = first + [_scene(rng, group, screened) for _ in range(3)]
        shown = [(scene, ON if blickets & set(scene) else OFF) for scene in scenes]
        if not _fit(shown, group, indirect):
            continue
        hidden = _hidden(rng, shown, objects)
        if hidden is not None:
            return _written(f"gen{seed}-{index}", shown, hidden, blickets, objects)
    raise RuntimeError(f"no scenes found for problem {index} of seed {seed}")


def _scene(rng: random.Random, group: Scene, screened: str) -> Scene:
    known = [*group, screened] if rng.random() < 0.15 else group
    return sample_without_replacement(rng, known, min(_weighted(rng, SCENE_SIZES), len(known)))


def _fit(shown: ShownScenes, group: Scene, indirect: bool) -> bool:
    """Return whether the shown scenes make a problem.

    The scenes differ as sets. The three scenes of the group contain all its objects, and some are
    on and some off. The group has an object with indirect evidence exactly where `indirect`
    requires one.
    """
    if len({frozenset(scene) for scene, _ in shown}) < len(shown):
        return False
    if {entity for scene, _ in shown[3:] for entity in scene if entity in group} != set(group):
        return False
    if {light for _, light in shown[3:]} != {ON, OFF}:
        return False
    return indirect == any(conclude(shown, [e]) == (ON, "indirect") for e in group)


def _hidden(rng: random.Random, shown: ShownScenes, objects: Scene) -> dict[str, Scene] | None:
    """Draw four more scenes, one for each drawn type; None where the objects do not allow it."""
    seen = {frozenset(scene) for scene, _ in shown}
    asked: list[Scene] = []
    for _ in range(HIDDEN_SCENES):
        wanted = _weighted(rng, HIDDEN_TYPE_SHARES)
        for _ in range(60):
            scene = sample_without_replacement(
                rng, objects, min(_weighted(rng, HIDDEN_SCENE_SIZES), len(objects))
            )
            if frozenset(scene) not in seen and conclude(shown, scene) == wanted:
                seen.add(frozenset(scene))
                asked.append(scene)
                break
    if len(asked) < HIDDEN_SCENES:
        return None
    return {scene_name(scene): scene for scene in asked}


def _written(
    name: str, shown: ShownScenes, hidden: dict[str, Scene], blickets: set[str], objects: Scene
) -> Problem:
    ordered = sorted(blickets)
    concluded = {said: conclude(shown, scene) for said, scene in hidden.items()}
    return Problem(
        id=name,
        task="acre",
        family="programs",
        shown=tuple(Observation(scene, light) for scene, light in shown),
        hidden=tuple(Observation(scene, concluded[said][0]) for said, scene in hidden.items()),
        secret={
            "rule": _rule(ordered),
            "description": f"On iff the scene holds a blicket: {' or '.join(ordered)}.",
            "blickets": ordered,
            "objects": {entity: " ".join(conclude(shown, [entity])) for entity in sorted(objects)},
            "types": {said: kind for said, (_, kind) in concluded.items()},
        },
        group=name,
    )


def _rule(blickets: Sequence[str]) -> str:
    lines = ["def f(x):", "    blickets = {"]
    lines += [f'        "{entity}",' for entity in blickets]
    lines += ["    }", '    return "on" if blickets & set(x) else "off"']
    return "\n".join(lines) + "\n"


def _weighted(rng: random.Random, shares: Mapping[T, float]) -> T:
    """Return a key, drawn with a probability in proportion to its share."""
    at = rng.random() * sum(shares.values())
    for key, share in shares.items():
        at -= share
        if at < 0:
            return key
    return key
