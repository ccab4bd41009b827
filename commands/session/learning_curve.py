"""Plan the sessions of a learning curve: the same session on fewer of its shown rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ...records import Digest, InputSet, Json, Problem, digest_of
from ...reports.learning_curve import PART_KEY
from ..outcome import open_for_reading
from .planning import OnEvent, RunPlan
from .text_planning import curve_sizes


@dataclass(frozen=True)
class CurvePart:
    """A session of a learning curve.

    Args:
        rows: the number of rows that it shows of each problem.
        plan: its plan.
        key: the digest by which it is found again.
    """

    rows: int
    plan: RunPlan
    key: Digest


def plan_curve(plan: RunPlan) -> list[CurvePart]:
    """Return the smaller sessions of a plan, fewest rows first; [] without a learning curve.

    Each shows the first rows of the next one, which are drawn by the seed.
    """
    if not plan.config.data.learning_curve:
        return []
    shown = min(len(problem.shown) for problem in plan.chosen.problems)
    return [_shorten(plan, rows) for rows in curve_sizes(shown)]


def _shorten(plan: RunPlan, rows: int) -> CurvePart:
    pairs: list[tuple[Problem, InputSet]] = []
    for problem, space in plan.chosen.pairs:
        training = problem.secret.get("training_rows", len(problem.shown))
        secret = {**problem.secret, "training_rows": training}
        pairs.append((replace(problem, shown=problem.shown[:rows], secret=secret), space))
    told = plan.operational
    reached = [told[name] for name in ("model", "model_options", "players")]
    digests = [[problem.digest, space.digest] for problem, space in pairs]
    key = digest_of([plan.settings, reached, digests])
    smaller = replace(
        plan,
        chosen=replace(plan.chosen, pairs=tuple(pairs)),
        operational={**told, PART_KEY: key},
    )
    return CurvePart(rows, smaller, key)


def find_finished_parts(store: Path) -> dict[Digest, str]:
    """Return the finished smaller sessions in a store by their key; the newest of several."""
    if not store.exists():
        return {}
    with open_for_reading(store) as opened:
        return {
            row["settings"]["operational"][PART_KEY]: row["session"]
            for row in opened.sessions()
            if row["status"] == "done" and row["settings"]["operational"].get(PART_KEY)
        }


def curve_listener(on_event: OnEvent | None) -> OnEvent | None:
    """Return a listener that passes on only the id of a smaller session, and that it is stopped."""
    if on_event is None:
        return None

    def tell(event: Mapping[str, Json]) -> None:
        if event["type"] == "session":
            on_event({"type": "curve_session", "session": event["session"]})
        elif event["type"] == "stopping":
            on_event(event)

    return tell
