"""The function `judge`: apply a sentence to rows of text, without a session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...config import TextSettings
from ...records import (
    InputSet,
    Json,
    Malformed,
    Observation,
    Problem,
    Proposer,
    Usage,
    UsageError,
)
from ..arguments import validate_call
from ..session.event_loops import run_coroutine
from ..session.planning import DEFAULT_CONCURRENCY
from .judges import ModelSpec, choose_judge, with_judge
from .oracle_results import JudgedRows

MAX_ROWS = 100_000
LABEL, TEXT = "label", "text"  # default names of columns


@validate_call
def judge(
    sentence: str,
    rows: Sequence[str | Mapping[str, Any]],
    *,
    labels: Sequence[str] | None = None,
    label: str | None = None,
    model: str | Proposer | None = None,
    roles: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> JudgedRows:
    """Return the label that a sentence gives to each row, such as "reviews with at least two
    exclamation marks are deceptive".

    A sentence that is an exact rule (docs/reference/exact-sentences.md) is applied without a model.
    Any other sentence needs `model`, which is asked about each row. The rows also say of which kind
    each column is, so they should be more than a few.

    Args:
        sentence: the sentence.
        rows: texts, or rows as mappings from column to value.
        labels: the possible labels; None if the rows have a column of labels.
        label: name of the column of labels, if the rows have one (default: "label", if there is such
            a column). It is hidden from the sentence and the model.
        model: the model that labels rows; None for exact rules only.
        roles: {"judge": {settings of the model}}.
        seed: seed of the calls of the model.

    Raises:
        UsageError: there are no rows or too many, no labels, or the model cannot label texts.
        DataError: a row does not fit the others, or no column is left.
        Unavailable: the model cannot be reached.
    """
    if not rows or len(rows) > MAX_ROWS:
        raise UsageError(f"rows must be a list of 1 to {MAX_ROWS:,} rows")
    spec = choose_judge(model, {}, (), roles)
    settings = with_judge(TextSettings(), None, spec)
    problem = _build_problem([_row(one) for one in rows], labels, label)
    return run_coroutine(_judge(sentence, problem, settings, spec, seed))


def _row(row: str | Mapping[str, Any]) -> Mapping[str, Any]:
    return {TEXT: row} if isinstance(row, str) else row


def _build_problem(
    rows: Sequence[Mapping[str, Any]], labels: Sequence[str] | None, label: str | None
) -> Problem:
    """Return the rows as a problem of labelled text; the output of a row without a label is None."""
    from ...tasks.text.columns import check_value, describe_columns
    from ...tasks.text.config_files import format_label
    from ...tasks.text.label_names import LabelNames

    names = list(dict.fromkeys(str(name) for row in rows for name in row))
    column = label or (LABEL if LABEL in names else None)
    if label is not None and label not in names:
        raise UsageError(f"label is {label!r}, but the rows have the columns {', '.join(names)}")
    gold = [
        None if column is None or row.get(column) is None else format_label(row[column])
        for row in rows
    ]
    known = list(labels or sorted({one for one in gold if one is not None}))
    if len(set(known)) < 2:
        raise UsageError(
            f"labels has {len(set(known))} different labels: name at least two"
            if labels
            else "labels must be given, because the rows have no column with two different labels"
        )
    spelt = LabelNames(known, "labels")
    hidden = column or LABEL
    cells: dict[str, list[Json]] = {name: [row.get(name) for row in rows] for name in names}
    cells[hidden] = list(gold)
    columns = describe_columns("the rows", cells, hidden, spelt, {}, {})
    kinds = {name: str(about["kind"]) for name, about in columns.about.items()}
    shown = []
    for number, (row, written) in enumerate(zip(rows, gold, strict=True), 1):
        found = None if written is None else spelt.find(written)
        if written is not None and found is None:
            raise UsageError(
                f"row {number}: the label {written!r:.60} is not one of {', '.join(known)}"
            )
        values = {
            name: check_value(kind, row.get(name), f"row {number}, {name}")
            for name, kind in kinds.items()
        }
        shown.append(Observation(values, found))
    public = {
        "labels": list(columns.labels), "label_name": hidden, "description": "",
        "columns": {name: dict(one) for name, one in columns.about.items()},
        "shape": columns.shape,
    }  # fmt: skip
    return Problem("rows#0", "labels", "text", tuple(shown), (), public, {}, "rows")


async def _judge(
    sentence: str, problem: Problem, settings: TextSettings, spec: ModelSpec, seed: int
) -> JudgedRows:
    from ...graphs.runtime.call_gate import CallGate
    from ...graphs.runtime.case import SessionSettings
    from ...graphs.runtime.memory import MemoryJournal, make_case
    from ...tasks import problem_family
    from ...tasks.text.family import REASONS
    from ...tools.sentence_rules.rules import NotExact
    from ...tools.sentence_rules.sentence_compiler import compile_sentence

    view = problem.make_view(InputSet("none", ()))
    item = problem_family(problem).parse_hypothesis(sentence, view)
    if isinstance(item, Malformed):
        raise UsageError(f"the sentence cannot be read: {item.reason}: {item.detail}")
    journal = MemoryJournal()
    async with spec.open() as proposer:
        case = make_case(
            problem,
            proposer,
            space=InputSet("none", ()),
            settings=SessionSettings(seed=seed, text=settings),
            session="judge",
            journal=journal,
            gate=CallGate(DEFAULT_CONCURRENCY),
        )
        texts = InputSet("rows", tuple(one.input for one in problem.shown))
        codes = [int(code) for code in await case.row_judge.judge_texts(item.text, texts)]
    names = problem.public["labels"]
    found = [None if code < 0 else names[code] for code in codes]
    compiled = compile_sentence(item.text, problem.public)
    reason = compiled.reason if isinstance(compiled, NotExact) else ""
    gold = [one.output for one in problem.shown]
    how = ("model" if spec.model is not None else "needs_model") if reason else "exact"
    is_scored = how != "needs_model" and any(one is not None for one in gold)
    right = sum(one is not None and one == label for one, label in zip(found, gold, strict=True))
    usage = sum((one.usage for one in journal.outcomes.values()), Usage())
    return JudgedRows(
        how=how,
        reason=reason,
        labels=found,
        undefined=dict(Counter(REASONS[-code - 1] for code in codes if code < 0)),
        right=right if is_scored else None,
        covered=sum(one is not None for one in found),
        of=len(found),
        accuracy=right / len(found) if is_scored else None,
        tokens=usage.tokens_in + usage.tokens_out,
    )
