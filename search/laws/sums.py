"""Laws that are sums of few terms, also under a transform of the target, by forward selection."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...tools.description_length import LAW_OPERATOR_BITS as OPERATOR_BITS
from ...tools.formulas import Expression, FreeConstant
from ..budget import Budget
from .arguments import Arguments
from .forms import COLUMN, CONSTANT_BITS, SCANNED_ROWS, Form
from .functions import IDENTITY, IN_SUMS, Transform
from .refining import Table, start_fit
from .scan import LEAST_OF_SCAN, Places, Scan, choose_several, data_bits
from .terms import Terms
from .trees import call, total

Floats = NDArray[np.float64]
SMALLEST = 1e-300
TERMS, BEAM, OTHER_BEAM, WIDTH = 4, 20, 6, 8
FITTED_TERMS = 2  # of the largest sums that are fitted at once
FITTING = 40.0  # expansions of a fit
FEWEST_SUITED = 0.75  # of the rows, on which a transform of the target is defined


def in_sums(
    arguments: Arguments,
    table: Table,
    budget: Budget,
    share: float,
    choose_terms: Callable[[str], Arguments] | None = None,
) -> Iterator[Form]:
    """Yield sums of few terms, also under a transform of the target.

    Args:
        arguments: The arguments of functions.
        table: The rows.
        budget: The budget.
        share: The share of the functions and products that are looked at.
        choose_terms: Function of the name of a transform that returns the terms; None for the arguments.
    """
    searches: list[_Search] = []
    for transform in IN_SUMS:
        if not transform.suits(table.target):
            continue
        if choose_terms is not None or not searches:
            chosen = arguments if choose_terms is None else choose_terms(transform.name)
            terms = Terms(chosen, arguments, share)
            if not budget.charge(_price(table, len(terms.prices))):
                break
        search = _Search(transform, terms, table, budget)
        if search.is_defined:
            searches.append(search)
    for only_monomials in (True, False):  # many other terms may hide a sum of the former
        for search in searches:
            for constant in (True, False):
                yield from search.list_forms(constant, only_monomials)


def _price(table: Table, columns: int) -> float:
    """Return the expansions of a look at columns."""
    return COLUMN * columns * max(len(table.target) / SCANNED_ROWS, 1.0)


class _Search:
    """A search for sums that are a transform of the target.

    Args:
        transform: The transform.
        terms: The terms.
        table: The rows.
        budget: The budget.
    """

    def __init__(self, transform: Transform, terms: Terms, table: Table, budget: Budget) -> None:
        self.transform, self.terms, self.table, self.budget = transform, terms, table, budget
        with np.errstate(all="ignore"):
            t, w = transform.values(table.target), 1 / np.abs(transform.slopes(table.target))
        suited = np.isfinite(t) & np.isfinite(w)
        self.is_defined = bool(suited.mean() >= FEWEST_SUITED)
        self.t, self.w = np.where(suited, t, 0.0), np.where(suited, w, 0.0)

    def list_forms(self, constant: bool, only_monomials: bool) -> Iterator[Form]:
        """Yield sums.

        Args:
            constant: Whether a constant is a further term.
            only_monomials: Whether only monomials are terms.
        """
        terms, table = self.terms, self.table
        count = terms.monomial_count if only_monomials else len(terms.prices)
        if not self.budget.left:
            return
        self.budget.charge(2 * _price(table, count))
        n = len(self.t)
        common = np.ones((n, 1)) if constant else np.zeros((n, 0))
        scan = Scan.prepare(terms.values[:, :count], common, self.t, self.w)
        beam = BEAM if self.transform is IDENTITY else OTHER_BEAM
        sets = () if only_monomials else tuple(terms.sets())
        found = choose_several(scan, terms.prices[:count], table.variance, beam, TERMS, WIDTH, sets)
        fitted: Counter[int] = Counter()
        for bits, places in found:
            own = CONSTANT_BITS + OPERATOR_BITS if constant else 0.0
            price = own + float(terms.prices[list(places)].sum())
            form = Form(
                bits + own, self._builder(places, constant), self.transform.name, len(places)
            )
            cosines = {k: c for k in places if (c := terms.cosine_of(k)) in places}
            if cosines:
                yield form
                fewer = CONSTANT_BITS * len(cosines)
                form = replace(
                    form,
                    bits=form.bits - fewer,
                    build=self._builder(places, constant, cosines),
                    terms=form.terms - len(cosines),
                )
                price -= fewer
            if (
                form.terms <= FITTED_TERMS
                and fitted[form.terms] < beam
                and any(map(terms.has_scale, places))
            ):
                fitted[form.terms] += 1
                form = _fit(form, price, table, self.budget)
            yield form

    def _builder(
        self, places: Places, constant: bool, cosines: Mapping[int, int | None] | None = None
    ) -> Callable[[], tuple[Expression, dict[str, float]] | None]:
        """Return what builds a sum; a sine and a cosine may become one sine with a phase.

        Args:
            places: The terms in the sum.
            constant: Whether the sum has a constant.
            cosines: By sines, cosines of the same frequency.
        """
        terms, t, w = self.terms, self.t, self.w
        merged = cosines or {}

        def build() -> tuple[Expression, dict[str, float]] | None:
            columns = [terms.values[:, k] for k in places] + [np.ones(len(t))] * constant
            matrix = np.column_stack(columns) * w[:, None]
            if not np.isfinite(matrix).all():  # LAPACK may not end
                return None
            lengths = np.sqrt(np.einsum("ij,ij->j", matrix, matrix)) + SMALLEST  # of any unit
            found = (np.linalg.lstsq(matrix / lengths, t * w, rcond=None)[0] / lengths).tolist()
            factors = dict(zip([*places, *[-1] * constant], found, strict=True))
            start: dict[str, float] = {}
            parts: list[Expression] = []
            for place, factor in factors.items():
                if place in merged.values():
                    continue
                other = merged.get(place)
                phase = None if other is None else math.atan2(factors[other], factor)
                free = FreeConstant(f"c{len(start)}")
                start[free.name] = factor if other is None else math.hypot(factor, factors[other])
                if place < 0:
                    parts.append(free)
                else:
                    parts.append(call("*", free, terms.tree(place, start, phase)))
            return self.transform.inverse(total(parts)), start

        return build


def _fit(form: Form, price: float, table: Table, budget: Budget) -> Form:
    """Return a form with the description length that it has with fitted constants in its functions."""
    budget.charge(FITTING)
    built = form.build()
    fit = start_fit(*built, table) if built else None
    if fit is None:
        return form
    data = data_bits(fit.squares, len(table.target), table.variance, LEAST_OF_SCAN)
    return replace(form, bits=price + float(data))
