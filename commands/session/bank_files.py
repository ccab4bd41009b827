"""Read and write banks of hypotheses, which a later session can use again.

A bank comes from a session of the store or from a file. Three file formats can be read: the output
of `peirce bank --json`, the file that `peirce bank --out FILE` writes (`format_bank`), and the JSON
of the reference implementation, which maps each text to its statistics (acc, num_visits, reward,
correct_examples).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...records import (
    DataError,
    Json,
    LabelsRows,
    Problem,
    StoreError,
    UsageError,
    digest_of,
    is_finite_number,
)
from ...store import Store
from ...tasks.io.files import expand_home, identify_file, read_json, read_jsonl

BANK_FIELDS = ("text", "accuracy", "visits", "reward", "covered", "right")
# the public fields of a problem that a file holds
PUBLIC_FIELDS = ("labels", "label_name", "columns", "shape", "description")


@dataclass(frozen=True)
class StoredBank:
    """A bank of hypotheses that was read from the store or from a file.

    Args:
        rows: the hypotheses with their statistics, by problem id; "" for hypotheses that belong to
            no problem.
        source: where the bank comes from, as a session records it.
        public: public fields of the problems, by problem id, if the bank contains them.
        problems: the problems of the session that made the bank. For a file, the problems that the
            file defines (`format_bank`).
        settings: the settings of the session that made the bank; empty for a file.
    """

    rows: Mapping[str, Sequence[Mapping[str, Json]]]
    source: Json
    public: Mapping[str, Mapping[str, Json]]
    problems: Mapping[str, Problem] = field(default_factory=dict)
    settings: Mapping[str, Json] = field(default_factory=dict)

    def find_rows(self, problem: Problem) -> list[Json]:
        """Return the hypotheses of this bank that fit a problem.

        If the bank has hypotheses of the same problem, they are returned. Otherwise the hypotheses
        of its data set are returned, or else the hypotheses of the only problem in the bank. If the
        hypotheses come from another sample of the data, their field `right` keeps only observations
        that `problem` also shows. For a bank from a file, samples cannot be compared, and `right`
        is unchanged.

        Raises:
            UsageError: the bank has hypotheses of several problems, and no problem matches.
        """
        name = problem.group or problem.id
        only = list(self.rows) if len(self.rows) == 1 else []
        for key in (problem.id, name, f"{name}#0", *only):
            if key in self.rows:
                return _as_shown(self.rows[key], self.problems.get(key), problem)
        raise UsageError(
            f"the bank has no hypotheses for problem {problem.id!r}, only for"
            f" {', '.join(sorted(self.rows))}"
        )


def _as_shown(
    rows: Sequence[Mapping[str, Json]], before: Problem | None, now: Problem
) -> list[Json]:
    """Return the rows with the indices in `right` translated from the sample `before` to `now`."""
    if before is None or before.shown == now.shown:
        return [dict(row) for row in rows]
    here: dict[str, int] = {}
    for place, one in enumerate(now.shown):
        here.setdefault(digest_of([one.input, one.output]), place)
    there = [here.get(digest_of([one.input, one.output])) for one in before.shown]
    return [
        {**row, "right": sorted({n for place in row["right"] if (n := there[place]) is not None})}
        for row in rows
    ]


def read_bank(name_or_path: str | Path, store: Path) -> StoredBank:
    """Read a bank from a file, or from a session of the store.

    Args:
        name_or_path: path of a file. If there is no such file, the id of a session.
        store: path of the store.

    Raises:
        UsageError: there is no such file or session, or the session's bank is empty.
        DataError: the file does not contain a valid bank.
        StoreError: the store cannot be opened.
    """
    place = expand_home(name_or_path)
    if place.is_file():
        return _of_file(place)
    if not store.exists():
        raise UsageError(
            f"bank {str(name_or_path)!r} is not a file, and there is no store {store} with a"
            " session of this name"
        )
    with closing(Store.open(store, write=False)) as opened:
        try:
            session = opened.find_session(str(name_or_path))
        except StoreError as error:
            raise UsageError(f"bank {str(name_or_path)!r} is not a file, and {error}") from error
        rows: dict[str, list[Mapping[str, Json]]] = {}
        for row in opened.bank(session):
            rows.setdefault(row["problem"], []).append({name: row[name] for name in BANK_FIELDS})
        if not rows:
            raise UsageError(f"the bank of session {session} is empty")
        problems = {row.problem.id: row.problem for row in opened.problems(session)}
        public = {name: one.public for name, one in problems.items()}
        settings = opened.settings(session)
        return StoredBank(rows, {"session": session}, public, problems, settings)


def _of_file(place: Path) -> StoredBank:
    said = _objects(place)
    banks = said if _are_banks(said) else [said]
    rows: dict[str, list[Mapping[str, Json]]] = {}
    public: dict[str, Mapping[str, Json]] = {}
    problems: dict[str, Problem] = {}
    number = 0
    for bank in banks:
        name, hypotheses = "", bank
        if isinstance(bank, dict) and isinstance(bank.get("hypotheses"), list | dict):
            name, hypotheses = str(bank.get("problem") or ""), bank["hypotheses"]
            public[name] = _public(bank, place)
            if (defined := bank.get("definition")) is not None:
                problems[name] = _defined_problem(defined, place)
        if isinstance(hypotheses, dict):
            hypotheses = [_of_reference(text, told, place) for text, told in hypotheses.items()]
        if not isinstance(hypotheses, list) or not hypotheses:
            raise DataError(
                f"{place}: the file contains no hypotheses; it must be a list of objects with a"
                " text"
            )
        for one in hypotheses:
            number += 1
            if not isinstance(one, dict) or not isinstance(one.get("text"), str) or not one["text"]:
                raise DataError(f"{place}, hypothesis {number}: the text is missing")
            of_problem = str(one.get("problem") or name)
            rows.setdefault(of_problem, []).append(_checked(one, place, number))
    return StoredBank(rows, {"file": identify_file(place)}, public, problems)


def _defined_problem(defined: Json, place: Path) -> Problem:
    """Return the problem that a file defines, if nothing in it was changed."""
    try:
        problem = Problem.from_json(defined["problem"])
        if problem.digest == defined["digest"]:
            return problem
    except (KeyError, TypeError, ValueError):
        pass
    raise DataError(
        f"{place}: the definition of the problem was changed; write the file again with `peirce bank"
        " SESSION --out FILE`"
    )


def _are_banks(said: Json) -> bool:
    """Return whether this is a list of banks, one for each problem, as `format_bank` makes it."""
    return isinstance(said, list) and bool(said) and all(
        isinstance(one, dict) and "hypotheses" in one for one in said
    )  # fmt: skip


def _public(bank: Mapping[str, Json], place: Path) -> Mapping[str, Json]:
    """Return the public fields of the problem that the file holds, or {} where it holds none."""
    told = bank.get("public") or {}
    if not isinstance(told, dict):
        raise DataError(f"{place}: public is {told!r:.60}: it must be an object")
    if not told:
        return {}
    labels, columns = told.get("labels"), told.get("columns")
    if not isinstance(labels, list) or not labels or not all(isinstance(x, str) for x in labels):
        raise DataError(f"{place}: public.labels is {labels!r:.60}: it must be a list of strings")
    if (
        not isinstance(columns, dict)
        or not columns
        or not all(isinstance(one, dict) and "kind" in one for one in columns.values())
    ):
        raise DataError(
            f"{place}: public.columns is {columns!r:.60}: it must name each column with its kind"
        )
    return told


def save_bank(
    store: Store, session: str, problem: str | None, alpha: float | None, out: str | Path
) -> None:
    """Write the bank of a session to a JSON file (`format_bank`).

    Unless the hypotheses are sentences about labelled text, the file contains all consistent hypotheses, in
    the order of the findings. This includes hypotheses that the bank leaves out as redundant.

    Args:
        store: the open store.
        session: full id of the session.
        problem: write only the hypotheses of this problem; None for all problems.
        alpha: rank by reward with this weight of exploration; None for the default ranking.
        out: the file to write.

    Raises:
        UsageError: the file cannot be written, or the bank is empty.
    """
    from ...reports.files import writing
    from ...tasks import load_family

    target = expand_home(out)
    writing.check_paths([target])
    rows = store.bank(session, problem, alpha)
    if not rows:
        raise UsageError(f"the bank of session {session} is empty, so there is nothing to write")
    if alpha is None and not isinstance(load_family(store.settings(session)["family"]), LabelsRows):
        rows = _add_consistent(store, session, rows)
    problems = [row.problem for row in store.problems(session)]
    task = store.settings(session)["task"]
    writing.write_files({target: format_bank(task, problems, rows)})


def _add_consistent(
    store: Store, session: str, rows: Sequence[Mapping[str, Json]]
) -> list[dict[str, Json]]:
    """Return the rows of a bank with all consistent hypotheses of their problems, best first."""
    from ...reports.findings import rank_problems

    ids = {row["problem"] for row in rows}
    problems = [row for row in store.problems(session) if row.problem.id in ids]
    found: list[dict[str, Json]] = []
    for one, ranked in rank_problems(store, session, problems, distinct=False):
        name = one.problem.id
        held = {row["text"]: dict(row) for row in rows if row["problem"] == name}
        consistent = [each.hypothesis for each in ranked if each.judged.verdict.consistent]
        own = [
            held.pop(each.text, {})
            or {"problem": name, "rank": 0, "hypothesis": each.digest, "text": each.text,
                "description": each.description, "accuracy": None, "visits": 0, "reward": 0.0,
                "t": 0, "covered": None, "right": []}
            for each in consistent
        ]  # fmt: skip
        found += [{**row, "rank": rank} for rank, row in enumerate([*own, *held.values()], 1)]
    return found


def format_bank(task: str, problems: Sequence[Problem], rows: Sequence[Mapping[str, Json]]) -> str:
    """Return a bank as JSON text that `--bank FILE` reads.

    Args:
        task: name of the task.
        problems: the problems of the session.
        rows: the hypotheses of the session's bank, each with the id of its problem.

    Returns:
        An object {"task", "problem", "public", "hypotheses"}, or a list of objects if several
            problems
        have hypotheses. Unless the hypotheses are sentences about labelled text, an object also has
            "definition":
        {"problem", "digest"}, which is the problem without its hidden data.
    """
    from ...tasks import load_family

    banks = []
    for problem in problems:
        own = [
            {name: value for name, value in row.items() if name != "problem"}
            for row in rows
            if row["problem"] == problem.id
        ]
        public = {name: problem.public[name] for name in PUBLIC_FIELDS if name in problem.public}
        is_labelled = isinstance(load_family(problem.family), LabelsRows)
        told: dict[str, Json] = {"task": task, "problem": problem.id}
        told["public"] = public if is_labelled else {}
        if not is_labelled:
            known = replace(problem, hidden=(), secret={})
            told["definition"] = {"problem": known.as_json(), "digest": known.digest}
        told["hypotheses"] = own
        banks += [told] if own else []
    whole = banks[0] if len(banks) == 1 else banks
    return json.dumps(whole, ensure_ascii=True, allow_nan=False, indent=1)


def _objects(place: Path) -> Json:
    if place.name.removesuffix(".gz").endswith(".jsonl"):
        return [row for _, row in read_jsonl(place)]
    return read_json(place)


def _checked(one: Mapping[str, Json], place: Path, number: int) -> Mapping[str, Json]:
    row = {
        "text": one["text"],
        "accuracy": one.get("accuracy"),
        "visits": one.get("visits", 0),
        "reward": one.get("reward", 0.0),
        "covered": one.get("covered"),
        "right": one.get("right", []),
    }
    for name, (fits, must) in _FITS.items():
        if row[name] is not None and not fits(row[name]):
            raise DataError(
                f"{place}, hypothesis {number}: {name} is {row[name]!r:.60}: it must be {must}"
            )
    return row


def _count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _number(value: Json) -> bool:
    return is_finite_number(value) and not isinstance(value, bool)


_FITS: Mapping[str, tuple[Callable[[Json], bool], str]] = {
    "accuracy": (lambda value: _number(value) and 0 <= value <= 1, "a number from 0 to 1"),
    "visits": (_count, "a whole number of at least 0"),
    "reward": (_number, "a number"),
    "covered": (_count, "a whole number of at least 0"),
    "right": (
        lambda value: isinstance(value, list) and all(map(_count, value)),
        "a list of whole numbers of at least 0",
    ),
}


def _of_reference(text: str, told: Json, place: Path) -> Json:
    """Convert an entry of a bank that the released reference code saved."""
    if not isinstance(told, dict):
        raise DataError(
            f"{place}, key {text!r:.60}: {told!r:.60} is not an object; the file must map texts"
            " to their statistics"
        )
    rows = told.get("correct_examples") or []
    if not isinstance(rows, list):
        raise DataError(
            f"{place}, key {text!r:.60}: correct_examples is {rows!r:.60}: it must be a list"
        )
    right = [row[0] for row in rows if isinstance(row, list) and row]
    return {
        "text": text,
        "accuracy": told.get("acc"),
        "visits": told.get("num_visits", 0),
        "reward": told.get("reward", 0.0),
        "covered": None,
        "right": right,
    }
