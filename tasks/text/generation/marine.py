"""`labels:marine`: hours of sunlight per day at places in the sea (after HypoBench, appendix B.2).

A data set has 500 rows and 16 columns. The hours depend on the number of clouds and, only where
there are few clouds, on the clarity of the water. The other 14 columns are irrelevant. In one row
of five, the label is one hour too high or too low (with noise "sampled", in each row with that
probability).

The label is a whole number of hours, because a sentence that is executed can only predict whole
numbers. The published label may be any number. The score of a prediction is the squared error after
scaling by the range of the training labels (`scaled_error`). `best_scaled_error` is the score of
the true rule. No rule can be better, because errors in both directions are equally likely.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from ....records import Json, Observation, UsageError
from ....tools.sentence_rules.conditions import AllOf, Comparison, Condition
from ....tools.sentence_rules.quantities import ColumnNumber
from ....tools.sentence_rules.rules import ConditionClause, Rule
from ..columns import Columns
from ..problems import LabelledData
from .planted import Noise, Splits, apply_rule, build_labelled_data, split_rows

ROW_COUNT = 500
NOISE_RATE = 0.2
_CLARITY, _CLOUDS = "secchi_depth", "cloud_cover"
_FEW_CLOUDS = 50
_TIERS = ((10, 5), (20, 8), (30, 11), (40, 14))  # (maximum depth in metres, hours)
_CLOUDY = 4
_ABOUT = "What is measured at places in the sea, and how many hours of sunlight there are a day."
_COLUMNS: Mapping[str, tuple[str, int, int]] = {
    _CLARITY: ("how deep a white disk is seen, in metres", 1, 40),
    _CLOUDS: ("share of the sky under clouds, in percent", 0, 100),
    "air_temperature": ("degrees Celsius", 5, 32),
    "sea_temperature": ("degrees Celsius at the surface", 4, 30),
    "salinity": ("grams in a kilogram", 28, 40),
    "wind_speed": ("kilometres an hour", 0, 60),
    "wave_height": ("decimetres", 0, 50),
    "current_speed": ("centimetres a second", 0, 120),
    "nitrate": ("micromoles in ten litres", 0, 300),
    "phosphate": ("micromoles in a hundred litres", 0, 250),
    "chlorophyll": ("micrograms in a hundred litres", 1, 900),
    "oxygen": ("milligrams in ten litres", 40, 120),
    "acidity": ("a hundred times the pH", 770, 840),
    "depth": ("metres to the ground", 5, 400),
    "distance_to_coast": ("kilometres", 0, 200),
    "fish_species": ("kinds seen in an hour", 0, 60),
}


def build_findings() -> list[Rule]:
    """Return the true rules: few hours under many clouds, otherwise more hours in clearer water."""
    few = Comparison(ColumnNumber(_CLOUDS), "at most", _FEW_CLOUDS)
    many = Comparison(ColumnNumber(_CLOUDS), "more than", _FEW_CLOUDS)
    found = [Rule((ConditionClause(many, str(_CLOUDY)),))]
    low = 0
    for high, hours in _TIERS:
        parts: tuple[Condition, ...] = (few,)
        if low:
            parts += (Comparison(ColumnNumber(_CLARITY), "more than", low),)
        if high < _COLUMNS[_CLARITY][2]:
            parts += (Comparison(ColumnNumber(_CLARITY), "at most", high),)
        found.append(Rule((ConditionClause(AllOf(parts), str(hours)),)))
        low = high
    return found


def scaled_error(
    predicted: Sequence[float], true: Sequence[float], train: Sequence[float]
) -> float:
    """Return the mean squared error of predictions, after scaling (HypoBench, table 11).

    Predictions and labels are scaled so that the lowest training label is 0 and the highest is 1.

    Args:
        predicted: The predictions, at least one.
        true: The true labels.
        train: The training labels.

    Raises:
        UsageError: All training labels are equal.
    """
    low, high = min(train), max(train)
    if low == high:
        raise UsageError(f"all training labels are {low:g}: there is no range to scale by")
    pairs = zip(predicted, true, strict=True)
    return sum(((one - other) / (high - low)) ** 2 for one, other in pairs) / len(true)


class MarineGenerator:
    """The generator `labels:marine`: records of places in the sea, labelled with hours of
    sunlight.
    """

    name = "marine"
    about = "hours of sunlight by clarity of the water and clouds, as numbers"

    def list_sets(self, seed: int) -> Mapping[str, frozenset[str]]:
        """Return the name of the only data set, with its tag."""
        return {"marine": frozenset(("marine",))}

    def iter_further_names(self, seed: int) -> Iterator[str]:
        """Return an empty iterator, because this generator makes only one data set."""
        return iter(())

    def generate(self, name: str, seed: int, noise: Noise = "exact") -> LabelledData:
        """Return the data set with this name."""
        draw = random.Random(f"{name} {seed}")
        about = {key: {"kind": "number", "about": told} for key, (told, _, _) in _COLUMNS.items()}
        records: list[dict[str, Json]] = [
            {key: draw.randint(low, high) for key, (_, low, high) in _COLUMNS.items()}
            for _ in range(ROW_COUNT)
        ]
        rules = build_findings()
        rule = Rule(tuple(clause for one in rules for clause in one.clauses))
        clean_labels = (str(_CLOUDY), *(str(hours) for _, hours in _TIERS))
        hours = apply_rule(records, rule, Columns(about, "fields", clean_labels), clean_labels)
        pairs = [Observation(one, str(own)) for one, own in zip(records, hours, strict=True)]
        parts = split_rows(pairs, draw)
        rows, changed, gone = {}, {}, {}
        for split, some in parts.items():
            off = _draw_shifts(len(some), noise, draw)
            rows[split] = tuple(
                Observation(one.input, str(int(one.output) + shift))
                for one, shift in zip(some, off, strict=True)
            )
            changed[split] = len(off) - off.count(0)
            gone[split] = [float(one.output) for one in some]
        there = {one.output for one in rows["train"]}
        for split in ("val", "test"):  # every label must occur in the training rows
            rows[split], changed[split] = _undo_new_labels(rows[split], parts[split], there)
        labels = sorted(there, key=float)
        numbers = {split: [float(one.output) for one in some] for split, some in rows.items()}
        errors = {
            split: round(scaled_error(gone[split], numbers[split], numbers["train"]), 5)
            for split in rows
        }
        told = {
            "underlying_model": "interaction",
            "noise_level": NOISE_RATE,
            "noise": noise,
            "true_num_hypotheses": len(rules),
            "distractor": len(_COLUMNS) - 2,
            "numeric": True,
            "best_scaled_error": errors,
            "seed": seed,
        }
        columns = Columns(about, "fields", tuple(labels))
        return build_labelled_data(
            name, columns, labels, Splits(rows, changed), _ABOUT, rules, rules, told
        )  # fmt: skip


def _draw_shifts(count: int, noise: Noise, draw: random.Random) -> list[int]:
    """Return -1, 0 or 1 for each row: equally many up and down, or sampled."""
    if noise == "sampled":
        return [draw.choice((-1, 1)) if draw.random() < NOISE_RATE else 0 for _ in range(count)]
    each = round(count * NOISE_RATE / 2)
    return draw.sample([-1] * each + [1] * each + [0] * (count - 2 * each), count)


def _undo_new_labels(
    rows: Sequence[Observation], clean: Sequence[Observation], there: set[str]
) -> tuple[tuple[Observation, ...], int]:
    """Undo noise that gives a row a label outside `there`, and count the changed rows."""
    kept = tuple(one if one.output in there else own for one, own in zip(rows, clean, strict=True))
    return kept, sum(one.output != own.output for one, own in zip(kept, clean, strict=True))


GENERATOR = MarineGenerator()
