"""Recorded answers of a model: `recorded:FILE`, uncompressed or gzip, in one of three formats.

The first format is the published form of the GPT-4 answers on List Functions: one JSON object whose
"problems" contain "idx", "turns" (each with "responses"), "chosen_rules" (one per turn) and
"published_test_accs".

The second format is Peirce's own: JSON Lines with one answer per line. Other keys are ignored:

    {"problem": "12", "step": 1, "answer": "...", "fields": {"chosen_rule": "..."}}

Lines with the same problem and the same step are the answers of one turn, in the order of the file.

The third format is the published prediction records of ABD, `abd_prediction_record_v1`. Each line
contains the answer of one model to one instance. If a file contains several models, the setting
`of_model` selects one of them.

    {"schemaVersion": "abd_prediction_record_v1", "instanceId": "…", "scenario": "…",
     "theoryId": "…", "model": "…", "extractedFormula": "(P x)", "extractedDescription": "…",
     "rawResponse": "…", "success": true, "parseError": null}

The answer is extractedFormula, written as the JSON object that the family parses. If
extractedFormula is missing, the answer is rawResponse or response, which the family parses like any
model answer. If all three fields are missing, the answer is empty. Other fields are ignored.
Several records of one instance are successive answers.

Departure from the published evaluator: in a response, the evaluator takes the first flat object
with a "formula". The family takes the last object with a "formula", because drafts come first.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..records import DataError, Json, Message, Proposer, Reply, ToolSpec, UsageError, View
from ..records.settings import setting
from ..tasks.io.bad_records import BadRecords, skip_bad_records
from ..tasks.io.files import identify_file, locate, read_lines
from ..tasks.io.json_text import find_line, parse_json
from ..tasks.io.messages import BadValue, Keys
from .model_settings import ModelKind, ModelSettings


class RecordedSettings(ModelSettings):
    """Settings of a model that answers from a file of recorded answers."""

    of_model: str | None = setting(
        None, "Model whose answers are used, if the file holds answers of several models."
    )
    skip_bad: bool = setting(False, "Skip records that cannot be read.")


@dataclass(frozen=True)
class Answer:
    """One recorded answer.

    A turn of the recorded conversation can contain several answers. The last answer of the turn
    also carries the additional fields of the turn.
    """

    text: str
    last_of_turn: bool
    fields: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class AnswerFile:
    """The contents of a file of recorded answers.

    Attributes:
        file: {"name", "sha256"} of the file.
        digest: The SHA-256 (hex) of the uncompressed text, independent of line endings and of blank
            lines at the end.
        about: What the file says about the model that gave the answers.
        answers: The answers by problem id, in the order in which the model gave them.
    """

    file: Json
    digest: str
    about: Mapping[str, Json]
    answers: Mapping[str, tuple[Answer, ...]]


class RecordedProposer:
    """A proposer that returns the next recorded answer of a problem and never calls tools.

    The number of earlier answers to the problem determines which answer is next. The proposer is
    exhausted after the last answer, and for problems without recorded answers.
    """

    def __init__(self, record: AnswerFile) -> None:
        self._record = record

    def settings(self) -> Json:
        """Return the settings to record: the answer file, its digest, and what it says about the
        model.
        """
        record = self._record
        return {
            "scheme": "recorded",
            "answers_from": record.file,
            "digest": record.digest,
            "recorded": dict(record.about),
        }

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Mapping[str, Json] | None = None,
    ) -> Reply:
        """Return the next recorded answer of the problem."""
        answers = self._record.answers.get(view.problem, ())
        number = view.own_answer_count
        if number >= len(answers):
            return Reply(finish="exhausted", meta={"reason": _nothing_left(len(answers))})
        answer = answers[number]
        meta: dict[str, Json] = {"last_of_turn": answer.last_of_turn}
        if answer.fields:
            meta["fields"] = dict(answer.fields)
        return Reply(answer.text, meta=meta)

    async def close(self) -> None:
        """Close the proposer; recorded answers need no cleanup."""
        return None


def _nothing_left(given: int) -> str:
    return "all its recorded answers are given" if given else "the record has no answer to it"


async def open_model(settings: RecordedSettings) -> Proposer:
    """Open the file of recorded answers that the model string names.

    Raises:
        UsageError: The model string names no file, the file does not exist, or it lacks the model.
        DataError: The file has the wrong format.
    """
    path = settings.model.partition(":")[2]
    if not path:
        raise UsageError(f"model {settings.model!r} names no file: write recorded:FILE")
    with skip_bad_records(settings.skip_bad):
        return RecordedProposer(read_record(path, settings.of_model))


def read_record(path: str | Path, of_model: str | None = None) -> AnswerFile:
    """Read a file of recorded answers.

    Args:
        path: The file.
        of_model: The model whose answers to read; None if the file contains only one model.

    Raises:
        UsageError: The file does not exist, or does not contain this model.
        DataError: The content is malformed. The message names file, line and field.
    """
    place = locate(path, ("answers.jsonl", "answers.jsonl.gz"))
    lines = dict(read_lines(place))
    text = "\n".join(lines.get(n, "") for n in range(1, max(lines, default=0) + 1))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    if not lines:
        raise DataError(f"{place}: the file is empty")
    with BadRecords(place) as bad:
        about, answers = _answers(place, text, lines, of_model, bad)
        if bad.left_out and not answers:
            raise bad.no_records_error("")
    return AnswerFile(identify_file(place), digest, about, answers)


def _answers(
    place: Path, text: str, lines: Mapping[int, str], of_model: str | None, bad: BadRecords
) -> tuple[Mapping[str, Json], Mapping[str, tuple[Answer, ...]]]:
    """Return what a file says about its model, and the answers by problem."""
    if is_prediction(next(iter(lines.values()))):
        predictions = read_predictions(place, lines.items(), of_model, bad)
        said = {"dataset": DATASET, "model": predictions.model}
        by_problem = {
            name: tuple(Answer(one.answer, True, one.fields) for one in some)
            for name, some in predictions.by_problem.items()
        }
        return said, by_problem
    if of_model is not None:
        raise UsageError(f"{place} does not hold answers of several models: omit --of-model")
    if (whole := _published_form(place, text, lines)) is not None:
        about = {key: value for key, value in whole.items() if key != "problems"}
        return about, _published(place, text, whole["problems"], bad)
    return {}, _lines(place, lines, bad)


def _published_form(path: Path, text: str, lines: Mapping[int, str]) -> dict[str, Json] | None:
    """Return the file as one object with "problems", or None where it is JSONL."""
    try:
        first = parse_json(next(iter(lines.values())), str(path))
    except DataError:
        pass  # The object spans several lines, or parsing the complete text will report the fault.
    else:
        if len(lines) > 1 or not (isinstance(first, dict) and "problems" in first):
            return None
    whole = parse_json(text, str(path) if "\n" in text else f"{path}, line 1")
    problems = _key(path, "the file", whole, "problems")
    return {**whole, "problems": problems}


def _published(
    path: Path, text: str, problems: Json, bad: BadRecords
) -> dict[str, tuple[Answer, ...]]:
    found: dict[str, tuple[Answer, ...]] = {}
    for p, problem in enumerate(_list(path, "problems", problems)):
        with bad.record(partial(_line, text, p)), _without_place(path):
            idx = str(_key(path, f"problems[{p}]", problem, "idx"))
            if idx in found:
                raise DataError(f"{path}, problems[{p}].idx: problem {idx!r} occurs twice")
            found[idx] = _answers_of(path, f"problems[{p}]", problem, bad)
    return found


def _line(text: str, problem: int, keys: Keys) -> str:
    return f"line {find_line(text, ('problems', problem))}"


@contextmanager
def _without_place(path: Path) -> Iterator[None]:
    """Turn a DataError into a BadValue, so that the line is searched only for an error."""
    try:
        yield
    except DataError as error:
        raise BadValue((), str(error).removeprefix(f"{path}, ")) from None


def _answers_of(
    path: Path, at: str, problem: Mapping[str, Json], bad: BadRecords
) -> tuple[Answer, ...]:
    turns = _list(path, f"{at}.turns", _key(path, at, problem, "turns"))

    def read_rules() -> list[Json]:
        with _without_place(path):
            rules = _list(path, f"{at}.chosen_rules", problem.get("chosen_rules", []))
            if rules and len(rules) != len(turns):
                raise DataError(f"{path}, {at}.chosen_rules: {len(rules)} for {len(turns)} turns")
            return rules

    rules = bad.field("the chosen rules", read_rules)
    answers: list[Answer] = []
    for t, turn in enumerate(turns):
        here = f"{at}.turns[{t}]"
        texts = _list(path, f"{here}.responses", _key(path, here, turn, "responses"))
        fields: dict[str, Json] = {"chosen_rule": rules[t]} if rules else {}
        if t == len(turns) - 1 and "published_test_accs" in problem:
            fields["published_test_accs"] = problem["published_test_accs"]
        for r, text in enumerate(texts):
            if not isinstance(text, str):
                raise DataError(f"{path}, {here}.responses[{r}]: {text!r} is not a string")
        answers.extend(_turn(texts, fields))
    return tuple(answers)


def _lines(path: Path, lines: Mapping[int, str], bad: BadRecords) -> dict[str, tuple[Answer, ...]]:
    turns: dict[str, dict[int, tuple[list[str], dict[str, Json]]]] = {}
    for number, line in lines.items():
        at = f"line {number}"
        with bad.record(at):
            row = parse_json(line, f"{path}, {at}")
            problem, step = _key(path, at, row, "problem"), _key(path, at, row, "step")
            answer = _key(path, at, row, "answer")
            if not isinstance(problem, str | int) or isinstance(problem, bool):
                raise DataError(f"{path}, {at}, problem: {problem!r:.60} is not an id")
            if not isinstance(step, int) or isinstance(step, bool):
                raise DataError(f"{path}, {at}, step: {step!r:.60} is not a whole number")
            if not isinstance(answer, str):
                raise DataError(f"{path}, {at}, answer: {answer!r:.60} is not a string")
            fields = bad.field("fields", partial(_fields, path, at, row)) or {}
            texts, merged = turns.setdefault(str(problem), {}).setdefault(step, ([], {}))
            texts.append(answer)
            merged.update(fields)
    return {
        problem: tuple(a for _, turn in sorted(steps.items()) for a in _turn(*turn))
        for problem, steps in turns.items()
    }


def _fields(path: Path, at: str, row: Mapping[str, Json]) -> dict[str, Json]:
    fields = row.get("fields") or {}
    if not isinstance(fields, dict):
        raise DataError(f"{path}, {at}, fields: {fields!r:.60} is not an object")
    return fields


def _turn(texts: Sequence[str], fields: Mapping[str, Json]) -> list[Answer]:
    last = len(texts) - 1
    return [Answer(text, n == last, fields if n == last else {}) for n, text in enumerate(texts)]


def _key(path: Path, at: str, value: Json, key: str) -> Json:
    if not isinstance(value, dict):
        raise DataError(f"{path}, {at}: {value!r:.60} is not an object")
    if key not in value:
        raise DataError(f"{path}, {at}, {key}: the field is missing")
    return value[key]


def _list(path: Path, at: str, value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise DataError(f"{path}, {at}: {value!r:.60} is not a list")
    return value


SCHEMA = "abd_prediction_record_v1"
DATASET = "abd"
UNNAMED_MODEL = "external"  # the published name for a model that a record does not name
_TEXTS = ("extractedFormula", "extractedDescription", "rawResponse", "response", "parseError")


class Prediction(NamedTuple):
    """One published prediction record of ABD.

    Attributes:
        problem: The id of the problem.
        model: The name of the model.
        answer: The answer to parse.
        fields: Additional fields that are stored with the answer.
    """

    problem: str
    model: str
    answer: str
    fields: Mapping[str, Json]


class PredictionFile(NamedTuple):
    """The predictions of one model from a file in ABD's published format."""

    model: str
    by_problem: Mapping[str, tuple[Prediction, ...]]  # by problem, in the order of the file


def is_prediction(line: str) -> bool:
    """Return whether a line of a file is a prediction record of ABD, according to its
    schemaVersion.
    """
    try:
        row = parse_json(line, "")
    except DataError:
        return False
    return isinstance(row, dict) and row.get("schemaVersion") == SCHEMA


def read_predictions(
    path: Path,
    lines: Iterable[tuple[int, str]],
    model: str | None = None,
    bad: BadRecords | None = None,
) -> PredictionFile:
    """Read the predictions of one model from a file in ABD's published format.

    Args:
        path: The file, for error messages.
        lines: Pairs (line number, line) from the file.
        model: The model to select; None if the file contains only one model.
        bad: Decides what happens to unreadable records; None to refuse a file with unreadable
            records.

    Raises:
        DataError: A record is malformed. The message names line and field.
        UsageError: `model` is None although the file contains several models, or the file does not
            contain `model`.
    """
    found: dict[str, dict[str, list[Prediction]]] = {}
    bad = bad or BadRecords(path, skip=False)
    for number, line in lines:
        where = f"{path}, line {number}"
        with bad.record(f"line {number}"):
            one = _prediction(parse_json(line, where), where)
            found.setdefault(one.model, {}).setdefault(one.problem, []).append(one)
    if not found:
        raise bad.no_records_error(f"{path}: the file is empty")
    named = ", ".join(found)
    if model is None and len(found) > 1:
        raise UsageError(
            f"{path} contains answers of {len(found)} models: choose one with --of-model ({named})"
        )
    chosen = next(iter(found)) if model is None else model
    if chosen not in found:
        raise UsageError(
            f"{path} contains no answers of the model {chosen!r}; it contains answers of {named}"
        )
    return PredictionFile(chosen, {name: tuple(some) for name, some in found[chosen].items()})


def _prediction(row: Json, at: str) -> Prediction:
    if not isinstance(row, dict):
        raise DataError(f"{at}: {row!r:.60} is not an object")
    if row.get("schemaVersion") != SCHEMA:
        raise DataError(f"{at}, schemaVersion: {row.get('schemaVersion')!r:.60} is not {SCHEMA!r}")
    name = row.get("instanceId")
    if type(name) not in (str, int) or name == "":
        raise DataError(f"{at}, instanceId: {name!r:.60} is not an id")
    model = row.get("model") or UNNAMED_MODEL
    if not isinstance(model, str):
        raise DataError(f"{at}, model: {model!r:.60} is not a name")
    for key in _TEXTS:
        if not isinstance(row.get(key), str | None):
            raise DataError(f"{at}, {key}: {row[key]!r:.60} is not a string")
    if not isinstance(row.get("success"), bool | None):
        raise DataError(f"{at}, success: {row['success']!r:.60} is neither true nor false")
    kept = {key: row[key] for key in ("success", "parseError") if row.get(key) is not None}
    return Prediction(str(name), model, _answer(row), kept)


def _answer(row: Mapping[str, Json]) -> str:
    formula = row.get("extractedFormula") or ""
    if not formula.strip():
        return row.get("rawResponse") or row.get("response") or ""
    told = {"formula": formula, "description": row.get("extractedDescription") or ""}
    # The parser would take braces inside the texts for further objects.
    within = json.dumps(told, ensure_ascii=False)[1:-1].replace("{", "\\u007b")
    return f"{{{within}}}"


RECORDED = ModelKind("recorded:FILE", RecordedSettings, open_model)
