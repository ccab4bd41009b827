"""Classifiers of `peirce train --labels` beside sessions: the fine-tuned row of HypoBench's tables.

One stands beside a problem where it was tested on the same rows, by digest, whatever rows the session
was shown. Of several that one base was trained to (seeds) the tables have the mean, as of problems.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from ..records import Digest, Json, Problem
from ..tasks.text.problems import rows_digest

TUNED = "fine-tuned "
TESTED = ("ind", "ood", "val")  # the first that there is stands for the set, as in labels.py
SCORES = ("accuracy", "f1")


@dataclass(frozen=True)
class Tuned:
    """A classifier on one data set, and a problem of that set."""

    training: str
    base: str
    problem: Problem
    metrics: Mapping[str, float]

    def as_json(self) -> dict[str, Json]:
        return {
            "training": self.training, "base": self.base, "problem": self.problem.id,
            "metrics": dict(self.metrics),
        }  # fmt: skip


def tuned(trainings: Iterable[Mapping[str, Json]], problems: Iterable[Problem]) -> list[Tuned]:
    """Of trainings of classifiers that are done: each with a set and the first of the problems that it
    was tested on as well. trainings: rows of `store.trainings`."""
    done = [
        row for row in trainings
        if row["settings"].get("kind") == "labels" and row["status"] == "done"
    ]  # fmt: skip
    if not done:
        return []
    there = [(problem, _tested(problem)) for problem in {p.digest: p for p in problems}.values()]
    found = []
    for row in done:
        base = PurePath(str((row["settings"].get("base") or {}).get("name", "?"))).name
        for one in row["fields"].get("sets") or ():
            like = _like(one, there)
            if like is not None:
                found.append(Tuned(str(row["training"]), base, like, _metrics(one["scores"])))
    return found


def _tested(problem: Problem) -> dict[str, Digest]:
    """Of the rows of each split."""
    spans = problem.secret.get("splits", {})
    return {split: rows_digest(problem.hidden[a:b]) for split, (a, b) in spans.items() if b > a}


def _like(
    one: Mapping[str, Json], there: Sequence[tuple[Problem, Mapping[str, Digest]]]
) -> Problem | None:
    """The problem with the same test rows, and rows of another source where either has them."""
    for problem, digests in there:
        wanted = [split for split in TESTED[:2] if split in digests or split in one["scores"]]
        if wanted and all(one["digests"].get(s) == digests.get(s) for s in wanted):
            return problem
    return None


def _metrics(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for split in TESTED:
        for name in SCORES if split in scores else ():
            found.setdefault(name, scores[split][name])
            found[f"{name}_{split}"] = scores[split][name]
    return found
