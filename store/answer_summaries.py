"""Summaries of the answers and consistent hypotheses of many problems of a session.

`consistent_hypotheses` reads the data that studies need of each consistent hypothesis: its text,
whether it is right on hidden pairs, and digests of its predictions over the sample space S.
`answer_summaries` reads the data from which preference pairs are built: the text of each answer,
its first hypothesis with the verdict, and digests of the predictions of this hypothesis over S.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..records import NOT_REQUESTED, Digest, Hypothesis, Json, Verdict
from .calls import read_texts
from .codec import decode_json, decode_text, encode_text, verdict_of
from .connection import RowReader, rows_by_problem
from .hinted_answers import find_hint, newest_hints
from .schema import Row

_PLACE = "step, answer, ordinal"
PROPOSED_BY = "proposed_by"  # of the fields of a step with two proposers: the role that proposed


@dataclass(frozen=True)
class ConsistentHypothesis:
    """A stored hypothesis that fits all shown observations, with digests of its predictions.

    Attributes:
        hypothesis: The digest that identifies the hypothesis (`Hypothesis.digest`).
        text: The text of the hypothesis.
        hidden: For each hidden pair, whether the hypothesis is right, or None if it was not
            compared with this pair. The attribute is None if no comparison is stored.
        codes: Digest of the array of predictions over S; None if there are no predictions.
        reasons: Digest of the array that says why predictions over S are undefined; None if there
            are no predictions.
    """

    hypothesis: Digest
    text: str
    hidden: tuple[bool | None, ...] | None
    codes: Digest | None
    reasons: Digest | None


def consistent_hypotheses(
    reader: RowReader, session: str, problems: Sequence[str]
) -> dict[str, list[ConsistentHypothesis]]:
    """Return the consistent hypotheses of each problem, in the order of the problem's steps.

    The list of a problem may be empty.
    """
    names = [encode_text(problem) for problem in problems]
    verdicts = ", ".join(f"'{v.value}'" for v in Verdict if v.consistent)
    judged = rows_by_problem(
        reader,
        f"SELECT problem, {_PLACE} FROM verdict",
        *(session, names, _PLACE, f"AND verdict IN ({verdicts})"),
    )
    texts = rows_by_problem(
        reader, f"SELECT problem, {_PLACE}, digest, text FROM hypothesis", session, names, _PLACE
    )
    predicted = rows_by_problem(
        reader,
        f"SELECT problem, {_PLACE}, inputs, marks, codes, reasons FROM prediction",
        *(session, names, _PLACE, "AND inputs IN ('hidden', 'space')"),
    )
    found = {}
    for name in names:
        told = {tuple(place): (digest, decode_text(text)) for *place, digest, text in texts[name]}
        marks, vectors = {}, {}
        for *place, inputs, marked, codes, reasons in predicted[name]:
            if inputs == "hidden":
                marks[tuple(place)] = tuple(marked)
            else:
                vectors[tuple(place)] = (codes, reasons)
        found[decode_text(name)] = [
            ConsistentHypothesis(*told[place], marks.get(place), *vectors.get(place, (None, None)))
            for place in judged[name]
        ]
    return found


@dataclass(frozen=True)
class AnswerSummary:
    """A stored answer of a model, with the verdict on its first hypothesis.

    Attributes:
        path: Path of the model call that returned the answer.
        text: The text of the answer.
        hypothesis: The first hypothesis in the answer, or None if the answer contains no
            hypothesis.
        verdict: The verdict on the first hypothesis.
        reason: The reason for the verdict, or why the answer contains no hypothesis.
        hypothesis_count: The number of hypotheses in the answer.
        codes: Digest of the array of the first hypothesis's predictions over S; None if there are
            no predictions.
        reasons: Digest of the array that says why predictions over S are undefined; None if there
            are no predictions.
        detail: Additional facts about how the first hypothesis fits the shown observations, such as
            its cost in the logic families.
        proposed_by: The role that proposed the answers of the step, in a session with a second
            proposer; otherwise "".
        after_hint: Whether the request for the answer showed a hint of a person.
    """

    path: str
    text: str
    hypothesis: Hypothesis | None
    verdict: Verdict
    reason: str
    hypothesis_count: int = 0
    codes: Digest | None = None
    reasons: Digest | None = None
    detail: Json = None
    proposed_by: str = ""
    after_hint: bool = False


def answer_summaries(
    reader: RowReader, session: str, problems: Sequence[str]
) -> dict[str, list[AnswerSummary]]:
    """Return a summary of each answer to each problem, ordered by step and answer."""
    names = [encode_text(problem) for problem in problems]

    def rows(table: str, columns: str, place: str = _PLACE, where: str = "") -> RowsByProblem:
        select = f"SELECT problem, {place}, {columns} FROM {table}"
        return rows_by_problem(reader, select, session, names, place, where)

    answers = rows("answer", "path, text", "step, answer")
    of_people = rows("call", "path, response", "path", "AND kind = 'human'")
    noted = rows("step", "fields", "step", f"AND fields LIKE '%{PROPOSED_BY}%'")
    parts = (
        rows("verdict", "verdict, reason"),
        rows("hypothesis", "text, description, meta, breaches"),
        rows("prediction", "outcome, codes, reasons", where="AND inputs = 'space'"),
        rows("prediction", "detail", where="AND inputs = 'shown' AND detail <> '{}'"),
    )
    found = {}
    for name in names:
        of_answer: list[dict[AnswerKey, dict[int, Row]]] = []
        for part in parts:
            of_answer.append({})
            for step, answer, ordinal, *cells in part[name]:
                of_answer[-1].setdefault((step, answer), {})[ordinal] = tuple(cells)
        proposers = {
            step: str(decode_json(fields, "step.fields", dict).get(PROPOSED_BY) or "")
            for step, fields in noted[name]
        }
        hints = newest_hints(
            sorted(
                (decode_text(path), read_texts(decode_json(response, "call.response")))
                for _, path, response in of_people[name]
            )
        )
        found[decode_text(name)] = [
            replace(
                _summarise_answer(
                    decode_text(path),
                    decode_text(text),
                    *(part.get((step, answer), {}) for part in of_answer),
                ),
                proposed_by=proposers.get(step, ""),
                after_hint=find_hint(hints, decode_text(path)) is not None,
            )
            for step, answer, path, text in answers[name]
        ]
    return found


RowsByProblem = dict[str, list[Row]]
AnswerKey = tuple[int, int]  # step, answer


def _summarise_answer(
    path: str,
    text: str,
    verdicts: Mapping[int, Row],
    hypotheses: Mapping[int, Row],
    spaces: Mapping[int, Row],
    details: Mapping[int, Row],
) -> AnswerSummary:
    """Return the summary of one answer from its rows, which are keyed by ordinal."""
    if not hypotheses:
        _, reason = verdicts[min(verdicts)] if verdicts else ("", "")
        return AnswerSummary(path, text, None, Verdict.MALFORMED, decode_text(reason))
    first = min(hypotheses)
    said, description, meta, breaches = hypotheses[first]
    verdict, reason = verdicts[first]
    outcome, codes, reasons = spaces.get(first, (NOT_REQUESTED, None, None))
    asked = decode_text(outcome) != NOT_REQUESTED
    return AnswerSummary(
        path=path,
        text=text,
        hypothesis=Hypothesis(
            decode_text(said),
            decode_text(description),
            decode_json(meta, "hypothesis.meta", dict),
            tuple(decode_json(breaches, "hypothesis.breaches", list)),
        ),
        verdict=verdict_of(verdict),
        reason=decode_text(reason),
        hypothesis_count=len(hypotheses),
        codes=codes if asked else None,
        reasons=reasons if asked else None,
        detail=decode_json(details[first][0], "prediction.detail", dict)
        if first in details
        else None,
    )
