"""Task `abd`: find exception rules for a default theory ("birds fly") over several finite worlds.

ABD is the benchmark of published instances that this task reads with their holdouts
(`published_files.py`). The task also reads a user's own worlds as JSON (`own_worlds.py`), and
`generation/` makes new instances in either form. `problems.py` describes the contents of a problem.
All prompt worlds are shown and all holdouts (worlds for testing only) are hidden. The option
`--observations` is therefore an error.

`render_problem` prints a problem for people: the theory, what a rule may contain, and the prompt
worlds. Each line shows one element: its unary predicates, then for each relation the elements that
the relation leads to. Unknown facts are marked with "?". Holdouts and the reference rule are not
printed.

The sample space S (the inputs to predict) contains the elements of 16 new random worlds. Each new
world has the elements of a randomly chosen prompt world. For each predicate, a prompt world is
chosen at random as a model. The shares of true and of unknown atoms (facts) among all atoms of the
predicate are those of the model, and the true and unknown atoms are drawn uniformly. So sizes,
densities and shares of unknown atoms resemble those of the prompt worlds. The new worlds need not
meet other conditions; for instance, it may be that no element breaks the theory.

An input is [world, element]; the inputs of one world share the same object. Only integers and
`Random.random` are used, because Python keeps the numbers of this function stable. The same problem
and seed therefore give the same S on all machines. No two worlds are equal. If the prompt worlds
are so small that fewer than 16 different worlds are found, S has only these.
"""

from __future__ import annotations

import random
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import NamedTuple, TypeVar

from ...records import Compute, DataError, InputSet, Json, Problem, UsageError
from ...records.tasks import DEFAULT_WRITTEN
from ...tools.logic.fast_path import REGIMES
from ...tools.logic.formula import format_infix
from ...tools.logic.theories import Theory, theory_from_json
from ...tools.logic.worlds import Tuples, World, parse_world
from ...tools.workers.computing import compute_here
from ..io.files import identify_file, locate
from ..io.messages import shorten
from . import own_worlds, published_files
from .generation.recipes import DIFFICULTIES
from .problems import FAMILY_NAME, TASK_NAME

FILES = (*published_files.FILES, *own_worlds.FILES)
K = TypeVar("K", bound=str)


@dataclass(frozen=True)
class Abd:
    """Task `abd`: published instances, a user's own worlds, or generated instances.

    Args:
        compute: where instances are generated.
    """

    compute: Compute = compute_here

    name = TASK_NAME
    family = FAMILY_NAME
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
        """Read published instances (YAML) or a user's own worlds (JSON)."""
        place = locate(path, FILES)
        loaded = (
            published_files.read_published_files(place)
            if _is_yaml(place)
            else own_worlds.read_own_worlds(place)
        )
        return loaded if observations is None else self.observe(loaded, observations, seed)

    def observe(self, problems: Sequence[Problem], observations: str, seed: int) -> list[Problem]:
        """Raise UsageError, because prompt worlds are always shown and holdouts are always hidden."""
        raise UsageError(
            f"--observations {observations}: all prompt worlds of abd are shown, and holdouts never"
            " are; leave it out"
        )

    def generate(self, count: int, seed: int) -> list[Problem]:
        """Generate `count` problems from `seed`."""
        from .generation.series import generate_instances
        from .generation.set_files import as_problem

        return [as_problem(one) for one in generate_instances(count, seed, compute=self.compute)]

    def with_compute(self, compute: Compute) -> Abd:
        """Return a copy that generates instances with `compute`."""
        return replace(self, compute=compute)

    def write(
        self, out: str | Path, count: int | None, seed: int, kinds: Mapping[str, Json]
    ) -> dict[str, Json]:
        """Generate problems and write them to files.

        Args:
            out: a folder or a file; see `set_files.target_paths`.
            count: the number of problems, or None for the default.
            seed: the seed of the problems.
            kinds: the values of the task's own options, by name; None for an option that is not
                used. "mined" maps the name of a theory to rules, as texts, from earlier answers to
                problems with this theory.

        Returns:
            The number of problems, the number of problems for each regime, and the written files.

        Raises:
            UsageError: an option has an invalid value, or `out` cannot be written to.
        """
        from .generation.series import generate_instances
        from .generation.set_files import save_instances, target_paths

        regime = check_choice("regime", kinds.get("regime"), REGIMES)
        difficulty = check_choice("difficulty", kinds.get("difficulty"), DIFFICULTIES)
        target_paths(out)  # raises before the long generation where nothing may be written
        made = list(
            generate_instances(
                count or DEFAULT_WRITTEN, seed, regime, difficulty, kinds.get("mined"), self.compute
            )
        )
        files = save_instances(made, out)
        return {
            "problems": len(made),
            "regimes": dict(Counter(one.recipe.regime for one in made)),
            "files": [str(path) for path in files],
        }

    def space(self, problem: Problem, seed: int) -> InputSet:
        """Return the sample space of a problem: the elements of new random worlds."""
        return sample_space(problem, seed)

    def read_input(self, value: Json, where: str) -> Json:
        """Return an input [world, element] from a sample space file after checking it.

        Whether the theory has the predicates of the world is checked later, when a rule is evaluated.

        Args:
            value: the input.
            where: the location of the input, with which error messages begin.
        """
        if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], dict):
            raise DataError(f"{where}: not [world, element]: {shorten(value)}")
        world, element = value
        found = parse_world(world, _signature(world), where)
        if element not in found.names:
            raise DataError(f"{where}: {shorten(element)!r} is not in the world's domain")
        return [found.as_json(), element]

    def draw_problem(self, problem: Problem) -> str:
        """Return a problem as text for people to read."""

        return render_problem(problem)

    def identify_data(self, path: str | Path) -> dict[str, Json]:
        """Return {"name", "sha256"} of the data at `path`; the hash covers all files that `load`
        reads.
        """
        place = locate(path, FILES)
        return published_files.data_identity(place) if _is_yaml(place) else identify_file(place)


def check_choice(name: str, value: Json, valid: Sequence[K]) -> K | None:
    """Return the value of an option after checking that it is in `valid`; None if it is not used.

    Args:
        name: the name of the option, for the error message.
        value: the value, or None if the option is not used.
        valid: the allowed values.

    Raises:
        UsageError: the value is not allowed.
    """
    found = next((one for one in valid if one == value), None)
    if value is not None and found is None:
        raise UsageError(f"--{name} {shorten(value)}: valid are {', '.join(valid)}")
    return found


def _is_yaml(place: Path) -> bool:
    return place.name.removesuffix(".gz").endswith((".yaml", ".yml"))


def _signature(world: dict[str, Json]) -> dict[str, int]:
    """Return the arity of each predicate of a world, read from its first atom."""
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


WIDTH = 98  # most columns of a line
MAX_NAME_LENGTH = 24  # most characters of an element's name
REGIME_LINES: Mapping[str, str] = {
    "full": "full: every atom is known; a rule has to cover the elements that break the theory",
    "partial": "partial: some choice of the unknown atoms has to be repaired; the cheapest counts",
    "skeptical": "skeptical: every choice of the unknown atoms has to be repaired; the dearest counts",
}


def render_problem(problem: Problem) -> str:
    """Return a problem as text for people to read, with lines of at most 98 columns."""
    theory = theory_from_json(problem.public["theory"])
    lines = list(_theory(theory, problem.public["theory"]["regime"]))
    for pair in problem.shown:
        lines += [
            "",
            *_drawn_world(parse_world(pair.input, theory.signature, problem.id), theory.signature),
        ]
    kept = [f"{len(problem.hidden)} holdouts"] * bool(problem.hidden)
    kept += ["a reference rule"] * (problem.secret.get("reference") is not None)
    if kept:
        lines += ["", f"not drawn: {' and '.join(kept)}"]
    return "\n".join(lines)


def _theory(theory: Theory, regime: str) -> Iterator[str]:
    yield from _row("theory", _printable(theory.title))
    for axiom in theory.axioms:
        yield from _row("axiom", format_infix(axiom))
    forbidden = ", ".join(sorted(theory.forbidden))
    yield from _row("rules", f"may hold {', '.join(sorted(theory.allowed))} and =; not {forbidden}")
    yield from _row("regime", REGIME_LINES[regime])


def _row(title: str, text: str) -> Iterator[str]:
    for place, line in enumerate(textwrap.wrap(text, WIDTH - 8, break_on_hyphens=False)):
        yield f"{title if place == 0 else '':<8}{line}"


def _drawn_world(world: World, signature: Mapping[str, int]) -> Iterator[str]:
    unknown = len(world.unknown_atoms)
    said = f", {unknown} atoms unknown" if unknown else ""
    yield f"world {shorten(_printable(world.id), MAX_NAME_LENGTH)}: {len(world.names)} elements{said}"
    facts = [_marked(world, name, ()) or f"not {name}" for name, k in signature.items() if k == 0]
    yield from textwrap.wrap(", ".join(facts), WIDTH, initial_indent="  ", subsequent_indent="  ")
    names = [shorten(_printable(name), MAX_NAME_LENGTH) for name in world.names]
    properties = [name for name, places in signature.items() if places == 1]
    relations = [name for name, places in signature.items() if places > 1]
    head = [max(map(len, names)), *(1 + len(name) for name in properties)]
    left = WIDTH - sum(head) - 2 * (1 + len(head))
    width = max(12, left // max(1, len(relations)) - 2)
    if relations:
        yield _joined([*("" for _ in head), *(f"{name} to" for name in relations)], head, width)
    for place in range(len(names)):
        first = [names[place], *(_marked(world, name, (place,)) or "." for name in properties)]
        cells = [_wrapped(world, name, place, names, width) for name in relations]
        for line in range(max([1, *map(len, cells)])):
            rest = [cell[line] if line < len(cell) else "" for cell in cells]
            yield _joined([*(first if line == 0 else ("" for _ in head)), *rest], head, width)


def _printable(text: str) -> str:
    """Return the text with unprintable characters escaped, so that it stays in one line."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def _joined(cells: Sequence[str], head: Sequence[int], width: int) -> str:
    widths = [*head, *(width for _ in cells[len(head) :])]
    padded = (f"{cell:<{room}}" for cell, room in zip(cells, widths, strict=True))
    return ("  " + "  ".join(padded)).rstrip()


def _marked(world: World, name: str, at: tuple[int, ...]) -> str:
    if at in world.true[name]:
        return name
    return f"{name}?" if at in world.unknown.get(name, ()) else ""


def _wrapped(world: World, name: str, place: int, names: Sequence[str], width: int) -> list[str]:
    """Return the elements, or tuples of them, that follow the one at `place`, in lines."""
    atoms = [(at, "") for at in world.true[name]]
    atoms += [(at, "?") for at in world.unknown.get(name, ())]
    words = []
    for at, mark in sorted(atoms):
        if at[0] == place:
            rest = [names[other] for other in at[1:]]
            words.append((rest[0] if len(rest) == 1 else f"({','.join(rest)})") + mark)
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


WORLD_COUNT = 16
MAX_DRAWS = 10 * WORLD_COUNT


class Counts(NamedTuple):
    """The number of true, unknown and possible atoms (facts) of one predicate in one world.

    Args:
        true: the number of true atoms.
        unknown: the number of unknown atoms.
        possible: the number of all atoms that can be formed with the elements of the world.
    """

    true: int
    unknown: int
    possible: int


def sample_space(problem: Problem, seed: int) -> InputSet:
    """Return the sample space of a problem: pairs [world, element] of new random worlds.

    The result must not be modified.
    """
    signature: Mapping[str, int] = problem.public["theory"]["signature"]
    shown = [pair.input for pair in problem.shown]
    counted = [_counts(world, signature) for world in shown]
    rng = random.Random(f"abd space {seed} {problem.id}")
    found: dict[object, World] = {}
    for _ in range(MAX_DRAWS):
        names = shown[_below(rng, len(shown))]["domain"]
        models = {name: counted[_below(rng, len(shown))][name] for name in signature}
        world = _world(rng, f"S{len(found)}", names, models, signature)
        parts = (tuple(sorted(part.items())) for part in (world.true, world.unknown))
        found.setdefault((world.names, *parts), world)
        if len(found) == WORLD_COUNT:
            break
    inputs: list[Json] = []
    for world in found.values():
        drawn = world.as_json()
        inputs += [[drawn, name] for name in world.names]
    return InputSet(f"abd space of {problem.id}, seed {seed}", tuple(inputs))


def _counts(world: Json, signature: Mapping[str, int]) -> dict[str, Counts]:
    """Return the counts of each predicate in a world in its JSON form."""
    true, unknown = world["true"], world.get("unknown", {})
    return {
        name: Counts(
            len(true.get(name, ())), len(unknown.get(name, ())), len(world["domain"]) ** places
        )
        for name, places in signature.items()
    }


def _world(
    rng: random.Random,
    name: str,
    names: Sequence[str],
    models: Mapping[str, Counts],
    signature: Mapping[str, int],
) -> World:
    true: dict[str, Tuples] = {}
    unknown: dict[str, Tuples] = {}
    for predicate, places in signature.items():
        model = models[predicate]
        count = len(names) ** places
        sure = _in_proportion(model.true, model.possible, count)
        open_ = min(_in_proportion(model.unknown, model.possible, count), count - sure)
        drawn = _draw_numbers(rng, count, sure + open_)
        true[predicate] = _tuples(drawn[:sure], len(names), places)
        if open_:
            unknown[predicate] = _tuples(drawn[sure:], len(names), places)
    return World(name, tuple(names), true, unknown)


def _in_proportion(part: int, whole: int, of: int) -> int:
    """Return part / whole * of, rounded to an integer, halves up."""
    return (2 * part * of + whole) // (2 * whole)


def _below(rng: random.Random, count: int) -> int:
    return int(rng.random() * count)


def _draw_numbers(rng: random.Random, count: int, wanted: int) -> list[int]:
    """Return `wanted` different numbers below `count`, in the order drawn."""
    left = list(range(count))
    for place in range(wanted):
        other = place + _below(rng, count - place)
        left[place], left[other] = left[other], left[place]
    return left[:wanted]


def _tuples(numbers: Sequence[int], size: int, places: int) -> Tuples:
    atoms = _atoms(size, places)
    return tuple(atoms[number] for number in sorted(numbers))


@lru_cache(maxsize=16)
def _atoms(size: int, places: int) -> Tuples:
    """Return all atoms of a predicate, in order."""
    return tuple(product(range(size), repeat=places))
