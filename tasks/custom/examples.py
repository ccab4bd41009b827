"""Task `examples`: a user's own input/output pairs, from JSONL, JSON, CSV or TSV, plain or gzip.

JSONL, a pair per line:     {"problem": "p1", "input": [3, 1], "output": [1, 3], "split": "hidden"}
JSONL, a problem per line:  {"id": "p1", "train": [{"input": …, "output": …}, …], "test": […]}
JSON:                       a list of such objects, or one pair or problem, which needs no `id`
CSV, TSV with a header:     problem,input,output[,split]

`split` is "shown" (the default) or "hidden". The pairs under `train` are shown, and the pairs under
`test` are hidden. The key `idx` has the same meaning as `id`. If no pair names its problem, all
pairs belong to one problem, which is named after the file. Values are JSON. A CSV cell is read as
JSON if possible, otherwise as a Python literal, and otherwise as a string. TRUE and FALSE are truth
values, as spreadsheets write them. If a column has a number with a leading zero, such as 007, all
digits in this column are strings. If some numbers in one place of a problem are fractions, whole
numbers in this place are read as fractions too: JSON has only one kind of number. An error names
file, line and field (`io/bad_records.py`).

`PATH?input=x&output=y` reads the input of each pair from the field `x` and its output from the
field `y`. The fields for `problem` and `split` may be set in the same way. All other fields are
then ignored.

A problem has a sample space S (the inputs to predict). Problems whose inputs are integers share one,
and so do those whose inputs are lists of integers. S begins with the inputs of its problems, each once.
S includes the inputs of hidden pairs, but never their outputs. Then more inputs are added:

| inputs | added to S |
|---|---|
| lists of integers | 500 distinct lists of each length from 0 to 1.5 times the longest (within 5 and 30); elements uniform between the smallest (at most 0) and the largest (at least 9) |
| integers | the observed range, extended at both ends by its own width (at least 10): all integers of this range, or 5,000 distinct ones |
| all other values | 2,000 values like the observed ones (similar_inputs.py); if these are long, fewer, down to 10 |
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from ...records import DataError, InputSet, Json, Observation, Problem, UsageError
from ..io import observations as observations_
from ..io.bad_records import BadRecords
from ..io.files import (
    identify_file,
    locate,
    read_csv,
    read_json,
    read_jsonl,
    split_settings,
)
from ..io.json_text import Unusable
from ..io.messages import shorten, suggest_nearest
from ..io.spaces import drop_repeated
from ..programs.list_functions import draw_stratum
from .example_rules import KINDS, SHOWN, apply_rule, plant
from .pair_values import EMPTY_CELL, are_padded, parse_cell, unify_pairs
from .similar_inputs import draw_like
from .words import EQUALITY, IMPORTS

FILE_TYPES = ("jsonl", "json", "csv", "tsv")
FILES = tuple(f"examples.{kind}{end}" for kind in FILE_TYPES for end in ("", ".gz"))
COLUMNS = ("problem", "input", "output", "split")
SPLITS = {"shown": True, "train": True, "": True, "hidden": False, "test": False}
PER_LENGTH = 500
INTEGERS = 5_000
SIMILAR = 2_000
SIMILAR_CHARACTERS = 2_000_000  # of the JSON of similar inputs; fewer are drawn if they are long
LEAST_SIMILAR = 10
DIGITS = 12  # of fractions that must agree

K = TypeVar("K", int, str)  # the place of a row

Pair = tuple[str, bool, Observation]  # (name of the problem, whether the pair is shown, the pair)


class Examples:
    """Task `examples`, which reads a user's own pairs of input and output from a file."""

    name = "examples"
    family = "programs"
    about = (
        "your own input/output pairs, from JSONL, JSON or CSV (--data), or generated everyday rules"
    )
    takes = (
        'your pairs: JSONL, {"input": …, "output": …} a line, a JSON list of such, or a CSV or TSV with'
        " columns input and output; problem and split may stand beside them"
    )
    commands = (
        "peirce run examples --data pairs.jsonl",
        "peirce run examples --data pairs.csv --observations 6 --model http://localhost:8000/v1#NAME",
        "peirce report last --out report.html",
    )
    files = FILES

    def load(self, path: str, observations: str | None, seed: int) -> list[Problem]:
        """Read the problems in a user's file of pairs."""
        place, fields = _parse_path(path)
        with BadRecords(place) as bad:
            loaded = _problems(place, _pairs_of(place, bad, fields), bad)
        return loaded if observations is None else self.observe(loaded, observations, seed)

    def identify_data(self, path: str | Path) -> dict[str, Json]:
        """Return {"name", "sha256"} of the file at `path`."""
        return identify_file(_parse_path(path)[0])

    def observe(self, problems: Sequence[Problem], observations: str, seed: int) -> list[Problem]:
        """Return the problems with other shown pairs, drawn at random or listed in a file."""
        return observations_.choose_observations(problems, observations, seed)

    def generate(self, count: int, seed: int) -> list[Problem]:
        """Generate `count` problems with everyday rules (example_rules/), each of the next kind.

        Raises:
            UsageError: `count` is below 1.
        """
        if count < 1:
            raise UsageError(f"problems is {count}: it must be at least 1")
        return [_generated(seed, index) for index in range(count)]

    def space(self, problem: Problem, seed: int) -> InputSet:
        """Return the sample space of one problem, which contains the inputs to predict."""
        return self.spaces([problem], seed)[0]

    def spaces(self, problems: Sequence[Problem], seed: int) -> list[InputSet]:
        """Return the sample space of each problem. Problems whose inputs are integers share one, and
        so do those whose inputs are lists of integers.
        """
        kinds = [_kind(_inputs([problem])) or f"problem {problem.id}" for problem in problems]
        spaces: dict[str, InputSet] = {}
        for kind in dict.fromkeys(kinds):
            alike = [p for p, of in zip(problems, kinds, strict=True) if of == kind]
            rows = _space(kind, _inputs(alike), seed)
            name = (
                kind if _kind(_inputs(alike)) else "similar inputs"
            )  # a file's name shapes no digest
            spaces[kind] = InputSet(f"examples space of {name}, seed {seed}", tuple(rows))
        return [spaces[kind] for kind in kinds]


def _generated(seed: int, index: int) -> Problem:
    kind = list(KINDS)[index % len(KINDS)]
    rule, inputs = plant(kind, random.Random(f"examples problem {seed} {index}"))
    pairs = tuple(Observation(value, apply_rule(rule, value)) for value in inputs)
    name = f"gen{seed}-{index}"
    return Problem(
        id=name,
        task=Examples.name,
        family=Examples.family,
        shown=pairs[:SHOWN],
        hidden=pairs[SHOWN:],
        public=_public(pairs),
        secret={"rule": f"def f(x):\n    return {rule}", "kind": kind},
        group=name,
    )


# --- files ------------------------------------------------------------------------


def _parse_path(path: str | Path) -> tuple[Path, Mapping[str, str]]:
    """Return the file, and the names that fields of a pair have in it."""
    place, fields = split_settings(path, COLUMNS)
    return locate(place, FILES), fields


def _pairs_of(path: Path, bad: BadRecords, fields: Mapping[str, str]) -> Iterator[Pair]:
    """Yield the pairs of the file that can be read."""
    ending = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if ending in ("csv", "tsv"):
        table = read_csv(path, "\t" if ending == "tsv" else ",", bad)
        return _csv_pairs(path, _rename_fields(path, "line ", table, fields), bad)
    rows = _listed(path, bad) if ending == "json" else _lines(path, bad)
    return _json_pairs(path, _rename_fields(path, "", rows, fields), bad)


def _rename_fields(
    path: Path, unit: str, rows: Iterable[tuple[K, Json]], fields: Mapping[str, str]
) -> Iterator[tuple[K, Json]]:
    """Yield the rows with the fields of a pair under their usual names, if other names are set."""
    for place, row in rows:
        if fields and isinstance(row, dict):
            for name in fields.values():
                if name not in row:
                    raise DataError(
                        f"{path}, {unit}{place}: no field {name!r}{suggest_nearest(name, row)}"
                    )
            row = {field: row[name] for field, name in fields.items()}
        yield place, row


def _lines(path: Path, bad: BadRecords) -> Iterator[tuple[str, Json]]:
    return ((f"line {number}", row) for number, row in read_jsonl(path, bad))


def _listed(path: Path, bad: BadRecords) -> Iterator[tuple[str, Json]]:
    """Yield the rows of a file that is one JSON list; JSONL under that name is read too."""
    try:
        rows = read_json(path)
    except Unusable:
        raise
    except DataError as error:
        try:
            return iter(list(_lines(path, BadRecords(path, skip=False))))
        except DataError:
            raise error from None
    if isinstance(rows, dict) and {"input", "train"} & rows.keys():
        rows = [rows if {"input", "id", "idx"} & rows.keys() else {"id": _stem(path), **rows}]
    if not isinstance(rows, list):
        raise DataError(
            f"{path}: must be a list of pairs, or have one pair per line, not {shorten(rows)}"
        )
    return ((f"row {number}", row) for number, row in enumerate(rows, 1))


def _problems(path: Path, pairs: Iterable[Pair], bad: BadRecords) -> list[Problem]:
    shown: dict[str, list[Observation]] = {}
    hidden: dict[str, list[Observation]] = {}
    for name, is_shown, pair in pairs:
        shown.setdefault(name, [])
        (shown if is_shown else hidden).setdefault(name, []).append(pair)
    for name in list(shown):
        with bad.record(f"problem {name!r}"):
            if not shown[name]:
                del shown[name]
                raise DataError(
                    f"{path}, problem {name!r}, split: all of its pairs are hidden; show at least one"
                )
    if not shown:
        raise bad.no_records_error(f"{path}: the file is empty")
    for name, some in shown.items():
        unified = unify_pairs([*some, *hidden.get(name, ())])
        shown[name], hidden[name] = unified[: len(some)], unified[len(some) :]
    return [
        Problem(
            id=name,
            task=Examples.name,
            family=Examples.family,
            shown=tuple(some),
            hidden=tuple(hidden.get(name, ())),
            public=_public((*some, *hidden.get(name, ()))),
            group=name,
        )
        for name, some in shown.items()
    ]


def _public(pairs: Sequence[Observation]) -> dict[str, Json]:
    """Return what a program may import, and a rule by which fractions need not agree in digits that
    arithmetic does not determine.

    Programs on integers and lists of integers keep the contract of the published ones.
    """
    inputs, outputs = [pair.input for pair in pairs], [pair.output for pair in pairs]
    public: dict[str, Json] = {} if _kind(inputs) and _kind(outputs) else {IMPORTS: "permitted"}
    if any(type(number) is float for output in outputs for number in _numbers(output)):
        public[EQUALITY] = {"numbers": {"significant": DIGITS}}
    return public


def _numbers(value: Json) -> Iterator[Json]:
    if isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _numbers(part)
    else:
        yield value


def _json_pairs(path: Path, rows: Iterable[tuple[str, Json]], bad: BadRecords) -> Iterator[Pair]:
    """Yield the pairs of rows, each of which is a pair or a problem.

    Args:
        path: the file, for the name of its one problem.
        rows: the place and the value of each pair or problem.
        bad: handles rows that cannot be read.
    """
    whole: set[str] = set()
    by_pairs: set[str] = set()
    named: set[bool] = set()
    for place, row in rows:
        where = f"{path}, {place}"
        with bad.record(place):
            if not isinstance(row, dict):
                raise DataError(f"{where}: must be an object, not {shorten(row)}")
            if "train" in row:
                name = _name(row.get("id", row.get("idx")), f"{where}, id")
                if name in whole:
                    raise DataError(f"{where}, id: {name!r} occurs twice")
                if name in by_pairs:
                    raise DataError(f"{where}, id: {name!r} already has pairs on earlier lines")
                parts = [
                    pair
                    for part in ("train", "test")
                    for pair in _part(row.get(part, []), name, part, where)
                ]
                _same_naming(True, named, where)
                whole.add(name)
                yield from parts
            else:
                pair = _bare_pair(row, path, where)
                if pair[0] in whole:
                    raise DataError(
                        f"{where}, problem: {pair[0]!r} is already complete on an earlier line"
                    )
                _same_naming("problem" in row, named, where)
                by_pairs.add(pair[0])
                yield pair


def _bare_pair(row: dict[str, Json], path: Path, where: str) -> Pair:
    """Return the pair of a row that is one pair."""
    unknown = [key for key in row if key not in COLUMNS]
    if unknown:
        raise DataError(
            f"{where}, {unknown[0]}: unknown field; valid fields are {', '.join(COLUMNS)}, or"
            " id, train and test"
        )
    for field in ("input", "output"):
        if field not in row:
            raise DataError(f"{where}, {field}: missing")
    name = _name(row.get("problem", _stem(path)), f"{where}, problem")
    is_shown = _is_shown(row.get("split", "shown"), f"{where}, split")
    return name, is_shown, Observation(row["input"], row["output"])


def _part(pairs: Json, name: str, part: str, where: str) -> Iterator[Pair]:
    if not isinstance(pairs, list) or (part == "train" and not pairs):
        raise DataError(f"{where}, {part}: must be a list of pairs, not {shorten(pairs)}")
    for i, pair in enumerate(pairs):
        for field in ("input", "output"):
            if not isinstance(pair, dict) or field not in pair:
                raise DataError(f"{where}, {part}[{i}].{field}: missing")
        yield name, part == "train", Observation(pair["input"], pair["output"])


def _csv_pairs(
    path: Path, rows: Iterable[tuple[int, dict[str, str]]], bad: BadRecords
) -> Iterator[Pair]:
    table = list(rows)
    as_text = {
        field for field in ("input", "output") if are_padded(row.get(field, "") for _, row in table)
    }
    for number, row in table:
        where = f"{path}, line {number}"
        for field in ("input", "output"):
            if field not in row:
                raise DataError(
                    f"{path}, line 1: no column {field!r}; the columns are {', '.join(row)}. A"
                    " pair needs the columns input and output; problem and split are optional"
                )
        with bad.record(f"line {number}"):
            name = _name(row.get("problem", _stem(path)).strip(), f"{where}, problem")
            is_shown = _is_shown(row.get("split", "").strip(), f"{where}, split")
            for field in ("input", "output"):
                if not row[field].strip():
                    raise DataError(f"{where}, {field}: {EMPTY_CELL}")
            pair = Observation(
                *(
                    row[field].strip()
                    if field in as_text and row[field].strip().isdecimal()
                    else parse_cell(row[field], f"{where}, {field}")
                    for field in ("input", "output")
                )
            )
            yield name, is_shown, pair


def _stem(path: Path) -> str:
    """Return the name of the one problem of a file."""
    return path.name.removesuffix(".gz").rpartition(".")[0] or path.name


def _same_naming(names: bool, before: set[bool], where: str) -> None:
    """Raise DataError unless all pairs of a file name their problem, or none does."""
    if before and names not in before:
        said = (
            "this line names a problem, but the lines before it do not"
            if names
            else "missing, but the lines before it name a problem"
        )
        raise DataError(f"{where}, problem: {said}")
    before.add(names)


def _name(value: Json, where: str) -> str:
    if type(value) not in (str, int) or value == "":
        raise DataError(f"{where}: must be a name or a number, not {shorten(value)}")
    return str(value)


def _is_shown(value: Json, where: str) -> bool:
    if not isinstance(value, str) or value not in SPLITS:
        raise DataError(f"{where}: must be shown or hidden, not {shorten(value)}")
    return SPLITS[value]


# --- sample spaces -------------------------------------------------------------------


def _inputs(problems: Sequence[Problem]) -> list[Json]:
    """Return the inputs of the problems, each once, in order."""
    pairs = (pair for problem in problems for pair in problem.shown + problem.hidden)
    return drop_repeated(pair.input for pair in pairs)


def _is_integer(value: Json) -> bool:
    return type(value) is int and abs(value) < 2**50  # beyond it a float does not draw evenly


def _kind(inputs: Sequence[Json]) -> str:
    if all(_is_integer(value) for value in inputs):
        return "integers"
    if all(isinstance(value, list) and all(map(_is_integer, value)) for value in inputs):
        return "lists of integers"
    return ""


def _space(kind: str, inputs: list[Json], seed: int) -> list[Json]:
    rng = random.Random(f"examples space {seed}")
    more: Iterable[Json] = ()
    if kind == "integers":
        low, high = min(inputs), max(inputs)
        reach = max(high - low, 10)
        more = (row[0] for row in draw_stratum(rng, 1, low - reach, high + reach, INTEGERS))
    elif kind == "lists of integers":
        items = [item for row in inputs for item in row]
        low, high = min(items, default=0), max(items, default=9)
        more = _by_length(rng, inputs, min(low, 0), max(high, 9))
    elif inputs:
        size = sum(len(json.dumps(value)) for value in inputs) // len(inputs)
        count = max(LEAST_SIMILAR, min(SIMILAR, SIMILAR_CHARACTERS // max(size, 1)))
        more = draw_like(inputs, count, rng)
    return drop_repeated([*inputs, *more])


def _by_length(
    rng: random.Random, inputs: Sequence[Json], low: int, high: int
) -> Iterator[list[int]]:
    longest = max(5, min(30, max(map(len, inputs)) * 3 // 2))
    for length in range(longest + 1):
        yield from draw_stratum(rng, length, low, high, PER_LENGTH)


TASK = Examples()
