"""Read stored ratings of sessions, for `eval hypobench`.

The ratings come from the file that `peirce rate` writes. No model is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...records import Json
from ...reports.papers.hypobench.tables import summarize_ratings
from ...store import Store
from ...tasks.text.rating_answers import QUALITIES
from .rating import find_variables
from .ratings_file import default_ratings_path, read_ratings


def summarise_ratings(store: Store, session: str) -> list[dict[str, Json]]:
    """Return a summary {"problem", "by", "scores"} for each problem and rater.

    Only ratings of sentences in the session's bank count. The list is empty if nothing was rated.

    Args:
        store: the open store.
        session: full id of the session.

    Raises:
        DataError: the file of ratings is invalid.
    """
    kept = read_ratings(default_ratings_path(Path(store.path), session))
    if not kept.rows:
        return []
    found: list[dict[str, Json]] = []
    for one in store.problems(session):
        problem = one.problem
        rows = [row for row in kept.rows.values() if row["problem"] == problem.id]
        if not rows:
            continue
        bank = [row["text"] for row in store.bank(session, problem.id)]
        truths = list(problem.secret.get("truths") or ())
        about = find_variables(problem, truths)
        for by in dict.fromkeys(str(row["by"]) for row in rows):
            held = set(bank)
            own = [row for row in rows if row["by"] == by and row["hypothesis"] in held]
            scores = summarize_ratings(own, truths, bank, about)
            found.append({"problem": problem.id, "by": by, "scores": scores})
    return found


def rating_rows(store: Store, session: str) -> list[dict[str, Json]]:
    """Return all ratings of a session, as the file contains them.

    Args:
        store: the open store.
        session: full id of the session.

    Raises:
        DataError: the file of ratings is invalid.
    """
    return list(read_ratings(default_ratings_path(Path(store.path), session)).rows.values())


def mean_qualities(summaries: list[dict[str, Json]]) -> Mapping[str, Mapping[str, float | None]]:
    """Return the mean novelty, plausibility and clarity of each problem, by problem and quality.

    If several models rated a problem, the last summary counts.

    Args:
        summaries: the result of `summarise_ratings`.
    """
    return {
        str(one["problem"]): {
            name: one["scores"][name]["mean"] for name in QUALITIES if name in one["scores"]
        }
        for one in summaries
    }
