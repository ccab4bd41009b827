"""The findings of a session: the hypotheses of each problem, best first.

A running session ranks its hypotheses by a reward that favours hypotheses which were rarely tried
(HypoGeniC). After the session there is nothing left to explore. Therefore findings are ranked by
these criteria:

1. consistency with the shown observations;
2. evidence: the number of shown facts that a hypothesis explains. In families whose consistent
   hypotheses may be wrong on some observations (`ToleratesErrors`), numbers within one standard error
   of the best number count as equal, because a small advantage may be chance (the one-standard-error
   rule: Breiman, Friedman, Olshen and Stone, 1984, section 3.4.3);
3. simplicity: a short description length in bits (tools/description_length.py). The built-in search on
   programs proposes likely programs first, by prices of its own that are better at this (LOG.md); its
   hypotheses keep the order in which it proposed them (`proposed_likeliest_first`);
4. likelihood on the sample space S (the inputs on which hypotheses are compared): how well the
   predictions agree with the predictions of the other hypotheses (`consensus`).

Held-out observations are reported with a finding but never affect its rank.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..records import (
    THEME_NAME,
    Agreement,
    Family,
    HasSearch,
    Hypothesis,
    InputSet,
    Json,
    JudgedHypothesis,
    LabelsRows,
    Observation,
    OrdersCodes,
    Predictions,
    Problem,
    RanksFindings,
    SummarizesHypotheses,
    ToleratesErrors,
)
from ..tasks import load_family
from ..tools.description_length import text_bits
from ..tools.gear.prediction_classes import UNDEFINED, recall_classes
from .metrics.results import list_judged, pair_with_steps

if TYPE_CHECKING:
    from ..store import ProblemRow, Store

FINDINGS_PER_PROBLEM = 3  # that a summary shows
SMALLEST_SHARE = 1e-6  # of the weight of the hypotheses; keeps logarithms finite


@dataclass(frozen=True)
class RankedHypothesis:
    """A hypothesis of a problem, with the values by which it is ranked.

    Attributes:
        judged: The hypothesis with its results on the observations and its predictions.
        explained: The number of shown facts that the hypothesis explains.
        facts: The number of all shown facts.
        bits: The description length of the hypothesis in bits.
        consensus: The likelihood of its predictions on the sample space S, in bits per input (at
            most 0); 0 without predictions.
    """

    judged: JudgedHypothesis
    explained: int
    facts: int
    bits: float
    consensus: float

    @property
    def hypothesis(self) -> Hypothesis:
        """The hypothesis that is ranked."""
        assert self.judged.hypothesis is not None
        return self.judged.hypothesis


@dataclass(frozen=True)
class CheckedFindings:
    """Results for the findings of a problem that only a sandbox or solver can compute.

    They are computed after the session (commands/findings.py).

    Attributes:
        held_out: The agreement of hypotheses with `held_out_observations`, by text of the
            hypothesis.
        values: Predictions of the best hypotheses for inputs on which they disagree.
    """

    held_out: Mapping[str, Agreement] = field(default_factory=dict)
    values: Sequence[Json] = ()


def summarize_hypothesis(family: Family, hypothesis: Hypothesis) -> str | None:
    """Return a hypothesis with long lists shortened, for a reader; None if nothing is too long."""
    if not isinstance(family, SummarizesHypotheses):
        return None
    found = family.summarize_hypothesis(hypothesis.text, hypothesis.meta.get(THEME_NAME, ""))
    return None if found == hypothesis.text else found


def add_summaries(
    store: Store, session: str, bank: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the rows of a session's bank, with the key "summary" where a text has long lists.

    Args:
        store: The open store.
        session: Id of the session.
        bank: The rows of the bank (`Store.bank`).
    """
    family = load_family(store.settings(session)["family"])
    if not isinstance(family, SummarizesHypotheses):
        return list(bank)
    named: dict[str, Hypothesis] = {}
    for step in store.steps(session, list({row["problem"] for row in bank}), spaces=False):
        for one in list_judged([step]):
            if one.hypothesis is not None:
                named.setdefault(one.hypothesis.text, one.hypothesis)
    found = []
    for row in bank:
        summary = summarize_hypothesis(family, named.get(row["text"]) or Hypothesis(row["text"]))
        found.append(row if summary is None else {**row, "summary": summary})
    return found


def held_out_observations(problem: Problem) -> Sequence[Observation]:
    """Return the hidden observations of a problem.

    For labelled text, these are the rows of the test split if the problem has a test split.
    """
    family = load_family(problem.family)
    if isinstance(family, LabelsRows):
        return family.get_split(problem, "ind") or problem.hidden
    return problem.hidden


def proposed_likeliest_first(settings: Mapping[str, Json]) -> bool:
    """Return whether the model of a session proposed likely hypotheses before unlikely ones.

    Args:
        settings: The settings of the session.
    """
    family = load_family(settings["family"])
    told = settings.get("model_settings") or {}
    model = (told.get("recorded") or told).get("model")
    return (
        model == "search" and isinstance(family, HasSearch) and family.search_style.likeliest_first
    )


def rank_problems(
    store: Store, session: str, rows: Sequence[ProblemRow], *, distinct: bool = True
) -> Iterator[tuple[ProblemRow, list[RankedHypothesis]]]:
    """Yield each problem with a list of its hypotheses, from the best to the worst.

    Args:
        store: The open store.
        session: Id of the session.
        rows: Problems of the session, in the session's order.
        distinct: As in `rank_hypotheses`.
    """
    records = store.steps(session, [row.problem.id for row in rows], spaces="consistent")
    in_order = proposed_likeliest_first(store.settings(session))
    for row, steps in pair_with_steps(rows, records):
        yield (
            row,
            rank_hypotheses(row.problem, list_judged(steps), distinct=distinct, in_order=in_order),
        )


def rank_bank(store: Store, session: str, bank: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of a session's bank in the order of the findings, with new ranks.

    Hypotheses that the session never judged on all shown observations come last, in their old
    order.

    Args:
        store: The open store.
        session: Id of the session.
        bank: The rows of the bank (`Store.bank`).
    """
    ids = {row["problem"] for row in bank}
    rows = [row for row in store.problems(session) if row.problem.id in ids]
    ranked = []
    for row, best in rank_problems(store, session, rows, distinct=False):
        places = {one.hypothesis.text: place for place, one in enumerate(best)}
        own = [entry for entry in bank if entry["problem"] == row.problem.id]
        own.sort(key=lambda entry: places.get(entry["text"], len(places)))
        ranked += [{**entry, "rank": rank} for rank, entry in enumerate(own, 1)]
    return ranked


def rank_hypotheses(
    problem: Problem,
    judged: Iterable[JudgedHypothesis],
    *,
    distinct: bool = True,
    in_order: bool = False,
) -> list[RankedHypothesis]:
    """Return the hypotheses of a problem, best first.

    Malformed answers are left out. If several hypotheses have the same text, the first is kept.

    Args:
        problem: The problem.
        judged: The judged hypotheses of the problem.
        distinct: Whether to keep only the best of several consistent hypotheses that make the same
            predictions on the whole sample space S.
        in_order: Whether hypotheses with equal evidence keep the order of `judged`, instead of that by
            simplicity.
    """
    first: dict[str, JudgedHypothesis] = {}
    for one in judged:
        if one.hypothesis is not None and one.shown is not None:
            first.setdefault(one.hypothesis.text, one)
    family = load_family(problem.family)
    measured = _measure_each(problem, family, first.values())
    agreed = consensus(list(first.values()), [bits for _, _, bits in measured])
    left = [
        RankedHypothesis(one, *found, likelihood)
        for one, found, likelihood in zip(first.values(), measured, agreed, strict=True)
    ]
    tolerant = isinstance(family, ToleratesErrors)
    ranked: list[RankedHypothesis] = []
    while left:
        best = _with_most_evidence(left, tolerant)
        ranked += best if in_order else sorted(best, key=lambda one: (one.bits, -one.consensus))
        left = [one for one in left if not any(one is other for other in best)]
    return _without_equivalents(ranked) if distinct else ranked


def _measure_each(
    problem: Problem, family: Family, judged: Iterable[JudgedHypothesis]
) -> list[tuple[int, int, float]]:
    """Return the explained facts, all facts and the description length of each hypothesis."""
    found = []
    # Whether an object fits a Protocol is asked once, because the answer takes long.
    ranking = family if isinstance(family, RanksFindings) else None
    for one in judged:
        assert one.hypothesis is not None and one.shown is not None
        text = one.hypothesis.text
        if ranking is not None:
            explained = ranking.count_explained(one.shown, problem)
            found.append((*explained, ranking.description_bits(text, problem)))
        else:
            found.append((one.shown.right, len(problem.shown), text_bits(text)))
    return found


def _with_most_evidence(left: Sequence[RankedHypothesis], tolerant: bool) -> list[RankedHypothesis]:
    """Return the hypotheses that explain most of the facts, consistent ones if there are any.

    Args:
        left: The hypotheses.
        tolerant: Whether numbers within one standard error of the highest count as equal to it.
    """
    rivals = [one for one in left if one.judged.verdict.consistent] or left
    most = max(rivals, key=lambda one: one.explained)
    share = most.explained / max(most.facts, 1)
    error = math.sqrt(most.facts * share * (1 - share)) if tolerant else 0.0
    return [one for one in rivals if one.explained >= most.explained - error]


def consensus(judged: Sequence[JudgedHypothesis], bits: Sequence[float]) -> list[float]:
    """Return the likelihood of each hypothesis's predictions on S, in bits per input.

    The probability of a prediction is the share of the consistent hypotheses that make the same
    prediction, each weighted by 2 ** -bits. The result is 0 for inconsistent hypotheses.

    Args:
        judged: The hypotheses.
        bits: The description length of each hypothesis in bits.
    """
    found = [0.0] * len(judged)
    voters = [i for i, one in enumerate(judged) if one.verdict.consistent and one.space is not None]
    if not voters:
        return found
    spaces = [space for i in voters if (space := judged[i].space) is not None]
    classes = recall_classes(spaces)
    rows = classes.patterns
    least = min(bits[i] for i in voters)
    weights: NDArray[np.float64] = np.exp2([least - bits[i] for i in voters])
    for row, place in enumerate(voters):
        same = (rows == rows[row]) & (rows[row] != UNDEFINED)
        shares = np.maximum(weights @ same / weights.sum(), SMALLEST_SHARE)
        each = np.log2(shares)[classes.places]
        found[place] = float(each.mean()) if each.size else 0.0
    return found


def _without_equivalents(ranked: Sequence[RankedHypothesis]) -> list[RankedHypothesis]:
    spaces = {
        place: space
        for place, one in enumerate(ranked)
        if one.judged.verdict.consistent and (space := one.judged.space) is not None
        and len(space.codes)
    }  # fmt: skip
    patterns = recall_classes(list(spaces.values())).patterns if spaces else None
    rows = {place: row for row, place in enumerate(spaces)}
    kept, seen = [], set()
    for place, one in enumerate(ranked):
        if patterns is not None and (space := spaces.get(place)) is not None:
            own = patterns[rows[place]]
            undefined = space.reasons.tobytes() if (own == UNDEFINED).any() else b""
            if (same := (own.tobytes(), undefined)) in seen:
                continue
            seen.add(same)
        kept.append(one)
    return kept


def find_disagreement(
    first: RankedHypothesis, second: RankedHypothesis, space: InputSet, family: Family | None = None
) -> int | None:
    """Return the index of the shortest input on which two hypotheses disagree, or None.

    If prediction codes are ordered (`OrdersCodes`), it is the input on which they differ most.

    Inputs on which both hypotheses predict something are preferred to inputs on which only one of
    them does, for example because the other one fails there. A sentence that says nothing about an
    input does not disagree with a label. The result is None if a hypothesis is inconsistent,
    because its predictions are not read from the store.

    Args:
        first: One hypothesis.
        second: The other hypothesis.
        space: The sample space S, which contains the inputs.
        family: The family of the problem; None if its codes are not ordered.
    """
    one, other = first.judged.space, second.judged.space
    consistent = first.judged.verdict.consistent and second.judged.verdict.consistent
    if one is None or other is None or not consistent or not len(space):
        return None
    differ = one.defined & other.defined & (one.codes != other.codes)
    if family is not None and isinstance(family, OrdersCodes):
        distances = np.abs(one.codes.astype(float) - other.codes.astype(float)) * differ
        farthest = int(np.argmax(distances))
        if distances[farthest] >= family.least_difference:
            return farthest
        differ = np.zeros_like(differ)
    if not differ.any():
        differ = (one.defined != other.defined) & ~_is_silent(one) & ~_is_silent(other)
    places = np.flatnonzero(differ)
    return min(map(int, places), key=space.count_characters, default=None)


def _is_silent(predicted: Predictions) -> NDArray[np.bool_]:
    """Return for which inputs a sentence about labelled rows predicts nothing."""
    from ..tasks.text.family import REASONS

    codes = [n for n, name in enumerate(predicted.reason_names, 1) if name in REASONS]
    return np.isin(predicted.reasons, codes)
