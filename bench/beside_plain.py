"""The embedded search of list functions beside a plain enumeration, for `bench/search.py --plain`.

A candidate of the enumeration is a program that it evaluates on the shown inputs. Of the search two
counts are given. *Evaluated*: programs of its bank, which it evaluates many at a time but compares and
enters one by one, computed integers, and terms and predicates, each a row that numpy evaluates on all
elements of the shown lists. *Decided*, by what
the budget was charged: a program of the bank is one, and so is each that an array
operation compares with the outputs (the map of a term, the filter of a predicate or of two joined, the
list up to where one holds, the count of what passes, ...), `Budget.VECTOR` of them an expansion where
`WEIGHTS` says no other, and in bundles of lists each row that is compared with what is wanted. The second is the count that is comparable: the enumeration evaluates each of those for itself, and parts
(terms and predicates) count for neither. It is cautious: of the pairs of a test and a term for
conditional maps, charged by 4,096, only 64 an expansion count; operands that are looked up, and
programs asked again whether they are right on some of the pairs, do not count at all.

For each problem and budget the search is asked for its first answer, and then goes on to the end of
the budget; the enumeration gets as many seconds as that took. Both run in this process, and seconds are
of CPU, since cores may be shared.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import fmean
from typing import Any, NamedTuple

from peirce.sandbox.inside.canonical import Unrepresentable, code_of
from peirce.search.budget import Budget
from peirce.search.lists import elements
from peirce.search.lists import engine as lists
from peirce.search.lists.bank import Bank
from peirce.search.lists.conditionals import Bundle
from peirce.tasks import judgeable_pairs
from plain_enumeration import enumerate_plainly, whole_texts
from table import Row

AIM = 20.0  # candidates a second, as a multiple of the plain enumeration's
WARM_S = 0.3  # on a first problem, uncounted: operations are compiled once a process


class Searched(NamedTuple):
    text: str | None
    first_s: float
    all_s: float
    evaluated: int
    decided: float


# How many programs one expansion decides, by who charges it; one where it is not said here.
VECTORS = (
    "build_terms", "_sums", "find_map_ifs", "find_filters", "_filter_pairs", "find_map_filters", "find_repeats", "find_cuts", "add_counts",
    "solve_partitioned", "_pairs",
)  # fmt: skip
WEIGHTS = dict.fromkeys(VECTORS, float(Budget.VECTOR))
WEIGHTS["find_sorts"] = 4.0  # each is charged a quarter of an expansion
WEIGHTS["find_map_filters"] *= 4  # by a quarter each
WEIGHTS["_filter_pairs"] /= 2  # a pair stands there twice
WEIGHTS["_pairs"] = 0.0  # of integers: the same ones are asked for again for each part of a goal
# Parts of programs; programs decided before, on some pairs; look-ups; charged by an inner search.
WEIGHTS |= dict.fromkeys(
    (
        "build_masks",
        "find_partial_solutions",
        "solve_peeled",
        "find_edits",
        "find_slices",
        "_branches",
    ),
    0.0,
)


class Counts:
    evaluated = 0
    decided = 0.0


# Of a bundle, which charges a whole list: what each of its methods compares for it.
BUNDLES: dict[str, Callable[..., int]] = {
    "_maps": lambda bundle, k, base, target: len(bundle.elements.build_terms(target)),
    "_filters": lambda bundle, *given: len(bundle.elements.build_masks()),
    "_picked": lambda bundle, *given: 6 * len(bundle.elements.build_masks()),  # count and sum too
}
WEIGHTS["charge"] = 0.0  # of a bundle


@contextmanager
def counted() -> Iterator[Counts]:
    """What the search of lists evaluates and decides meanwhile."""
    counts = Counts()
    kept = Bank.add_int_operation, elements._apply, elements._compare
    charge = Budget.charge

    def counting(function: Callable[..., Any], rows: bool) -> Callable[..., Any]:
        def called(*given: Any) -> Any:
            made = function(*given)
            counts.evaluated += len(made) if rows and made.ndim == 2 else 1
            return made

        return called

    def charged(budget: Budget, amount: float) -> bool:
        asker = sys._getframe(1).f_code.co_name
        counts.decided += amount * WEIGHTS.get(asker, 1.0)
        counts.evaluated += int(amount) if asker == "expand" else 0
        return charge(budget, amount)

    def comparing(method: Callable[..., Any], compared: Callable[..., int]) -> Callable[..., Any]:
        def called(*given: Any) -> Any:
            counts.decided += compared(*given)
            return method(*given)

        return called

    replaced: Any = Bank
    replaced.add_int_operation = counting(kept[0], False)
    bundled = {name: getattr(Bundle, name) for name in BUNDLES}
    for name, compared in BUNDLES.items():
        setattr(Bundle, name, comparing(bundled[name], compared))
    elements._apply, elements._compare = (counting(f, True) for f in kept[1:])
    Budget.charge = charged  # type: ignore[method-assign]
    try:
        yield counts
    finally:
        replaced.add_int_operation, elements._apply, elements._compare = kept
        Budget.charge = charge  # type: ignore[method-assign]
        for name, method in bundled.items():
            setattr(Bundle, name, method)


def searched(shown: list[list[Any]], budget: float) -> Searched:
    with counted() as counts:
        began = time.process_time()
        problem = lists.Problem(shown, [], budget)
        answer = problem.propose([], frozenset())
        first = time.process_time() - began
        if problem.search is not None:
            problem.search.run()
        return Searched(
            answer.source if answer else None,
            first,
            time.process_time() - began,
            counts.evaluated,
            counts.decided,
        )


def measure(problems: list, budgets: list[float], show: bool) -> list[Row]:
    problems = [(p, [[o.input, o.output] for o in p.shown]) for p, _ in problems]
    problems = [(p, shown) for p, shown in problems if lists.supports(shown)]
    if not problems:
        raise SystemExit("--plain compares on list functions: none of these problems is one")
    enumerate_plainly(problems[0][1], WARM_S)
    searched(problems[0][1], budgets[0])
    rows: dict[float, list[tuple[float, ...]]] = {budget: [] for budget in budgets}
    made, seconds = 0, 0.0
    for problem, shown in problems:
        found = {budget: searched(shown, budget) for budget in budgets}
        longest = max(one.all_s for one in found.values())
        plain = enumerate_plainly(shown, longest, whole=True)
        made, seconds = made + plain.candidates, seconds + plain.seconds
        plainly = _right(plain.text, problem)
        for budget, one in found.items():
            there = plain.text is not None and plain.after <= one.all_s
            rows[budget].append((
                one.text is not None, _right(one.text, problem), one.first_s, one.all_s,
                there, plainly if there else 0.0, one.evaluated, one.decided,
            ))  # fmt: skip
        if show:
            print(problem.id, *(f"{b:,.0f}: {one.all_s:.2f} s" for b, one in found.items()),
                  f"plain: {plain.after:.2f} s" if plain.text else "plain: none", flush=True)  # fmt: skip
    slow = made / seconds
    texts = whole_texts(problems[0][1], WARM_S)
    print(
        f"{len(problems)} problems, means; plain enumeration: {slow:,.0f} candidates a second,"
        f" {texts:,.0f} where each is compiled whole\n"
        "right: the first answer on all hidden pairs; as long: in the seconds of the whole budget\n"
        "           search                            plain, as long  search, candidates a second\n"
        "    budget  answer  right  first s  whole s  answer  right   evaluated  ratio     decided  ratio"
    )
    found_rows = []
    for budget in budgets:
        columns = list(zip(*rows[budget], strict=True))
        answer, right, first, whole, there, plainly = map(fmean, columns[:6])
        evaluated, decided = (sum(column) / sum(columns[3]) for column in columns[6:])
        print(
            f"{budget:>10,.0f}  {answer:6.3f}  {right:5.3f}  {first:7.2f}  {whole:7.2f}"
            f"  {there:6.3f}  {plainly:5.3f}  {evaluated:>10,.0f} {evaluated / slow:6.1f}"
            f"  {decided:>10,.0f} {decided / slow:6.1f}"
        )
        work = f"{len(problems)} problems, budget {budget:,.0f}"
        found_rows += [
            Row(f"candidates decided a second, {work}", decided, "1/s", "higher", slow,
                "plain enumeration", AIM, "ratio"),
            Row(f"first answers right on all hidden pairs, {work}", right, "", "higher", plainly,
                "plain enumeration"),
        ]  # fmt: skip
    return found_rows


def _right(text: str | None, problem: Any) -> float:
    """1.0 where an answer is right on all hidden pairs that can judge."""
    if text is None:
        return 0.0
    names: dict[str, Any] = {}
    exec(compile(text, "<answer>", "exec"), names)
    judges = [p for p, can in zip(problem.hidden, judgeable_pairs(problem), strict=True) if can]
    try:
        return float(all(code_of(names["f"](p.input)) == code_of(p.output) for p in judges))
    except (ArithmeticError, LookupError, TypeError, ValueError, MemoryError, Unrepresentable):
        return 0.0


if __name__ == "__main__":
    print("a part of bench/search.py --plain")
