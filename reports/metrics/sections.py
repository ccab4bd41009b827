"""Report sections: what stands beside the metrics of an evaluation.

A section belongs to the evaluation of its name, and the registry (kind `report_sections`) finds it. It may
add to the result and the files of `peirce eval`, print below its metrics, and print at the end of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...records import Json, registry
from .results import Options

if TYPE_CHECKING:
    from rich.console import Console

    from ...store import Store
    from ..files.tables import Table

EXACT = "exact"  # the evaluator where nobody names one


@dataclass(frozen=True)
class JudgedBy:
    """Who judges stored answers again. evaluator: as `Measuring.by` takes it."""

    evaluator: str = EXACT
    solver: str = "fast"
    workers: int | None = None


@dataclass(frozen=True)
class ScoredSessions:
    """Sessions that an evaluation scored, as their section gets them.

    Args:
        sessions: whole ids.
        recorded: the sessions as the store has them.
        scored: of each what `evaluate_session` gives, with its "details".
        folder: where files of the section will stand; None: none are written.
        sheets: files that people filled in.
    """

    store: Store
    sessions: Sequence[str]
    recorded: Sequence[Mapping[str, Json]]
    scored: Sequence[Mapping[str, Json]]
    options: Options
    folder: Path | None = None
    sheets: Sequence[str | Path] = ()


@dataclass(frozen=True)
class Added:
    """What a section adds.

    Args:
        result: keys of the result.
        by_session: keys of each session's entry.
        files: by path, in the folder.
        note: why a file is missing, "" where none is; None where nothing can be missing.
    """

    result: Mapping[str, Json] = field(default_factory=dict)
    by_session: Sequence[Mapping[str, Json]] = ()
    files: Mapping[Path, str | bytes] = field(default_factory=dict)
    note: str | None = None


Rated = Mapping[str, Mapping[str, float | None]]
Evaluate = Callable[["Store", Sequence[str], JudgedBy, Path | None], dict[str, Json]]


@dataclass(frozen=True)
class ReportSection:
    """What an evaluation shows beside its metrics; all but the name is optional.

    Args:
        name: of the evaluation.
        add: what it adds to the result and the files of `peirce eval`.
        rated: of a session, by problem, metrics that somebody rated and the steps do not hold.
        sheets: whether it takes sheets that people filled in (`--ratings`).
        evaluate: gives the whole result instead, as an evaluation that judges stored answers again.
        table: the table of a result with more sessions than stand side by side.
        show: prints below the metrics of a result.
        show_session: prints below the line of each session.
        finish: prints at the end of a run, from the session as `run` returns it.
    """

    name: str
    add: Callable[[ScoredSessions], Added] = lambda sessions: Added()
    rated: Callable[[Store, str], Rated] = lambda store, session: {}
    sheets: bool = False
    evaluate: Evaluate | None = None
    table: Callable[[Mapping[str, Json]], Table] | None = None
    show: Callable[[Console, Mapping[str, Json]], None] = lambda out, result: None
    show_session: Callable[[Console, Mapping[str, Json]], None] = lambda out, scored: None
    finish: Callable[[Console, Any], None] = lambda out, session: None


def section_of(evaluation: str) -> ReportSection:
    """The section of an evaluation, an empty one where it has none."""
    if not registry.has("report_sections", evaluation):
        return ReportSection(evaluation)
    found: ReportSection = registry.load("report_sections", evaluation)
    return found


def sections_with(able: Callable[[ReportSection], bool]) -> str:
    """The evaluations whose section can do something, as a message lists them."""
    names = registry.names("report_sections")
    return ", ".join(name for name in names if able(section_of(name)))
