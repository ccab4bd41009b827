"""Apply a bank of sentences to new rows of labelled text, with exact rules and models.

The bank of a session is used in the same way as in the session: with the session's settings, the
rows that it was shown, and sentences weighted by its validation rows. A bank file does not contain
these data, so its sentences are weighted by the statistics in the file.

`agreement` is a share of sentences. It counts the sentences that predict a label for the row, and
among them those that predict the decided label. All exact sentences count. A sentence that needs a
model counts only for rows for which the strategy asked the model about this sentence alone. No
further calls are made to compute the agreement.

If the label that an exact sentence gives to a row depends on a missing value, the sentence does not
apply to the row. Columns in which the session itself has missing values are an exception, because
the sentences were tested with these. If no sentence applies for this reason, the row has no
prediction, and its `reason` is `MISSING_VALUE`. An empty text is no missing value: it is a text
without words, and is judged like any other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....config import TextSettings
from ....records import DataError, InputSet, Json, Problem, Proposer, UsageError
from ....tasks.text.tables import Table, concatenate_tables
from ....tools.sentence_rules.columns import find_text_columns
from ....tools.sentence_rules.missing_values import missing_value_marks, rule_columns
from ....tools.sentence_rules.prepared_rows import PreparedRows, is_missing
from ...session.settings import check_choice
from ..judges import ModelSpec
from .inputs import InputRow
from .votes import agreement_shares

if TYPE_CHECKING:
    from ....graphs.inference import Decision, Reading

MISSING_VALUE = "missing_value"
WITHOUT_SENTENCE = ("majority", "weights")  # how a row may be decided that no sentence applies to


def check_inference(name: str | None, problem: Problem) -> None:
    """Raise UsageError if the strategy `name` is unknown or cannot be used with this problem's
    bank.
    """
    from ....graphs.bank.reading import CHOOSE
    from ....graphs.inference import STRATEGIES
    from ....tasks.text.family import select_split

    check_choice("inference", str(name), (*STRATEGIES, CHOOSE))
    if name == CHOOSE and not select_split(problem, "val"):
        raise UsageError(
            f"inference is {CHOOSE!r}, but this bank has no validation rows to choose a strategy"
            f" with: use one of {', '.join(STRATEGIES)}"
        )


def read_labelled_rows(
    data: str | Path, problem: Problem, label: str | None, needed: Collection[str]
) -> tuple[Table, list[InputRow]]:
    """Return the table of a file or folder, and each row with its label if the row has one.

    Args:
        data: the file or folder.
        problem: the problem of the bank, which defines the columns and the labels.
        label: the column of the labels; None for the name in the bank's data.
        needed: the columns that the data must have. Other columns of the bank may be absent.

    Raises:
        DataError: the data does not fit the bank.
    """
    from ....tasks.text.label_names import LabelNames
    from ....tasks.text.sources import read_row_tables

    names = LabelNames(problem.public["labels"])
    column = label or ("" if "label=" in str(data) else problem.public.get("label_name", ""))
    tables = read_row_tables(data, problem.public["columns"], column or None, needed)
    found = []
    for row in (row for _, rows in tables for row in rows):
        expected = None if row.label is None else names.find(row.label)
        if row.label is not None and expected is None:
            raise DataError(
                f"{row.where}: the label {row.label!r:.60} is not one of the bank's labels:"
                f" {', '.join(names.names)}"
            )
        found.append(InputRow(row.input, expected, expected is not None))
    if label is not None and not any(row.has_output for row in found):
        raise DataError(f"{data}: no column {label!r} contains labels")
    return concatenate_tables([table for table, _ in tables]), found


@dataclass(frozen=True)
class SentencePredictions:
    """Predictions by the sentences of a bank.

    Args:
        problem: the problem, which contains the sentences as its stored bank.
        settings: how sentences are applied and labels are predicted.
        seed: seed of random draws.
        asked: the model to call, if there is one.
        concurrency: number of calls at the same time.
        rows: the rows to predict.
    """

    problem: Problem
    settings: TextSettings
    seed: int
    asked: ModelSpec
    concurrency: int
    rows: Sequence[InputRow] = ()

    def make_case(self, proposer: Proposer | None) -> Any:
        """Return the problem as a method sees it, with the sentences of the bank.

        Args:
            proposer: the model to call; None for no model.
        """
        from ....graphs.methods.infer import read_entries
        from ....graphs.runtime.call_gate import CallGate
        from ....graphs.runtime.case import SessionSettings
        from ....graphs.runtime.memory import make_case

        case = make_case(
            self.problem,
            proposer,
            space=InputSet("none", ()),
            settings=SessionSettings(seed=self.seed, text=self.settings),
            session="predict",
            gate=CallGate(self.concurrency),
        )
        case.stored_entries = read_entries(case)
        return case

    def check(self, bank: str) -> None:
        """Raise DataError if no sentence of the bank can be judged, and warn if some cannot.

        Args:
            bank: name of the bank, for messages.
        """
        from ....tasks.io.messages import warn

        kept = len(self.make_case(None).stored_entries)
        there = len(self.problem.public["banks"][0])
        if not kept:
            raise DataError(f"bank {bank} contains no sentence that can be judged")
        if kept < there:
            warn(f"bank {bank}: {there - kept} of {there} hypotheses are skipped because they"
                 " are duplicates or not sentences")  # fmt: skip

    def needed_columns(self) -> set[str]:
        """Return the columns that the sentences of the bank use.

        These are all columns if a model judges a sentence, or if no sentence is an exact rule.
        """
        case = self.make_case(None)
        public = self.problem.public
        rules = [case.row_judge.find_rule(entry.text) for entry in case.stored_entries]
        exact = [rule for rule in rules if rule is not None]
        if not exact or (case.row_judge.queries_model and len(exact) < len(rules)):
            return set(public["columns"])
        texts = find_text_columns(public)
        return set().union(*(rule_columns(rule, texts) for rule in exact))

    def _withheld(self, case: Any, inputs: Sequence[Json]) -> dict[str, set[int]]:
        """Return the `id` of each row to which a sentence does not apply for a missing value.

        The result is by sentence.
        """
        from ....tasks.text.family import select_split

        tested = (*self.problem.shown, *select_split(self.problem, "val"))
        texts = find_text_columns(self.problem.public)
        columns = [
            name
            for name in self.problem.public["columns"]
            if name not in texts
            and any(is_missing(one.get(name)) for one in inputs)
            and not any(is_missing(one.input.get(name)) for one in tested)
        ]
        if not columns:
            return {}
        prepared = PreparedRows(inputs, self.problem.public)
        found = {}
        for entry in case.stored_entries:
            rule = case.row_judge.find_rule(entry.text)
            if rule is not None:
                marks = missing_value_marks(rule, prepared, columns)
                found[entry.text] = {id(inputs[place]) for place in np.flatnonzero(marks).tolist()}
        return found

    async def give_all(self, give: Callable[[dict[str, Json]], Awaitable[None]]) -> None:
        """Predict the label of each row, and pass the predictions to `give` in order."""
        from ....graphs.bank.reading import iter_parts, make_reading, select_strategy
        from ....graphs.inference import REASONS, predict

        async with self.asked.open() as proposer:
            case = self.make_case(proposer)
            reading = await make_reading(case, same_sample=bool(self.problem.shown))
            name, _ = await select_strategy(case, reading)
            at = 0
            for part in iter_parts(reading, [row.input for row in self.rows]):
                ballot = _Ballot(reading, part, self._withheld(case, part))
                found = await predict(name, replace(reading, judge=ballot.judge), part)
                shares = await ballot.count(case, found.decisions)
                for decision, share in zip(found.decisions, shares, strict=True):
                    row, code, how = self.rows[at], decision.code, decision.how
                    at += 1
                    reason = None if code >= 0 else REASONS[code]
                    if share is None and how in WITHOUT_SENTENCE and ballot.is_withheld(row.input):
                        how = reason = MISSING_VALUE
                    label = reading.labels[code] if reason is None else None
                    entry = decision.entry
                    rule = None if entry is None else reading.entries[entry].text
                    prediction = {
                        "row": at,
                        "label": label,
                        "prediction": label,
                        "agreement": share,
                        "rule": rule,
                        "how": how,
                        "reason": reason,
                        "hypothesis": rule,
                    }
                    if row.has_output:
                        prediction |= {"expected": row.output, "right": label == row.output}
                    await give(prediction)


@dataclass
class _Ballot:
    """The labels that single sentences give to rows while a strategy reads the bank.

    Args:
        reading: the bank.
        inputs: the rows of one part.
        withheld: by sentence, the `id` of each row whose label would depend on a missing value.
        codes: by sentence, the code for each row that it was applied to.
    """

    reading: Reading
    inputs: Sequence[Json]
    withheld: Mapping[str, set[int]]
    codes: dict[str, dict[int, int]] = field(default_factory=dict)

    async def judge(self, text: str, inputs: Sequence[Json]) -> NDArray[np.int64]:
        """Apply a sentence as the reading does, and note what it says.

        The sentence does not apply to the rows for which it is withheld.
        """
        from ....graphs.inference import DOES_NOT_APPLY

        found = await self.reading.judge(text, inputs)
        if rows := self.withheld.get(text):
            is_withheld = np.array([id(one) in rows for one in inputs], np.bool_)
            found = np.where(is_withheld, DOES_NOT_APPLY, found)
        by_row = zip(map(id, inputs), np.asarray(found).tolist(), strict=True)
        self.codes.setdefault(text, {}).update(by_row)
        return found

    def is_withheld(self, row: Json) -> bool:
        """Return whether a sentence is withheld for a row."""
        return any(id(row) in rows for rows in self.withheld.values())

    async def count(self, case: Any, decisions: Sequence[Decision]) -> list[float | None]:
        """Return the share of the sentences with a label that give the decided one, for each row."""
        from ....graphs.inference import DOES_NOT_APPLY

        rows = []
        for entry in self.reading.entries:
            is_exact = case.row_judge.find_rule(entry.text) is not None
            if is_exact and len(self.codes.get(entry.text, ())) < len(self.inputs):
                await self.judge(entry.text, self.inputs)
            known = self.codes.get(entry.text, {})
            rows.append([known.get(id(one), DOES_NOT_APPLY) for one in self.inputs])
        codes = np.array(rows, np.int64).reshape(len(rows), len(self.inputs))
        decided = [one.code if one.code >= 0 else None for one in decisions]
        return agreement_shares(codes, codes >= 0, decided)
