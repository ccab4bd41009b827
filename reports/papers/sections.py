"""The report sections of the evaluations `gear` and `t3`: tables and figures of the papers."""

from __future__ import annotations

from collections.abc import Mapping

from ...records import Json
from ..files.tables import Table
from ..metrics.sections import ReportSection, ScoredSessions, SectionOutput

WITHOUT_MEMORISING = "Excluding the {} hypotheses that memorise the observations they were shown."


def _add_study(given: ScoredSessions) -> SectionOutput:
    """Return GEAR's settings and table 3, and with a folder all its tables and figures as files."""
    from ..metrics.grouping import Study, find_settings
    from .gear import files, tables

    problems = [[row.problem for row in given.store.problems(one)] for one in given.sessions]
    study = Study.from_sessions(find_settings(given.recorded, problems), given.scored)
    result = {"settings": tables.as_json(study), "table3": tables.table_3(study)}
    if given.folder is None:
        return SectionOutput(result)
    memorising = sum(one["memorising"] for one in given.scored)
    left_out = WITHOUT_MEMORISING.format(memorising) if given.options.without_memorising else ""
    written, note = files.render_files(study, given.folder, left_out)
    return SectionOutput(result, files=written, note=note)


def _table_3(result: Mapping[str, Json]) -> Table:
    from .gear.tables import format_table_3

    return format_table_3(result["table3"], intervals=False)


def _add_tables(given: ScoredSessions) -> SectionOutput:
    """Return tables 2 and 4 as files if there is a folder."""
    from .t3 import metrics

    return SectionOutput(
        files={} if given.folder is None else metrics.render_files(given.scored, given.folder)
    )


GEAR = ReportSection("gear", build_output=_add_study, build_table=_table_3)
T3 = ReportSection("t3", build_output=_add_tables)
