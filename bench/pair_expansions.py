"""The embedded search on pairs beside a plain enumeration of the same grammar:
`python bench/pair_expansions.py [FILE] [--problems N] [--expansions N] [--json FILE]`.

Both enumerate by price the programs of the grammar in search/examples, with its prices and constants,
and leave out the operations that lead to no value of the output's kind. The plain enumeration takes each
program by itself: it evaluates the whole program on each shown input, and no two programs are ever one
for having the same values. A quicker one keeps the values of all programs, and evaluates one operation on
those of its arguments. The search keeps one expression for each behaviour, on the shown inputs and on
varied ones, and skips arguments for which the value is known. Measured per problem, with processor time
of this process:

- programs a second: evaluations of each.
- programs decided a second: the plain enumerations stop at `--expansions` programs, and the search gets
  to the same price; the programs of a plain enumeration are divided by the time of each.

FILE has problems as the task `examples` reads them; without it, the task generates problems. `--half`
takes the problems at even or odd places.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from itertools import chain, product
from statistics import median
from typing import Any

from peirce.search.budget import Budget
from peirce.search.examples.bank import MAX_PRICE, Bank
from peirce.search.examples.expressions import UNDEFINED, Expression
from peirce.search.examples.grammar import RAISED
from peirce.search.examples.search import without_collector
from peirce.search.examples.variation import vary
from strings import read_problems
from table import Row, add_json_option, format_table, write_rows

AIM = 20.0


class PlainBank(Bank):
    """An enumeration that evaluates each program on each shown input and merges none."""

    keeps_values = False

    def _apply_all(self, operation: Any, levels: Any) -> bool:
        for arguments in chain.from_iterable(product(*some) for some in levels):
            one = Expression(self.price, (), operation, arguments)
            values = tuple(self._value(one, place) for place in range(self.shown))
            if UNDEFINED not in values:
                made = Expression(self.price, values, operation, arguments)
                self.levels.setdefault(operation.gives, {}).setdefault(self.price, []).append(made)
            if not self.budget.charge(1):
                return False
        return True

    def _value(self, one: Expression, place: int) -> Any:
        if one.operation is None:
            return one.values[place]
        if self.keeps_values:
            values = [part.values[place] for part in one.arguments]
        else:
            values = [self._value(part, place) for part in one.arguments]
        try:
            return UNDEFINED if UNDEFINED in values else one.operation.function(*values)
        except RAISED:
            return UNDEFINED


class KeepingBank(PlainBank):
    """A plain enumeration that evaluates one operation on the stored values of its arguments."""

    keeps_values = True


def enumerate_plainly(
    pairs: Sequence[tuple[Any, Any]], expansions: float, kind: type[PlainBank] = PlainBank
) -> tuple[float, float, int]:
    """Return the programs, the seconds and the price up to which all programs were enumerated."""
    budget = Budget(math.inf)
    bank = kind([a for a, _ in pairs], [b for _, b in pairs], budget)
    begin = time.process_time()
    with without_collector():
        while budget.spent < expansions and bank.grow():
            pass
    return budget.spent, time.process_time() - begin, bank.price


def enumerate_behaviours(pairs: Sequence[tuple[Any, Any]], price: int) -> tuple[float, float]:
    """Return the expansions and the seconds of the search to get to a price."""
    budget = Budget(math.inf)
    inputs = [a for a, _ in pairs]
    bank = Bank([*inputs, *vary(inputs)], [b for _, b in pairs], budget)
    begin = time.process_time()
    with without_collector():
        while bank.price < min(price, MAX_PRICE) and bank.grow():
            pass
    return budget.spent, time.process_time() - begin


def _row(
    work: str, measured: Sequence[Sequence[float]], place: int, aim: float | None = None
) -> Row:
    """Return the medians of the search and of the plain enumeration at a place of each row."""
    now, reference = (median(one[k] for one in measured) for k in (0, place))
    return Row(work, now, "/s", "higher", reference, "plain enumeration", aim, "ratio")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("file", nargs="?")
    parser.add_argument("--problems", type=int, default=20)
    parser.add_argument("--half", choices=("even", "odd"))
    parser.add_argument("--expansions", type=float, default=100_000)
    add_json_option(parser)
    options = parser.parse_args()
    rates, decided = [], []
    for problem in read_problems(options.file, options.half)[: options.problems]:
        pairs = [(one.input, one.output) for one in problem.shown]
        programs, plain, price = enumerate_plainly(pairs, options.expansions)
        _, keeping, _ = enumerate_plainly(pairs, options.expansions, KeepingBank)
        spent, taken = enumerate_behaviours(pairs, price)
        if min(plain, keeping, taken) > 0:
            rates.append((spent / taken, programs / plain))
            decided.append((programs / taken, programs / plain, programs / keeping))
    rows = [
        _row("programs evaluated a second", rates, 1),
        _row("programs decided a second", decided, 1, AIM),
        _row("programs decided a second, values kept", decided, 2),
    ]
    ratios = sorted(search / plain for search, plain, _ in decided)
    print(f"{len(rates)} problems; times as many programs decided in the same time: median"
          f" {median(ratios):.1f}, from {ratios[0]:.1f} to {ratios[-1]:.1f}")  # fmt: skip
    body = [[r.work, f"{r.now:,.0f}", f"{r.reference:,.0f}", f"{r.ratio:.1f}"] for r in rows]
    print(format_table(("measured", "search", "plain enumeration", "ratio"), body))
    write_rows(options.json, rows)


if __name__ == "__main__":
    main()
