"""The consistent hypotheses of many problems of a session with no more than a study reads of them:
their text, marks on hidden pairs, and the names of their predictions over S."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..records import Digest, Verdict
from .cells import text_cell, text_of
from .connection import Reading, by_problem

_PLACE = "step, answer, ordinal"


@dataclass(frozen=True)
class Consistent:
    """hypothesis: `Hypothesis.digest`. text: of it. hidden: the marks of its agreement with the hidden pairs,
    None where it was not compared. codes, reasons: of its predictions over S, digests of vectors;
    None where it has none."""

    hypothesis: Digest
    text: str
    hidden: tuple[bool | None, ...] | None
    codes: Digest | None
    reasons: Digest | None


def consistent(
    reading: Reading, session: str, problems: Sequence[str]
) -> dict[str, list[Consistent]]:
    """By problem, in the order of its steps; a problem without any has an empty list."""
    names = [text_cell(problem) for problem in problems]
    verdicts = ", ".join(f"'{v.value}'" for v in Verdict if v.consistent)
    judged = by_problem(
        reading,
        f"SELECT problem, {_PLACE} FROM verdict",
        *(session, names, _PLACE, f"AND verdict IN ({verdicts})"),
    )
    texts = by_problem(
        reading, f"SELECT problem, {_PLACE}, digest, text FROM hypothesis", session, names, _PLACE
    )
    predicted = by_problem(
        reading,
        f"SELECT problem, {_PLACE}, inputs, marks, codes, reasons FROM prediction",
        *(session, names, _PLACE, "AND inputs IN ('hidden', 'space')"),
    )
    found = {}
    for name in names:
        told = {tuple(place): (digest, text_of(text)) for *place, digest, text in texts[name]}
        marks, vectors = {}, {}
        for *place, inputs, marked, codes, reasons in predicted[name]:
            if inputs == "hidden":
                marks[tuple(place)] = tuple(marked)
            else:
                vectors[tuple(place)] = (codes, reasons)
        found[text_of(name)] = [
            Consistent(*told[place], marks.get(place), *vectors.get(place, (None, None)))
            for place in judged[name]
        ]
    return found
