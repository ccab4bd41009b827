"""The published prediction records of ABD, `abd_prediction_record_v1`: one model's answer to one
instance a line.

    {"schemaVersion": "abd_prediction_record_v1", "instanceId": "…", "scenario": "…", "theoryId": "…",
     "model": "…", "extractedFormula": "(P x)", "extractedDescription": "…", "rawResponse": "…",
     "success": true, "parseError": null}

An answer is extractedFormula, as the JSON object that the family reads back whole; without one the
response (rawResponse, or response), which the family reads by its own contract; without either an
empty answer. Fields that are not named here are let be. Several records of one instance are
successive answers to it.

Departure: the published evaluator reads a response by the first flat object with a "formula"; the
family takes the last object that has one, since drafts come first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from ..records import DataError, Json, UsageError
from ..tasks.io.json_text import parse_json

SCHEMA = "abd_prediction_record_v1"
DATASET = "abd"
UNNAMED = "external"  # the published name of a model that a record does not name
_TEXTS = ("extractedFormula", "extractedDescription", "rawResponse", "response", "parseError")


class Prediction(NamedTuple):
    """answer: what the family is given to read. fields: what is kept of the record beside it."""

    problem: str
    model: str
    answer: str
    fields: Mapping[str, Json]


class Predictions(NamedTuple):
    model: str
    of: Mapping[str, tuple[Prediction, ...]]  # by problem, in the order of the file


def is_prediction(line: str) -> bool:
    """Whether a line is such a record, by its schemaVersion."""
    try:
        row = parse_json(line, "")
    except DataError:
        return False
    return isinstance(row, dict) and row.get("schemaVersion") == SCHEMA


def read_predictions(
    path: Path, lines: Iterable[tuple[int, str]], model: str | None = None
) -> Predictions:
    """One model's: all that there are, or those of `model`. Raises DataError naming line and field,
    UsageError where several models could be meant, or `model` is none of them."""
    found: dict[str, dict[str, list[Prediction]]] = {}
    for number, line in lines:
        one = _prediction(parse_json(line, f"{path}, line {number}"), f"{path}, line {number}")
        found.setdefault(one.model, {}).setdefault(one.problem, []).append(one)
    named = ", ".join(found)
    if model is None and len(found) > 1:
        raise UsageError(
            f"{path} holds answers of {len(found)} models: name one with --of-model ({named})"
        )
    chosen = next(iter(found)) if model is None else model
    if chosen not in found:
        raise UsageError(f"{path} holds no answer of the model {chosen!r}: there are {named}")
    return Predictions(chosen, {name: tuple(some) for name, some in found[chosen].items()})


def _prediction(row: Json, at: str) -> Prediction:
    if not isinstance(row, dict):
        raise DataError(f"{at}: {row!r:.60} is no object")
    if row.get("schemaVersion") != SCHEMA:
        raise DataError(f"{at}, schemaVersion: {row.get('schemaVersion')!r:.60} is not {SCHEMA!r}")
    name = row.get("instanceId")
    if type(name) not in (str, int) or name == "":
        raise DataError(f"{at}, instanceId: {name!r:.60} is no id")
    model = row.get("model") or UNNAMED
    if not isinstance(model, str):
        raise DataError(f"{at}, model: {model!r:.60} is no name")
    for key in _TEXTS:
        if not isinstance(row.get(key), str | None):
            raise DataError(f"{at}, {key}: {row[key]!r:.60} is no text")
    if not isinstance(row.get("success"), bool | None):
        raise DataError(f"{at}, success: {row['success']!r:.60} is neither true nor false")
    kept = {key: row[key] for key in ("success", "parseError") if row.get(key) is not None}
    return Prediction(str(name), model, _answer(row), kept)


def _answer(row: Mapping[str, Json]) -> str:
    formula = row.get("extractedFormula") or ""
    if not formula.strip():
        return row.get("rawResponse") or row.get("response") or ""
    told = {"formula": formula, "description": row.get("extractedDescription") or ""}
    # Braces within the texts would be taken for further objects.
    within = json.dumps(told, ensure_ascii=False)[1:-1].replace("{", "\\u007b")
    return f"{{{within}}}"
