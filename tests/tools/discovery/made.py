"""Problems whose inputs are known whole."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from peirce.records import Observation, Problem
from peirce.tools.sentence_rules import Rule, compile_sentence

GRADES = "ABCDF"
COLUMNS: dict[str, Any] = {
    "math": {"kind": "choice", "values": list(GRADES)},
    "english": {"kind": "choice", "values": list(GRADES)},
    "papers": {"kind": "number"},
    "donated": {"kind": "truth"},
}


def students(shown: Sequence[tuple[dict[str, Any], str]] = ()) -> Problem:
    """Grades, papers from 0 to 4, a truth value; every row of the columns is hidden in it."""
    rows = [
        Observation({"math": m, "english": e, "papers": p, "donated": d}, "rejected")
        for m, e, p, d in product(GRADES, GRADES, range(5), (False, True))
    ]
    public = {"labels": ["admitted", "rejected"], "columns": COLUMNS, "shape": "fields"}
    pairs = tuple(Observation(row, label) for row, label in shown)
    return Problem("s#0", "labels", "text", pairs, tuple(rows), public, {"splits": {}}, "s")


def texts(some: Sequence[str], labels: Sequence[str]) -> Problem:
    columns = {"appearance": {"kind": "text"}}
    public = {"labels": list(labels), "columns": columns, "shape": "text"}
    rows = tuple(Observation({"appearance": text}, labels[0]) for text in some)
    return Problem("t#0", "labels", "text", rows, (), public, {"splits": {}}, "t")


def rule(sentence: str, problem: Problem) -> Rule:
    found = compile_sentence(sentence, problem.public)
    assert isinstance(found, Rule), found
    return found
