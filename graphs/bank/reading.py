"""Read a bank on validation, test and OOD rows, after a method on labelled text.

    infer/bank/multi/9f...      a question of `multi` about a row, named by the digest of its
    content text/..., texts/...         judgements of single sentences (judge_calls.py)

Every choice here (of a hypothesis, of weights, of a strategy) uses validation rows, or the bank
where there are none. Labels of test and OOD rows are never read. The predictions are kept in the
fields of the step, and reports score them.

This module also computes GEAR's scores of a bank, over the unlabelled texts of its problem (GEAR,
section 3). An entry is consistent if it is right on at least `tau` of its visits that it applied
to. The other scores are those of the consistent entries over S; they are left out where a model
would have to judge S, unless `judge_space` is set.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...config import UNDER_A_MODEL
from ...records import InputSet, Json, Message, Observation, StepRecord
from ...tasks.text.family import select_split
from ...tools.gear.scores import score_set
from ..inference import (
    Entry,
    Reading,
    ReadingSettings,
    RowPredictions,
    Worth,
    predict,
    update_right_rows,
    weigh_entries,
)
from ..inference.choose import choose_strategy
from ..runtime.case import Case, Runtime
from ..runtime.judge_calls import make_bare_view
from ..runtime.queries import JUDGE, gather_or_cancel, query_model
from ..runtime.steps import END, START, State, compile_graph, new_graph

ROWS_PER_PART = 50  # number of rows read at a time, which an interruption waits for
CHOOSE = "choose"


def add_bank_reading(graph: Any) -> Any:
    """Return a graph that runs the method and then reads the bank."""
    outer = new_graph()
    outer.add_node("find", graph)
    outer.add_node("read", read_bank)
    outer.add_edge(START, "find")
    outer.add_conditional_edges("find", _after_find, ["read", END])
    outer.add_edge("read", END)
    return compile_graph(outer)


async def _after_find(state: State, runtime: Runtime) -> str:
    """Return the node that follows the method.

    A bank without a sentence is read too: it predicts the majority.
    """
    return "read" if state["stop"] else END


async def read_bank(state: State, runtime: Runtime) -> dict[str, Json]:
    """Predict the rows of every split and write the step.

    An interruption leaves the problem open; answers so far are in the journal.
    """
    case = runtime.context
    reading = await make_reading(case)
    chosen, tried = await select_strategy(case, reading)
    splits: dict[str, Json] = {}
    for split in case.text.splits:
        inputs = [one.input for one in select_split(case.problem, split)]
        found = await _predicted(case, chosen, reading, inputs)
        if found is None:
            return {"stop": ""}
        if inputs:
            splits[split] = found
    fields: dict[str, Json] = {
        "strategy": chosen,
        "splits": splits,
        "entries": len(reading.entries),
    }
    if tried:
        fields["validation"] = tried
    fields["gear"] = await bank_scores(case, reading.entries)
    if case.row_judge.agreement is not None:
        fields["agreement"] = case.row_judge.agreement
    await case.ledger.record_step(
        StepRecord(case.problem.id, state["step"], (), {"inference": fields}, ())
    )
    case.emit({"type": "step", "problem": case.problem.id, "step": state["step"], "verdicts": []})
    return {"step": state["step"] + 1}


async def select_strategy(case: Case, reading: Reading) -> tuple[str, dict[str, Json]]:
    """Return the strategy by which the bank labels rows, and the accuracies that selected it.

    If the settings name a strategy, the accuracies are empty. Otherwise the strategies are compared
    on the validation rows.
    """
    chosen = case.text.inference or ""
    if chosen != CHOOSE:
        return chosen, {}
    rows = validation_rows(case)
    if not rows:
        return "multi", {}  # there are no rows to select by
    made = await choose_strategy(reading, [one.input for one in rows], [one.output for one in rows])
    return made.strategy, dict(made.accuracy)


def iter_parts(reading: Reading, inputs: Sequence[Json]) -> Iterator[Sequence[Json]]:
    """Yield the input rows in parts.

    If a model is asked, a part has `ROWS_PER_PART` rows; otherwise one part holds all rows.
    """
    rows = ROWS_PER_PART if reading.ask else max(1, len(inputs))
    for start in range(0, len(inputs), rows):
        yield inputs[start : start + rows]


async def _predicted(
    case: Case, strategy: str, reading: Reading, inputs: Sequence[Json]
) -> dict[str, Json] | None:
    """Return {labels, reasons, decided} of a split; None where the session is to stop."""
    labels: list[str | None] = []
    reasons: Counter[str] = Counter()
    decided: Counter[str] = Counter()
    for part in iter_parts(reading, inputs):
        if case.stopping.is_set():
            return None
        found: RowPredictions = await predict(strategy, reading, part)
        labels += found.labels(reading.labels)
        reasons.update(found.reasons)
        decided.update(found.counts)
    return {"labels": labels, "reasons": dict(reasons), "decided": dict(sorted(decided.items()))}


async def make_reading(case: Case, *, same_sample: bool = False) -> Reading:
    """Return the bank in the form from which inference strategies label rows.

    The validation rows give each sentence a weight if this costs no call, or if the strategy needs
    weights.

    Args:
        case: the case of the problem.
        same_sample: whether a stored bank comes from the same shown rows, so that its indices of
            correct rows are valid here.
    """
    entries = case.stored_entries or [
        Entry(
            one.text, one.accuracy(case.bank.chance) or 0.0, one.visits, one.reward,
            tuple(sorted(one.right)), covered=one.hits + one.misses,
        )
        for one in case.bank.top()
    ]  # fmt: skip
    exact = all(case.row_judge.find_rule(entry.text) is not None for entry in entries)
    asks = case.row_judge.queries_model and not exact
    view = replace(make_bare_view(case), shown=case.problem.shown)

    async def judge(text: str, inputs: Sequence[Json]) -> Any:
        return await case.row_judge.judge_texts(text, InputSet("rows", tuple(inputs)))

    async def ask(role: str, place: str, messages: Sequence[Message]) -> str:
        return (
            await query_model(case, JUDGE, f"infer/bank/{place}", make_bare_view(case), messages)
        ).text

    settings = ReadingSettings(
        top=case.text.readers,
        patterns=case.text.readers,
        similar=case.text.similarity,
        examples=case.text.pattern_rows,
        seed=case.settings.seed,
    )
    reading = Reading(
        tuple(entries), view, judge, prompts=case.prompts, ask=ask if asks else None,
        settings=settings,
    )  # fmt: skip
    if not exact and (not asks or case.text.inference == "multi"):
        return reading
    if exact and case.stored_entries and not same_sample:
        # the indices of a bank from another sample refer to other rows
        reading = await update_right_rows(reading)
    return await weigh_entries(reading, validation_rows(case))


def validation_rows(case: Case) -> list[Observation]:
    """Return the validation rows that decide weights and choices.

    If every sentence is exact, these are all validation rows, otherwise a sample.
    """
    rows = list(select_split(case.problem, "val"))
    most = case.text.validation
    if most is None:
        most = UNDER_A_MODEL if case.row_judge.queries_model and not _all_exact(case) else len(rows)
    if len(rows) <= most:
        return rows
    drawn = random.Random(f"{case.settings.seed} {case.problem.id}").sample(range(len(rows)), most)
    return [rows[place] for place in sorted(drawn)]


def _all_exact(case: Case) -> bool:
    texts = [one.text for one in case.stored_entries or case.bank.top()]
    return all(case.row_judge.find_rule(text) is not None for text in texts)


async def bank_scores(case: Case, entries: Sequence[Entry]) -> dict[str, Json]:
    """Return {consistency, generalizability, beta, gamma, space} of a bank.

    A score that cannot be computed is None. "space" is the number of texts in S.
    """
    good = [one for one in entries if _consistent(case, one)]
    found: dict[str, Json] = {
        "consistency": len(good) / len(entries) if entries else None,
        "generalizability": None,
        "beta": None,
        "gamma": None,
        "space": len(case.space),
    }
    asks = case.text.judge_space and case.row_judge.queries_model
    exact = all(case.row_judge.find_rule(one.text) is not None for one in good)
    if not good or not (exact or asks):
        return found
    rows = await gather_or_cancel(
        [case.row_judge.judge_texts(one.text, case.space) for one in good]
    )
    codes = np.stack(rows)
    scores = score_set(np.maximum(codes, 0), codes >= 0, case.space.weights)
    return found | {
        "generalizability": scores.generalizability, "beta": scores.beta, "gamma": scores.gamma
    }  # fmt: skip


def _consistent(case: Case, entry: Entry) -> bool:
    worth = Worth.from_bank(entry, len(case.problem.public["labels"]))
    if worth.covered is None:
        return entry.visits > 0 and entry.accuracy >= case.text.tau
    return worth.covered > 0 and worth.right >= case.text.tau * worth.covered - 1e-9
