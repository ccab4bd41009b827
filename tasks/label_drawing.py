"""How `tasks show` draws a problem of labelled text: what there is, and its first rows."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator

from ..records import Observation, Problem
from .sentences import shorten

WIDTH = 98
_ROWS = 3
_SPLITS = {"val": "validation", "ind": "test", "ood": "OOD"}


def drawn(problem: Problem) -> str:
    """Labels, columns, splits, how often each label is shown, the first rows and, where the data
    set says them, the hypotheses that are known to hold. At most `WIDTH` columns wide."""
    return "\n".join(line for part in _parts(problem) for line in _wrapped(part))


def _parts(problem: Problem) -> Iterator[str]:
    public = problem.public
    if public["description"]:
        yield public["description"]
    counts = Counter(one.output for one in problem.shown)
    yield "labels: " + ", ".join(f"{one} {counts[one]}" for one in public["labels"])
    for name, told in public["columns"].items():
        values = f" ({', '.join(map(str, told['values']))})" if told["kind"] == "choice" else ""
        yield f"column {name}: {told['kind']}{values}{'. ' * bool(told['about'])}{told['about']}"
    spans = problem.secret.get("splits", {})
    hidden = [f"{spans[key][1] - spans[key][0]} {_SPLITS[key]}" for key in _SPLITS if key in spans]
    yield f"rows: {len(problem.shown)} shown, {', '.join(hidden) or 'none'} hidden"
    for one in problem.shown[:_ROWS]:
        yield _row(one)
    made = problem.secret.get("made", {})
    for key, said in (
        ("effective_noise", "labels changed"),
        ("best_accuracy", "best possible accuracy"),
    ):
        told = made.get(key)
        shares = (
            told if isinstance(told, dict) else {}
        )  # metadata of others may mean something else
        numbers = {k: one for k, one in shares.items() if isinstance(one, int | float)}
        if numbers:
            yield f"{said}: " + ", ".join(f"{split} {one:.1%}" for split, one in numbers.items())
    for one in problem.secret.get("known", ()):
        yield f"known: {one}"


def _row(one: Observation) -> str:
    values = list(one.input.values())
    said = values[0] if len(values) == 1 else ", ".join(f"{k}={v}" for k, v in one.input.items())
    return f"{shorten(' '.join(str(said).split()), 180)} -> {one.output}"


def _wrapped(part: str) -> list[str]:
    return textwrap.wrap(part, WIDTH, subsequent_indent="  ") or [""]
