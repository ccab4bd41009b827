"""Report sections: additional output of an evaluation, apart from its metrics.

A section has the name of its evaluation and is found in the registry (kind `report_sections`). It
may add to the result and the files of `peirce eval`, print below its metrics, and print at the end
of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...records import Json, registry
from .results import ScoringOptions

if TYPE_CHECKING:
    from rich.console import Console

    from ...store import Store
    from ..files.tables import Table

DEFAULT_EVALUATOR = "exact"  # The default evaluator.


@dataclass(frozen=True)
class EvaluatorOptions:
    """The evaluator that judges stored answers again.

    Args:
        evaluator: Name of the evaluator, as `Measuring.by` takes it.
    """

    evaluator: str = DEFAULT_EVALUATOR
    solver: str = "fast"
    workers: int | None = None


@dataclass(frozen=True)
class ScoredSessions:
    """Sessions that an evaluation scored, as their section receives them.

    Args:
        store: The store.
        sessions: Full session ids.
        recorded: Records of the sessions in the store.
        scored: The value of `evaluate_session` for each, with its "details".
        options: What was left out.
        folder: Folder for the files of the section; None writes none.
        sheets: Files that people filled in.
    """

    store: Store
    sessions: Sequence[str]
    recorded: Sequence[Mapping[str, Json]]
    scored: Sequence[Mapping[str, Json]]
    options: ScoringOptions
    folder: Path | None = None
    sheets: Sequence[str | Path] = ()


@dataclass(frozen=True)
class SectionOutput:
    """Output that a report section adds to the result of `peirce eval`.

    Args:
        result: Keys of the result.
        by_session: Keys of each session's entry.
        files: Contents of files by path, in the folder.
        note: Why a file is missing, "" if none is; None if nothing can be missing.
    """

    result: Mapping[str, Json] = field(default_factory=dict)
    by_session: Sequence[Mapping[str, Json]] = ()
    files: Mapping[Path, str | bytes] = field(default_factory=dict)
    note: str | None = None


RatedMetrics = Mapping[str, Mapping[str, float | None]]
Evaluate = Callable[["Store", Sequence[str], EvaluatorOptions, Path | None], dict[str, Json]]


@dataclass(frozen=True)
class ReportSection:
    """Additional output of an evaluation; everything except the name is optional.

    Args:
        name: Name of the evaluation.
        build_output: Returns what it adds to the result and the files of `peirce eval`.
        read_ratings: Returns for a session, by problem, metrics that raters gave and the steps do not
            hold.
        takes_sheets: Whether it takes sheets that people filled in (`--ratings`).
        evaluate: Returns the complete result instead, for an evaluation that judges stored answers
            again.
        build_table: Returns the table of a result with too many sessions for one column each.
        show: Prints below the metrics of a result.
        show_session: Prints below the line of each session.
        show_at_end: Prints at the end of a run, from the session that `run` returns.
    """

    name: str
    build_output: Callable[[ScoredSessions], SectionOutput] = lambda sessions: SectionOutput()
    read_ratings: Callable[[Store, str], RatedMetrics] = lambda store, session: {}
    takes_sheets: bool = False
    evaluate: Evaluate | None = None
    build_table: Callable[[Mapping[str, Json]], Table] | None = None
    show: Callable[[Console, Mapping[str, Json]], None] = lambda out, result: None
    show_session: Callable[[Console, Mapping[str, Json]], None] = lambda out, scored: None
    show_at_end: Callable[[Console, Any], None] = lambda out, session: None


def find_section(evaluation: str) -> ReportSection:
    """Return the section of an evaluation, an empty one if it has none."""
    if not registry.is_registered("report_sections", evaluation):
        return ReportSection(evaluation)
    found: ReportSection = registry.load("report_sections", evaluation)
    return found


def list_sections(predicate: Callable[[ReportSection], bool]) -> str:
    """Return the evaluations whose section satisfies `predicate`, as a comma-separated list."""
    names = registry.component_names("report_sections")
    return ", ".join(name for name in names if predicate(find_section(name)))
