"""`peirce study`: run GEAR's simulation studies over stored sessions, and write the results."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from ...records import Json, UsageError
from ...reports.files import plotting, tables, writing
from ...reports.papers.gear import studies, study_tables
from ...reports.papers.sections import WITHOUT_MEMORISING
from ...tasks.io.files import expand_home
from ...tasks.io.messages import warn
from ...tools.workers.computing import open_compute
from ..arguments import validate_call
from ..outcome import open_for_reading
from ..session.settings import check_choice, display_model_name
from .results import Study

STUDY_SUFFIXES = (".csv", ".md", ".png", ".svg")


@validate_call
def study(
    name: str,
    *sessions: str,
    seed: int = 0,
    draws: int = 5,
    all_pairs: bool = False,
    distinct: bool = False,
    without_memorising: bool = False,
    contexts: int = 200,
    pairs: int = 100,
    workers: int | None = None,
    cluster: str = "local",
    store: str | Path | None = None,
    out: str | Path | None = None,
) -> Study:
    """Run a simulation study of GEAR over stored sessions.

    Hypotheses of different sessions are pooled if their problem and shown pairs are equal. No model
    is called (reports/papers/gear/studies.py).

    Args:
        name: defeasible or general.
        sessions: ids, unique prefixes of ids, or "last" (the default).
        seed: seed of the draws.
        draws: number of random draws of hidden pairs, for each problem and number of pairs.
        all_pairs: also count hidden pairs by which no hypothesis can be judged.
        distinct: count hypotheses of a problem that make the same predictions only once.
        without_memorising: leave out hypotheses that memorise the shown observations.
        contexts: for `general`, maximum number of contexts (sets of earlier hypotheses) of one size
            for each problem.
        pairs: for `general`, maximum number of comparisons of two hypotheses that one context
            counts as.
        workers: number of processes that measure problems, on each node of a cluster; None for one
            per core of a node, or for this process alone without a cluster.
        cluster: where problems are measured: local, ray or ray://HOST.
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.
        out: a file or folder for tables and a figure (see `write_study`).

    Raises:
        UsageError: the study is unknown, or the files cannot be written.
        StoreError: a session cannot be found.
        Unavailable: the cluster cannot be reached.
    """
    check_choice("study", name, list(studies.STUDIES))
    if out is not None:
        check_study_files(out)
    choices = studies.StudySettings(
        seed, draws, all_pairs, distinct, contexts, pairs, without_memorising=without_memorising
    )
    with open_for_reading(store) as opened, open_compute(cluster, workers) as compute:
        found = [opened.find_session(session) for session in sessions or ("last",)]
        result = studies.run_study(name, opened, found, choices, compute)
        for one in result["sessions"]:
            one["model"] = display_model_name(opened.settings(one["session"]))
    if out is not None:
        result["files"] = write_study(result, out)
    return Study.from_dict(result)


def check_study_files(out: str | Path) -> None:
    """Raise UsageError if `write_study` could not write to `out`. Call it before a study runs."""
    target = expand_home(out)
    if target.suffix not in STUDY_SUFFIXES:
        writing.check_target(target)
        return
    writing.check_paths([target])
    if target.suffix in plotting.FORMATS and not plotting.has_matplotlib():
        raise UsageError(f"{target}: a figure needs matplotlib: {plotting.INSTALL}")


def write_study(result: Mapping[str, Json], out: str | Path) -> list[str]:
    """Write the results of a study to files, and return the paths of the files.

    `out` is a .csv, .md, .png or .svg file, or a folder. A folder receives a file of each of these
    types. Without matplotlib, the folder receives no figures, and a warning is given.
    """
    target = expand_home(out)
    name = str(result["study"])
    single = target.suffix if target.suffix in STUDY_SUFFIXES else None
    wanted = STUDY_SUFFIXES if single is None else (single,)
    found: dict[str, str | bytes] = {}
    if ".csv" in wanted:
        found[".csv"] = tables.as_csv(study_tables.long_table(result))
    if ".md" in wanted:
        said = (
            [WITHOUT_MEMORISING.format(result["memorising"])]
            if result["without_memorising"]
            else []
        )
        found[".md"] = "\n\n".join([*said, tables.as_markdown(study_tables.full_table(result))])
    drawn = [form for form in wanted if form in plotting.FORMATS]
    if drawn and (single or plotting.has_matplotlib()):
        found |= plotting.render_figure(partial(study_tables.draw_study, result), drawn) or {}
    elif drawn:
        warn(plotting.MISSING_MATPLOTLIB)
    return writing.write_files(
        {target if single else target / f"{name}{form}": data for form, data in found.items()}
    )
