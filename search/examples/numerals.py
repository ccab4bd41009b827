"""Numbers within texts as outputs: what number stands in each place, and how it is written.

The outputs are split at their numbers. The numbers of one place are goals of their own, for which expressions
and fits are looked for; they come back as texts, of which `joining.py` joins the outputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

from ..budget import Budget
from .curves import fit_terms
from .expressions import UNDEFINED, Expression, apply_template
from .grammar import STR, Operation
from .number_goals import Goals
from .numbers import fit_numbers
from .rounded_fits import Rounding, fit_roughly
from .terms import base_terms, derived_terms

MAX_NUMERALS = 4  # in an output
PLAIN_COPY = 16  # half bits of an expression for a text beside which no number is looked for
MAX_EXPRESSIONS = 2  # for the numbers of one place
EXACT, WRITTEN = 5, 6  # half bits: to write a number as it is, and in a form
_SPLITS = (
    r"\d+",
    r"(?:(?<![\w.)])-)?\d+(?:\.\d+)?",
    r"(?:(?<![\w.)])-)?\d{1,3}(?:,\d{3})*(?:\.\d+)?",
    r"(?:(?<![\w.)])-)?\d+(?:,\d+)?",
    r"(?:(?<![\w.)])-)?\d+(?:\.\d+)?%",
)


class Form(NamedTuple):
    """A way to write a number.

    Args:
        pattern: what texts of this form match.
        places: the number of decimals, or None if a number has as many as it needs.
        specification: the format specification in Python; "" for `str`.
        comma: whether a comma separates the decimals.
        percent: whether the text is a hundred times the number.
    """

    pattern: str
    places: int | None
    specification: str
    comma: bool = False
    percent: bool = False

    def parse(self, text: str) -> Fraction:
        """Return the number of a text."""
        plain = text.rstrip("%").replace(",", "." if self.comma else "")
        return Fraction(plain) / (100 if self.percent else 1)

    def template(self, inner: str) -> str:
        """Return the source of a number's text, with a slot for the number."""
        if self.specification:
            quote = "'" if '"' in inner else '"'
            safe = not {"\\", quote} & set(inner)
            text = (
                f"f{quote}{{{{{{0:free}}:{self.specification}}}}}{quote}"
                if safe
                else f'format({{0:free}}, "{self.specification}")'
            )
        else:
            text = "str({0:free})"
        return f"{text}.replace('.', ',')" if self.comma else text


def forms_of(texts: Sequence[str]) -> Iterator[Form]:
    """Yield the ways in which all these texts may have been written."""
    rows = [Form(r"-?(0|[1-9]\d*)", 0, ""), Form(r"-?(0|[1-9]\d*)", 0, ".0f")]
    rows.append(Form(r"-?(0|[1-9]\d*)\.\d+", None, ""))
    rows.append(Form(r"-?(0|[1-9]\d*),\d+", None, "", comma=True))
    width = min(map(len, texts))
    if any(text.startswith("0") for text in texts) and width > 1:
        rows.append(Form(rf"\d{{{width}}}|[1-9]\d{{{width},}}", 0, f"0{width}d"))
    grouped = any("," in text for text in texts)
    decimals = {len(re.split(r"[.,]", text.rstrip("%"))[-1]) for text in texts}
    if len(decimals) == 1:
        (places,) = decimals
        rows.append(Form(rf"-?(0|[1-9]\d*)\.\d{{{places}}}", places, f".{places}f"))
        rows.append(Form(rf"-?(0|[1-9]\d*),\d{{{places}}}", places, f".{places}f", comma=True))
        rows.append(
            Form(rf"-?(0|[1-9]\d*)\.\d{{{places}}}%", places + 2, f".{places}%", percent=True)
        )
        if grouped:
            rows.append(
                Form(
                    rf"-?[1-9]\d{{0,2}}(,\d{{3}})*\.\d{{{places}}}|0\.\d{{{places}}}",
                    places,
                    f",.{places}f",
                )
            )
    if grouped:
        rows.append(Form(r"-?[1-9]\d{0,2}(,\d{3})*|0", 0, ","))
    rows.append(Form(r"-?(0|[1-9]\d*)%", 2, ".0%", percent=True))
    for form in rows:
        if all(re.fullmatch(form.pattern, text) for text in texts):
            yield form


def write_numbers(
    goals: Sequence[str],
    texts: Sequence[Expression],
    numbers: Sequence[Expression],
    limit: int,
    budget: Budget,
) -> Iterator[Expression]:
    """Yield texts of numbers that stand in one place of all outputs.

    Args:
        goals: the shown outputs.
        texts: expressions whose values are texts; what a cheap one has is not looked for.
        numbers: integers and floats, cheapest first.
        limit: the largest price, in half bits.
        budget: what the fits may spend.
    """
    if len(goals) < 2:
        return
    copied = {one.values[: len(goals)] for one in texts if one.price <= PLAIN_COPY}
    tried = set()
    for split in _SPLITS:
        rows = [re.findall(split, goal) for goal in goals]
        if len({len(row) for row in rows}) > 1 or not 0 < len(rows[0]) <= MAX_NUMERALS:
            continue
        for column in zip(*rows, strict=True):
            if len(set(column)) == 1 or column in copied or column in tried:
                continue
            tried.add(column)
            for form in forms_of(column):
                if form.specification.startswith("0") and column == tuple(goals):
                    continue  # str.zfill is a row of the grammar
                found = _written(column, form, numbers, limit, budget)
                yield from islice(found, MAX_EXPRESSIONS)


def _written(
    column: tuple[str, ...],
    form: Form,
    numbers: Sequence[Expression],
    limit: int,
    budget: Budget,
) -> Iterator[Expression]:
    wanted = [form.parse(text) for text in column]
    if any(abs(value) > 10**15 for value in wanted):
        return
    whole = form.places == 0 and form.specification != ".0f"
    goals: list[float] = [int(value) if whole else float(value) for value in wanted]
    for one in _candidates(goals, form, numbers, limit, budget):
        price = one.price + (WRITTEN if form.specification else EXACT)
        if form.places is None and len({len(text.split(".")[-1]) for text in column}) == 1:
            price += 2  # so many decimals are no chance
        made = apply_template("numeral", form.template(one.source()), (one,), price, STR)
        if made.values[: len(column)] == column:
            yield made


def _candidates(
    goals: Sequence[float],
    form: Form,
    numbers: Sequence[Expression],
    limit: int,
    budget: Budget,
) -> Iterator[Expression]:
    """Yield expressions for numbers that may be written as the texts are."""
    count = len(goals)
    kind = int if all(type(goal) is int for goal in goals) else float
    places = form.places or 0
    unit = Fraction(1, 10**places)
    for one in numbers:
        if one.price > limit:
            break
        if form.places is None or kind is int:
            if one.values[:count] == tuple(goals) and type(one.values[0]) is kind:
                yield one
        elif all(_is_near(v, goal, unit) for v, goal in zip(one.values, goals, strict=False)):
            yield one
    if form.places is None or kind is int:
        yield from fit_numbers(goals, numbers, limit)
        yield from fit_terms(goals, numbers, limit, budget)
        return
    aim = Goals(goals, unit)
    base = base_terms(numbers, count)
    way = Rounding("form", 0.5, 0.5, "", 0)
    yield from fit_roughly(aim, way, [*base, *derived_terms(base)], limit, budget)


def _is_near(value: object, goal: float, unit: Fraction) -> bool:
    return type(value) in (int, float) and abs(value - goal) <= 0.5001 * unit  # type: ignore[operator]


def join_as_format(parts: Sequence[Expression], price: int) -> Expression | None:
    """Return texts that are joined as one f-string, or None if it would be no plainer.

    Args:
        parts: constants and expressions whose values are texts; numbers among them are written in a form.
        price: the price of the whole, in half bits.
    """
    if not any(_specification(one) for one in parts):
        return None
    template, inner = "", []
    for one in parts:
        if one.operation is None and one.text[:1] in "'\"":
            text = str(one.values[0])
            if {"\\", '"', "\n"} & set(text) or not text.isprintable():
                return None
            template += text.replace("{", "{{{{").replace("}", "}}}}")
            continue
        specification = _specification(one)
        if specification or (
            one.operation is not None and one.operation.template == "str({0:free})"
        ):
            one = one.arguments[0]
        if {"\\", '"'} & set(one.source()):
            return None
        template += f"{{{{{{{len(inner)}:free}}{specification}}}}}"
        inner.append(one)
    operation = Operation("format", (), STR, 0, lambda: None, f'f"{template}"')
    values = []
    for row in zip(*(one.values for one in parts), strict=False):
        values.append(UNDEFINED if UNDEFINED in row else "".join(row))
    return Expression(price, tuple(values), operation, tuple(inner))


def _specification(one: Expression) -> str:
    """Return the format specification of a number's text, with its colon; "" if it has none."""
    if one.operation is None or one.operation.name != "numeral":
        return ""
    found = re.fullmatch(r"f[\"']\{\{\{0:free\}(:[^}]+)\}\}[\"']", one.operation.template)
    return found[1] if found else ""
