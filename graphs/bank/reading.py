"""Predict the validation, test and OOD rows with a bank of sentences, after a method has finished.

OOD rows are out-of-distribution rows. The calls have paths such as

    infer/bank/multi/9f...      the question of the strategy `multi` about a row, by its digest
    text/..., texts/...         judgements of single sentences (judge_calls.py)

Every choice of a hypothesis, of weights or of a strategy is based on validation rows, or on the
bank if there are none. The labels of test and OOD rows are never used. The predictions are stored
in the fields of the step, and reports score them.

This module also computes GEAR's scores of a bank on the unlabelled texts of the problem (GEAR,
section 3). A sentence is consistent if it is right on at least the share `tau` of the judged rows
to which it applies. The other scores are computed from the predictions of the consistent sentences
on the sample space S. They are left out if a model would have to label S, unless `judge_space` is
set.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...config import UNDER_A_MODEL
from ...records import InputSet, JoinsSession, Json, Message, Observation, StepRecord
from ...tasks.text.family import select_split
from ...tools.gear.scores import score_set
from ...tools.sentence_rules.prepared_rows import PreparedRows
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
from ..runtime.judge_questions import make_bare_view
from ..runtime.queries import JUDGE, gather_or_cancel, query_model
from ..runtime.steps import END, START, State, compile_graph, new_graph

ROWS_PER_PART = 50  # number of rows read at a time, which an interruption waits for
CHOOSE = "choose"


def add_bank_reading(graph: Any) -> Any:
    """Return a graph that runs the method's graph and then predicts rows with the bank."""
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
    """Predict the rows of every split with the bank, and record the predictions as a step.

    If the session is interrupted, the problem stays open, and the answers so far are in the
    journal.
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
        StepRecord(
            case.problem.id,
            state["step"],
            (),
            {"inference": fields, **case.row_judge.summarize()},
            (),
        )
    )
    case.emit({"type": "step", "problem": case.problem.id, "step": state["step"], "verdicts": []})
    return {"step": state["step"] + 1}


async def select_strategy(case: Case, reading: Reading) -> tuple[str, dict[str, Json]]:
    """Return (strategy, accuracies): how the bank predicts labels, and why.

    If the settings name a strategy, the accuracies are empty. Otherwise, the strategies are
    compared on the validation rows, and the accuracies are those of each strategy.
    """
    chosen = case.text.inference or ""
    if chosen != CHOOSE:
        return chosen, {}
    rows = validation_rows(case)
    if not rows:
        return "multi", {}  # there are no rows to select by
    made = await choose_strategy(reading, [one.input for one in rows], [one.output for one in rows])
    return made.strategy, dict(made.accuracy)


def rows_per_part(case: Case) -> int:
    """Return the number of rows that the judge is asked about at a time.

    These are all rows, if its answers may take hours. An interruption does not wait for them.
    """
    judge: Any = case.get_role(JUDGE).proposer
    late = isinstance(judge, JoinsSession) and judge.answers_late
    return sys.maxsize if late else ROWS_PER_PART


def iter_parts(
    reading: Reading, inputs: Sequence[Json], size: int = ROWS_PER_PART
) -> Iterator[Sequence[Json]]:
    """Yield the rows in batches.

    A batch has `size` rows if a model is asked. Otherwise, a single batch contains all rows.
    """
    rows = size if reading.ask else max(1, len(inputs))
    for start in range(0, len(inputs), rows):
        yield inputs[start : start + rows]


async def _predicted(
    case: Case, strategy: str, reading: Reading, inputs: Sequence[Json]
) -> dict[str, Json] | None:
    """Return {labels, reasons, decided} of a split; None where the session is to stop."""
    labels: list[str | None] = []
    reasons: Counter[str] = Counter()
    decided: Counter[str] = Counter()
    for part in iter_parts(reading, inputs, rows_per_part(case)):
        if case.stopping.is_set():
            return None
        found: RowPredictions = await predict(strategy, reading, part)
        labels += found.labels(reading.labels)
        reasons.update(found.reasons)
        decided.update(found.counts)
    return {"labels": labels, "reasons": dict(reasons), "decided": dict(sorted(decided.items()))}


async def make_reading(case: Case, *, same_sample: bool = False) -> Reading:
    """Return the bank in the form that inference strategies use to label rows.

    Each sentence gets its accuracy on the validation rows, if this costs no model call or if the
    strategy needs it.

    Args:
        case: The working data of the problem.
        same_sample: Whether a stored bank was built from the same shown rows. Only then are the row
            indices in the bank valid for this problem.
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
    await case.row_judge.announce([entry.text for entry in entries])
    view = replace(make_bare_view(case), shown=case.problem.shown)

    rows = _InputSets()

    async def judge(text: str, inputs: Sequence[Json]) -> Any:
        return await case.row_judge.judge_texts(text, rows.find(inputs))

    def prepare(inputs: Sequence[Json]) -> PreparedRows:
        return case.row_judge.prepare(rows.find(inputs))

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
        settings=settings, prepare=prepare,
    )  # fmt: skip
    if not exact and (not asks or case.text.inference == "multi"):
        return reading
    if exact and case.stored_entries and not same_sample:
        # the indices of a bank from another sample refer to other rows
        reading = await update_right_rows(reading)
    return await weigh_entries(reading, validation_rows(case))


class _InputSets:
    """The input set of the last list of rows, whose digest all sentences of a bank share."""

    def __init__(self) -> None:
        self._last: tuple[Sequence[Json], InputSet] | None = None

    def find(self, inputs: Sequence[Json]) -> InputSet:
        """Return the input set of a list of rows; the same object for the same list."""
        if self._last is None or self._last[0] is not inputs:
            self._last = inputs, InputSet("rows", tuple(inputs))
        return self._last[1]


def validation_rows(case: Case) -> list[Observation]:
    """Return the validation rows on which weights and choices are based.

    These are all validation rows if every sentence is an exact rule, otherwise a random sample.
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
    """Return the scores {consistency, generalizability, beta, gamma, space} of a bank.

    A score that cannot be computed is None. "space" is the number of texts in the sample space S.
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
