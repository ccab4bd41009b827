"""The layout of HypoBench's tables, and the values in the paper.

A cell contains the values of several metrics, as in the paper. The paper's columns follow the
columns of the sessions. A cell without data is empty. A letter after an average stands for its data
sets, which are listed below the table. † marks scores that no model made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from ...files.tables import NO_VALUE, Cell, Table
from .entries import EXACT_MARK, Average

# --- Values in the tables of the HypoBench paper, as shares (its percentages divided by 100), and
# values of its figures that its text states. Ratings are GPT-4o's. Its averages over real sets
# leave out paper citations and count its two sets of generated text separately; its averages over
# synthetic sets cover a subset that it does not name.

MODELS = ("GPT", "Qwen", "Llama", "DeepSeek")
Published = Mapping[tuple[str, str, str], float]  # row, column, metric


def _over(
    rows: Mapping[str, Sequence[float]],
    metrics: Sequence[str],
    columns: Sequence[str] = MODELS,
    unit: float = 1.0,
) -> dict[tuple[str, str, str], float]:
    """Return the values of a table by (row, column, metric).

    Args:
        rows: By row, the values of the first column's metrics, then of the next column's.
        metrics: Names of the metrics.
        columns: Names of the columns.
        unit: Divisor of each value.
    """
    places = [(column, metric) for column in columns for metric in metrics]
    return {
        (row, *place): round(value / unit, 6)
        for row, values in rows.items()
        for place, value in zip(places, values, strict=True)
    }


_ACCURACY = ("accuracy", "F1")
_RATES = ("FDR", "RC", "HDR")
FINETUNED = "fine-tuned Llama-8B"

TABLE_5 = _over(
    {
        "zero-shot inference": (61.8, 56.1, 60.1, 55.5, 66.9, 63.6, 62.9, 58.0),
        "few-shot inference": (65.7, 62.7, 68.9, 68.0, 72.5, 71.2, 66.9, 64.1),
        "zero-shot generation": (62.4, 57.6, 63.4, 59.1, 62.8, 56.4, 62.9, 57.8),
        "literature only": (61.9, 57.1, 62.5, 57.3, 62.0, 55.3, 59.3, 53.7),
        "IO prompting": (66.1, 65.1, 74.5, 74.0, 68.2, 66.3, 61.6, 59.8),
        "iterative refinement": (66.0, 63.9, 70.5, 69.5, 69.9, 68.9, 63.6, 62.7),
        "HypoGeniC": (71.2, 70.3, 77.8, 77.8, 72.3, 70.9, 70.0, 68.7),
        "literature + data": (75.3, 75.0, 78.0, 77.9, 76.2, 75.9, 74.9, 74.5),
    },
    _ACCURACY, unit=100,
) | _over({FINETUNED: (77.3, 76.0)}, _ACCURACY, ("Llama",), 100)  # fmt: skip
TABLE_6 = _over(
    {
        "GPT": (75.3, 69.0, 64.5, 67.9),
        "Qwen": (64.7, 78.0, 68.3, 74.4),
        "Llama": (66.1, 74.8, 76.2, 72.6),
        "DeepSeek": (65.7, 75.0, 72.4, 74.9),
    },
    ("accuracy",), unit=100,
)  # fmt: skip
TABLE_7 = _over(
    {
        "zero-shot generation": (2.41, 4.04, 3.29, 2.11, 4.21, 3.31, 2.59, 4.01, 3.36, 2.27, 4.06, 3.27),
        "literature only": (2.11, 4.14, 3.44, 2.00, 4.20, 3.60, 2.21, 4.14, 3.37, 1.96, 4.20, 3.20),
        "IO prompting": (2.54, 3.77, 3.43, 2.63, 3.77, 3.34, 2.57, 4.06, 3.46, 2.46, 3.77, 3.26),
        "iterative refinement": (2.97, 3.83, 3.14, 2.86, 3.49, 3.11, 2.74, 3.83, 3.37, 2.63, 3.86, 3.14),
        "HypoGeniC": (2.68, 3.98, 3.39, 2.46, 3.94, 3.43, 2.46, 3.94, 3.29, 2.51, 3.91, 3.10),
        "literature + data": (2.69, 4.22, 3.58, 2.41, 4.14, 3.66, 2.58, 4.10, 3.52, 2.23, 4.02, 3.08),
    },
    ("novelty", "plausibility", "clarity"),
)  # fmt: skip
PEOPLE, WITH_MODEL = "people", "model and people"
TABLE_8 = _over(
    {
        "FDR: Cohen's kappa": (0.80, 0.71),
        "FDR: agreement": (0.92, 0.891),
        "RC: weighted kappa": (0.86, 0.64),
        "RC: within one point": (0.971, 0.781),
    },
    ("",), (PEOPLE, WITH_MODEL),
)  # fmt: skip
TABLE_11 = _over(
    {"zero-shot inference": (1.790,), "few-shot inference": (0.528,)}, ("MSE",), ("GPT",)
) | _over(
    {
        "zero-shot generation": (0.306, 1.0, 0.625, 0.625),
        "IO prompting": (0.448, 1.0, 0.625, 0.625),
        "iterative refinement": (0.214, 1.0, 0.5, 0.5),
        "HypoGeniC": (0.275, 1.0, 0.5, 0.5),
    },
    ("MSE", *_RATES), ("GPT",),
)  # fmt: skip
TABLE_12 = _over(
    {
        "zero-shot inference": (62.2, 56.8, 61.0, 55.7, 66.0, 62.2, 61.7, 56.2),
        "few-shot inference": (64.4, 61.5, 67.1, 65.8, 70.9, 69.2, 62.2, 59.0),
        "zero-shot generation": (61.4, 56.6, 61.8, 56.1, 62.4, 56.6, 61.6, 56.1),
        "literature only": (60.9, 56.3, 60.1, 53.7, 60.9, 53.6, 58.4, 51.6),
        "IO prompting": (62.4, 59.0, 72.6, 72.3, 67.1, 65.3, 61.2, 60.1),
        "iterative refinement": (63.7, 61.2, 71.3, 70.6, 70.1, 69.7, 59.8, 59.7),
        "HypoGeniC": (67.8, 66.4, 72.9, 72.3, 72.8, 71.5, 66.7, 65.0),
        "literature + data": (71.9, 71.3, 76.0, 75.7, 75.2, 74.3, 73.2, 72.5),
    },
    _ACCURACY, unit=100,
) | _over({FINETUNED: (84.7, 84.7)}, _ACCURACY, ("Llama",), 100)  # fmt: skip
TABLE_13 = _over(
    {
        "GPT": (71.93, 65.62, 62.43, 63.57),
        "Qwen": (64.14, 75.95, 70.43, 71.67),
        "Llama": (63.66, 71.33, 75.21, 70.14),
        "DeepSeek": (64.14, 71.52, 69.95, 73.24),
    },
    ("accuracy",), unit=100,
)  # fmt: skip
TABLE_14 = _over(
    {
        "zero-shot generation": (0.71, 0.27, 0.21, 0.71, 0.29, 0.24, 0.60, 0.23, 0.18, 0.49, 0.17, 0.14),
        "IO prompting": (0.81, 0.36, 0.30, 0.79, 0.37, 0.31, 0.82, 0.35, 0.30, 0.81, 0.35, 0.29),
        "iterative refinement": (0.70, 0.25, 0.18, 0.82, 0.22, 0.19, 0.82, 0.24, 0.21, 0.68, 0.24, 0.19),
        "HypoGeniC": (0.95, 0.48, 0.46, 0.93, 0.43, 0.41, 0.98, 0.45, 0.44, 0.96, 0.45, 0.44),
    },
    _RATES,
)  # fmt: skip
TABLE_15 = _over(
    {
        "zero-shot inference": (36.2, 32.8, 35.2, 32.5, 36.4, 33.3, 34.9, 32.9),
        "few-shot inference": (34.2, 32.2, 36.4, 34.3, 36.7, 34.7, 39.5, 37.6),
        "zero-shot generation": (37.4, 33.9, 36.8, 32.5, 37.7, 33.9, 36.4, 33.6),
        "IO prompting": (42.7, 36.5, 43.8, 36.9, 44.1, 37.6, 39.6, 35.0),
        "iterative refinement": (41.5, 36.1, 42.5, 36.8, 45.6, 38.7, 34.7, 32.5),
        "HypoGeniC": (50.0, 42.8, 48.9, 41.4, 47.3, 40.0, 49.2, 41.8),
    },
    _ACCURACY, unit=100,
)  # fmt: skip
O3 = "O3, one prompt"
AVERAGE = "average"
TABLE_16 = _over(
    {
        "admission/level_2/depth_2": (1.00, 1.00, 1.00),
        "admission/level_3/depth_3": (1.00, 0.45, 0.45),
        "admission/level_4/depth_4": (1.00, 0.25, 0.25),
        "election/level0_nosubtlety": (1.00, 1.00, 1.00),
        "election/level5_nosubtlety": (1.00, 0.40, 0.40),
        "preference/level0": (1.00, 0.50, 0.50),
        "preference/level5": (0.93, 0.27, 0.25),
        "shoe_two_level/simple": (1.00, 0.75, 0.75),
        "shoe_two_level/hard": (1.00, 0.38, 0.38),
        AVERAGE: (0.99, 0.52, 0.52),
    },
    _RATES, (O3,),
)  # fmt: skip

# Values of figure 2 that the text states: (panel, value) -> model -> HDR.
FIGURE_2: Mapping[tuple[str, int], Mapping[str, float]] = {
    ("base", 0): {"GPT": 0.75, "Qwen": 0.813, "Llama": 0.875, "DeepSeek": 0.938},
    ("depth", 2): {"Qwen": 0.938, "Llama": 1.0},
    ("depth", 4): {"DeepSeek": 0.388},
    ("noise", 30): {"GPT": 0.362, "DeepSeek": 0.40},
    ("distractor", 10): {"GPT": 0.417, "DeepSeek": 0.383},
}
# Figure 3: (task, hardest) -> model -> HDR of HypoGeniC. For election and personality the text does
# not say which number belongs to which.
FIGURE_3: Mapping[tuple[str, bool], Mapping[str, float]] = {
    ("admission", False): {"Llama": 1.0, "DeepSeek": 1.0},
    ("shoe", False): {"Qwen": 1.0, "Llama": 1.0, "DeepSeek": 1.0},
}


Key = tuple[str, str, str]  # row, column, metric
MARK_NOTE = (
    f"{EXACT_MARK} These scores come from exact rules or a baseline, not from a model"
    " (docs/explanation/labelled-text.md)."
)
LONG_COLUMNS = ("table", "source", "row", "column", "metric", "value", "n", "data_sets")


@dataclass(frozen=True)
class Grid:
    """One of HypoBench's tables, before it is written: rows, models, metrics and published values.

    Args:
        name: File name of the table without extension.
        about: Caption of the table.
        head: Heading of the first column.
        rows: Labels of the rows.
        columns: Models of the sessions.
        metrics: The metrics in each cell.
        values: Values of the sessions by (row, column, metric).
        published: Values of the paper by (row, column, metric). The columns are the paper's models.
        note: A sentence below the table.
    """

    name: str
    about: str
    head: str
    rows: Sequence[str]
    columns: Sequence[str]
    metrics: Sequence[str]
    values: Mapping[Key, Average] = field(default_factory=dict)
    published: Published = field(default_factory=dict)
    note: str = ""

    @property
    def groups(self) -> dict[tuple[str, ...], str]:
        """A letter (A … Z, AA …) for each combination of data sets over which a value is
        averaged.
        """
        found: dict[tuple[str, ...], str] = {}
        for key in product(self.rows, self.columns, self.metrics):
            one = self.values.get(key)
            if one is not None and one.sets != key[:1]:  # otherwise the row is named after its set
                found.setdefault(one.sets, _letters(len(found)))
        return found

    @property
    def footnotes(self) -> list[str]:
        """Sentences below the table that explain the cells, the letters and the mark †."""
        said = [f"Each cell shows {' / '.join(self.metrics)}."] if any(self.metrics) else []
        said += [
            f"{letter}: {len(sets)} data set{'s' * (len(sets) > 1)}: {', '.join(sets)}."
            for sets, letter in self.groups.items()
        ]
        marked = any(EXACT_MARK in name for name in (*self.columns, *self.rows))
        return [*said, *([MARK_NOTE] if marked else []), *([self.note] if self.note else [])]

    def to_table(self) -> Table:
        """Return the table for people to read. Published columns without values are left out."""
        others = list(dict.fromkeys(column for _, column, _ in self.published))
        heads = (self.head, *self.columns, *(f"{column} (paper)" for column in others))
        groups = self.groups
        body: list[tuple[Cell, ...]] = []
        for row in self.rows:
            own = [self._cell(row, column, groups) for column in self.columns]
            body.append((row, *own, *(self._printed(row, column) for column in others)))
        return Table(heads, tuple(body))

    def _cell(self, row: str, column: str, groups: Mapping[tuple[str, ...], str]) -> Cell:
        """Return the joined values of a cell.

        One letter follows the cell if all its values cover the same sets, otherwise one follows
        each value.
        """
        some = [self.values.get((row, column, name)) for name in self.metrics]
        known = [one for one in some if one is not None]
        if not known:
            return None
        letters = {groups[one.sets] if one.sets != (row,) else "" for one in known}
        each = len(letters) > 1
        said = [_number(one, groups if each else {}) for one in some]
        return " / ".join(said) if each else " ".join([" / ".join(said), *letters]).rstrip()

    def _printed(self, row: str, column: str) -> Cell:
        places = 2 if all(round(one, 2) == one for one in self.published.values()) else 3
        there = [self.published.get((row, column, name)) for name in self.metrics]
        if all(one is None for one in there):
            return None
        return " / ".join(NO_VALUE if one is None else f"{one:.{places}f}" for one in there)

    def long_rows(self) -> list[tuple[Cell, ...]]:
        """Return the values of the table as rows with all digits, for CSV.

        There is one row for each value of the sessions and for each value in the paper.
        """
        found: list[tuple[Cell, ...]] = []
        for row, column, name in product(self.rows, self.columns, self.metrics):
            one = self.values.get((row, column, name))
            if one is None:
                found.append((self.name, "here", row, column, name, None, None, ""))
            else:
                sets = ", ".join(one.sets)
                found.append((self.name, "here", row, column, name, one.mean, one.values, sets))
        for (row, column, name), value in self.published.items():
            found.append((self.name, "paper", row, column, name, value, None, ""))
        return found


def merge_grids(grids: Iterable[Grid]) -> dict[Key, Average]:
    """Return the values of several tables together. No two tables may have the same key."""
    return {key: one for grid in grids for key, one in grid.values.items()}


def _number(one: Average | None, groups: Mapping[tuple[str, ...], str]) -> str:
    if one is None:
        return NO_VALUE
    return f"{one.mean:.3f} {groups.get(one.sets, '')}".rstrip()


def _letters(number: int) -> str:
    last = chr(ord("A") + number % 26)
    return last if number < 26 else _letters(number // 26 - 1) + last
