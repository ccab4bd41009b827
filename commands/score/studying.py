"""`peirce study`: run GEAR's simulation studies over stored sessions and write their files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from ...records import Json, UsageError
from ...reports.files import plotting, tables, writing
from ...reports.papers.gear import studies, study_tables
from ...reports.papers.sections import WITHOUT_MEMORISING
from ...tasks.io.files import expanded
from ...tasks.io.messages import warn
from ..arguments import checked
from ..outcome import reading
from ..session.settings import one_of, shown_model
from .results import Study

STUDY_FORMS = (".csv", ".md", ".png", ".svg")


@checked
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
    store: str | Path | None = None,
    out: str | Path | None = None,
) -> Study:
    """Run a simulation study of GEAR over sessions joined by problem and shown pairs.

    It reads the store and calls no model (reports/papers/gear/studies.py).

    Args:
        name: defeasible or general.
        sessions: ids, unique prefixes of ids, or "last" (the default).
        seed: seed of the draws.
        draws: number of draws of hidden pairs for each problem and number of pairs.
        all_pairs: also count hidden pairs by which no hypothesis can be judged.
        distinct: count hypotheses of a problem that predict the same once.
        without_memorising: leave out hypotheses that memorise the shown observations.
        contexts: for `general`, maximum number of contexts of one size for each problem.
        pairs: for `general`, maximum number of comparisons that one context counts as.
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.
        out: a file or folder for tables and a figure (see `write_study`).

    Raises:
        UsageError: the study is unknown, or the files cannot be written.
        StoreError: a session cannot be found.
    """
    one_of("study", name, list(studies.STUDIES))
    if out is not None:
        check_study_files(out)
    choices = studies.Choices(
        seed, draws, all_pairs, distinct, contexts, pairs, without_memorising=without_memorising
    )
    with reading(store) as opened:
        found = [opened.find(session) for session in sessions or ("last",)]
        result = studies.study(name, opened, found, choices)
        for one in result["sessions"]:
            one["model"] = shown_model(opened.settings(one["session"]))
    if out is not None:
        result["files"] = write_study(result, out)
    return Study.from_dict(result)


def check_study_files(out: str | Path) -> None:
    """Raise UsageError where `write_study` could not write, before the study runs."""
    target = expanded(out)
    if target.suffix not in STUDY_FORMS:
        writing.check_target(target)
        return
    writing.check([target])
    if target.suffix in plotting.FORMS and not plotting.available():
        raise UsageError(f"{target}: a figure needs matplotlib: {plotting.INSTALL}")


def write_study(result: Mapping[str, Json], out: str | Path) -> list[str]:
    """Write a study as files and return their paths.

    `out` is a .csv, .md, .png or .svg file, or a folder that gets all four. Without matplotlib the
    folder gets no figures, and a warning is given.
    """
    target = expanded(out)
    name = str(result["study"])
    single = target.suffix if target.suffix in STUDY_FORMS else None
    wanted = STUDY_FORMS if single is None else (single,)
    found: dict[str, str | bytes] = {}
    if ".csv" in wanted:
        found[".csv"] = tables.as_csv(study_tables.long_table(result))
    if ".md" in wanted:
        said = (
            [WITHOUT_MEMORISING.format(result["memorising"])]
            if result["without_memorising"]
            else []
        )
        found[".md"] = "\n\n".join([*said, tables.as_markdown(study_tables.whole_table(result))])
    drawn = [form for form in wanted if form in plotting.FORMS]
    if drawn and (single or plotting.available()):
        found |= plotting.rendered(partial(study_tables.figure, result), drawn) or {}
    elif drawn:
        warn(plotting.ABSENT)
    return writing.write(
        {target if single else target / f"{name}{form}": data for form, data in found.items()}
    )
