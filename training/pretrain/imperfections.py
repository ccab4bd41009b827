"""Deliberate faults in the answers that a small proposer is taught, so that preferences have
something to teach: answers that cannot be read, that are wrong, that are undefined without need.

What is called malformed is so by the parser of the protocol itself; `narrowed` keeps an answer
right on the shown observations and leaves it without a prediction on many others.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from ...records import Json, Malformed, Observation
from ...tasks.programs.answers import read_answer
from ...tasks.programs.family import answer_text

# A condition on the input, and how a sentence says it.
_OF_LISTS = [(f"len(x) > {k}", f"more than {k} elements") for k in range(1, 7)]
_OF_LISTS += [(f"len(x) < {k}", f"fewer than {k} elements") for k in range(4, 10)]
_OF_LISTS += [("len(x) % 2 == 0", "an even length"), ("len(x) % 2 == 1", "an odd length")]
_OF_LISTS += [(f"max(x) > {k}", f"an element above {k}") for k in (5, 9, 20, 50)]
_OF_LISTS += [("x[0] > x[-1]", "a first element above its last"), ("x[0] % 2 == 0", "an even first element")]  # fmt: skip
_OF_SCENES = [(f"len(x) > {k}", f"more than {k} objects") for k in (1, 2, 3)]
_OF_SCENES += [(f"len(x) < {k}", f"fewer than {k} objects") for k in (3, 4, 5)]
_OF_GRIDS = [(f"g[0][0] == {k}", f"{k} in the first corner") for k in range(10)]
_OF_GRIDS += [(f"g[-1][-1] == {k}", f"{k} in the last corner") for k in range(10)]
_OF_GRIDS += [("any(g[0])", "a coloured first row"), ("any(g[-1])", "a coloured last row")]
_OF_GRIDS += [("not any(g[0])", "an empty first row"), ("not any(g[-1])", "an empty last row")]
_CONDITIONS = {"list_functions": _OF_LISTS, "acre": _OF_SCENES}
_NOUNS = {"list_functions": "lists", "acre": "scenes"}


def malformed(description: str, source: str, rng: random.Random) -> str:
    """An answer that the tolerant parser of `tuple` cannot read."""
    good = answer_text(description, source)
    head = good.index('", "def')
    ways = [
        good[: head + 3],  # the description alone
        good.replace("def f(", "f(", 1),
        good.replace("    return ", "    ", 1).replace("return ", "", 1),
        good.replace("):\\n", ")\\n", 1),
        good.replace("(", "", 1)[: len(good) // 2],
        good[: head + (len(good) - head) // 2],
        good.replace("\\n    ", "\\n", 1),
        description,
        good[: head + 1] + ")",
    ]
    rng.shuffle(ways)
    for said in ways:
        if isinstance(read_answer(said, "tuple"), Malformed):
            return said
    return description


def narrowed(
    task: str, description: str, source: str, shown: Sequence[Observation], rng: random.Random
) -> tuple[str, str] | None:
    """The same rule under a condition that holds of all shown inputs; None where none does."""
    name = source[len("def f(")]
    holding = [
        one for one in _CONDITIONS.get(task, _OF_GRIDS) if all(_holds(one[0], name, o.input) for o in shown)
    ]  # fmt: skip
    if not holding:
        return None
    code, says = rng.choice(holding)
    head, _, body = source.partition("\n")
    said = f"{description[:-1]}, for {_NOUNS.get(task, 'grids')} with {says}."
    return said, f"{head}\n    assert {code}\n{body}"


def _holds(code: str, name: str, given: Json) -> bool:
    try:
        return bool(eval(code, {}, {name: given}))  # a condition from above
    except (IndexError, ValueError):
        return False
