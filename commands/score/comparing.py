"""`peirce compare`: results and costs of stored sessions side by side."""

from __future__ import annotations

from pathlib import Path

from ...records import UsageError
from ...reports import evaluate_session, find_evaluation
from ...reports.answer_gains import GainReader
from ...reports.costs import read_costs
from ...reports.files import tables, writing
from ...reports.judging import summarize_judging
from ...reports.marginal_gain import summarize_gain
from ...reports.metrics.results import SpaceCache
from ...reports.screen.comparison import cost_table
from ...store import Store
from ...tasks.io.files import expand_home
from ..arguments import validate_call
from ..outcome import open_for_reading
from ..results import Metric
from ..session.settings import display_model_name
from .results import ComparedSession, Comparison

SUFFIXES = (".csv", ".md")


@validate_call
def compare(
    *sessions: str, store: str | Path | None = None, out: str | Path | None = None
) -> Comparison:
    """Return the main metrics of sessions, and what each result cost.

    Nothing is run and no model is called.

    Args:
        sessions: ids, unique prefixes of ids, or "last" (the default).
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.
        out: a .csv or .md file for the table of costs; None to write nothing.

    Raises:
        UsageError: `out` has another suffix.
        StoreError: a session cannot be found or read.
    """
    target = None if out is None else expand_home(out)
    if target is not None:
        if target.suffix not in SUFFIXES:
            raise UsageError(f"out is {str(out)!r}: it must end in {' or '.join(SUFFIXES)}")
        writing.check_paths([target])
    with open_for_reading(store) as opened:
        found = [opened.find_session(session) for session in sessions or ("last",)]
        spaces = SpaceCache(opened)
        compared = [_read(opened, one, spaces) for one in dict.fromkeys(found)]
    files = []
    if target is not None:
        table = cost_table([one.to_dict() for one in compared])
        render = tables.as_csv if target.suffix == ".csv" else tables.as_markdown
        files = writing.write_files({target: render(table)})
    return Comparison(sessions=compared, files=files)


def _read(store: Store, session: str, spaces: SpaceCache) -> ComparedSession:
    record = store.session(session)
    settings = record["settings"]
    rows = store.problems(session)
    scored = evaluate_session(store, session, spaces=spaces)
    main = [one.name for one in find_evaluation(scored["evaluation"]).on_screen(False)]
    gains = GainReader(store).read(session, rows)
    return ComparedSession(
        session=session,
        status=record["status"],
        task=scored["task"],
        method=scored["method"],
        model=display_model_name(settings),
        evaluation=scored["evaluation"],
        problems=len(rows),
        left_out=scored["left_out"],
        metrics={name: Metric(**scored["metrics"][name]) for name in main},
        costs=read_costs(store, session, gains, record.get("spending") or {}),
        gain=summarize_gain(gains, settings),
        judging=summarize_judging(store.steps(session, spaces=False)),
    )
