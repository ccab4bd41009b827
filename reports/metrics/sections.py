"""Report sections: the output of an evaluation in addition to its metrics.

A section has the name of its evaluation and is registered under the kind `report_sections`. It may
add to the result and the files of `peirce eval`, print text below the metrics, and print text at
the end of a run.
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
    """Options for judging stored answers again.

    Args:
        evaluator: Name of the evaluator, as `Measuring.by` takes it.
        solver: Name of the solver.
        workers: Number of workers; None for the default.
        cluster: The value of `--cluster`.
    """

    evaluator: str = DEFAULT_EVALUATOR
    solver: str = "fast"
    workers: int | None = None
    cluster: str = "local"


@dataclass(frozen=True)
class ScoredSessions:
    """Sessions that an evaluation scored, as the evaluation's report section receives them.

    Args:
        store: The open store.
        sessions: Full ids of the sessions.
        recorded: Records of the sessions in the store.
        scored: The result of `evaluate_session` for each session, with its "details".
        options: Which answers and observations were left out.
        folder: Folder for the files of the section; None to write no files.
        sheets: Rating sheets that people filled in.
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
    """What a report section adds to the result of `peirce eval`.

    Args:
        result: Keys to add to the result.
        by_session: Keys to add to each session in the result.
        files: Contents of files to write, by path.
        note: Why a file is missing; "" if no file is missing; None if the section has no optional
            files.
    """

    result: Mapping[str, Json] = field(default_factory=dict)
    by_session: Sequence[Mapping[str, Json]] = ()
    files: Mapping[Path, str | bytes] = field(default_factory=dict)
    note: str | None = None


RatedMetrics = Mapping[str, Mapping[str, float | None]]
Evaluate = Callable[["Store", Sequence[str], EvaluatorOptions, Path | None], dict[str, Json]]


@dataclass(frozen=True)
class ReportSection:
    """The output of an evaluation in addition to its metrics. Only the name is required.

    Args:
        name: Name of the evaluation.
        build_output: Returns what the section adds to the result and the files of `peirce eval`.
        read_ratings: Returns, for a session, metrics by problem that come from raters and are not
            in the recorded steps.
        takes_sheets: Whether the section uses rating sheets that people filled in (`--ratings`).
        evaluate: Returns the complete result, for an evaluation that judges stored answers again;
            None for other evaluations.
        build_table: Returns the table of a result with too many sessions for one column each.
        show: Prints text below the metrics of a result.
        show_session: Prints text below the line of each session.
        show_at_end: Prints text at the end of a run, from the session that `run` returns. The third
            argument says whether to print no progress.
    """

    name: str
    build_output: Callable[[ScoredSessions], SectionOutput] = lambda sessions: SectionOutput()
    read_ratings: Callable[[Store, str], RatedMetrics] = lambda store, session: {}
    takes_sheets: bool = False
    evaluate: Evaluate | None = None
    build_table: Callable[[Mapping[str, Json]], Table] | None = None
    show: Callable[[Console, Mapping[str, Json]], None] = lambda out, result: None
    show_session: Callable[[Console, Mapping[str, Json]], None] = lambda out, scored: None
    show_at_end: Callable[[Console, Any, bool], None] = lambda out, session, quiet: None


def find_section(evaluation: str) -> ReportSection:
    """Return the report section of an evaluation; an empty section if the evaluation has none."""
    if not registry.is_registered("report_sections", evaluation):
        return ReportSection(evaluation)
    found: ReportSection = registry.load("report_sections", evaluation)
    return found


def list_sections(predicate: Callable[[ReportSection], bool]) -> str:
    """Return the names of the evaluations whose section satisfies `predicate`, joined by commas."""
    names = registry.component_names("report_sections")
    return ", ".join(name for name in names if predicate(find_section(name)))
