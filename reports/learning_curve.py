"""The learning curve of a session on labelled rows: its accuracy by the number of shown rows.

`peirce run --learning-curve` runs the same method and model on smaller numbers of rows first. The
session on all shown rows records these sessions, so that the curve is read from the store alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..records import Axis, Figure, Json, Series, StoreError
from .metrics.evaluation import evaluate_session

if TYPE_CHECKING:
    from ..store import Store

KEY = "learning_curve"  # of the operational settings: [[number of rows, session], …]
PART_KEY = "learning_curve_part"  # of the operational settings: the digest of a smaller session
METRIC, OF_TEST_ROWS = "accuracy", "accuracy_ind"
MARGIN = 0.02  # of the accuracy, above and below the curve


def read_learning_curve(
    store: Store, session: str, scored: Mapping[str, Any]
) -> list[dict[str, Json]]:
    """Return the points of a session's learning curve, fewest rows first; [] if it has none.

    A point is {rows, session, accuracy, low, high, test}: the number of shown rows, the session, its
    accuracy with its interval, and whether the accuracy is that on test rows. Sessions that are not
    in the store are left out.

    Args:
        store: The open store.
        session: The full id of the session.
        scored: The scores of the session (`evaluate_session`).
    """
    recorded = store.settings(session).get("operational", {}).get(KEY)
    if not recorded:
        return []
    found = []
    for rows, name in recorded:
        with suppress(StoreError):
            found.append(_point(rows, name, evaluate_session(store, name)["metrics"]))
    shown = max(len(row.problem.shown) for row in store.problems(session))
    found.append(_point(shown, session, scored["metrics"]))
    return [one for one in found if one["accuracy"] is not None]


def _point(rows: int, session: str, metrics: Mapping[str, Any]) -> dict[str, Json]:
    told = metrics[METRIC]
    return {
        "rows": rows,
        "session": session,
        "accuracy": told["mean"],
        "low": told["low"],
        "high": told["high"],
        "test": metrics[OF_TEST_ROWS]["mean"] is not None,
    }


def describe_learning_curve(points: Sequence[Mapping[str, Any]]) -> str:
    """Return a learning curve in one line, such as "Test accuracy by rows shown: 200 .603, 800 .655"."""
    told = ", ".join(f"{one['rows']:,} {_short(one['accuracy'])}" for one in points)
    return f"{_name(points)} by rows shown: {told}"


def _short(share: float) -> str:
    return f"{share:.3f}".removeprefix("0")


def _name(points: Sequence[Mapping[str, Any]]) -> str:
    return "Test accuracy" if all(one["test"] for one in points) else "Accuracy"


def draw_learning_curve(points: Sequence[Mapping[str, Any]]) -> Figure | None:
    """Return the figure of a learning curve, with its 95% interval; None without two points."""
    if len(points) < 2:
        return None
    rows = [float(one["rows"]) for one in points]
    bounds = [
        (name, [(x, float(one[key])) for x, one in zip(rows, points, strict=True) if one[key] is not None])
        for name, key in (("95% interval", "low"), ("", "high"))
    ]  # fmt: skip
    line = [(x, float(one["accuracy"])) for x, one in zip(rows, points, strict=True)]
    heights = [y for _, some in bounds for _, y in some] + [y for _, y in line]
    return Figure(
        "Learning curve",
        f"{describe_learning_curve(points)}.",
        Axis("rows shown", rows[0] * 0.8, rows[-1] * 1.25, logarithmic=True, whole=True),
        Axis(
            _name(points).lower(),
            max(0.0, min(heights) - MARGIN),
            min(1.0, max(heights) + MARGIN),
        ),
        [
            *(Series("rule", name, some) for name, some in bounds if some),
            Series("line", _name(points), line, [f"{int(x):,} rows" for x in rows]),
        ],
        "Each number of rows is a session of its own; the rows of a smaller one are among those of a"
        " larger one.",
    )
