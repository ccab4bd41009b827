"""Laws that are sums of few terms, also under a transform of the target, by forward selection."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain

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
    target = table.target
    n = len(target)
    price = COLUMN * max(n / SCANNED_ROWS, 1.0)
    terms = Terms(arguments, arguments, share) if choose_terms is None else None
    if terms and not budget.charge(price * len(terms.prices)):
        return
    for transform in IN_SUMS:
        if not transform.suits(target):
            continue
        if choose_terms is not None:
            terms = Terms(choose_terms(transform.name), arguments, share)
            if not budget.charge(price * len(terms.prices)):
                return
        assert terms is not None
        with np.errstate(all="ignore"):
            t, w = transform.values(target), 1 / np.abs(transform.slopes(target))
        suited = np.isfinite(t) & np.isfinite(w)
        if suited.mean() < FEWEST_SUITED:
            continue
        t, w = np.where(suited, t, 0.0), np.where(suited, w, 0.0)
        beam = BEAM if transform is IDENTITY else OTHER_BEAM
        for constant in (True, False):
            if not budget.charge(2 * price * len(terms.prices)):
                return
            common = np.ones((n, 1)) if constant else np.zeros((n, 0))
            scan = Scan.prepare(terms.values, common, t, w)
            own = CONSTANT_BITS + OPERATOR_BITS if constant else 0.0
            variance = float(target.var())
            sets = chain(
                choose_several(
                    scan.first(terms.monomial_count),
                    terms.prices[: terms.monomial_count],
                    variance,
                    beam,
                    TERMS,
                    WIDTH,
                ),
                choose_several(
                    scan, terms.prices, variance, beam, TERMS, WIDTH, list(terms.sets())
                ),
            )
            fitted: Counter[int] = Counter()
            for bits, places in sets:
                build = _builder(transform, terms, places, constant, t, w)
                form = Form(bits + own, build, transform.name, len(places))
                least = own + float(terms.prices[list(places)].sum())
                cosines = {k: c for k in places if (c := terms.cosine_of(k)) in places}
                if cosines:
                    yield form
                    build = _builder(transform, terms, places, constant, t, w, cosines)
                    fewer = CONSTANT_BITS * len(cosines)
                    least -= fewer
                    form = Form(
                        bits + own - fewer, build, transform.name, len(places) - len(cosines)
                    )
                if (
                    form.terms <= FITTED_TERMS
                    and fitted[form.terms] < beam
                    and any(map(terms.has_scale, places))
                ):
                    fitted[form.terms] += 1
                    form = _fit(form, least, table, budget)
                yield form


def _fit(form: Form, price: float, table: Table, budget: Budget) -> Form:
    """Return a form with the description length that it has with fitted constants in its functions."""
    budget.charge(FITTING)
    built = form.build()
    fit = start_fit(*built, table) if built else None
    if fit is None:
        return form
    data = data_bits(fit.squares, len(table.target), table.variance, LEAST_OF_SCAN)
    return replace(form, bits=price + float(data))


def _builder(
    transform: Transform,
    terms: Terms,
    places: Places,
    constant: bool,
    t: Floats,
    w: Floats,
    cosines: Mapping[int, int | None] | None = None,
) -> Callable[[], tuple[Expression, dict[str, float]] | None]:
    """Return what builds a sum; a sine and a cosine may become one sine with a phase.

    Args:
        transform: The transform of the target.
        terms, places: All terms, and those in the sum.
        constant: Whether the sum has a constant.
        t, w: The transformed target and the weights, (n,).
        cosines: By sines, cosines of the same frequency.
    """
    cosines = cosines or {}

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
            if place in cosines.values():
                continue
            other = cosines.get(place)
            phase = None if other is None else math.atan2(factors[other], factor)
            free = FreeConstant(f"c{len(start)}")
            start[free.name] = factor if other is None else math.hypot(factor, factors[other])
            parts.append(free if place < 0 else call("*", free, terms.tree(place, start, phase)))
        return transform.inverse(total(parts)), start

    return build
