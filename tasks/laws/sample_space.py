"""Draw the sample space of a problem about laws: inputs within and beyond the range of the rows.

Half of the inputs are within the range of every column. In each of the others, one column is beyond
its range, by at most `BEYOND` of its width, and the other columns are within a range that is extended
by `AROUND` of the width on both sides. Whole numbers stay whole, positive columns stay positive,
categories and columns with few numbers take values of the rows. Columns whose positive values span
several powers of ten are drawn on a logarithmic scale.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...records import Json, is_finite_number

INPUTS = 1_000
BEYOND = 0.5
AROUND = 0.2
FEW_NUMBERS = 4  # a column with as many different numbers takes only these
WIDE = 1_000.0  # the ratio of the largest to the smallest value of a column on a logarithmic scale
DIGITS = 6  # significant digits of a drawn number


@dataclass(frozen=True)
class _Range:
    """The values of a column of numbers, and how to draw others."""

    low: float
    high: float
    whole: bool
    values: Sequence[float]

    @property
    def is_fixed(self) -> bool:
        return bool(self.values)

    @property
    def is_logarithmic(self) -> bool:
        return self.low > 0 and self.high / self.low > WIDE

    def within(self, rng: random.Random, extended: float = 0.0) -> Json:
        """Return a number of the range, extended on both sides by a share of its width."""
        if self.values:
            return self.values[int(rng.random() * len(self.values))]
        return self._at(rng.random() * (1 + 2 * extended) - extended)

    def beyond(self, rng: random.Random) -> Json:
        """Return a number above or below the range."""
        distance = BEYOND * rng.random()
        return self._at(-distance if rng.random() < 0.5 else 1 + distance)

    def _at(self, share: float) -> Json:
        if self.is_logarithmic:
            value = self.low * (self.high / self.low) ** share
        else:
            value = self.low + share * (self.high - self.low)
            if self.low > 0 and value < self.low:  # a positive column stays positive
                value = self.low / (1 + (self.low - value) / self.low)
            elif self.low == 0:
                value = abs(value)
        return round(value) if self.whole else float(f"{value:.{DIGITS}g}")


def draw_inputs(
    columns: Mapping[str, Mapping[str, Json]], inputs: Sequence[Mapping[str, Json]], seed: str
) -> list[dict[str, Json]]:
    """Return the inputs of a sample space.

    Args:
        columns: The columns, as in `Problem.public`.
        inputs: The inputs of the shown rows.
        seed: Names the draw.
    """
    rng = random.Random(seed)
    ranges: dict[str, _Range | Sequence[Json]] = {}
    for name, about in columns.items():
        if "values" in about:
            ranges[name] = about["values"]
            continue
        values = sorted({row[name] for row in inputs if is_finite_number(row.get(name))})
        few = values if len(values) <= FEW_NUMBERS else []
        low, high = (values[0], values[-1]) if values else (about["low"], about["high"])
        ranges[name] = _Range(float(low), float(high), bool(about["whole"]), few)
    free = [name for name, one in ranges.items() if isinstance(one, _Range) and not one.is_fixed]
    found = []
    for number in range(INPUTS):
        outer = free[int(rng.random() * len(free))] if free and number % 2 else None
        row: dict[str, Json] = {}
        for name, one in ranges.items():
            if not isinstance(one, _Range):
                row[name] = one[int(rng.random() * len(one))]
            elif name == outer:
                row[name] = one.beyond(rng)
            else:
                row[name] = one.within(rng, 0.0 if outer is None else AROUND)
        found.append(row)
    return found
