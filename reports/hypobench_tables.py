"""HypoBench's tables 5 to 8 and 11 to 16, from entries (hypobench_entries.py), with what the paper
prints beside. A cell without a session is empty. Averages are over data sets; each says over which by
a letter, and below the table the sets of each letter are named. † marks scores that no model made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from . import hypobench_published as published
from .hypobench_entries import (
    BASELINE,
    BY_RULES,
    MARK,
    PAPER_METHODS,
    READERS,
    Average,
    Entry,
    average,
    methods,
    metric,
)
from .hypobench_published import MODELS, Published
from .tables import Cell, Table

Key = tuple[str, str, str]  # row, column, metric
Value = Callable[[Entry], float | None]
REAL_ONLY = "literature only"
BELOW = f"{MARK} no model made these scores: exact rules did."


@dataclass(frozen=True)
class Grid:
    """One table. values: what sessions give, published: what the paper prints, for (row, column,
    metric), the columns being models of either."""

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
        """A letter (A … Z, AA …) for each combination of data sets that stands behind a value."""
        found: dict[tuple[str, ...], str] = {}
        for one in self._ordered():
            if one is not None and one.sets and not self._is_row(one):
                found.setdefault(one.sets, _letters(len(found)))
        return found

    def _is_row(self, one: Average) -> bool:
        """Its row is called by its set, so that no letter is needed."""
        return len(one.sets) == 1 and one.sets[0] in self.rows

    def _ordered(self) -> list[Average | None]:
        return [self.values.get(key) for key in product(self.rows, self.columns, self.metrics)]

    @property
    def below(self) -> list[str]:
        """Sentences that belong under the table: its letters, its mark."""
        said = [
            f"{letter}: {len(sets)} data set{'s' * (len(sets) > 1)}: {', '.join(sets)}."
            for sets, letter in self.groups.items()
        ]
        marked = any(MARK in name for name in (*self.columns, *self.rows, *self.metrics))
        return [*said, *([BELOW] if marked else []), *([self.note] if self.note else [])]

    def table(self) -> Table:
        """To be read: three decimals, the letter behind each."""
        groups = self.groups
        others = [one for one in dict.fromkeys(c for _, c, _ in self.published)]
        heads = [_head(c, m) for c, m in product(self.columns, self.metrics)]
        beside = [(c, m) for c, m in product(others, _metrics(self.published))]
        beside = [place for place in beside if any(key[1:] == place for key in self.published)]
        heads += [f"{_head(c, m)} (paper)" for c, m in beside]
        body: list[tuple[Cell, ...]] = []
        for row in self.rows:
            cells: list[Cell] = []
            for column, name in product(self.columns, self.metrics):
                one = self.values.get((row, column, name))
                cells.append(None if one is None else _shown(one, groups))
            cells += [self.published.get((row, *place)) for place in beside]
            body.append((row, *cells))
        return Table((self.head, *heads), tuple(body))

    def long(self) -> list[tuple[Cell, ...]]:
        """A line a value, numbers whole, and one a published value."""
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


LONG = ("table", "source", "row", "column", "metric", "value", "n", "data_sets")


def grids(
    some: Sequence[Entry],
    crossed: Mapping[str, tuple[str, str]],
    agreements: Mapping[Key, Average] | None = None,
) -> list[Grid]:
    """All ten tables. crossed: session -> (who proposed, who labelled) of the sessions that stand in
    the cross-model tables. agreements: of raters, for table 8."""
    real = [one for one in some if one.real]
    made = [one for one in some if not one.real]
    numbers = {one.data_set for one in made if one.metrics.get("mse") is not None}
    numeric = [one for one in made if one.data_set in numbers]
    labels = [one for one in made if one.data_set not in numbers]
    banks = [one for one in labels if not one.method.startswith(BASELINE)]
    return [
        _accuracy("table5", "ood", real, published.TABLE_5),
        _crossed("table6", "ood", real, crossed, published.TABLE_6),
        _qualities(real),
        _agreement(agreements or {}),
        _marine(numeric),
        _accuracy("table12", "ind", real, published.TABLE_12),
        _crossed("table13", "ind", real, crossed, published.TABLE_13),
        _discovery(banks),
        _grid(
            "table15",
            "Table 15 of the paper: accuracy and macro F1 of the test rows of synthetic data sets.",
            labels, PAPER_METHODS, {"accuracy": metric("accuracy"), "F1": metric("f1")},
            published.TABLE_15, leave_out=(REAL_ONLY, "literature + data"),
        ),
        _by_set(banks),
    ]  # fmt: skip


# --- each table --------------------------------------------------------------------------


def _grid(
    name: str,
    about: str,
    some: Sequence[Entry],
    rows: Sequence[str],
    wanted: Mapping[str, Value],
    beside: Published,
    *,
    column: Callable[[Entry], str] = lambda one: one.read_by,
    leave_out: Sequence[str] = (),
    note: str = "",
) -> Grid:
    own = [one for one in some if one.method not in READERS]
    listed = [one for one in methods(own) if one not in leave_out or one in {e.method for e in own}]
    listed = [one for one in listed if one in rows or one in {e.method for e in own}]
    listed += [row for row in dict.fromkeys(key[0] for key in beside) if row not in listed]
    columns = list(dict.fromkeys(column(one) for one in own))
    values = {}
    for row, place in product(listed, columns):
        chosen = [one for one in own if (one.method, column(one)) == (row, place)]
        for key, of in wanted.items():
            if (found := average(chosen, of)) is not None:
                values[row, place, key] = found
    return Grid(name, about, "method", listed, columns, tuple(wanted), values, beside, note)


def _accuracy(name: str, split: str, real: Sequence[Entry], beside: Published) -> Grid:
    number, about = {
        "ood": ("5", "rows of another source"),
        "ind": ("12", "test rows"),
    }[split]
    wanted = {"accuracy": metric(f"accuracy_{split}"), "F1": metric(f"f1_{split}")}
    return _grid(
        name,
        f"Table {number} of the paper: accuracy and macro F1 on {about} of real data sets.",
        real, PAPER_METHODS, wanted, beside,
        note="Baselines learn from exactly the rows that the session was shown. The paper's literature +"
        " data is in each cell the best of three methods; fine-tuned Llama learned from the whole"
        " training split.",
    )  # fmt: skip


def _crossed(
    name: str,
    split: str,
    real: Sequence[Entry],
    crossed: Mapping[str, tuple[str, str]],
    beside: Published,
) -> Grid:
    number, about = {"ood": ("6", "rows of another source"), "ind": ("13", "test rows")}[split]
    own = [o for o in real if o.session in crossed and not o.method.startswith(BASELINE)]
    rows = list(dict.fromkeys(crossed[one.session][0] for one in own))
    columns = list(dict.fromkeys(crossed[one.session][1] for one in own))
    values = {}
    for row, column in product(rows, columns):
        chosen = [one for one in own if crossed[one.session] == (row, column)]
        if (found := average(chosen, metric(f"accuracy_{split}"))) is not None:
            values[row, column, "accuracy"] = found
    rows += [row for row in MODELS if row not in rows]
    return Grid(
        name,
        f"Table {number} of the paper: accuracy on {about} of real data sets. A row is who proposed the"
        " hypotheses, a column who labelled by them.",
        "proposer", rows, columns, ("accuracy",), values, beside,
    )  # fmt: skip


def _qualities(real: Sequence[Entry]) -> Grid:
    some = [one for one in real if one.has_bank]
    names = ("novelty", "plausibility", "clarity")
    return _rated(
        "table7",
        "Table 7 of the paper: novelty, plausibility and clarity (1 to 5) of the hypotheses on real data"
        " sets, as `peirce rate` had them rated.",
        [one for one in PAPER_METHODS if not one.endswith("inference")],
        some, {name: _quality(name) for name in names}, published.TABLE_7,
    )  # fmt: skip


def _discovery(some: Sequence[Entry]) -> Grid:
    """Exact scores, and beside them what raters said."""
    banks = [one for one in some if one.has_bank]
    exact = {name: metric(name.lower()) for name in ("FDR", "RC", "HDR")}
    exact["HDR as published"] = metric("hdr_released")
    rows = ("zero-shot generation", "IO prompting", "iterative refinement", "HypoGeniC")
    by_rules = _grid(
        "table14", "", banks, rows, exact, published.TABLE_14,
        column=lambda one: f"{one.model} · {BY_RULES}", leave_out=PAPER_METHODS,
    )  # fmt: skip
    rated = _rated("table14", "", rows, banks, _released(), published.TABLE_14)
    listed = [row for row in methods(banks) if row in {*by_rules.rows, *rated.rows}]
    listed = listed or list(rows)
    return Grid(
        "table14",
        "Table 14 of the paper: true rules found (FDR), how well (RC) and both (HDR) on synthetic data sets."
        " By exact rules: one sentence for each true rule at most, compared on all inputs; as published:"
        " any sentence that shares a variable. A rater's scores are counted as published.",
        "method", listed, [*by_rules.columns, *rated.columns], tuple(exact),
        {**by_rules.values, **rated.values}, published.TABLE_14,
        "The paper's ratings are GPT-4o's.",
    )  # fmt: skip


def _marine(numeric: Sequence[Entry]) -> Grid:
    wanted: dict[str, Value] = {"MSE": metric("mse")}
    wanted |= {name: metric(name.lower()) for name in ("FDR", "RC", "HDR")}
    return _grid(
        "table11",
        "Table 11 of the paper: squared error of numbers, in ranges of the training labels (marine), and"
        " true rules found, by exact rules.",
        [one for one in numeric if not one.method.startswith(BASELINE)],
        PAPER_METHODS, {key if key == "MSE" else f"{key} {MARK}": of for key, of in wanted.items()},
        published.TABLE_11, leave_out=(REAL_ONLY, "literature + data"),
        note="The paper's rows are those of an unreleased set.",
    )  # fmt: skip


def _by_set(some: Sequence[Entry]) -> Grid:
    """Table 16: a row a data set, a column for each method and model."""
    banks = [one for one in some if one.has_bank and one.method not in READERS]
    names = ("FDR", "RC", "HDR")
    columns = list(dict.fromkeys(f"{one.method} · {one.model} · {BY_RULES}" for one in banks))
    values = {}
    own_rows = sorted({one.data_set for one in banks})
    for column in columns:
        mine = [o for o in banks if f"{o.method} · {o.model} · {BY_RULES}" == column]
        for name in names:
            for row in (*own_rows, published.AVERAGE):
                chosen = [o for o in mine if row in (o.data_set, published.AVERAGE)]
                if (found := average(chosen, metric(name.lower()))) is not None:
                    values[row, column, name] = found
    listed = [row for row, _, _ in published.TABLE_16 if row != published.AVERAGE]
    rows = [*dict.fromkeys((*listed, *own_rows)), published.AVERAGE]
    return Grid(
        "table16",
        "Table 16 of the paper: true rules found on each synthetic data set. The paper prints O3, asked"
        " once with all training rows for 20 hypotheses.",
        "data set", rows, columns, names, values, published.TABLE_16,
        "The paper's average is over 11 sets, of which it prints nine. Its preference is personality here.",
    )  # fmt: skip


def _agreement(found: Mapping[Key, Average]) -> Grid:
    rows = list(dict.fromkeys(row for row, _, _ in published.TABLE_8))
    columns = list(dict.fromkeys(column for _, column, _ in found))
    return Grid(
        "table8",
        "Table 8 of the paper: agreement of raters. Here: of each two raters whose ratings stand beside the"
        " store; that of people is `peirce agree` with filled sheets.",
        "measure", rows, columns, ("",), found, published.TABLE_8,
    )  # fmt: skip


# --- inside ------------------------------------------------------------------------------


def _rated(
    name: str,
    about: str,
    rows: Sequence[str],
    some: Sequence[Entry],
    wanted: Mapping[str, Callable[[Mapping[str, object]], float | None]],
    beside: Published,
) -> Grid:
    """Columns are models with each of their raters."""
    columns = list(
        dict.fromkeys(_by(one.model, by) for one in some if one.method not in READERS
                      for by, told in one.rated if any(of(told) is not None for of in wanted.values()))
    )  # fmt: skip
    there = {one.method for one in some}
    listed = [one for one in methods(some) if one in rows or one in there]
    values = {}
    for row, column, key in product(listed, columns, wanted):
        chosen = [one for one in some if one.method == row]
        if (found := average(chosen, _as_rated(column, wanted[key]))) is not None:
            values[row, column, key] = found
    return Grid(name, about, "method", listed, columns, tuple(wanted), values, beside)


def _as_rated(column: str, of: Callable[[Mapping[str, object]], float | None]) -> Value:
    def value(one: Entry) -> float | None:
        return next((of(told) for by, told in one.rated if _by(one.model, by) == column), None)

    return value


def _by(model: str, rater: str) -> str:
    return f"{model} · rated by {rater}"


def _quality(name: str) -> Callable[[Mapping[str, object]], float | None]:
    return lambda told: _number(told.get(name), "mean")


def _released() -> dict[str, Callable[[Mapping[str, object]], float | None]]:
    def of(name: str) -> Callable[[Mapping[str, object]], float | None]:
        return lambda told: _number(told.get("released"), name)

    return {name: of(name.lower()) for name in ("FDR", "RC", "HDR")}


def _number(told: object, name: str) -> float | None:
    value = told.get(name) if isinstance(told, Mapping) else None
    return float(value) if isinstance(value, int | float) else None


def _shown(one: Average, groups: Mapping[tuple[str, ...], str]) -> Cell:
    return f"{one.mean:.3f} {groups[one.sets]}" if one.sets in groups else one.mean


def _head(column: str, name: str) -> str:
    return f"{column}: {name}" if name else column


def _metrics(found: Iterable[Key]) -> list[str]:
    return list(dict.fromkeys(name for _, _, name in found))


def _letters(number: int) -> str:
    last = chr(ord("A") + number % 26)
    return last if number < 26 else _letters(number // 26 - 1) + last
