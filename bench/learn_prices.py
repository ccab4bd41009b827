"""Learn prices of the search on pairs from generated problems:
`OMP_NUM_THREADS=1 python bench/learn_prices.py [--seeds 12] [--held-out 6] [--json FILE]`.

The search on pairs (search/examples) prefers programs with a short description: the sum of the prices of
their operations and constants, which were first set by hand. This script learns by how many bits a price
should differ from that by hand:

1. For each kind of generated problem (tasks/custom/example_rules) and each seed it plants a rule,
   shows 1, 2, 3, 5 and 8 pairs, and searches with `--expansions`. It keeps all programs that were found,
   also far from the cheapest. The search tells programs apart on further inputs of the rule, so that rivals
   that agree on the shown pairs are not lost.
2. A program is right if it has the output of the rule on the 14 inputs of the problem and on 50 more.
3. A program with a description of b bits has a weight of 2^-b. The script maximises the log-probability of the
   right programs among those found, less a square penalty that pulls each price to that by hand.
4. It learns once without each eleventh of the kinds. A price changes only if all of these agree on the
   direction, and by the smallest of their changes, so that no single kind decides it.
5. The strength of the penalty is chosen by cross-validation over kinds: the log-probability in kinds that
   were not learnt from. If no strength is better there than the prices by hand, the table is empty.

It prints how often a right program is the cheapest, by hand and as learnt, for kinds that were held out and for
other seeds of the same kinds, and then the table, rounded to half bits, for `LEARNT` in
search/examples/prices.py. A program keeps the parts of its price that have no learnt figure (parts of the
input, fields, fitted constants).

To learn anew after operations or kinds were added: run the script (with one thread, as several are slower
for small matrices), paste the table into search/examples/prices.py, run tests/search/test_examples.py and
`python bench/strings.py FILE --half even --only search`, and commit prices.py if the latter has no loss.
The figures are the same in each run. The prices by hand are the starting point each time, whatever
`LEARNT` holds. With 35 kinds and 12 seeds, the script took 17 minutes of CPU time.

Not learnt: how the search enumerates. A right program that is not found within the budget teaches nothing.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from peirce.search.examples.constants import constants_of, halves
from peirce.search.examples.engine import Candidate
from peirce.search.examples.prices import (
    BY_HAND,
    LEARNT,
    LEAST,
    class_of_constant,
    count_prices,
)
from peirce.search.examples.search import Search
from peirce.tasks.custom.example_rules import HIDDEN, KINDS, SHOWN, apply_rule, plant
from table import Row, add_json_option, format_table, write_rows

PAIRS = (1, 2, 3, 5, 8)
FURTHER = 50  # inputs on which programs are judged, besides those of the problem
TOLD_APART = 10  # of them, on which the search tells programs apart
MARGIN = 10  # half bits
MOST = 200  # programs of a problem
PENALTIES = (0.5, 1.0, 2.0, 4.0)
FOLDS = 11
STEPS, SMALLEST_STEP = 20, 0.01  # bits
LARGEST_CHANGE = 3.0  # bits
Vector = NDArray[np.float64]


class Found(NamedTuple):
    """The programs that were found for one problem.

    Args:
        kind: the kind of the planted rule.
        pairs: how many pairs were shown.
        bits: the description length of each program by hand, (n,).
        counts: the operations and constants of each program.
        right: whether each program is right, (n,).
    """

    kind: str
    pairs: int
    bits: Vector
    counts: list[Counter[str]]
    right: NDArray[np.bool_]


def collect(kinds: Iterable[str], seeds: Iterable[int], expansions: float) -> list[Found]:
    """Search generated problems, and judge the programs that were found."""
    found = []
    for seed in seeds:
        for kind in kinds:
            rng = random.Random(f"prices {kind} {seed}")
            rule, inputs = plant(kind, rng, FURTHER)
            pairs = [[given, apply_rule(rule, given)] for given in inputs]
            own = SHOWN + HIDDEN
            told_apart = [*inputs[:own], *inputs[own : own + TOLD_APART]]
            found += [judge(kind, pairs, count, told_apart[count:], expansions) for count in PAIRS]
    return found


def judge(
    kind: str, pairs: Sequence[Sequence[Any]], count: int, further: Sequence[Any], expansions: float
) -> Found:
    """Search with the first `count` pairs, and judge the programs on all pairs."""
    search = Search(pairs[:count], expansions, margin=MARGIN, further=further)
    programs = search.run()[:MOST]
    counts = [count_prices(one) for one in programs]
    bits = [
        one.price / 2 - sum(n * LEARNT.get(name, 0.0) for name, n in counted.items())
        for one, counted in zip(programs, counts, strict=True)
    ]
    right = [Candidate(one.source(), one.price / 2).is_consistent(pairs) for one in programs]
    return Found(kind, count, np.array(bits), counts, np.array(right, bool))


class Table:
    """Problems whose programs are rows of one table, with a column for each name.

    Args:
        problems: those with both right and wrong programs teach something; others are left out.
        names: the operations and classes of constants.
    """

    def __init__(self, problems: Sequence[Found], names: Sequence[str]) -> None:
        some = [one for one in problems if one.right.any() and not one.right.all()]
        column = {name: place for place, name in enumerate(names)}
        sizes = [len(one.right) for one in some]
        self.first = np.cumsum([0, *sizes[:-1]])
        self.problem = np.repeat(np.arange(len(some)), sizes)
        self.bits = np.concatenate([one.bits for one in some]) if some else np.zeros(0)
        self.right = np.concatenate([one.right for one in some]) if some else np.zeros(0, bool)
        self.counts = np.zeros((len(self.bits), len(names)))
        for row, counted in enumerate(counted for one in some for counted in one.counts):
            for name, n in counted.items():
                self.counts[row, column[name]] = n

    def shares(
        self, changes: Vector, only: NDArray[np.bool_] | None = None
    ) -> tuple[Vector, Vector]:
        """Return the log-sum of weights of each problem, and each program's share of it."""
        scores = -np.log(2) * (self.bits + self.counts @ changes)
        if only is not None:
            scores = np.where(only, scores, -1e9)
        highest = np.maximum.reduceat(scores, self.first)
        weights = np.exp(scores - highest[self.problem])
        sums = np.add.reduceat(weights, self.first)
        return highest + np.log(sums), weights / sums[self.problem]

    def log_probabilities(self, changes: Vector) -> Vector:
        """Return the log-probability of the right programs of each problem."""
        return self.shares(changes, self.right)[0] - self.shares(changes)[0]


def lowest_changes(names: Sequence[str]) -> Vector:
    """Return the changes that leave each operation or constant its least price, where that is known."""
    by_hand = {one.name: one.price for one in BY_HAND}
    for kind, text, bits in constants_of([], []):
        name = class_of_constant(kind, text)
        by_hand[name] = min(bits, by_hand.get(name, bits))
    bounds = [LEAST / 2 - by_hand.get(name, np.inf) for name in names]
    return np.maximum(bounds, -LARGEST_CHANGE)


def learn(table: Table, penalty: float, lowest: Vector) -> Vector:
    """Return the changes of prices, in bits: Newton's method with the curvature of the sum of all weights.

    That curvature is at least the true one, so each step gains. Changes stay within `lowest` and
    `LARGEST_CHANGE`.
    """
    size = table.counts.shape[1]
    changes = np.zeros(size)
    if not len(table.bits):
        return changes
    scale = np.log(2)
    for _ in range(STEPS):
        _, among_all = table.shares(changes)
        _, among_right = table.shares(changes, table.right)
        slope = scale * table.counts.T @ (among_right - among_all) + penalty * changes
        means = np.add.reduceat(among_all[:, None] * table.counts, table.first)
        spread = (table.counts * among_all[:, None]).T @ table.counts - means.T @ means
        curvature = scale**2 * spread + penalty * np.eye(size)
        free = ~((changes <= lowest) & (slope > 0)) & ~((changes >= LARGEST_CHANGE) & (slope < 0))
        before = changes.copy()
        changes[free] -= np.linalg.solve(curvature[np.ix_(free, free)], slope[free])
        changes = np.clip(changes, lowest, LARGEST_CHANGE)
        if np.abs(changes - before).max() < SMALLEST_STEP:
            break
    return changes


def split(problems: Sequence[Found]) -> Iterator[tuple[list[Found], list[Found]]]:
    """Yield the problems without some of the kinds, and those of these kinds; each kind once."""
    kinds = list(dict.fromkeys(one.kind for one in problems))
    folds = min(FOLDS, len(kinds))
    for fold in range(folds):
        held = set(kinds[fold::folds])
        yield (
            [one for one in problems if one.kind not in held],
            [one for one in problems if one.kind in held],
        )


def learn_what_kinds_share(
    problems: Sequence[Found], names: Sequence[str], penalty: float
) -> Vector:
    """Return the smallest changes that are learnt without some of the kinds; 0 where their signs differ."""
    lowest = lowest_changes(names)
    learnt = np.array([learn(Table(rest, names), penalty, lowest) for rest, _ in split(problems)])
    agree = (np.sign(learnt) == np.sign(learnt[0])).all(axis=0)
    return np.where(agree, np.sign(learnt[0]) * np.abs(learnt).min(axis=0), 0.0)


def count_first(problems: Sequence[Found], changes: dict[str, float]) -> Counter[int]:
    """Return for how many problems with each number of pairs the cheapest program is right."""
    first: Counter[int] = Counter()
    for one in problems:
        bits = [
            b + sum(n * changes.get(name, 0.0) for name, n in counted.items())
            for b, counted in zip(one.bits, one.counts, strict=True)
        ]
        first[one.pairs] += bool(bits) and bool(one.right[int(np.argmin(np.round(bits, 6)))])
    return first


def as_half_bits(names: Sequence[str], changes: Vector) -> dict[str, float]:
    """Return the changes that are not 0 when rounded to half bits."""
    rounded = {name: halves(value) / 2 for name, value in zip(names, changes, strict=True)}
    return {name: value for name, value in rounded.items() if value}


def hold_out_kinds(
    problems: Sequence[Found], names: Sequence[str], penalty: float
) -> tuple[float, Counter[int]]:
    """Return the mean log-probability of the right programs in held-out kinds, and `count_first` there."""
    gained: list[Vector] = []
    first: Counter[int] = Counter()
    for rest, held in split(problems):
        changes = learn_what_kinds_share(rest, names, penalty)
        table = Table(held, names)
        if len(table.bits):
            gained.append(table.log_probabilities(changes))
        first.update(count_first(held, as_half_bits(names, changes)))
    return float(np.concatenate(gained).mean()), first


def choose_penalty(
    problems: Sequence[Found], names: Sequence[str]
) -> tuple[float | None, Counter[int], list[list[str]]]:
    """Return the penalty that is best in held-out kinds, `count_first` there, and a table for people.

    The penalty is None if the prices by hand are better than all learnt ones.
    """
    by_hand = np.zeros(len(names))
    best: tuple[float, float | None, Counter[int]] = (
        float(Table(problems, names).log_probabilities(by_hand).mean()),
        None,
        count_first(problems, {}),
    )
    rows = [["by hand", f"{best[0]:.3f}", f"{best[2].total()}"]]
    for penalty in PENALTIES:
        value, first = hold_out_kinds(problems, names, penalty)
        rows.append([f"{penalty:g}", f"{value:.3f}", f"{first.total()}"])
        if value > best[0]:
            best = (value, penalty, first)
    return best[1], best[2], rows


def main() -> None:
    """Learn, and print figures and the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=12, help="problems of each kind to learn from")
    parser.add_argument("--held-out", type=int, default=6, help="further problems of each kind")
    parser.add_argument("--expansions", type=float, default=10_000)
    add_json_option(parser)
    options = parser.parse_args()
    problems = collect(KINDS, range(options.seeds), options.expansions)
    others = collect(KINDS, range(1_000, 1_000 + options.held_out), options.expansions)
    names = sorted({name for one in problems for counted in one.counts for name in counted})
    penalty, in_kinds, rows = choose_penalty(problems, names)
    print(format_table(("penalty", "log-probability in held-out kinds", "right first"), rows))
    learnt = {}
    if penalty is not None:
        learnt = as_half_bits(names, learn_what_kinds_share(problems, names, penalty))
    sets = (
        ("kinds held out", problems, count_first(problems, {}), in_kinds),
        ("other seeds", others, count_first(others, {}), count_first(others, learnt)),
    )
    figures = []
    for title, some, before, after in sets:
        for pairs in PAIRS:
            size = sum(one.pairs == pairs for one in some)
            found = sum(one.pairs == pairs and bool(one.right.any()) for one in some)
            figures.append(
                Row(f"right first, {title}, pairs shown: {pairs}", after[pairs] / max(size, 1),
                    "share", "higher", before[pairs] / max(size, 1), "prices by hand")
            )  # fmt: skip
            print(f"{title}, {pairs} shown: first {before[pairs]} by hand, {after[pairs]} learnt;"
                  f" found {found} of {size}")  # fmt: skip
    print("LEARNT: dict[str, float] = {")
    for name, value in learnt.items():
        print(f"    {name!r}: {value},")
    print("}")
    write_rows(options.json, figures)


if __name__ == "__main__":
    main()
