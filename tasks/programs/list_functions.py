"""Task `list_functions`: find an unknown function from lists of integers to lists of integers.

The task reads the published JSONL: one object per line with `idx`, `train` and `test`, whose values
are lists or strings such as `"[3, 4]"`. The task can also generate problems.

The sample space (the inputs to predict) follows GEAR's section 4.2 and has 14,101 lists: the empty
list, the 100 lists with one element, and 1,000 lists for each length from 2 to 15. Elements are
uniform in 0..99 and may repeat. The lists of one length are distinct. The published code draws
15,101 lists without repeated elements, on which "identity" and "remove duplicates" cannot be
distinguished. The lists with one element are in order, and all other lists of a length are in
random order. So the first n lists of a length are a random sample of that length.

A generated rule is a chain of one to three steps (`list_rules.py`), or a condition on the list with
one chain if the condition holds and another chain if it does not. A rule is kept only if the pairs
reveal all of it: leaving out a step or exchanging the chains changes the output. No output is huge,
the outputs vary, and few outputs equal their input. No two rules of a seed behave in the same way.
Problem k of a seed does not depend on the number of generated problems. `Problem.secret` holds the
rule as Python, its description and its number of steps.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial

from ...records import (
    Compute,
    DataError,
    InputSet,
    Json,
    Observation,
    Problem,
    digest_of,
)
from ...tools.workers.computing import compute_here
from ..io import observations as observations_
from ..io.bad_records import BadRecords
from ..io.json_text import parse_literal
from ..io.messages import shorten
from ..io.problem_lines import Row, parse_id, parse_pairs, parse_secret, read_problems
from .difficulty import KINDS
from .distinct_rules import draw_part, generate_distinct
from .list_rules import ParameterSampler, Step, guard_step, list_step, reduction_step

# --- generated problems ------------------------------------------------------------

SHOWN = HIDDEN = 8
LONGEST_OUTPUT = 25
LARGEST_OUTPUT = 999
CANDIDATES = 80  # inputs drawn for a rule, of which 16 are kept
ATTEMPTS = 2_000  # rules tried for one problem

Function = Callable[[list[int]], object]
Numbers = list[int]


@dataclass(frozen=True)
class Rule:
    """A rule on lists: a chain of steps, or a condition with one chain for each of its outcomes."""

    then: tuple[Step, ...]
    condition: Step | None = None
    otherwise: tuple[Step, ...] = ()

    @property
    def parts(self) -> tuple[Step, ...]:
        """All steps of the rule, including the condition."""
        return self.then + ((self.condition,) if self.condition else ()) + self.otherwise

    @property
    def source(self) -> str:
        """Python source of the rule, a function `f(x)`."""
        lines = ["def f(x):"]
        if self.condition is None:
            lines += _chain(self.then, "    ")
        else:
            lines += [f"    if {self.condition.code}:", *_chain(self.then, "        ")]
            lines += _chain(self.otherwise, "    ")
        return "\n".join(lines) + "\n"

    @property
    def description(self) -> str:
        """The rule in words, as one sentence."""
        said = _say(self.then)
        if self.condition is not None:
            said = f"if {self.condition.phrase}, {said}; otherwise {_say(self.otherwise)}"
        return said[0].upper() + said[1:] + "."


def _chain(steps: Sequence[Step], indent: str) -> list[str]:
    *first, last = steps
    return [f"{indent}x = {step.code}" for step in first] + [f"{indent}return {last.code}"]


def _say(steps: Sequence[Step]) -> str:
    return ", then ".join(step.phrase for step in steps)


def generate(count: int, seed: int, compute: Compute = compute_here) -> list[Problem]:
    """Generate `count` problems of the task `list_functions` from `seed`.

    Raises:
        UsageError: `count` is below 1.
    """
    function = "tasks.programs.list_functions:generate_part"
    return generate_distinct(count, compute, function, {"seed": seed}, partial(_draw_problem, seed))


def generate_part(request: Json) -> Json:
    """Return some of the problems of a seed, as `distinct_rules.generate_distinct` requests them."""
    return draw_part(request, partial(_draw_problem, request["seed"]))


def _draw_problem(seed: int, index: int, seen: Container[str]) -> tuple[Problem, list[str]]:
    examined: list[str] = []
    rng = random.Random(f"list problem {seed} {index}")
    for _ in range(ATTEMPTS):
        high = 9 if rng.random() < 0.45 else 99
        rule = _rule(ParameterSampler(rng, high))
        function = _compile(rule.source)
        behaviour = _behaviour(function)
        if behaviour is None or behaviour == _identity() or behaviour in seen:
            continue
        examined.append(behaviour)
        pairs = _varied_pairs(rule, function, rng, high)
        if pairs is None:
            continue
        name = f"gen{seed}-{index}"
        problem = Problem(
            id=name,
            task="list_functions",
            family="programs",
            shown=pairs[:SHOWN],
            hidden=pairs[SHOWN:],
            secret={
                "rule": rule.source,
                "description": rule.description,
                "steps": len(rule.parts),
            },
            group=name,
        )
        return problem, examined
    raise RuntimeError(f"no rule found for problem {index} of seed {seed}")


def _rule(draw: ParameterSampler) -> Rule:
    if draw.rng.random() < 0.2:
        condition = guard_step(draw)
        return Rule(_steps(draw, 1), condition, _steps(draw, 1 + int(draw.rng.random() < 0.3)))
    at = draw.rng.random()
    return Rule(_steps(draw, 1 if at < 0.3 else 2 if at < 0.8 else 3))


def _steps(draw: ParameterSampler, count: int) -> tuple[Step, ...]:
    last = reduction_step(draw) if draw.rng.random() < 0.25 else list_step(draw)
    return (*(list_step(draw) for _ in range(count - 1)), last)


def _compile(source: str) -> Function:
    """Compile the source of a rule; only sources of the catalogue come here, never a model's."""
    names: dict[str, Function] = {}
    exec(compile(source, "<rule>", "exec"), {}, names)
    return names["f"]


def _apply(function: Function, row: Numbers) -> Numbers | None:
    """Return the output of the rule, or None where it has no value for the list."""
    try:
        output = function(list(row))
    except (IndexError, ValueError, ZeroDivisionError):
        return None
    return output if isinstance(output, list) else None


# --- inputs -----------------------------------------------------------------------


def _row(rng: random.Random, high: int, constants: Sequence[int]) -> Numbers:
    at = rng.random()
    length = 0 if at < 0.04 else 1 if at < 0.1 else 2 + int(rng.random() * 9)
    few = [int(rng.random() * (high + 1)) for _ in range(2 + int(rng.random() * 3))]
    repeats = rng.random() < 0.35
    row = []
    for _ in range(length):
        if constants and rng.random() < 0.12:
            row.append(constants[int(rng.random() * len(constants))])
        elif repeats:
            row.append(few[int(rng.random() * len(few))])
        elif high > 9 and rng.random() < 0.3:
            row.append(int(rng.random() * 10))
        else:
            row.append(int(rng.random() * (high + 1)))
    return row


@cache
def _probes() -> tuple[Numbers, ...]:
    rng = random.Random("list rule probes")
    return tuple(_row(rng, high, ()) for high in (9, 99) for _ in range(30))


def _behaviour(function: Function) -> str | None:
    """Return a digest of the outputs on fixed lists, or None where over half are undefined."""
    outputs = [_apply(function, row) for row in _probes()]
    return None if 2 * outputs.count(None) > len(outputs) else digest_of(repr(outputs))


@cache
def _identity() -> str | None:
    return _behaviour(lambda row: row)


# --- pairs -------------------------------------------------------------------------


def _varied_pairs(
    rule: Rule, function: Function, rng: random.Random, high: int
) -> tuple[Observation, ...] | None:
    """Return 16 pairs in which every part of the rule shows, or None."""
    constants = [value for step in rule.parts for value in step.constants if value <= 99]
    drawn = {tuple(_row(rng, high, constants)): None for _ in range(CANDIDATES)}
    defined = [(list(row), _apply(function, list(row))) for row in drawn]
    pairs = [(row, output) for row, output in defined if output is not None]
    if rule.condition is not None:
        pairs = _balanced(pairs, _compile(f"def f(x):\n    return [{rule.condition.code}]\n"))
    pairs = pairs[: SHOWN + HIDDEN]
    if len(pairs) < SHOWN + HIDDEN or not _fit(pairs):
        return None
    for half in (pairs[:SHOWN], pairs[SHOWN:]):
        if not _varied(half):
            return None
    if not _every_part_shows(rule, pairs[:SHOWN]):
        return None
    return tuple(Observation(row, output) for row, output in pairs)


def _balanced(
    pairs: list[tuple[Numbers, Numbers]], condition: Function
) -> list[tuple[Numbers, Numbers]]:
    """Return pairs where the condition holds and where it does not in turn, as many of each."""
    cases: dict[bool, list[tuple[Numbers, Numbers]]] = {True: [], False: []}
    for row, output in pairs:
        holds = _apply(condition, row)
        if holds is not None:
            cases[bool(holds[0])].append((row, output))
    return [pair for both in zip(cases[True], cases[False], strict=False) for pair in both]


def _fit(pairs: Sequence[tuple[Numbers, Numbers]]) -> bool:
    return all(
        len(output) <= LONGEST_OUTPUT and all(0 <= value <= LARGEST_OUTPUT for value in output)
        for _, output in pairs
    )


def _varied(pairs: Sequence[tuple[Numbers, Numbers]]) -> bool:
    outputs = {tuple(output) for _, output in pairs}
    unchanged = sum(row == output for row, output in pairs)
    empty = sum(not output for _, output in pairs)
    return len(outputs) >= len(pairs) // 2 and unchanged <= 3 and empty <= 2


def _every_part_shows(rule: Rule, pairs: Sequence[tuple[Numbers, Numbers]]) -> bool:
    return all(
        sum(_apply(function, row) != output for row, output in pairs) >= 2
        for function in map(_compile, _lesser(rule))
    )


def _lesser(rule: Rule) -> list[str]:
    """Return the sources of the rule with one of its parts left out."""
    chains = [rule.then] if rule.condition is None else [rule.then, rule.otherwise]
    if rule.condition is not None:
        return [Rule(chain).source for chain in chains] + [
            Rule(rule.then, rule.condition, shorter).source for shorter in _shorter(rule.otherwise)
        ]
    return [Rule(shorter).source for shorter in _shorter(rule.then)]


def _shorter(steps: tuple[Step, ...]) -> list[tuple[Step, ...]]:
    if len(steps) == 1:
        return []
    return [steps[:i] + steps[i + 1 :] for i in range(len(steps))]


FILES = tuple(
    name + end for name in ("list_function.jsonl", "list_functions.jsonl") for end in ("", ".gz")
)


@dataclass(frozen=True)
class ListFunctions:
    """The task `list_functions`, with published or generated problems.

    Args:
        compute: where problems are generated.
    """

    compute: Compute = compute_here

    name = "list_functions"
    family = "programs"
    about = "a function from a list of integers to a list of integers (Rule 2020)"
    takes = "list_function.jsonl as published: a problem a line, its pairs under train and test"
    commands = (
        "peirce run list_functions --problems 12 --observations 4",
        "peirce run list_functions --data list_function.jsonl --sample 100 --observations 4",
        "peirce tasks show list_functions --problems 1",
    )
    files = FILES
    kinds = KINDS

    def load(self, path: str, observations: str | None, seed: int) -> list[Problem]:
        """Read published problems, or a user's problems in the published form, from a file."""
        loaded = read_problems(path, FILES, _problem)
        return loaded if observations is None else self.observe(loaded, observations, seed)

    def observe(self, problems: Sequence[Problem], observations: str, seed: int) -> list[Problem]:
        """Return the problems with other shown pairs, drawn at random or listed in a file."""
        return observations_.choose_observations(problems, observations, seed, _pair)

    def generate(self, count: int, seed: int) -> list[Problem]:
        """Generate `count` problems from `seed`."""
        return generate(count, seed, self.compute)

    def with_compute(self, compute: Compute) -> ListFunctions:
        """Return a copy that generates problems with `compute`."""
        return replace(self, compute=compute)

    def space(self, problem: Problem, seed: int) -> InputSet:
        """Return the sample space (the lists to predict), which is the same for all problems."""
        return sample_space(seed)

    def read_input(self, value: Json, where: str) -> Json:
        """Return a list from a sample space file after checking it.

        Args:
            value: the list.
            where: the location of the list, with which error messages begin.
        """
        return parse_integers(value, where)


def _problem(row: Row, where: str, bad: BadRecords) -> Problem:
    name = parse_id(row, where)
    return Problem(
        id=name,
        task=ListFunctions.name,
        family=ListFunctions.family,
        shown=_pairs(row, "train", where),
        hidden=_pairs(row, "test", where),
        secret=parse_secret(row, where, bad),
        group=name,
    )


def _pairs(row: Row, part: str, where: str) -> tuple[Observation, ...]:
    return tuple(
        _pair(pair["input"], pair["output"], place) for place, pair in parse_pairs(row, part, where)
    )


def _pair(given: Json, output: Json, where: str) -> Observation:
    return Observation(
        parse_integers(given, f"{where}.input"), parse_integers(output, f"{where}.output")
    )


def parse_integers(value: Json, where: str) -> Json:
    """Return a list of integers from `value`, which is a list or a text such as "[3, 4]".

    Args:
        value: the list or text.
        where: the location of `value`, with which error messages begin.

    Raises:
        DataError: `value` is not a list of integers.
    """
    found = parse_literal(value, where) if isinstance(value, str) else value
    if not isinstance(found, list) or any(type(item) is not int for item in found):
        raise DataError(f"{where}: must be a list of integers, not {shorten(value)}")
    return found


# --- the sample space ----------------------------------------------------------


def draw_stratum(
    rng: random.Random, length: int, low: int, high: int, count: int
) -> list[list[int]]:
    """Return `count` distinct random lists of a length, or all such lists if there are fewer.

    Only `Random.random` is used, because Python keeps its numbers stable across versions.

    Args:
        rng: the random number generator.
        length: the number of elements of each list.
        low: the smallest possible element.
        high: the largest possible element; elements are uniform in `low`..`high`.
        count: the number of lists.
    """
    width = high - low + 1
    if width**length <= count:
        whole: list[list[int]] = [[]]
        for _ in range(length):
            whole = [[*start, v] for start in whole for v in range(low, high + 1)]
        return whole
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < count:
        drawn.setdefault(tuple(low + int(rng.random() * width) for _ in range(length)))
    return [list(row) for row in drawn]


@lru_cache(maxsize=4)
def sample_space(seed: int) -> InputSet:
    """Return the sample space of 14,101 lists for a seed. The result is cached and must not be
    modified.

    The same seed gives the same lists on all machines.
    """
    rng = random.Random(f"list_functions space {seed}")
    rows: list[Json] = []
    for length in range(16):
        rows += draw_stratum(rng, length, 0, 99, 1_000)
    return InputSet(f"list_functions space, seed {seed}", tuple(rows))


TASK = ListFunctions()
