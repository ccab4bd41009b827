"""Whether the bank of a session says what made the labels, as `eval hypobench` gives it.

By exact rules alone: nobody is asked, so each value is one that no model made. The true sentences are
those of the data set (`secret["truths"]`: what its labels were made by, never the findings that a
real data set's literature tells); where none of them is an exact rule there is no value. What a model
rates is `peirce rate`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....records import Problem
from ....tools.discovery.identified import identified
from ....tools.discovery.scores import exact
from ....tools.discovery.space import Space
from ...metrics.evaluation import Metric

METRICS = (
    Metric("fdr", "higher", "share of true rules that a sentence of the bank is matched with"),
    Metric("rc", "higher", "mean overlap with the true rules that are matched"),
    Metric("hdr", "higher", "fdr x rc: true rules, each by how much of it a sentence of its own says"),
    Metric("precision", "higher", "overlap with true rules, a sentence of the bank"),
    Metric("identical", "higher", "share of true rules that a sentence says on all inputs alike"),
    Metric("identified", None, "share of true rules that the shown rows tell from their neighbours"),
    Metric("hdr_identified", "higher", "hdr over these rules alone"),
    Metric("hdr_released", "higher", "as the published evaluation counts, with exact rules as rater"),
    Metric("hdr_paper", "higher", "as the paper defines it by variables, with exact rules as rater"),
)  # fmt: skip
NAMES = tuple(metric.name for metric in METRICS)


def truths_of(problem: Problem) -> tuple[str, ...]:
    """The sentences that the problem's labels were made by; () where nobody knows."""
    return tuple(problem.secret.get("truths") or ())


def discovered(problem: Problem, bank: Sequence[str]) -> dict[str, float | None]:
    """Every metric of `METRICS`. bank: sentences, best first."""
    truths = truths_of(problem)
    found: dict[str, float | None] = dict.fromkeys(NAMES)
    if not truths:
        return found
    space = Space(problem)
    told = exact(truths, bank, space, problem.public)
    if told is None:
        return found
    known = identified(told.rules, problem.shown, space)
    kept = [pair.overlap for pair, one in zip(told.of_parts, known, strict=True) if one]
    return {
        "fdr": told.fdr,
        "rc": told.rc,
        "hdr": told.hdr,
        "precision": told.precision,
        "identical": told.identical,
        "identified": sum(known) / len(known),
        "hdr_identified": sum(kept) / len(kept) if kept else None,
        "hdr_released": told.released.hdr,
        "hdr_paper": told.paper.hdr,
    }
