"""Details of a problem on the page, with the inputs on which consistent hypotheses disagree.

A store contains predictions on the sample space S as numeric codes (`sandbox/inside/canonical.py`).
Therefore a predicted value can be shown only if the same value also occurs as an output, or as a
prediction for an observation. Which hypotheses agree is always known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...records import (
    HINTS,
    Agreement,
    DrawsFigures,
    Family,
    InputSet,
    Json,
    JudgedAnswer,
    JudgedHypothesis,
    NamesCodes,
    OrdersCodes,
    Predictions,
    Problem,
    StepRecord,
    SummarizesHypotheses,
)
from ...sandbox.inside.canonical import Unrepresentable, make_coder
from ...store.hinted_answers import find_hint
from ...tasks import load_family
from ...tools.gear.prediction_classes import UNDEFINED, PredictionClasses, recall_classes
from ..findings import (
    CheckedFindings,
    RankedHypothesis,
    find_disagreement,
    held_out_observations,
    rank_hypotheses,
    summarize_hypothesis,
)
from ..front import find_front_points
from ..proposers import describe_proposer, has_several_proposers
from ..sentence_effects import EffectOptions
from .effects import describe_effects

if TYPE_CHECKING:
    from ...store import ProblemRow


MAX_HYPOTHESES = 40
MAX_INPUTS = 6  # without those that only separate the best hypotheses
MAX_COMPARED = 6  # best hypotheses of which every two get an input where they differ


@dataclass(frozen=True)
class KnownValues:
    """The values of predictions that can be shown, by their numeric codes."""

    by_code: dict[int, Json]

    @staticmethod
    def from_values(values: Iterable[Json]) -> KnownValues:
        """Return the known values for a collection of values. Values without a code are skipped."""
        known, code = {}, make_coder()
        for value in values:
            try:
                known[int.from_bytes(code(value), "little", signed=True)] = value
            except Unrepresentable:
                continue
        return KnownValues(known)


def find_disagreements(
    numbers: Sequence[int], predictions: Sequence[Predictions], space: InputSet, values: KnownValues
) -> dict[str, Json]:
    """Return the inputs that distinguish the hypotheses best, with the predictions for these
    inputs.

    Args:
        numbers: The number of each hypothesis on the page.
        predictions: The predictions of each hypothesis on S.
        space: The sample space S, on which hypotheses are compared.
        values: The known values of predictions.

    Returns:
        An object with four keys. "inputs" is a list of {place, input, groups: [{hypotheses,
            value?}],
        undefined: [number]}. Each input is chosen to distinguish as many pairs of hypotheses as
        possible that the earlier inputs do not distinguish. After `MAX_INPUTS` inputs, only pairs
            of
        the first `MAX_COMPARED` hypotheses count. "alone" has, for each hypothesis, the share of S
            on
        which no other hypothesis makes the same prediction. "same" lists groups of hypotheses with
        equal predictions on all of S. "left_out" is the number of hypotheses beyond
        `MAX_HYPOTHESES`, which are not compared.
    """
    kept = predictions[:MAX_HYPOTHESES]
    told: dict[str, Json] = {"left_out": len(predictions) - len(kept)}
    if len(kept) < 2 or not len(space):
        return told | {"inputs": [], "alone": {}, "same": []}
    classes = recall_classes(kept)
    rows = classes.patterns
    return told | {
        "inputs": [
            _input(int(classes.first[at]), numbers, kept, rows[:, at], space, values)
            for at in _chosen(rows)
        ],
        "alone": {
            str(number): share for number, share in zip(numbers, _alone(classes), strict=False)
        },
        "same": _same(numbers, rows),
    }


def _chosen(rows: NDArray[np.int32]) -> list[int]:
    """Return the columns of the table of classes that distinguish the hypotheses best.

    Each column stands for all inputs with the same classes, and is in the order of the first input.
    """
    first, second = np.triu_indices(len(rows), 1)
    parted = rows[first] != rows[second]  # (pairs, columns)
    left = np.ones(len(first), np.bool_)  # pairs that no input separates
    chosen: list[int] = []
    while True:
        if len(chosen) == MAX_INPUTS:
            left &= second < MAX_COMPARED
        counts = parted[left].sum(axis=0)
        best = int(np.argmax(counts))
        if not counts[best]:
            return chosen
        chosen.append(best)
        left &= ~parted[:, best]


def _input(
    place: int, numbers: Sequence[int], kept: Sequence[Predictions], classes: NDArray[np.int32],
    space: InputSet, values: KnownValues,
) -> dict[str, Json]:  # fmt: skip
    groups: dict[int, list[int]] = {}
    for row, name in enumerate(classes.tolist()):
        groups.setdefault(name, []).append(row)
    undefined = groups.pop(UNDEFINED, [])
    told = []
    for rows in sorted(groups.values(), key=lambda rows: (-len(rows), rows)):
        code = int(kept[rows[0]].codes[place])
        known = {"value": values.by_code[code]} if code in values.by_code else {}
        told.append({"hypotheses": [numbers[row] for row in rows], **known})
    return {"place": place, "input": space.inputs[place], "groups": told,
            "undefined": [numbers[row] for row in undefined]}  # fmt: skip


def _alone(classes: PredictionClasses) -> list[float]:
    """Return for each hypothesis the share of inputs where no other makes the same prediction."""
    # A class is numbered by its first row, so a class of one has the number of its own row.
    rows, counts = classes.patterns, classes.counts
    total = int(counts.sum())
    return [
        round(int(counts[((rows == row).sum(axis=0) == 1) & (rows[row] == row)].sum()) / total, 4)
        for row in range(len(rows))
    ]


def _same(numbers: Sequence[int], classes: NDArray[np.int32]) -> list[list[int]]:
    groups: dict[bytes, list[int]] = {}
    for row in range(len(classes)):
        groups.setdefault(classes[row].tobytes(), []).append(numbers[row])
    return [group for group in groups.values() if len(group) > 1]


def choose_inputs(
    judged: Sequence[JudgedHypothesis],
    ranked: Sequence[RankedHypothesis],
    space: InputSet,
    family: Family | None = None,
) -> list[int]:
    """Return the indices of the inputs for which the page shows the predictions of hypotheses.

    Args:
        judged: The judged hypotheses of a problem.
        ranked: The hypotheses, best first.
        space: The sample space S, which contains the inputs.
        family: As in `find_disagreement`.
    """
    kept = [given for _, given in _consistent(judged, ranked)][:MAX_HYPOTHESES]
    places = []
    if len(kept) > 1 and len(space):
        classes = recall_classes(kept)
        places = [int(classes.first[at]) for at in _chosen(classes.patterns)]
    shortest = find_disagreement(ranked[0], ranked[1], space, family) if len(ranked) > 1 else None
    return places if shortest is None or shortest in places else [*places, shortest]


def _consistent(
    judged: Sequence[JudgedHypothesis], ranked: Sequence[RankedHypothesis]
) -> list[tuple[int, Predictions]]:
    """Return numbers and predictions of the consistent hypotheses, best first, unranked ones last."""
    ranks = _ranks(ranked)
    found = [
        (number, one.space, ranks.get(id(one), len(ranks) + 1))
        for number, one in enumerate(judged, 1)
        if one.verdict.consistent and one.space is not None
    ]
    return [(number, given) for number, given, _ in sorted(found, key=lambda one: one[2])]


def _ranks(ranked: Sequence[RankedHypothesis]) -> dict[int, int]:
    """Return the rank of each ranked hypothesis by the identity of its record."""
    return {id(one.judged): rank for rank, one in enumerate(ranked, 1)}


# --- Details of one problem.

MAX_PROPOSER_CHARS = 200
MAX_TEXT_CHARS = 20_000  # Characters of a text; longer texts are cut and end with a note.
MAX_OBSERVATIONS = 1_000  # of each kind that the page lists
MARKS = {True: "1", False: "0", None: "-"}


def describe_problem(
    row: ProblemRow,
    steps: Sequence[StepRecord],
    space: InputSet,
    calls: Sequence[Mapping[str, Json]],
    bank: Sequence[Mapping[str, Json]],
    checked: CheckedFindings,
    *,
    settings: Mapping[str, Json],
    in_order: bool = False,
    options: EffectOptions | None = None,
) -> dict[str, Json]:
    """Return everything that the HTML page shows about one problem, as JSON.

    The key "problem" has the problem with its hidden observations, of each kind at most
    `MAX_OBSERVATIONS`; "counts" has their numbers. The key "hypotheses" lists the
    judged hypotheses and malformed answers, in the order of the answers. For each hypothesis,
    "rank" is its rank among the findings. "marks" has one character per observation: "1" if the
    prediction is right, "0" if it is wrong, "-" if it is undefined, " " if the hypothesis was not
    applied; "right" and "of" count all observations. "got" has the prediction for each observation on
    which the hypothesis is not right, by index of the observation. "figures" lists the figures of
    families that draw some. "effects" lists the sentences of a finished problem of labelled text
    (`describe_effects`). In a session in which more than one model answers, the answers of
    a step have the key "found_by" (`describe_proposer`). Answers to a request with hints of a person
    have the key "after_hint", the newest of them.

    Args:
        row: The problem, as the store contains it.
        steps: The recorded steps of the problem.
        space: The sample space S, on which hypotheses are compared.
        calls: The model calls of the steps.
        bank: The bank of hypotheses that the session kept for the problem, best first.
        checked: Results that were computed with a sandbox or a solver, by hypothesis.
        settings: The settings of the session.
        in_order: As in `rank_hypotheses`.
        options: How effects of sentences are measured; None for the default.
    """
    problem, family = row.problem, load_family(row.problem.family)
    located = list(_judged(steps))
    judged = [one for _, _, one in located]
    kept = {str(one["hypothesis"]): one for one in bank}
    ranked = rank_hypotheses(problem, judged, in_order=in_order)
    ranks, consistent = _ranks(ranked), _consistent(judged, ranked)
    listed = _listed_places(problem)
    # Whether an object fits a Protocol is asked once, because the answer takes long.
    summarizing = family if isinstance(family, SummarizesHypotheses) else None
    hints = _newest_hints(calls)
    return {
        "problem": {
            "id": problem.id, "task": problem.task, "family": problem.family,
            "status": row.status, "cause": row.cause,
            "shown": [[problem.shown[n].input, problem.shown[n].output] for n in listed["shown"]],
            "hidden": [[problem.hidden[n].input, problem.hidden[n].output] for n in listed["hidden"]],
            "counts": {"shown": len(problem.shown), "hidden": len(problem.hidden)},
            "public": dict(problem.public),
            "reference": _reference(problem),
            "space": len(space),
        },
        "hypotheses": [
            {
                **_hypothesis(number, step, place, one, kept, summarizing),
                **_agreements(problem, one, checked, listed),
                "rank": ranks.get(id(one)),
            }
            for number, (step, place, one) in enumerate(located, 1)
        ],
        "steps": [
            {"step": step.step, "fields": cut_lists(dict(step.fields)),
             "answers": [_answer(settings, step, answer, hints) for answer in step.answers]}
            for step in steps
        ],
        "calls": list(calls),
        "parting": find_disagreements(
            [number for number, _ in consistent], [given for _, given in consistent], space,
            known_values(problem, judged, checked),
        ),
        "figures": _draw_figures(problem, steps, ranked),
        "effects": []
        if row.status == "open"
        else describe_effects(problem, judged, ranked, bank, options or EffectOptions()),
    }  # fmt: skip


def _answer(
    settings: Mapping[str, Json], step: StepRecord, answer: JudgedAnswer, hints: Mapping[str, str]
) -> dict[str, Json]:
    told: dict[str, Json] = {"path": answer.path, "text": truncate(answer.text)}
    if (hint := find_hint(hints, answer.path)) is not None:
        told["after_hint"] = truncate(hint, MAX_PROPOSER_CHARS)
    if has_several_proposers(settings):
        told["found_by"] = truncate(describe_proposer(settings, step, answer), MAX_PROPOSER_CHARS)
    return told


def _newest_hints(calls: Sequence[Mapping[str, Json]]) -> dict[str, str]:
    """Return the newest hint that each request showed, by the path of the request."""
    found = {}
    for call in calls:
        shown = [text for text in call.get("texts", ()) if text]
        request, _, last = str(call["path"]).rpartition("/")
        if last == HINTS and shown:
            found[request] = shown[-1]
    return found


def _draw_figures(
    problem: Problem, steps: Sequence[StepRecord], ranked: Sequence[RankedHypothesis]
) -> list[dict[str, Json]]:
    family = load_family(problem.family)
    if not isinstance(family, DrawsFigures):
        return []
    # Beside consistent hypotheses, inconsistent ones are no rivals.
    best = [one for one in ranked if one.judged.verdict.consistent] or ranked
    front = find_front_points(problem, steps, ranked)
    figures = family.draw_figures(problem, [one.hypothesis.text for one in best], front)
    return [asdict(one) for one in figures]


def truncate(text: str, most: int = MAX_TEXT_CHARS) -> str:
    """Return `text`, or its first `most` characters and a note of its length if it is longer."""
    return text if len(text) <= most else f"{text[:most]} … ({len(text):,} characters)"


def _judged(steps: Sequence[StepRecord]) -> Iterator[tuple[int, int, JudgedHypothesis]]:
    """Yield (step number, index of the answer in the step, judged part) triples."""
    for step in steps:
        for place, answer in enumerate(step.answers):
            for one in answer.judged:
                yield step.step, place, one


def _hypothesis(
    number: int,
    step: int,
    place: int,
    one: JudgedHypothesis,
    bank: Mapping[str, Mapping[str, Json]],
    family: Family | None,
) -> dict[str, Json]:
    """Return a hypothesis as JSON; `family` shortens hypotheses, or is None."""
    said = one.hypothesis
    told: dict[str, Json] = {
        "number": number, "step": step, "answer": place, "verdict": one.verdict.value,
        "reason": one.reason, "coverage": one.coverage, "bad": one.bad,
    }  # fmt: skip
    if said is not None:
        told |= {"text": truncate(said.text), "description": truncate(said.description),
                 "breaches": list(said.breaches), "meta": dict(said.meta)}  # fmt: skip
        if family and (summary := summarize_hypothesis(family, said)) is not None:
            told["summary"] = summary
        held = bank.get(said.digest) if bank else None
        if held is not None:
            told["bank"] = {
                key: held[key] for key in ("rank", "reward", "accuracy", "visits", "covered")
            }
    if one.space is not None:
        told["undefined"] = one.space.count_undefined()
        told["limited"] = one.space.limited
    return told


def _listed_places(problem: Problem) -> dict[str, list[int]]:
    """Return the indices of the shown and hidden observations that the page lists.

    Of many hidden observations, those are listed to which findings are applied.
    """
    listed = {
        "shown": list(range(len(problem.shown))),
        "hidden": list(range(len(problem.hidden))),
    }
    if len(problem.hidden) > MAX_OBSERVATIONS:
        listed["hidden"] = _held_out_places(problem)
    return {name: places[:MAX_OBSERVATIONS] for name, places in listed.items()}


def _held_out_places(problem: Problem) -> list[int]:
    """Return the indices of the held-out observations among the hidden ones."""
    places = {id(each): place for place, each in enumerate(problem.hidden)}
    return [places[id(each)] for each in held_out_observations(problem)]


def cut_lists(value: Json) -> Json:
    """Return a JSON value whose lists have at most `MAX_OBSERVATIONS` items."""
    if isinstance(value, Mapping):
        return {name: cut_lists(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [cut_lists(one) for one in value[:MAX_OBSERVATIONS]]
    return value


def _agreements(
    problem: Problem,
    one: JudgedHypothesis,
    checked: CheckedFindings,
    listed: Mapping[str, Sequence[int]],
) -> dict[str, Json]:
    found = {}
    if one.shown is not None:
        found["shown"] = _agreement(one.shown, range(len(one.shown.marks)), listed["shown"])
    if one.hidden is not None:
        found["hidden"] = _agreement(one.hidden, range(len(one.hidden.marks)), listed["hidden"])
    elif one.hypothesis is not None and one.hypothesis.text in checked.held_out:
        # Of labelled rows only those of the test split were checked.
        agreement = checked.held_out[one.hypothesis.text]
        found["hidden"] = _agreement(agreement, _held_out_places(problem), listed["hidden"])
    return found


def _agreement(
    agreement: Agreement, places: Sequence[int], listed: Sequence[int]
) -> dict[str, Json]:
    """Return an agreement as JSON.

    Args:
        agreement: The agreement.
        places: The indices of the observations that it is with.
        listed: The indices of the observations that the page lists.
    """
    on_page = {place: number for number, place in enumerate(listed)}
    marked = [
        (on_page[place], mark, got)
        for place, mark, got in zip(places, agreement.marks, agreement.got, strict=False)
        if place in on_page
    ]
    marks = [" "] * (max((number for number, *_ in marked), default=-1) + 1)
    for number, mark, _ in marked:
        marks[number] = MARKS[mark]
    got = {str(number): dict(got) for number, mark, got in marked if mark is not True}
    return {"marks": "".join(marks), "got": got, "right": agreement.right, "of": len(agreement.marks),
            "verdict": agreement.verdict, "detail": dict(agreement.detail)}  # fmt: skip


def _reference(problem: Problem) -> Json:
    """Return the problem's secret fields, which no proposer saw, with long texts cut."""
    return {
        key: truncate(value) if isinstance(value, str) else value
        for key, value in problem.secret.items()
    }


def known_values(
    problem: Problem, judged: Sequence[JudgedHypothesis], checked: CheckedFindings
) -> KnownValues:
    """Return the predicted values of a problem that can be shown, by their codes.

    Args:
        problem: The problem.
        judged: The judged hypotheses of the problem.
        checked: Results that were computed with a sandbox or a solver, by hypothesis.
    """
    found = load_family(problem.family)
    if isinstance(found, NamesCodes):
        return KnownValues(dict(enumerate(found.code_names(problem))))
    values = [*_collect_values(problem, judged), *checked.values]
    if isinstance(found, OrdersCodes):  # a value for each code: the last one, which is a prediction
        codes = [found.encode_prediction(value, problem) for value in values]
        return KnownValues({c: v for c, v in zip(codes, values, strict=True) if c is not None})
    return KnownValues.from_values(values)


def _collect_values(problem: Problem, judged: Sequence[JudgedHypothesis]) -> Iterator[Json]:
    for one in (*problem.shown, *problem.hidden):
        yield one.output
    for each in judged:
        for agreement in (each.shown, each.hidden):
            for got in agreement.got if agreement else ():
                if "value" in got:
                    yield got["value"]
