"""Task `abd`: exception rules for a default theory over several finite worlds (ABD).

Loads the published instances with their holdouts (abd_files.py) and a user's own worlds as JSON
(abd_json.py). What a problem is says abd_problem.py, its sample space abd_sampling.py.

All prompt worlds are shown and all holdouts hidden, so there is nothing for `--observations` to
draw. New instances come from the package abd_generation, in the published form or as JSON.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from ..records import DataError, InputSet, Json, Problem, UsageError
from ..tools.logic.judging import REGIMES
from ..tools.logic.worlds import world_of
from . import abd_files, abd_json, abd_sampling
from .abd_generation.recipes import DIFFICULTIES
from .abd_problem import LOGIC, NAME
from .files import identity, locate
from .sentences import shorten

FILES = (*abd_files.FILES, *abd_json.FILES)
K = TypeVar("K", bound=str)


class Abd:
    name = NAME
    family = LOGIC
    about = "an exception rule that repairs a default theory in several worlds (ABD)"
    takes = (
        "the published instances and holdouts (a folder or a file), or worlds of your own as JSON"
    )
    commands = (
        "peirce run abd --problems 6 --method refine",
        "peirce run abd --data abd_instances.jsonl --method io --model openai:NAME",
        "peirce tasks generate abd --regime full --problems 6 --out mine.jsonl",
    )
    files = FILES
    kinds = ("regime", "difficulty", "mined")

    def load(self, path: str, observations: str | None, seed: int) -> list[Problem]:
        place = locate(path, FILES)
        loaded = abd_files.read(place) if _is_yaml(place) else abd_json.read(place)
        return loaded if observations is None else self.observe(loaded, observations, seed)

    def observe(self, problems: Sequence[Problem], observations: str, seed: int) -> list[Problem]:
        raise UsageError(
            f"--observations {observations}: all prompt worlds of abd are shown, and holdouts never"
            " are; leave it out"
        )

    def generate(self, count: int, seed: int) -> list[Problem]:
        from .abd_generation.making import instances
        from .abd_generation.set_files import as_problem

        return [as_problem(one) for one in instances(count, seed)]

    def write(
        self, out: str | Path, count: int, seed: int, kinds: Mapping[str, Json]
    ) -> dict[str, Json]:
        """New problems as files. kinds: `kinds` that were asked for, each None where it was not;
        "mined": by name of a theory, texts of rules that answered problems of it."""
        from .abd_generation.making import instances
        from .abd_generation.set_files import save, targets

        regime = one_kind("regime", kinds.get("regime"), REGIMES)
        difficulty = one_kind("difficulty", kinds.get("difficulty"), DIFFICULTIES)
        targets(out)  # said at once where nothing may be written
        made = list(instances(count, seed, regime, difficulty, kinds.get("mined")))
        files = save(made, out)
        return {
            "problems": len(made),
            "regimes": dict(Counter(one.recipe.regime for one in made)),
            "files": [str(path) for path in files],
        }

    def space(self, problem: Problem, seed: int) -> InputSet:
        return abd_sampling.space(problem, seed)

    def read_input(self, value: Json, where: str) -> Json:
        """[world, element]; what the theory says of the world's predicates is seen when it is
        used."""
        if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], dict):
            raise DataError(f"{where}: not [world, element]: {shorten(value)}")
        world, element = value
        found = world_of(world, _signature(world), where)
        if element not in found.names:
            raise DataError(f"{where}: {shorten(element)!r} is not in the world's domain")
        return [found.as_json(), element]

    def drawn(self, problem: Problem) -> str:
        from .abd_drawing import drawn

        return drawn(problem)

    def identity(self, path: str | Path) -> dict[str, Json]:
        place = locate(path, FILES)
        return abd_files.identity_of(place) if _is_yaml(place) else identity(place)


def one_kind(name: str, value: Json, valid: Sequence[K]) -> K | None:
    found = next((one for one in valid if one == value), None)
    if value is not None and found is None:
        raise UsageError(f"--{name} {shorten(value)}: valid are {', '.join(valid)}")
    return found


def _is_yaml(place: Path) -> bool:
    return place.name.removesuffix(".gz").endswith((".yaml", ".yml"))


def _signature(world: dict[str, Json]) -> dict[str, int]:
    """As the first atom of each predicate has it."""
    parts = [
        part for key in ("true", "unknown", "false") if isinstance(part := world.get(key), dict)
    ]
    found = {name: 1 for part in parts for name in part}
    for part in reversed(parts):
        for name, atoms in part.items():
            if isinstance(atoms, list) and atoms:
                found[name] = len(atoms[0]) if isinstance(atoms[0], list) else 1
    return found


TASK = Abd()
