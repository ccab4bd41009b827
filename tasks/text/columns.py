"""Choose the input columns of a data set, and determine the kind of each column.

The inputs are the columns that the published prompt templates name. Without templates, all columns
except the label are inputs. A column is left out with a warning if it reveals the label, which
means that in every training row it contains the label of that row and no other label. Columns with
row numbers, and columns whose cells are not text, numbers or truth values, are also left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ...records import DataError, Json
from ..io.messages import shorten, suggest_nearest, warn
from .config_files import format_label
from .label_names import LabelNames

_FEW = 20  # values of a choice column
_SHORT = 60  # characters of a value of a choice column
_PLACEHOLDER = re.compile(r"\$(?:\{([^{}]+)\}|([A-Za-z_][A-Za-z0-9_]*))")
_NUMBERING = re.compile(r"(?:unnamed: ?\d+|(?:row_?|example_?)?(?:id|idx|index|uuid|guid)|)")
_PAIR = ({"1", "a", "first", "one", "left"}, {"2", "b", "second", "two", "right"})


@dataclass(frozen=True)
class Columns:
    """The input columns of a data set.

    Attributes:
        about: By column name, in the order of the inputs: {"kind", "about"}, and for a choice also
            "values".
        shape: "text" for one text column, "pair" for a choice between two texts, otherwise
            "fields".
        labels: The labels. For the shape "pair", the label of the first text comes first.
    """

    about: Mapping[str, Mapping[str, Json]]
    shape: str
    labels: tuple[str, ...]  # for a pair in the order of the texts


def describe_columns(
    where: str,
    cells: Mapping[str, Sequence[Json]],
    label_name: str,
    labels: LabelNames,
    templates: Mapping[str, Json],
    features: Mapping[str, Mapping[str, Json]],
    input_columns: Sequence[str] = (),
) -> Columns:
    """Choose the input columns of a data set and describe each, based on the training rows.

    Args:
        where: The file, for error messages.
        cells: The cells of all columns by name, including the label column.
        label_name: The name of the label column.
        labels: The labels.
        templates: The published prompt templates.
        features: The descriptions of columns in metadata.json.
        input_columns: The input columns that the user names; empty to choose them automatically.

    Raises:
        DataError: A column that the user names does not exist, or no input column is left.
    """
    given = [name for name in cells if name != label_name]
    for name in input_columns:
        if name not in given:
            raise DataError(
                f"{where}: there is no column {name!r} besides the label{suggest_nearest(name, given)}"
            )
    named = find_placeholders(templates)
    chosen = list(input_columns) or [name for name in given if name in named] or given
    chosen_by_name = bool(input_columns) or chosen is not given
    kept = []
    for name in chosen:
        why = _find_fault(cells[name])
        if why is None and not chosen_by_name and _numbers_rows(name, cells[name]):
            why = "numbers the rows"
        leaks = why is None and _gives_away(cells[name], cells[label_name], labels)
        if leaks and not chosen_by_name:
            why = "holds the label of its row, and no other, in every row"
        elif leaks:
            warn(f"{where}: the column {name!r} holds the label of its row in every row")
        if why is None:
            kept.append(name)
        else:
            warn(f"{where}: the column {name!r} {why} and is ignored")
    for name in given:
        if name not in chosen and _gives_away(cells[name], cells[label_name], labels):
            warn(f"{where}: the column {name!r} reveals the label and is ignored")
    if not kept:
        raise DataError(f"{where}: no columns are left to predict {label_name!r} from")
    about = {name: _describe_column(cells[name], features.get(name) or {}) for name in kept}
    texts = [name for name, told in about.items() if told["kind"] == "text"]
    order = _order_pair(texts, labels.names)
    if order is None:
        shape = "text" if len(about) == len(texts) == 1 else "fields"
        return Columns(about, shape, labels.names)
    pair, ordered = order
    rest = {name: told for name, told in about.items() if name not in pair}
    return Columns({name: about[name] for name in pair} | rest, "pair", ordered)


def find_placeholders(templates: Json) -> set[str]:
    """Return the names of all placeholders `${name}` or `$name` in the templates."""
    if isinstance(templates, str):
        return {one or other for one, other in _PLACEHOLDER.findall(templates)}
    inner = templates.values() if isinstance(templates, dict) else templates
    return (
        set().union(*map(find_placeholders, inner)) if isinstance(templates, dict | list) else set()
    )


def _find_fault(cells: Sequence[Json]) -> str | None:
    if all(cell is None for cell in cells):
        return "is empty"
    odd = next((c for c in cells if not isinstance(c, str | int | float | None)), None)
    return None if odd is None else f"holds what is no text, number or truth value ({shorten(odd)})"


def _numbers_rows(name: str, cells: Sequence[Json]) -> bool:
    if not _NUMBERING.fullmatch(name.strip().casefold()):
        return False
    return len(set(cells)) == len(cells)


def _gives_away(cells: Sequence[Json], gold: Sequence[Json], labels: LabelNames) -> bool:
    """Return whether each cell names its row's label and no other, as whole words."""
    if len(labels) < 2 or not all(isinstance(cell, str) for cell in cells):
        return False
    if len({format_label(one) for one in gold}) < 2:
        return False
    patterns = {
        name: re.compile(rf"(?<!\w){re.escape(name.casefold())}(?!\w)") for name in labels.names
    }
    return all(
        [name for name, one in patterns.items() if one.search(cell.casefold())]
        == [labels.find(format_label(own))]
        for cell, own in zip(cells, gold, strict=True)
    )


def _describe_column(cells: Sequence[Json], feature: Mapping[str, Json]) -> dict[str, Json]:
    said = feature.get("description")
    about = said.strip() if isinstance(said, str) else ""
    there = [cell for cell in cells if cell is not None]
    if all(isinstance(cell, bool) for cell in there):
        return {"kind": "truth", "about": about}
    if all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in there):
        return {"kind": "number", "about": about}
    values = {format_label(cell) for cell in there}
    told = [one for one in feature.get("possible_values") or () if isinstance(one, str)]
    few = len(values) <= _FEW and max(map(len, values)) <= _SHORT
    if (told and values <= set(told)) or (few and 3 * len(values) <= len(there)):
        ordered = dict.fromkeys([*told, *sorted(values)])
        return {"kind": "choice", "about": about, "values": list(ordered)}
    return {"kind": "text", "about": about}


def check_value(kind: str, cell: Json, where: str) -> Json:
    """Return a cell after checking that it fits the kind of its column, or None for a missing cell.

    Args:
        kind: The kind of the column, such as "number".
        cell: The cell.
        where: The location of the cell, with which error messages begin.

    Raises:
        DataError: The cell does not fit, such as a text in a column of numbers.
    """
    if cell is None:
        return None
    if isinstance(cell, dict | list):
        raise DataError(f"{where}: must be a text, a number or a truth value, not {shorten(cell)}")
    if kind in ("text", "choice"):
        return cell if isinstance(cell, str) else format_label(cell)
    if not isinstance(cell, bool if kind == "truth" else int | float):
        raise DataError(f"{where}: must be a {kind} as in other rows, not {shorten(cell)}")
    return cell


# --- two texts to choose from ---------------------------------------------------------


def _order_pair(
    texts: Sequence[str], labels: Sequence[str]
) -> tuple[list[str], tuple[str, ...]] | None:
    """Return the two text columns and the labels in order, or None if the record is no pair.

    The column names differ only in a word that gives the order (`headline_1` and `headline_2`), and
    so do the labels (`Headline 1`, `first`).
    """
    if len(texts) != 2 or len(labels) != 2:
        return None
    ordered = _in_order(texts)
    named = _in_order(labels)
    return None if ordered is None or named is None else (ordered, tuple(named))


def _in_order(names: Sequence[str]) -> list[str] | None:
    parts = [re.findall(r"\d+|[a-z]+", name.casefold()) for name in names]
    for first, second in ((0, 1), (1, 0)):
        if _ordinal(parts[first], parts[second]):
            return [names[first], names[second]]
    return None


def _ordinal(one: Collection[str], other: Collection[str]) -> bool:
    rest, rests = ([part for part in some if part not in other_] for some, other_ in
                   ((one, other), (other, one)))  # fmt: skip
    if len(rest) != 1 or len(rests) != 1 or len(one) != len(other):
        return False
    first, second = rest[0], rests[0]
    return first in _PAIR[0] and second in _PAIR[1]
