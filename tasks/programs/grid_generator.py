"""Generate grid problems for `mini_arc` and `arc`: rules of one to three steps, applied to
pictures.

For `mini_arc` all grids are 5 by 5, with three shown and three hidden pairs. For `arc` the inputs
have 3 to 15 rows and columns, with three or four shown pairs and one or two hidden pairs. A rule is
kept only if the pairs determine it:

- every output differs from its input, and the outputs vary and are not empty;
- leaving out a step of the rule changes at least two shown outputs;
- no one-step rule that explains the shown pairs predicts another output for a hidden pair.

No two rules of a seed behave in the same way. Problem k of a seed does not depend on the number of
generated problems. `Problem.secret` holds the rule as Python, its description and its number of
steps.

There is one function for each kind of picture. It draws a random picture on a background of 0. A
picture depends only on the random number generator, the size and the palette.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial

from ...records import Compute, Json, Observation, Problem, digest_of
from ...tools.workers.computing import compute_here
from .distinct_rules import draw_part, generate_distinct
from .grid_resizing import SIZE_CHANGING_STEPS
from .grid_rules import SIZE_KEEPING_STEPS, ParameterSampler, Step
from .grid_values import MAX_GRID_SIZE, Grid, is_grid

CANDIDATES = 24  # pictures drawn for a rule
ATTEMPTS = 2_000  # rules tried for one problem
RIVAL_DRAWS = 400  # drawn one-step rules from which the shown pairs must distinguish a rule
EXTRA_INPUTS = 500  # pictures added to the inputs of the problems in the sample space

Function = Callable[[Grid], Grid]


@dataclass(frozen=True)
class ProblemSize:
    """Ranges for the size of grids and the number of pairs in the generated problems of a task.

    Args:
        low: the minimum number of rows and columns of an input.
        high: the maximum number of rows and columns of an input.
        shown: the minimum and maximum number of shown pairs.
        hidden: the minimum and maximum number of hidden pairs.
        any_size: whether rules may contain steps that change the size of the grid.
    """

    low: int
    high: int
    shown: tuple[int, int]
    hidden: tuple[int, int]
    any_size: bool


PROBLEM_SIZES = {
    "mini_arc": ProblemSize(5, 5, (3, 3), (3, 3), any_size=False),
    "arc": ProblemSize(3, 15, (3, 4), (1, 2), any_size=True),
}


@dataclass(frozen=True)
class Rule:
    """A rule on grids: a sequence of steps, available as a Python function and as a sentence."""

    steps: tuple[Step, ...]

    @property
    def source(self) -> str:
        """Python source of the rule, a function `f(g)`."""
        return self._source("")

    @property
    def bounded_source(self) -> str:
        """Python source of the rule that raises `ValueError` instead of squaring a large grid.

        Two fractal steps would turn an input of 15 by 15 into billions of cells.
        """
        return self._source(f"if len(g) * len(g[0]) > {MAX_GRID_SIZE**2}: raise ValueError")

    def _source(self, before_squaring: str) -> str:
        parts = [
            part for one in self.steps
            for part in (before_squaring if one.kind == "fractal" else "", one.code)
        ]  # fmt: skip
        lines = [line for part in parts for line in part.split("\n") if line]
        return "\n".join(["def f(g):", *("    " + line for line in lines), "    return g", ""])

    @property
    def description(self) -> str:
        """The steps in words, as one sentence."""
        said = ", then ".join(one.phrase for one in self.steps)
        return said[0].upper() + said[1:] + "."

    def drop_step(self, index: int) -> Rule:
        """Return a copy of the rule without the step at `index`."""
        return Rule(self.steps[:index] + self.steps[index + 1 :])


def generate(task: str, count: int, seed: int, compute: Compute = compute_here) -> list[Problem]:
    """Generate `count` problems of the task "mini_arc" or "arc".

    Raises:
        UsageError: `count` is below 1.
    """
    function, request = "tasks.programs.grid_generator:generate_part", {"task": task, "seed": seed}
    return generate_distinct(count, compute, function, request, partial(_draw_problem, task, seed))


def generate_part(request: Json) -> Json:
    """Return some of the problems of a seed, as `distinct_rules.generate_distinct` requests them."""
    return draw_part(request, partial(_draw_problem, request["task"], request["seed"]))


def draw_inputs(task: str, seed: int, count: int = EXTRA_INPUTS) -> list[Grid]:
    """Return `count` random pictures of all kinds, with the grid sizes of the task."""
    rng = random.Random(f"{task} inputs {seed}")
    kinds, shape = list(PICTURE_KINDS), PROBLEM_SIZES[task]
    made: list[Grid] = []
    for index in range(count):
        palette = ParameterSampler(rng).sample_colours(1 + int(rng.random() * 4))
        made.append(draw_picture(kinds[index % len(kinds)], rng, *_size(rng, shape), palette))
    return made


def _step(draw: ParameterSampler, any_size: bool) -> Step:
    """Draw a step of the catalogue; unless `any_size`, one that keeps the size of the grid."""
    kinds = SIZE_KEEPING_STEPS
    if any_size and draw.rng.random() < 0.4:
        kinds = SIZE_CHANGING_STEPS
    return kinds[draw.randint(0, len(kinds) - 1)](draw)


def _size(rng: random.Random, shape: ProblemSize) -> tuple[int, int]:
    """Draw a height and a width; small ones are more frequent than large ones."""
    span = shape.high - shape.low + 1
    height = shape.low + int(rng.random() * rng.random() * span)
    width = shape.low + int(rng.random() * rng.random() * span)
    return height, width


def _draw_problem(
    task: str, seed: int, index: int, seen: Container[str]
) -> tuple[Problem, list[str]]:
    rng = random.Random(f"{task} problem {seed} {index}")
    shape = PROBLEM_SIZES[task]
    for _ in range(ATTEMPTS):
        at = rng.random()
        steps = 1 if at < 0.45 else 2 if at < 0.85 else 3
        rule = Rule(tuple(_step(ParameterSampler(rng), shape.any_size) for _ in range(steps)))
        function = _compile(rule.bounded_source)
        pairs = _pairs(rule, function, rng, shape)
        if pairs is None:
            continue
        behaviour = _behaviour(function)
        if behaviour is None or behaviour == _identity() or behaviour in seen:
            continue
        name = f"gen{seed}-{index}"
        problem = Problem(
            id=name,
            task=task,
            family="programs",
            shown=pairs[0],
            hidden=pairs[1],
            secret={"rule": rule.source, "description": rule.description, "steps": steps},
            group=name,
        )
        return problem, [behaviour]
    raise RuntimeError(f"no rule found for problem {index} of seed {seed}")


@lru_cache(maxsize=4_096)
def _compile(source: str) -> Function:
    """Compile the source of a rule; only sources of the catalogue come here, never a model's."""
    names: dict[str, Function] = {}
    exec(compile(source, "<rule>", "exec"), {}, names)
    return names["f"]


def _apply(function: Function, grid: Grid) -> Grid | None:
    """Return the output of the rule, or None where it has no valid grid as its output."""
    try:
        output = function([row[:] for row in grid])
    except (IndexError, ValueError):
        return None
    return output if is_grid(output) and max(len(output), len(output[0])) <= MAX_GRID_SIZE else None


@cache
def _probes() -> tuple[Grid, ...]:
    return tuple(draw_inputs("mini_arc", 0, 24) + draw_inputs("arc", 0, 24))


def _behaviour(function: Function) -> str | None:
    """Return a digest of the outputs on fixed grids, or None where over half are undefined."""
    outputs = [_apply(function, grid) for grid in _probes()]
    return None if 2 * outputs.count(None) > len(outputs) else digest_of(repr(outputs))


@cache
def _identity() -> str | None:
    return _behaviour(lambda grid: grid)


@cache
def _rivals(any_size: bool) -> tuple[Function, ...]:
    """Return the distinct one-step rules among `RIVAL_DRAWS` draws, nearly the whole catalogue."""
    draw = ParameterSampler(random.Random("rivals"))
    return tuple(
        _compile(source)
        for source in dict.fromkeys(
            Rule((_step(draw, any_size),)).source for _ in range(RIVAL_DRAWS)
        )
    )


# --- pairs -------------------------------------------------------------------------


def _pairs(
    rule: Rule, function: Function, rng: random.Random, shape: ProblemSize
) -> tuple[tuple[Observation, ...], tuple[Observation, ...]] | None:
    """Return shown and hidden pairs in which every step of the rule shows, or None."""
    shown = ParameterSampler(rng).randint(*shape.shown)
    wanted = shown + ParameterSampler(rng).randint(*shape.hidden)
    kind = ParameterSampler(rng).choice(rule.steps[0].pictures)
    colours = tuple(dict.fromkeys(c for one in rule.steps for c in one.colours))
    one_size = _size(rng, shape) if rng.random() < 0.5 else None
    pairs: list[tuple[Grid, Grid]] = []
    for tried in range(CANDIDATES):
        palette = [*colours, *ParameterSampler(rng).sample_colours(1 + int(rng.random() * 3))]
        given = draw_picture(kind, rng, *(one_size or _size(rng, shape)), palette)
        output = _apply(function, given)
        shows = output is not None and output != given and any(map(any, output))
        if output is not None and shows and all(given != other for other, _ in pairs):
            pairs.append((given, output))
        if len(pairs) == wanted or (tried == CANDIDATES // 3 and len(pairs) < 2):
            break
    if len(pairs) < wanted or not _is_identifiable(rule, pairs, shown):
        return None
    if not _excludes_rivals(pairs, shown, shape.any_size):
        return None
    made = [Observation(given, output) for given, output in pairs]
    return tuple(made[:shown]), tuple(made[shown:])


def _is_identifiable(rule: Rule, pairs: Sequence[tuple[Grid, Grid]], shown: int) -> bool:
    """Return whether the outputs vary and every step changes at least two of the shown outputs."""
    outputs = {repr(output) for _, output in pairs}
    if 2 * len(outputs) < len(pairs) or len({repr(o) for _, o in pairs[:shown]}) < 2:
        return False
    for index in range(len(rule.steps)) if len(rule.steps) > 1 else ():
        lesser = _compile(rule.drop_step(index).bounded_source)
        if sum(_apply(lesser, given) != output for given, output in pairs[:shown]) < 2:
            return False
    return True


def _excludes_rivals(pairs: Sequence[tuple[Grid, Grid]], shown: int, any_size: bool) -> bool:
    """Return whether no one-step rule explains the shown pairs and fails on a hidden one."""
    for rival in _rivals(any_size):
        if all(_apply(rival, given) == output for given, output in pairs[:shown]) and any(
            _apply(rival, given) != output for given, output in pairs[shown:]
        ):
            return False
    return True


Rows = list[list[int]]
Cell = tuple[int, int]


class Canvas:
    """A grid on which random pictures are drawn, with a random number generator."""

    def __init__(self, rng: random.Random, height: int, width: int, palette: Sequence[int]) -> None:
        self.rng = rng
        self.height = height
        self.width = width
        self.palette = palette
        self.grid: Rows = [[0] * width for _ in range(height)]

    def randbelow(self, limit: int) -> int:
        """Return an integer drawn uniformly from 0 to `limit` - 1."""
        return int(self.rng.random() * limit)

    def randint(self, low: int, high: int) -> int:
        """Return an integer drawn uniformly from `low` to `high`, both included."""
        return low + self.randbelow(max(high, low) - low + 1)

    def random_colour(self) -> int:
        """Return a random colour of the palette; all colours are equally likely."""
        return self.palette[self.randbelow(len(self.palette))]

    @property
    def area(self) -> int:
        """Number of cells of the grid."""
        return self.height * self.width

    def neighbours(self, cell: Cell, diagonal: bool = True) -> list[Cell]:
        """Return the neighbours of a cell within the grid, with or without diagonal neighbours."""
        i, j = cell
        steps = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]
        return [
            (i + a, j + b)
            for a, b in steps
            if (diagonal or not (a and b)) and 0 <= i + a < self.height and 0 <= j + b < self.width
        ]

    def is_free(self, cells: Sequence[Cell]) -> bool:
        """Return whether the cells and all their neighbours have the background colour."""
        near = {one for cell in cells for one in (cell, *self.neighbours(cell))}
        return not any(self.grid[i][j] for i, j in near)

    def paint(self, cells: Sequence[Cell], colour: int | None = None) -> bool:
        """Paint the cells if they are free, and return whether they were painted.

        Args:
            cells: the cells to paint.
            colour: the colour for all cells; None for a random colour.
        """
        if not self.is_free(cells):
            return False
        colour = self.random_colour() if colour is None else colour
        for i, j in cells:
            self.grid[i][j] = colour
        return True

    def random_blob(self, size: int) -> list[Cell]:
        """Return a random connected set of at most `size` cells. The cells are not painted."""
        cells = [(self.randbelow(self.height), self.randbelow(self.width))]
        for _ in range(4 * size):
            if len(cells) == size:
                break
            near = self.neighbours(cells[self.randbelow(len(cells))], diagonal=False)
            if near and (cell := near[self.randbelow(len(near))]) not in cells:
                cells.append(cell)
        return cells

    def random_box(self, low: int) -> list[Cell]:
        """Return the cells of a random rectangle. The cells are not painted.

        The rectangle is at least `low` by `low` if the grid is large enough.
        """
        high = self.randint(min(low, self.height), min(self.height, low + 3))
        wide = self.randint(min(low, self.width), min(self.width, low + 3))
        top, left = self.randbelow(self.height - high + 1), self.randbelow(self.width - wide + 1)
        return [(i, j) for i in range(top, top + high) for j in range(left, left + wide)]


def draw_noise(canvas: Canvas) -> None:
    """Colour random cells; the probability of a cell is a random number between 0.25 and 0.65."""
    density = 0.25 + 0.4 * canvas.rng.random()
    for row in canvas.grid:
        for j in range(canvas.width):
            if canvas.rng.random() < density:
                row[j] = canvas.random_colour()


def draw_full(canvas: Canvas) -> None:
    """Give every cell of the canvas a random colour."""
    for row in canvas.grid:
        row[:] = [canvas.random_colour() for _ in row]


def draw_dots(canvas: Canvas) -> None:
    """Colour a few single cells."""
    for _ in range(canvas.randint(2, 2 + canvas.area // 12)):
        canvas.grid[canvas.randbelow(canvas.height)][canvas.randbelow(canvas.width)] = (
            canvas.random_colour()
        )


def draw_blobs(canvas: Canvas) -> None:
    """Draw connected objects that do not touch each other."""
    for _ in range(3 * canvas.randint(2, 2 + canvas.area // 25)):
        canvas.paint(canvas.random_blob(canvas.randint(1, 3 + canvas.area // 25)))


def draw_object(canvas: Canvas) -> None:
    """Draw one connected object in one colour, in which at most one cell has another colour."""
    cells = canvas.random_blob(canvas.randint(3, 4 + canvas.area // 15))
    for i, j in cells:
        canvas.grid[i][j] = canvas.palette[0]
    if canvas.rng.random() < 0.5:
        i, j = cells[-1]
        canvas.grid[i][j] = canvas.random_colour()


def draw_rectangles(canvas: Canvas) -> None:
    """Draw filled rectangles that do not touch each other."""
    for _ in range(canvas.randint(1, 2 + canvas.area // 25)):
        canvas.paint(canvas.random_box(canvas.randint(2, 3)))


def draw_boxes(canvas: Canvas) -> None:
    """Draw hollow rectangles, a fifth of which have a gap."""
    for _ in range(canvas.randint(1, 2 + canvas.area // 20)):
        cells = canvas.random_box(3)
        if not canvas.is_free(cells):
            continue
        rows, columns = {i for i, _ in cells}, {j for _, j in cells}
        rim = [(i, j) for i, j in cells
               if i in (min(rows), max(rows)) or j in (min(columns), max(columns))]  # fmt: skip
        if canvas.rng.random() < 0.2:
            rim.pop(canvas.randbelow(len(rim)))
        colour = canvas.random_colour()
        for i, j in rim:
            canvas.grid[i][j] = colour


def draw_noisy_rectangles(canvas: Canvas) -> None:
    """Draw filled rectangles and single cells that are not part of a rectangle."""
    draw_rectangles(canvas)
    for _ in range(2 + canvas.area // 8):
        canvas.paint([(canvas.randbelow(canvas.height), canvas.randbelow(canvas.width))])


PICTURE_KINDS: dict[str, Callable[[Canvas], None]] = {
    "noise": draw_noise,
    "full": draw_full,
    "dots": draw_dots,
    "blobs": draw_blobs,
    "object": draw_object,
    "rectangles": draw_rectangles,
    "boxes": draw_boxes,
    "noisy": draw_noisy_rectangles,
}


def draw_picture(
    kind: str, rng: random.Random, height: int, width: int, palette: Sequence[int]
) -> Rows:
    """Return a random picture of a kind, as a list of rows.

    Args:
        kind: a key of `PICTURE_KINDS`.
        rng: the random number generator.
        height: number of rows, at least 1.
        width: number of columns, at least 1.
        palette: the colours to use, at least one, each from 1 to 9.
    """
    canvas = Canvas(rng, height, width, palette)
    PICTURE_KINDS[kind](canvas)
    return canvas.grid
