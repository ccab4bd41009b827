"""`direct`: a model labels the rows itself, without hypotheses.

This is the zero-shot and few-shot inference of HypoBench. Every prompt shows `shots` labelled rows;
0 is zero-shot. The rows are taken from the sample, from each label in turn. The calls have paths
such as

    direct/ind/label/17      row 17 of the test rows
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from ...config import BankSettings
from ...records import Json, Message, Observation, StepRecord
from ...tasks.text.answers import parse_judgement
from ...tasks.text.family import select_split
from .. import Method
from ..bank.reading import rows_per_part
from ..forecast import CallsByRole, Sizes, Span
from ..runtime.case import Case, Runtime
from ..runtime.judge_questions import make_bare_view
from ..runtime.queries import JUDGE, gather_or_cancel, query_model
from ..runtime.steps import State, build_chain


async def label_rows(state: State, runtime: Runtime) -> dict[str, Json]:
    """Label the rows of every split, and record the labels as a step.

    If the session is interrupted, the problem stays open.
    """
    case = runtime.context
    shots = alternate_labels(case.problem.shown, case.text.shots)
    splits: dict[str, Json] = {}
    for split in case.text.splits:
        rows = select_split(case.problem, split)
        labels: list[str | None] = []
        size = rows_per_part(case)
        for start in range(0, len(rows), size):
            if case.stopping.is_set():
                return {}
            places = range(start, min(start + size, len(rows)))
            labels += await gather_or_cancel(
                [_labelled(case, f"direct/{split}/label/{n}", rows[n], shots) for n in places]
            )
        if rows:
            unread = labels.count(None)
            reasons = {"unreadable": unread} if unread else {}
            splits[split] = {"labels": labels, "reasons": reasons, "decided": _decided(labels)}
    fields = {"strategy": "direct", "shots": len(shots), "splits": splits}
    await case.ledger.record_step(
        StepRecord(case.problem.id, state["step"], (), {"inference": fields}, ())
    )
    case.emit({"type": "step", "problem": case.problem.id, "step": state["step"], "verdicts": []})
    return {"step": state["step"] + 1, "stop": "answered"}


def _decided(labels: Sequence[str | None]) -> dict[str, int]:
    return dict(Counter("unreadable" if one is None else "model" for one in labels))


async def _labelled(
    case: Case, path: str, row: Observation, shots: Sequence[Observation]
) -> str | None:
    view = make_bare_view(case)
    reply = await query_model(
        case, JUDGE, path, view, case.prompts.label_directly(view, shots, row.input)
    )
    said = parse_judgement(reply.text, case.problem.public["labels"])
    return said if isinstance(said, str) else None


def alternate_labels(rows: Sequence[Observation], count: int) -> list[Observation]:
    """Return `count` rows, taken from each label in turn.

    The order of labels is the order in which they first occur.
    """
    by_label: dict[Json, list[Observation]] = {}
    for row in rows:
        by_label.setdefault(row.output, []).append(row)
    deepest = max((len(some) for some in by_label.values()), default=0)
    turns = [some[n] for n in range(deepest) for some in by_label.values() if n < len(some)]
    return turns[:count]


def forecast(sizes: Sizes) -> CallsByRole:
    """Count one call of the judge model for each row."""
    rows = len(sizes.predicted_rows)
    return {"judge": Span(rows, rows)}


def first_prompt(case: Case) -> Sequence[Message]:
    """Return the prompt that asks the model to label the first row."""
    for split in case.text.splits:
        for row in select_split(case.problem, split):
            shots = case.problem.shown[: case.text.shots]
            return case.prompts.label_directly(case.make_view(), shots, row.input)
    return ()


METHOD = Method(
    "direct",
    "a model labels the rows itself, zero- or few-shot; no hypotheses",
    ("text",),
    partial(build_chain, label_rows),
    settings=BankSettings,
    text={"inference": None},
    reads=frozenset({"judge"}),
    optional=frozenset({"judge"}),
    forecast=forecast,
    first_prompt=first_prompt,
    takes_hints=False,
)
