"""What every result of exception rules stands beside: the planted rule of each problem, and the
antecedent of its theory, which is valid wherever a rule can be. Both are judged as a session's rules
are, by the same evaluator. Published planted rules may hold predicates that no rule may (19 of the
305 development instances); those in scope stand in a row of their own then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from ....records import Json
from . import metrics
from .groups import Run, by_regime
from .records import Record

Kind = Literal["planted rule", "antecedent"]
PLANTED: Kind = "planted rule"
ANTECEDENT: Kind = "antecedent"
IN_SCOPE = "planted rule in scope"


class Known(NamedTuple):
    """A rule of a problem that no session gave. in_scope: whether it might have been proposed."""

    kind: Kind
    record: Record
    in_scope: bool


def besides(known: Sequence[Known]) -> tuple[Run, ...]:
    """A row each, over the problems that have such a rule."""
    planted = [one for one in known if one.kind == PLANTED]
    legal = [one for one in planted if one.in_scope]
    antecedents = [one for one in known if one.kind == ANTECEDENT]
    named = {PLANTED: planted, IN_SCOPE: legal if len(legal) < len(planted) else []}
    return tuple(
        Run("", name, tuple(one.record for one in some))
        for name, some in [*named.items(), (ANTECEDENT, antecedents)]
        if some
    )


def told(runs: Iterable[Run]) -> dict[str, Json]:
    """{name: {"problems", "metrics", "by_regime"}}, as of a session."""
    return {
        run.name: {
            "problems": len(run.records),
            "metrics": metrics.intervals(run.records),
            "by_regime": {name: metrics.intervals(some) for name, some in by_regime(run.records)},
        }
        for run in runs
    }
