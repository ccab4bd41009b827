"""Figures of laws: fit, size against error, extrapolation of rival laws, and residuals.

The first law is the best one. At most `MOST_ROWS` rows are drawn.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...records import Axis, Figure, FrontPoint, Json, Problem, Series, is_finite_number
from ...tools.formulas import Expression, format_formula, list_columns
from ...tools.fronts import find_front
from .columns import CATEGORY, LawColumns

Floats = NDArray[np.float64]
Points = list[tuple[float, float] | None]

MOST_ROWS = 1_000
MOST_COLUMNS = 12  # in whose order residuals are drawn, or along which laws are extrapolated
MOST_CATEGORIES = 12
RIVALS = 3
BEYOND = 0.5  # of the width of a column, on both sides
HIGHEST = 1.5  # times the range of the target, above and below it: laws are drawn so far
STEPS = 121  # points of a curve
WIDE = 1_000.0  # the ratio of the ends of a column on a logarithmic scale
DIGITS = 7  # significant digits of a point
MARGIN = 0.04  # of an axis, beyond its outermost points
NO_ERROR = 0.1  # of the smallest other value: where an error of 0 is drawn
MOST_CHARACTERS = 60  # of a law in a key
SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def draw_laws(
    problem: Problem, laws: Sequence[Expression], front: Sequence[FrontPoint]
) -> list[Figure]:
    """Return the figures of the laws of a problem, best law first; of none if there is no law."""
    if not laws:
        return []
    table = _Table(problem)
    return [
        *_draw_fit(table, laws[0]),
        *_draw_front(table, front),
        *_draw_extrapolation(table, laws[:RIVALS]),
        *_draw_residuals(table, laws[0]),
    ]


def write_law(law: Expression) -> str:
    """Return the text of a law as people write it, for example `2 · π · √(length / 9.81)`."""
    text = format_formula(law)
    if "'" in text or '"' in text:  # texts of categories stay as they are
        return text
    text = re.sub(r"\bsqrt(?=\()", "√", re.sub(r"\bpi\b", "π", text))
    text = re.sub(
        r" \*\* (-?\d+)(?![\d.e]| \*\*)", lambda match: match[1].translate(SUPERSCRIPTS), text
    )
    return text.replace(" ** ", "^").replace(" * ", " · ").replace(" - ", " − ")


class _Table:
    """The rows of a problem that are drawn.

    Attributes:
        columns: The columns.
        inputs: The inputs of the drawn rows, shown ones first.
        target: Their outputs.
        shown: The number of shown ones among them.
        note: How many rows are drawn, if there are more; otherwise "".
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.columns = problem, LawColumns(problem.public)
        rows = [
            (one, place < len(problem.shown))
            for place, one in enumerate((*problem.shown, *problem.hidden))
            if is_finite_number(one.output)
        ]
        spread = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MOST_ROWS)).astype(int))
        drawn = [rows[place] for place in spread.tolist()]
        self.inputs = [one.input for one, _ in drawn]
        self.target = np.array([float(one.output) for one, _ in drawn])
        self.shown = sum(is_shown for _, is_shown in drawn)
        fewer = len(drawn) < len(rows)
        self.note = f"{len(drawn):,} of {len(rows):,} rows are drawn." if fewer else ""
        unit = str(problem.public.get("target_unit", ""))
        self.name, self.unit = _with_unit(self.columns.target, unit), unit

    def labelled(self, quantity: str) -> str:
        """Return the label of a quantity in the unit of the target."""
        return f"{quantity} [{self.unit}]" if self.unit else quantity

    def label(self, name: str) -> str:
        """Return the label of a column."""
        return _with_unit(name, str(self.columns.about[name].get("unit", "")))

    def rows(self, x: Floats, y: Floats) -> list[Series]:
        """Return the marks of the rows; rows in which a value is not finite are left out."""
        drawn = np.isfinite(x) & np.isfinite(y)
        shown = np.arange(len(x)) < self.shown
        found = [
            Series("dots", "shown rows", _points(x[drawn & shown], y[drawn & shown])),
            Series("rings", "held-out rows", _points(x[drawn & ~shown], y[drawn & ~shown])),
        ]
        return [one for one in found if one.points]


def _with_unit(name: str, unit: str) -> str:
    has_unit = not unit or any(f"{a}{unit}{b}" in name for a, b in ("[]", "()"))
    return name if has_unit else f"{name} [{unit}]"


def _draw_fit(table: _Table, law: Expression) -> Iterator[Figure]:
    predicted, _ = table.columns.evaluate(law, table.inputs)
    series = table.rows(predicted, table.target)
    if not series:
        return
    low, high = _ends(value for one in series for point in one.points if point for value in point)
    defined = np.isfinite(predicted)
    error = table.target[defined] - predicted[defined]
    undefined = int((~defined).sum())
    yield Figure(
        "Fit: measured against predicted",
        f"{len(table.target):,} rows; the law {write_law(law)} is off by at most"
        f" {_short(np.abs(error).max())}; the closer to the diagonal, the better the prediction",
        Axis(f"predicted {table.name}", low, high),
        Axis(f"measured {table.name}", low, high),
        [Series("rule", "", [(low, low), (high, high)]), *series],
        _join(table.note, f"The law is undefined in {undefined:,} rows." if undefined else ""),
    )


def _draw_residuals(table: _Table, law: Expression) -> Iterator[Figure]:
    """Yield the residuals against the prediction, then against each column."""
    predicted, _ = table.columns.evaluate(law, table.inputs)
    residuals = table.target - predicted
    if not np.isfinite(residuals).any():
        return
    arrays = table.columns.arrays(table.inputs)
    against: list[tuple[str, str, Floats, Sequence[str]]] = [
        ("prediction", f"predicted {table.name}", predicted, ())
    ]
    for name, about in list(table.columns.about.items())[:MOST_COLUMNS]:
        values = arrays[str(about["identifier"])]
        names: list[str] = []
        if about["kind"] == CATEGORY:
            names = sorted(set(values.tolist()))
            if len(names) > MOST_CATEGORIES:
                continue
            values = np.array([names.index(value) for value in values], np.float64)
            names = [one or "(missing)" for one in names]
        against.append((name, table.label(name), values, names))
    largest = float(np.nanmax(np.abs(residuals[np.isfinite(residuals)])))
    for option, label, x, categories in against:
        series = table.rows(x, residuals)
        if not series:
            continue
        low, high = _ends(point[0] for one in series for point in one.points if point)
        if categories:
            low, high = -0.5, len(categories) - 0.5
        bottom, top = _ends([-largest, largest])
        yield Figure(
            "Residuals: measured − predicted",
            f"residuals against {label}, up to {_short(largest)}; a pattern shows what the law"
            " lacks",
            Axis(label, low, high, names=categories),
            Axis(table.labelled("measured − predicted"), bottom, top),
            [Series("rule", "", [(low, 0.0), (high, 0.0)]), *series],
            table.note,
            "against",
            option,
        )


def _draw_front(table: _Table, front: Sequence[FrontPoint]) -> Iterator[Figure]:
    errors = [one.rms for one in front if one.rms > 0]
    if len(front) < 2 or not errors:
        return
    tolerance = table.columns.tolerance
    limits = [tolerance] if tolerance > 0 else []
    least = float(_short(NO_ERROR * min(*errors, *limits, math.inf)))
    low, high = _ends(math.log10(one) for one in (*(e.rms or least for e in front), *limits))
    sizes = _ends(float(one.size) for one in front)
    points = [(float(one.size), float(_short(one.rms or least))) for one in front]
    texts = [write_law(table.columns.parse(one.hypothesis)) for one in front]
    chosen = [place for place, one in enumerate(front) if one.chosen]
    unbeaten = find_front([(one.size, one.rms) for one in front])
    series = [
        Series(
            "line",
            "laws that no law beats in both",
            [points[place] for place in unbeaten],
            [texts[place] for place in unbeaten],
        )
    ]
    series += [Series("rings", "chosen law", [points[place]], [texts[place]]) for place in chosen]
    if limits:
        ends = [(sizes[0], tolerance), (sizes[1], tolerance)]
        series.insert(0, Series("rule", "largest error of a consistent law", ends))
    zero = any(one.rms == 0 for one in front)
    yield Figure(
        "Size against error",
        f"{len(front)} laws, from size {front[0].size} with error {_short(front[0].rms)} to size"
        f" {front[-1].size} with error {_short(front[-1].rms)}"
        + "".join(
            f"; chosen: {texts[place]} with size {front[place].size} and error"
            f" {_short(front[place].rms)}"
            for place in chosen
        ),
        Axis("size of the law", *sizes, whole=True),
        Axis(
            table.labelled("root mean square error"),
            10**low,
            10**high,
            True,
            zero=least if zero else None,
        ),
        series,
        _join(
            "Size counts columns, numbers, operations and functions.",
            "The lowest point has no error." if zero else "",
        ),
    )


@dataclass(frozen=True)
class _Curves:
    """Laws along one column."""

    name: str
    x: Floats
    values: Sequence[Floats]  # of each law
    low: float  # the ends of the shown range
    high: float
    difference: float  # the largest one between two laws
    place: float  # where it is

    @property
    def change(self) -> float:
        """By how much the best law changes along the column."""
        values = self.values[0][np.isfinite(self.values[0])]
        return float(np.ptp(values)) if len(values) else 0.0


def _draw_extrapolation(table: _Table, laws: Sequence[Expression]) -> Iterator[Figure]:
    """Yield curves of the laws along each column of numbers that they use.

    The column along which they differ most comes first; of a single law, that along which it changes most.
    """
    shown = [one.input for one in table.problem.shown]
    outputs = [float(one.output) for one in table.problem.shown if is_finite_number(one.output)]
    middle = _middle_row(table.columns, shown)
    used = {name for law in laws for name in list_columns(law)}
    numeric = [n for n, about in table.columns.about.items() if about["kind"] != CATEGORY]
    curves = [
        found
        for name in numeric
        if table.columns.identifiers[name] in used
        and (found := _follow(table.columns, laws, name, shown, middle)) is not None
    ]
    unused = [table.label(n) for n in numeric if table.columns.identifiers[n] not in used]
    for one in sorted(curves, key=lambda each: (-each.difference, -each.change))[:MOST_COLUMNS]:
        bottom, top = _limits(one, outputs)
        others = [
            f"{table.label(name)} {value if isinstance(value, str) else f'{value:.6g}'}"
            for name, value in middle.items()
            if name != one.name and table.columns.identifiers[name] in used
        ]
        lines = [
            Series("line", f"{rank}. {_cut(write_law(law))}", _clip(one.x, values, bottom, top))
            for rank, (law, values) in enumerate(zip(laws, one.values, strict=True), 1)
        ]
        band = Series("band", "shown range", [(one.low, bottom), (one.high, top)])
        apart = (
            f"; they differ most, by {_short(one.difference)}, at {_short(one.place)}"
            if one.difference > 0
            else ""
        )
        count = "the best law" if len(laws) == 1 else f"the best {len(laws)} laws"
        yield Figure(
            "Extrapolation" if len(laws) == 1 else "Extrapolation of rival laws",
            f"{count} along {table.label(one.name)}, within and beyond the shown range from"
            f" {_short(one.low)} to {_short(one.high)}{apart}",
            Axis(
                table.label(one.name), float(one.x[0]), float(one.x[-1]), logarithmic=_is_wide(one)
            ),
            Axis(table.name, bottom, top),
            [band, *lines],
            _join(
                f"The other columns stay at: {', '.join(others)}." if others else "",
                f"No law here uses {', '.join(unused)}." if unused else "",
            ),
            "along",
            one.name,
        )


def _is_wide(one: _Curves) -> bool:
    return one.low > 0 and one.high / one.low > WIDE


def _middle_row(columns: LawColumns, rows: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """Return the medians of the columns of numbers, and the commonest categories."""
    found: dict[str, Json] = {}
    for name, about in columns.about.items():
        if about["kind"] == CATEGORY:
            counted = Counter(row[name] for row in rows if isinstance(row.get(name), str))
            found[name] = min(counted, key=lambda one: (-counted[one], one), default="")
        else:
            values = [float(row[name]) for row in rows if is_finite_number(row.get(name))]
            found[name] = float(np.median(values)) if values else math.nan
    return found


def _follow(
    columns: LawColumns,
    laws: Sequence[Expression],
    name: str,
    rows: Sequence[Mapping[str, Json]],
    middle: Mapping[str, Json],
) -> _Curves | None:
    """Return the laws along a column; None if its values are all equal, or the laws undefined.

    Its range is extended by `BEYOND` on both sides. A column without negative values stays so.
    """
    values = [float(row[name]) for row in rows if is_finite_number(row.get(name))]
    low, high = (min(values), max(values)) if values else (0.0, 0.0)
    if low == high:
        return None
    shares = np.linspace(-BEYOND, 1 + BEYOND, STEPS)
    x = (
        low * (high / low) ** shares
        if low > 0 and high / low > WIDE
        else low + (high - low) * shares
    )
    if low >= 0:
        x = np.linspace(max(0.0, float(x[0])), float(x[-1]), STEPS) if x[0] < 0 else x
    inputs = [{**middle, name: one} for one in x.tolist()]
    found = [columns.evaluate(law, inputs)[0] for law in laws]
    if not any(np.isfinite(one).any() for one in found):
        return None
    difference, place = 0.0, low
    for n, one in enumerate(found):
        for other in found[:n]:
            with np.errstate(all="ignore"):
                apart = np.nan_to_num(np.abs(one - other), nan=0.0, posinf=0.0)
            if apart.max() > difference:
                difference, place = float(apart.max()), float(x[np.argmax(apart)])
    return _Curves(name, x, found, low, high, difference, place)


def _limits(one: _Curves, outputs: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the axis of a target: all values of the laws, up to `HIGHEST` ranges away."""
    low, high = min(outputs), max(outputs)
    width = (high - low) or abs(high) or 1.0
    values = np.concatenate(one.values)
    values = values[np.isfinite(values)]
    least, most = (values.min(), values.max()) if len(values) else (low, high)
    bottom = min(low, max(float(least), low - HIGHEST * width))
    top = max(high, min(float(most), high + HIGHEST * width))
    return _ends([bottom, top])


def _clip(x: Floats, y: Floats, low: float, high: float) -> Points:
    """Return a curve between two values; None where it leaves them or is undefined.

    Where it leaves them, it is continued to the border.
    """
    found: Points = []
    before: tuple[float, float] | None = None
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        if not math.isfinite(b):
            found.append(None)
            before = None
            continue
        inside = low <= b <= high
        if before is not None and inside != (low <= before[1] <= high):
            border = high if max(b, before[1]) > high else low
            share = (border - before[1]) / (b - before[1])
            found.append((_round(before[0] + share * (a - before[0])), _round(border)))
        found.append((_round(a), _round(b)) if inside else None)
        before = (a, b)
    return found


def _points(x: Floats, y: Floats) -> Points:
    return [(_round(a), _round(b)) for a, b in zip(x.tolist(), y.tolist(), strict=True)]


def _ends(values: Iterator[float] | Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis on which all values lie."""
    listed = list(values)
    low, high = min(listed), max(listed)
    margin = MARGIN * (high - low) or abs(low) / 2 or 1.0
    return low - margin, high + margin


def _round(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"


def _short(value: float) -> str:
    return f"{value:.4g}"


def _join(*sentences: str) -> str:
    return " ".join(one for one in sentences if one)
