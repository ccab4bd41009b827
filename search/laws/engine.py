"""Search engine for laws."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...records import FRONT_FIELD
from ...tasks.laws.columns import LawColumns
from ...tasks.laws.family import code_predictions
from ...tools.formulas import (
    Column,
    Expression,
    Operation,
    Text,
    evaluate_formula,
    format_formula,
    iter_nodes,
)
from ...tools.fronts import find_front
from ..budget import Budget
from ..engines import Progress, SearchEngine
from ..novelty import Answer, NoveltyRanker, Predictions
from .arguments import list_arguments
from .constants import find_meanings
from .dimensions import KnownDimensions, describe_dimensions
from .forms import SCANNED_ROWS, Form
from .logarithms import Logarithms
from .products import in_logarithms
from .refining import Fit, Law, Table, constants, measure, refine, start_fit
from .screening import choose_variables, shift_variables
from .sums import FITTING, in_sums

Floats = NDArray[np.float64]
FITTED_ROWS = 1_000
ARGUMENTS = 0.08  # of the budget: about how many monomials are looked at
MANY_VARIABLES = 8  # with more, a monomial costs more than an expansion, and fewer are looked at
FEWEST_ARGUMENTS, MOST_ARGUMENTS = 400, 60_000
IN_SUMS, ALL_SUMS = 5_000, 40_000  # arguments that are terms of sums, and the budget for all
FOR_PRODUCTS, FOR_SUMS = 0.4, 0.3  # of the budget, at most
REFINED, REFINED_SUMS, FEWEST_REFINED = 300, 100, 4
OF_EACH_KIND, IN_TURN = 12, 3  # sums of each transform and number of terms
REFINEMENT = 160.0  # expansions
MARGIN = 40.0  # bits by which a law may be worse than the best and still be followed
POLISHED, POLISHING = (
    40,
    800.0,
)  # laws whose constants are chosen with more care, and expansions for one
BEAM = 5  # choices of numbers that are followed at a time
FAR, MOST_OUTLIERS = 12.0, 0.1  # of the median error, and of the rows
REFITTED = 10  # laws that are fitted again without outliers
SAMPLE = 400  # inputs of the sample space on which a law is compared first
MOST_MISSING = 0.05
MOST_CATEGORIES = 8


@np.errstate(all="ignore")  # values that are not finite are left out
def search_laws(table: Table, x: Floats, names: Sequence[Expression], budget: Budget) -> list[Law]:
    """Return laws, the likeliest first.

    Args:
        table: The rows.
        x: The values of the variables in these rows, (n, d).
        names: The variables, as formulas.
        budget: The budget.
    """
    baseline = _constant(table)
    if not len(names) or table.variance == 0:
        return [baseline]
    used = choose_variables(x, table.target)
    x, names = x[:, used], [names[k] for k in used]
    if table.dimensions is None:
        x, names = shift_variables(x, names)
    rows = _spread(len(table.target), SCANNED_ROWS)
    share = ARGUMENTS / max(1.0, len(names) / MANY_VARIABLES)
    most = int(min(max(share * budget.limit, FEWEST_ARGUMENTS), MOST_ARGUMENTS))
    scanned = _take(table, rows)
    arguments = list_arguments(x[rows], names, most)
    known = KnownDimensions(names, table.dimensions) if table.dimensions is not None else None
    if known is not None:
        arguments = known.put_first(arguments, x[rows], {}, most)
    for_products = Budget(FOR_PRODUCTS * budget.limit)
    logarithms = Logarithms(x[rows], names, arguments, scanned, for_products)
    products = sorted(in_logarithms(logarithms), key=lambda one: one.bits)[:REFINED]
    rows = _spread(len(table.target), FITTED_ROWS)
    fitted = _take(table, rows)
    for_sums = Budget(FOR_SUMS * budget.limit)
    found = _iter_sums(fitted, x[rows], names, known, for_sums)
    sums = _choose_sums(sorted(found, key=lambda one: one.bits))
    budget.charge(for_products.spent + for_sums.spent)
    laws = {format_formula(baseline.tree): baseline}
    seen = set()
    # the formulas with free constants that laws come from, and the rows that they were fitted to
    origins: dict[str, tuple[Fit, Table]] = {}
    best = baseline.bits
    for form in _interleave(products, sums):
        built = form.build()
        if built is None or (text := format_formula(built[0])) in seen:
            continue
        seen.add(text)
        if not budget.charge(FITTING) and len(seen) > FEWEST_REFINED:
            break
        fit = start_fit(*built, fitted)
        if fit is None or (
            fit.least_bits > best + MARGIN
            and any(
                one.own_bits <= fit.own_bits and one.squares <= fit.squares for one in laws.values()
            )
        ):
            continue  # a law that is no longer leaves less error
        budget.charge(REFINEMENT)
        law = refine(fit, fitted)
        if law is not None:
            text = format_formula(law.tree)
            laws.setdefault(text, law)
            origins.setdefault(text, (fit, fitted))
            best = min(best, law.bits)
    usual = _leave_outliers(fitted, min(laws.values(), key=lambda one: one.bits))
    for text, _ in sorted(laws.items(), key=lambda one: one[1].bits)[:REFITTED]:
        if usual is None or text not in origins:
            continue
        budget.charge(REFINEMENT)
        again = start_fit(origins[text][0].tree, origins[text][0].values, usual)
        without = refine(again, usual) if again else None
        law = measure(without.tree, fitted) if without else None
        if again is not None and law is not None:
            laws.setdefault(format_formula(law.tree), law)
            origins.setdefault(format_formula(law.tree), (again, usual))
            best = min(best, law.bits)
    for text, law in sorted(laws.items(), key=lambda one: one[1].bits)[:POLISHED]:
        if not budget.left:
            break
        if text in origins and law.bits <= best + MARGIN:
            budget.charge(POLISHING)
            polished = refine(*origins[text], BEAM)
            better = measure(polished.tree, fitted) if polished else None
            if better is not None and better.bits < law.bits:
                laws.setdefault(format_formula(better.tree), better)
    return [law for _, law in sorted(laws.items(), key=lambda one: (one[1].bits, one[0]))]


def _leave_outliers(table: Table, law: Law) -> Table | None:
    """Return the rows that are not far from a law, or None if all rows or too few are near it."""
    error = np.abs(evaluate_formula(law.tree, table.columns) - table.target)
    near = np.flatnonzero(error <= FAR * float(np.median(error)))
    if len(near) == len(error) or len(near) < (1 - MOST_OUTLIERS) * len(error):
        return None
    return _take(table, near)


def _choose_sums(ordered: Sequence[Form]) -> list[Form]:
    """Return the shortest sums for each transform of the target and number of terms, in turn."""
    ranks: Counter[tuple[str, int]] = Counter()
    found = []
    for place, one in enumerate(ordered):
        rank = ranks[one.transform, one.terms]
        ranks[one.transform, one.terms] += 1
        if rank < OF_EACH_KIND:
            found.append((rank // IN_TURN, place))
    return [ordered[place] for _, place in sorted(found)[:REFINED_SUMS]]


def _interleave(products: Sequence[Form], sums: Sequence[Form]) -> Iterator[Form]:
    """Yield forms of both kinds in turn, so that a small budget is enough for the best of both."""
    step = REFINED // REFINED_SUMS
    for place in range(max(len(sums), -(-len(products) // step))):
        yield from products[place * step : (place + 1) * step]
        yield from sums[place : place + 1]


def _iter_sums(
    table: Table,
    x: Floats,
    names: Sequence[Expression],
    known: KnownDimensions | None,
    budget: Budget,
) -> Iterator[Form]:
    """Yield sums of terms. They are chosen with all rows, since the more rows there are, the more terms
    pay for themselves; the more rows and the smaller the budget, the fewer terms are looked at.
    """
    share = min(1.0, SCANNED_ROWS / len(x)) * min(1.0, budget.limit / ALL_SUMS)
    count = max(2 * len(names), int(share * IN_SUMS))
    plain = list_arguments(x, names, count)
    if known is None:
        yield from in_sums(plain.first(count), table, budget, share)
        return
    arguments = known.put_first(plain, x, {}, count)
    terms = known.choose_terms(plain, x, count)
    yield from in_sums(arguments, table, budget, share, terms)


def _constant(table: Table) -> Law:
    """Return the constant with the shortest description: about the mean, or the median."""
    free, start = constants([float(table.target.mean())])
    fit = start_fit(free[0], start, table)
    mean = refine(fit, table) if fit else None
    middle = float(np.median(table.target))
    error = math.sqrt(table.variance / len(table.target))
    median = measure(find_meanings(middle, error, 1)[0].tree, table)
    assert mean is not None and median is not None
    return min(mean, median, key=lambda one: one.bits)


def _spread(count: int, most: int) -> NDArray[np.int64]:
    """Return at most `most` indices of `count` rows, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


def _take(table: Table, rows: NDArray[np.int64]) -> Table:
    columns = {name: values[rows] for name, values in table.columns.items()}
    return replace(table, columns=columns, target=table.target[rows])


class Candidate:
    """A law that may be proposed.

    Args:
        law: The law.
        columns: The columns of the problem.
    """

    def __init__(self, law: Law, columns: LawColumns) -> None:
        self.text = format_formula(law.tree)
        self.cost = law.bits
        self.size_and_squares = (sum(1 for _ in iter_nodes(law.tree)), law.squares)
        agreement = describe_dimensions(law.tree, columns.dimensions)
        self.sentence = f"{self.text}: {agreement[0].lower()}{agreement[1:]}" if agreement else ""
        self._law, self._columns = law, columns

    def predict(self, inputs: Sequence[Any]) -> Predictions:
        """Return the predictions on `inputs`, as the family compares them."""
        return code_predictions(self._columns, self._law.tree, inputs)


class Problem:
    """A search for laws of the rows of a table."""

    def __init__(
        self, shown: list[list[Any]], space: list[Any], expansions: float, public: Any
    ) -> None:
        self.shown, self.expansions = shown, expansions
        self.columns = LawColumns(public or {})
        self.ranker = NoveltyRanker(space, SAMPLE, block=len(space))
        self.ranked: list[Candidate] | None = None
        self.spent = 0.0

    def propose(self, earlier: list[str], skip: frozenset[str]) -> Answer | None:
        """Return the next law, or None if no law is left that predicts something else.

        The first answer names the laws on the front of size against error.
        """
        ranked = self.rank()
        by_text = {one.text: one for one in ranked}
        known = [by_text[text] for text in earlier if text in by_text]
        chosen = self.ranker.choose(ranked, known, skip)
        if chosen is None:
            return None
        front = find_front([one.size_and_squares for one in ranked]) if not earlier else ()
        meta = {"fields": {FRONT_FIELD: [ranked[place].text for place in front]}} if front else {}
        return Answer(chosen.text, chosen.sentence, meta)

    def rank(self) -> list[Candidate]:
        """Return the laws by their description length, with that of their residuals."""
        if self.ranked is None:
            budget = Budget(self.expansions)
            table, x, names = read_rows(self.columns, self.shown)
            laws = search_laws(table, x, names, budget)
            self.spent = budget.spent
            self.ranked = [Candidate(law, self.columns) for law in laws]
        return self.ranked

    def progress(self) -> Progress:
        """Return about how far the search got.

        In a few searches, some more or fewer forms are looked at on another CPU, whose rounding differs.
        """
        return Progress(round(round(self.spent), -3))


def read_rows(
    columns: LawColumns, shown: Sequence[Sequence[Any]]
) -> tuple[Table, Floats, list[Expression]]:
    """Return the shown rows as a table, and its variables: their values (n, d) and their formulas.

    A column of numbers is a variable. A column of categories is a variable for each of its commonest
    values but one. Rows with missing values are left out, and columns that miss more than a few values.
    """
    arrays = columns.arrays([given for given, _ in shown])
    target = np.array([float(wanted) for _, wanted in shown])
    variables: list[tuple[Floats, Expression]] = []
    for name, values in arrays.items():
        if values.dtype == object:
            variables += _indicators(name, values)
        elif np.isnan(values).mean() <= MOST_MISSING and np.nanstd(values) > 0:
            variables.append((values, Column(name)))
    complete = np.isfinite(target)
    for values, _ in variables:
        complete &= np.isfinite(values)
    x = np.array([values for values, _ in variables]).T.reshape(len(target), -1)[complete]
    table = Table(
        {name: values[complete] for name, values in arrays.items()},
        target[complete],
        len(arrays),
        columns.dimensions,
    )
    return table, x, [tree for _, tree in variables]


def _indicators(name: str, values: NDArray[Any]) -> list[tuple[Floats, Expression]]:
    """Return columns of 0 and 1 for the commonest values of a column of categories, but one."""
    counted = Counter(value for value in values.tolist() if value)
    kept = [value for value, _ in counted.most_common(MOST_CATEGORIES)]
    return [
        ((values == value).astype(float), Operation("==", (Column(name), Text(value))))
        for value in kept[1:]
    ]


def supports(shown: list[list[Any]]) -> bool:
    """Return whether inputs are records and outputs numbers."""
    return bool(shown) and all(
        isinstance(row, dict) and type(value) in (int, float) for row, value in shown
    )


def prepare_space(inputs: list[Any]) -> list[Any]:
    """Return the sample space unchanged."""
    return inputs


ENGINE = SearchEngine("laws", supports, prepare_space, Problem, "laws")
