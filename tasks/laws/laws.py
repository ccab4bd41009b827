"""Task `laws`: tables with a column of numbers that a formula should explain.

`--target COLUMN` names the column. `PATH?target=y&columns=a,b` has the same meaning, and `columns`
names the inputs. `--units "m=kg,v=m/s"` sets the units of columns. tables.py describes which rows and
columns of a table are used, problems.py the noise and the tolerance, and sample_space.py the inputs
on which laws are compared.

A JSON Lines file that `peirce tasks generate laws` wrote has a problem on each line:

    {"idx": "gen0-0", "target": "y", "train": [{"input": {"m": 1.5}, "output": 3.0}, …],
     "test": […], "secret": {"law": "2 * m", …}}
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...records import (
    DataError,
    InputSet,
    Json,
    Observation,
    Problem,
    UsageError,
    canonical_json,
    is_finite_number,
)
from ...records.tasks import DEFAULT_GENERATED, DEFAULT_WRITTEN, ProblemQuery
from ..io import observations as observations_
from ..io.bad_records import BadRecords
from ..io.files import identify_file, locate, read_jsonl, split_settings, write_lines
from ..io.messages import shorten, suggest_nearest, warn
from ..text.tables import file_type, read_table
from .generation import generate_problem
from .problems import FAMILY_NAME, TASK_NAME, LawSplit, make_problem, split_rows
from .sample_space import draw_inputs
from .tables import read_rows

FILES = ("laws.jsonl", "laws.jsonl.gz", "laws.csv", "laws.csv.gz")
SETTINGS = ("target", "columns", "units")
MAX_ROWS = 100_000  # that `tasks generate` writes for a problem
_GENERATED = re.compile(r"gen(\d{1,9})-(\d{1,6})")


class Laws:
    """The task `laws`: find a formula for a column of numbers."""

    name = TASK_NAME
    family = FAMILY_NAME
    about = "a formula for a column of numbers, from a table of yours or from generated laws"
    takes = (
        "a CSV, TSV, JSON, JSONL or Parquet table; --target names the column to explain; texts that"
        " repeat are categories"
    )
    commands = (
        "peirce run laws --data measurements.csv --target energy",
        "peirce run laws --data measurements.csv --target energy --units m=kg,v=m/s,energy=J",
        "peirce predict --bank last --data new.csv",
    )
    files = FILES
    kinds = ("noise", "rows")

    def load(self, path: str, observations: str | None, seed: int) -> list[Problem]:
        """Read the problems at `path`, whose settings name the target."""
        return self.choose(path, ProblemQuery(observations=observations, seed=seed))

    def choose(self, path: str | None, query: ProblemQuery) -> list[Problem]:
        """Return the problems that the options of a session select.

        Args:
            path: The file, or None to generate problems with planted laws.
            query: The options.

        Raises:
            UsageError: An option has no valid value or does not fit the data.
            DataError: The file cannot be used.
        """
        for option, value in (("label", query.label), ("ood", query.ood)):
            if value is not None:
                raise UsageError(
                    f"--{option} {value}: laws explains a column of numbers, which --target names"
                )
        shown = _count(query.observations)
        if path is None:
            found = self._generated_problems(query, shown)
        else:
            place, own = split_settings(path, SETTINGS)
            place = locate(place, FILES)
            if file_type(place) in (".jsonl", ".ndjson") and (lines := _read_problems(place)):
                found = [_with_rows(one, shown, query.seed) for one in lines]
            else:
                found = [_read_table(place, own, query, shown)]
        found = _named_problems(found, query.ids, path)
        if query.sample is not None:
            found = observations_.draw_problems(found, query.sample, query.seed)
        if query.problems is not None and query.problems > len(found):
            warn(f"--problems {query.problems}: there are {len(found)}, all of which are used")
        return found[: query.problems]

    def _generated_problems(self, query: ProblemQuery, shown: int | None) -> list[Problem]:
        for option in ("sample", "target", "units"):
            if (value := getattr(query, option)) is not None:
                raise UsageError(
                    f"--{option} {value} needs --data; without it, laws generates its rows"
                )
        named = [found for one in query.ids if (found := _GENERATED.fullmatch(one))]
        if query.ids and len(named) == len(query.ids):
            return [generate_problem(int(one[1]), int(one[2]), rows=shown) for one in named]
        count = query.problems or DEFAULT_GENERATED
        return [generate_problem(query.seed, index, rows=shown) for index in range(count)]

    def generate(self, count: int, seed: int) -> list[Problem]:
        """Generate `count` problems with planted laws (generation.py), each of the next kind.

        Raises:
            UsageError: `count` is below 1.
        """
        if count < 1:
            raise UsageError(f"problems is {count}: it must be at least 1")
        return [generate_problem(seed, index) for index in range(count)]

    def write(
        self, out: str | Path, count: int | None, seed: int, kinds: Mapping[str, Json]
    ) -> dict[str, Json]:
        """Generate problems and write them as JSON Lines, which the option `--data` reads.

        Args:
            out: The file to write.
            count: The number of problems; None for 100.
            seed: The seed of the problems.
            kinds: "noise", the standard deviation of the noise as a share of the target's (default: 0,
                0.001 and 0.01 in turn), and "rows", the number of shown rows (200).

        Raises:
            UsageError: An option is invalid, or `out` cannot be written.
        """
        noise, rows = _parse_noise(kinds.get("noise")), kinds.get("rows")
        if rows is not None and not 5 <= rows <= MAX_ROWS:
            raise UsageError(f"--rows {rows}: it must be from 5 to {MAX_ROWS:,}")
        made = [
            generate_problem(seed, index, noise, rows) for index in range(count or DEFAULT_WRITTEN)
        ]
        write_lines(out, (canonical_json(_written(one)) for one in made))
        return {"problems": len(made), "files": [str(out)]}

    def space(self, problem: Problem, seed: int) -> InputSet:
        """Return the sample space of a problem: inputs within and beyond the range of its rows."""
        shown = [one.input for one in problem.shown]
        rows = draw_inputs(problem.public["columns"], shown, f"law inputs {seed}")
        return InputSet(f"laws space, seed {seed}", tuple(rows))

    def identify_data(self, path: str | Path) -> dict[str, Json]:
        """Return {"name", "sha256"} of the file at `path`."""
        return identify_file(locate(split_settings(path, SETTINGS)[0], FILES))

    def draw_problem(self, problem: Problem) -> str:
        """Return a problem as text for people to read: its columns and first rows."""
        return render_problem(problem)


def _count(observations: str | None) -> int | None:
    if observations is None:
        return None
    text = observations.strip()
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(
            f"--observations {observations}: for laws it must be a number of rows, at least 1"
        )
    return int(text)


def _parse_noise(noise: Json) -> float | None:
    if noise is None:
        return None
    try:
        found = float(noise)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 10:
        raise UsageError(
            f"--noise {noise}: for laws it must be a share of the target's spread, such as 0.01"
        )
    return found


def _named_problems(found: list[Problem], ids: Sequence[str], path: str | None) -> list[Problem]:
    by_id = {one.id: one for one in found}
    for name in ids:
        if name not in by_id:
            raise UsageError(
                f"no problem {name!r} in {path or TASK_NAME}{suggest_nearest(name, by_id)}"
            )
    return [by_id[name] for name in dict.fromkeys(ids)] if ids else found


# --- files ----------------------------------------------------------------------------


def _read_table(
    place: Path, own: Mapping[str, str], query: ProblemQuery, shown: int | None
) -> Problem:
    target = query.target or own.get("target")
    if target is None:
        with BadRecords(place) as bad:
            names = read_table(place, bad, 1).columns
        raise UsageError(
            f"{place}: which column is to be explained? Name it with --target; the columns are"
            f" {shorten(', '.join(names), 200)}"
        )
    columns = [one.strip() for one in own.get("columns", "").split(",") if one.strip()]
    rows = read_rows(place, target, columns, query.units or own.get("units"))
    return make_problem(rows.name, target, split_rows(rows, shown, query.seed), rows.units)


def _read_problems(place: Path) -> list[Problem]:
    """Return the problems in a file of JSON Lines; an empty list if its first line is no problem."""
    found: list[Problem] = []
    with BadRecords(place) as bad:
        for number, line in read_jsonl(place, bad):
            if not found and not (isinstance(line, dict) and isinstance(line.get("train"), list)):
                return []
            where = f"{place}, line {number}"
            with bad.record(f"line {number}"):
                found.append(_read_problem(line, where, number))
    return found


def _read_problem(line: Json, where: str, number: int) -> Problem:
    if not isinstance(line, dict):
        raise DataError(f"{where}: must be an object, not {shorten(line)}")
    sides = [
        [
            _read_pair(one, f"{where}, {side}[{place}]")
            for place, one in enumerate(line.get(side, []))
        ]
        for side in ("train", "test")
    ]
    if not sides[0]:
        raise DataError(f"{where}, train: there are no rows")
    target, units, secret = line.get("target"), line.get("units", {}), line.get("secret", {})
    if not isinstance(target, str):
        raise DataError(f"{where}, target: must be the name of the number to explain")
    if not isinstance(units, dict) or not isinstance(secret, dict):
        raise DataError(f"{where}: units and secret must be objects")
    name = line.get("idx", line.get("id", f"line-{number}"))
    return make_problem(str(name), target, LawSplit(*sides), units, secret)


def _read_pair(pair: Json, where: str) -> Observation:
    row = pair.get("input") if isinstance(pair, dict) else None
    if not isinstance(row, dict) or not all(
        is_finite_number(cell) or isinstance(cell, str) for cell in row.values()
    ):
        raise DataError(f"{where}, input: must be an object of numbers and texts")
    if not is_finite_number(pair.get("output")):
        raise DataError(f"{where}, output: must be a number, not {shorten(pair.get('output'))}")
    return Observation(row, pair["output"])


def _with_rows(problem: Problem, shown: int | None, seed: int) -> Problem:
    """Return a problem of which a number of rows is shown, and all others are hidden."""
    if shown is None:
        return problem
    (drawn,) = observations_.draw_observations([problem], shown, seed)
    units = {
        name: str(one["unit"]) for name, one in problem.public["columns"].items() if "unit" in one
    }
    split = LawSplit(drawn.shown, drawn.hidden)
    target = str(problem.public["target"])
    made = make_problem(problem.id, target, split, units, problem.secret)
    return replace(made, group=problem.group)


def _written(problem: Problem) -> Json:
    sides = {"train": problem.shown, "test": problem.hidden}
    pairs = {
        side: [{"input": one.input, "output": one.output} for one in some]
        for side, some in sides.items()
    }
    target = problem.public["target"]
    return {"idx": problem.id, "target": target, **pairs, "secret": dict(problem.secret)}


# --- for people -----------------------------------------------------------------------

_SHOWN_ROWS = 10


def render_problem(problem: Problem) -> str:
    """Return a problem as text: the columns, the noise, and the first rows."""
    public = problem.public
    unit = f", in {public['target_unit']}" if public.get("target_unit") else ""
    lines = [
        f"{public['target']}{unit}: {len(problem.shown):,} shown rows, {len(problem.hidden):,} held"
        f" out; noise about {public['noise']:.2g}, spread {public['spread']:.4g}"
    ]
    for name, about in public["columns"].items():
        own = f" ({about['identifier']} in formulas)" if about["identifier"] != name else ""
        kind = (
            shorten(", ".join(about["values"]), 60)
            if "values" in about
            else f"{about['low']:g} to {about['high']:g}"
        )
        lines.append(f"  {shorten(name, 30)}{own}: {kind} {about.get('unit', '')}".rstrip())
    lines.append("")
    for one in problem.shown[:_SHOWN_ROWS]:
        cells = ", ".join(f"{name}={value}" for name, value in one.input.items())
        lines.append(shorten(f"{cells} -> {one.output}", 98))
    if len(problem.shown) > _SHOWN_ROWS:
        lines.append(f"… and {len(problem.shown) - _SHOWN_ROWS:,} more")
    if "law" in problem.secret:
        lines += ["", f"planted law: {problem.secret['law']}"]
    return "\n".join(lines)


TASK = Laws()
