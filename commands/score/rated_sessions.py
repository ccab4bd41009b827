"""Read stored ratings of sessions, for `eval hypobench`; no model is called.

The ratings come from the file that `peirce rate` writes.
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
    """Return {"problem", "by", "scores"} for each problem and rater, for the sentences in the bank.

    The list is empty where nothing was rated.

    Raises:
        DataError: the file holds something else.
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
    """Return the ratings as the file holds them.

    Raises:
        DataError: the file holds something else.
    """
    return list(read_ratings(default_ratings_path(Path(store.path), session)).rows.values())


def mean_qualities(summaries: list[dict[str, Json]]) -> Mapping[str, Mapping[str, float | None]]:
    """Return the last rater's mean novelty, plausibility and clarity by problem."""
    return {
        str(one["problem"]): {
            name: one["scores"][name]["mean"] for name in QUALITIES if name in one["scores"]
        }
        for one in summaries
    }
