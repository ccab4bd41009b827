"""Find two columns that may hold pairs of input and output, and decide whether they do.

`PAIR_RULES` decides from the names and the cells of the two columns. table_readings.py uses it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

from .column_facts import ColumnFacts, ColumnKind
from .readings import FileKind
from .target_choice import CLASS_KINDS, NUMBER_KINDS, has_target_name

PAIR_NAMES = (
    ("input", "output"), ("x", "y"), ("in", "out"), ("question", "answer"), ("q", "a"),
    ("source", "target"), ("src", "tgt"), ("before", "after"), ("from", "to"),
    ("prompt", "completion"), ("prompt", "response"), ("instruction", "response"),
    ("instruction", "output"), ("raw", "clean"), ("original", "corrected"), ("argument", "result"),
    ("arguments", "result"),
)  # fmt: skip
PAIR_FIELDS = ("problem", "split")  # may stand beside the input and the output of a pair
PROSE = 3  # words of a text that is more than a value


@dataclass(frozen=True)
class ColumnPair:
    """Two columns that may hold the input and the output of pairs, with facts about their cells.

    Attributes:
        input: The column of inputs.
        output: The column of outputs.
        others: Further columns, besides the fields of a pair and identifiers.
        is_named: Whether the names of the columns are those of a pair.
        is_directed: Whether the names or the user say which column is the output.
        problem: The column that says which problem each pair belongs to, if there is one.
    """

    input: ColumnFacts
    output: ColumnFacts
    others: Sequence[ColumnFacts]
    is_named: bool
    is_directed: bool
    problem: ColumnFacts | None = None

    @property
    def has_usual_names(self) -> bool:
        """Whether the columns are named `input` and `output`."""
        return (self.input.name, self.output.name) == PAIR_NAMES[0]

    @property
    def is_structured(self) -> bool:
        """Whether a column holds lists or objects."""
        return ColumnKind.STRUCTURE in (self.input.kind, self.output.kind)

    @property
    def is_numeric(self) -> bool:
        """Whether both columns hold numbers."""
        return _holds_numbers(self.input) and _holds_numbers(self.output)

    @property
    def has_few_outputs(self) -> bool:
        """Whether the outputs could be classes."""
        return self.output.kind in CLASS_KINDS

    @property
    def has_prose(self) -> bool:
        """Whether the inputs are texts of several words."""
        return self.input.words_per_cell >= PROSE

    @property
    def may_label_texts(self) -> bool:
        """Whether the inputs are texts and the outputs few other texts or truth values.

        A text that is a part of its input, such as the first letter, is computed and no label.
        """
        if self.output.kind not in (ColumnKind.CLASSES, ColumnKind.TRUTH):
            return False
        cells = zip(self.input.cells, self.output.cells, strict=True)
        return _holds_texts(self.input) and not all(str(one) in str(text) for text, one in cells)

    @cached_property
    def contradicting(self) -> int:
        """The number of rows that have the same input as another row, and another output."""
        outputs: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
        problems = [None] * len(self.input.cells) if self.problem is None else self.problem.keys
        for *place, output in zip(problems, self.input.keys, self.output.keys, strict=True):
            outputs[tuple(place)][output] += 1
        return sum(seen.total() for seen in outputs.values() if len(seen) > 1)


@dataclass(frozen=True)
class PairRule:
    """A rule that decides the content of a table with one input and one output column.

    The rules are tried in order, and the first rule whose condition holds is applied.

    Attributes:
        holds: Returns whether the condition of the rule holds for the two columns.
        kinds: The possible kinds of content, the most likely first; empty if the table has no
            pairs.
        doubt: The reason why the first kind is not certain, with the placeholders {input} and
            {output} for the column names; "" if the first kind is certain.
    """

    holds: Callable[[ColumnPair], bool]
    kinds: tuple[FileKind, ...]
    doubt: str = ""


_PAIRS, _LABELS, _NUMBER = FileKind.PAIRS, FileKind.LABELLED_ROWS, FileKind.NUMERIC_TARGET
UNVARIED = {ColumnKind.EMPTY, ColumnKind.CONSTANT}
UNDIRECTED = "nothing says whether {output} follows from {input}"
PAIR_RULES = (
    PairRule(
        lambda pair: (
            pair.has_usual_names
            and ((pair.has_prose and pair.has_few_outputs) or pair.may_label_texts)
        ),
        (_LABELS, _PAIRS),
        "{input} holds texts and {output} few values, which may be labels or outputs of a program",
    ),
    PairRule(lambda pair: pair.has_usual_names, (_PAIRS,)),
    PairRule(lambda pair: pair.is_structured and pair.is_directed, (_PAIRS,)),
    PairRule(lambda pair: pair.is_structured and not pair.has_few_outputs, (_PAIRS,), UNDIRECTED),
    PairRule(
        lambda pair: pair.is_structured,
        (_PAIRS,),
        "{input} holds lists or objects, from which sentences about rows cannot follow",
    ),
    PairRule(
        lambda pair: pair.is_named and pair.has_few_outputs and not pair.has_prose,
        (_PAIRS, _LABELS),
        "{output} may hold outputs of a program or labels",
    ),
    PairRule(
        lambda pair: pair.is_named and pair.is_numeric,
        (_PAIRS, _NUMBER),
        "{output} may hold outputs of a program or a number to predict",
    ),
    PairRule(lambda pair: pair.has_few_outputs or _holds_numbers(pair.output), ()),
    PairRule(lambda pair: {pair.input.kind, pair.output.kind} & UNVARIED != set(), ()),
    PairRule(lambda pair: pair.is_directed, (_PAIRS,)),
    PairRule(lambda pair: has_target_name(pair.output), ()),
    PairRule(lambda pair: pair.input.kind in CLASS_KINDS or _holds_numbers(pair.input), ()),
    PairRule(lambda pair: True, (_PAIRS,), f"no column has few values, and {UNDIRECTED}"),
)


def find_pair(columns: Sequence[ColumnFacts], target: str | None) -> ColumnPair | None:
    """Return the two columns that may be input and output, if there are such."""
    values = [
        one
        for one in columns
        if one.name not in PAIR_FIELDS
        and not (one.kind is ColumnKind.EMPTY and not one.name)
        and not (one.kind is ColumnKind.IDENTIFIER and one.is_named_like_identifier)
    ]
    by_name = {one.name.strip().casefold(): one for one in values}
    for first, second in PAIR_NAMES:
        if first in by_name and second in by_name and (len(values) == 2 or first == "input"):
            own = (by_name[first], by_name[second])
            others = [one for one in values if one not in own]
            if target in (None, own[1].name):
                problem = next((one for one in columns if one.name == PAIR_FIELDS[0]), None)
                return ColumnPair(*own, others, True, True, problem)
    if len(values) != 2:
        return None
    first_column, second_column = values
    if target == first_column.name:
        first_column, second_column = second_column, first_column
    return ColumnPair(first_column, second_column, [], False, target is not None)


def _holds_texts(column: ColumnFacts) -> bool:
    texts = (ColumnKind.TEXT, ColumnKind.CLASSES, ColumnKind.IDENTIFIER)
    return column.kind in texts and all(isinstance(cell, str) for cell in column.filled)


def _holds_numbers(column: ColumnFacts) -> bool:
    numbers = (*NUMBER_KINDS, ColumnKind.CODES)
    return column.kind in numbers or all(isinstance(cell, int | float) for cell in column.filled)
