"""The result classes of tools that return several rows, for which the public functions have lists."""

from __future__ import annotations

from collections.abc import Sequence

from ... import (
    CheckRow,
    Discovery,
    Finding,
    PredictionFile,
    PredictionRow,
    Result,
    Session,
    SessionStatus,
    TaskHelp,
    TaskRow,
)


class RunAnswer(Result):
    """A session that was run or started.

    Attributes:
        session: the id of the session.
        status: done, interrupted, budget or failed; running, if the tool did not wait.
        outcome: the outcome with at most 100 of the best findings; None if the tool did not wait.
        state: the state of the session that was started; None if the tool waited.
    """

    session: str
    status: str
    outcome: Session | None
    state: SessionStatus | None


class DiscoverAnswer(RunAnswer):
    """A session on data whose task was recognized, run or started.

    Attributes:
        kind: what the data was recognized as, such as labelled_rows.
        why: the evidence for this kind.
        outcome: as in `RunAnswer`, with warnings about the data.
    """

    kind: str
    why: str
    outcome: Discovery | None


class FindingsPage(Result):
    """Some of the findings of a session, best first within each problem.

    Attributes:
        session: the id of the session.
        total: number of findings of the session or the problem.
        offset: number of findings that were left out at the beginning.
        findings: the findings.
    """

    session: str
    total: int
    offset: int
    findings: Sequence[Finding]


class CheckedRows(Result):
    """The judgements of hypotheses, in the order in which they were sent.

    Attributes:
        rows: one row for each hypothesis.
    """

    rows: Sequence[CheckRow]


class Predicted(Result):
    """The predictions for rows, in order.

    Attributes:
        rows: one prediction for each row; empty if a file was written.
        file: what was written; None without `out`.
    """

    rows: Sequence[PredictionRow]
    file: PredictionFile | None


class TaskOverview(Result):
    """The tasks that sessions can work on.

    Attributes:
        tasks: all tasks.
        help: for one task, the data that it takes, examples and methods; None without a task.
    """

    tasks: Sequence[TaskRow]
    help: TaskHelp | None
