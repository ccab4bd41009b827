"""The sentences about labelled text on the page, with their effects and most telling texts.

Unless `peirce report --within` names columns, effects are compared within texts of similar length and
within the groups of each column of choices that is an input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Hypothesis, Json, JudgedHypothesis, LabelsRows, Problem
from ...tasks import load_family
from ...tools.sentence_rules.columns import find_text_columns
from ..effect_wording import effect_as_json
from ..findings import RankedHypothesis, summarize_hypothesis
from ..row_groups import LENGTH
from ..sentence_effects import EffectOptions, bank_sentences, has_columns

MAX_COLUMNS = 4  # of choices, within whose groups effects are compared


def describe_effects(
    problem: Problem,
    judged: Sequence[JudgedHypothesis],
    ranked: Sequence[RankedHypothesis],
    bank: Sequence[Mapping[str, Json]],
    options: EffectOptions,
) -> list[dict[str, Json]]:
    """Return the sentences of a problem with their effects, best first; [] for other families.

    "number" is the number of the sentence among the hypotheses on the page, None for a sentence that
    comes from another session. "summary" is the sentence with long lists shortened, and absent if no
    list is long. "effects" is empty if only a model could apply the sentence. Its
    keys are those of `effect_as_json`.

    Args:
        problem: The problem.
        judged: All judged hypotheses of the problem, in the order of the page.
        ranked: The hypotheses, best first.
        bank: The bank of the problem.
        options: The rows and columns to use.

    Raises:
        UsageError: There is no column that the options name.
        DataError: The file of the options cannot be used.
    """
    family = load_family(problem.family)
    if not isinstance(family, LabelsRows) or not has_columns(problem):
        return []
    places = {one.hypothesis.text: place for place, one in enumerate(ranked)}
    in_order = sorted(bank, key=lambda row: places.get(str(row["text"]), len(places)))
    sentences = bank_sentences(in_order, [one.judged for one in ranked])
    columns = [
        name for name, about in problem.public["columns"].items() if about.get("kind") == "choice"
    ]
    length = [LENGTH] if find_text_columns(problem.public) else []
    measured = options.measure(problem, sentences, judged, [*length, *columns[:MAX_COLUMNS]])
    numbers: dict[str, int] = {}
    known: dict[str, Hypothesis] = {}
    for number, one in enumerate(judged, 1):
        if one.hypothesis is not None:
            numbers.setdefault(one.hypothesis.text, number)
            known.setdefault(one.hypothesis.text, one.hypothesis)
    summaries = [
        summarize_hypothesis(family, known.get(sentence) or Hypothesis(sentence))
        for sentence in sentences
    ]
    return [
        {
            "text": sentence,
            **({} if summary is None else {"summary": summary}),
            "number": numbers.get(sentence),
            "effects": [effect_as_json(one) for one in effects],
        }
        for sentence, summary, effects in zip(sentences, summaries, measured, strict=True)
    ]
