"""Reference rows in tables about exception rules: the planted rule, and the antecedent of the
theory.

The antecedent is the condition of the theory ("x is a bird" in "birds fly"). It is a valid rule in
every world in which any rule is valid. Both rules are judged by the same evaluator as a session's
rules. Published planted rules may contain predicates that are forbidden in answers (19 of the 305
development instances). In this case, the planted rules without forbidden predicates form another
row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from ....records import Json
from . import metrics
from .groups import SessionRecords, group_by_regime
from .records import Record

Kind = Literal["planted rule", "antecedent"]
PLANTED: Kind = "planted rule"
ANTECEDENT: Kind = "antecedent"
PLANTED_IN_SCOPE = "planted rule in scope"


class ReferenceRule(NamedTuple):
    """A rule that belongs to a problem, judged in the same way as an answer.

    Args:
        kind: Whether it is the planted rule, or the antecedent of the theory ("x is a bird" in
            "birds fly").
        record: The rule in the form of a scored answer.
        in_scope: Whether an answer may contain this rule; False if it uses a forbidden predicate.
    """

    kind: Kind
    record: Record
    in_scope: bool


def reference_runs(rules: Sequence[ReferenceRule]) -> tuple[SessionRecords, ...]:
    """Return the reference rules in the form of sessions, with one session for each kind of
    rule.
    """
    planted = [one for one in rules if one.kind == PLANTED]
    legal = [one for one in planted if one.in_scope]
    antecedents = [one for one in rules if one.kind == ANTECEDENT]
    named = {PLANTED: planted, PLANTED_IN_SCOPE: legal if len(legal) < len(planted) else []}
    return tuple(
        SessionRecords("", name, tuple(one.record for one in some))
        for name, some in [*named.items(), (ANTECEDENT, antecedents)]
        if some
    )


def runs_to_json(runs: Iterable[SessionRecords]) -> dict[str, Json]:
    """Return {name: {"problems", "metrics", "by_regime"}}, in the same form as a session's
    result.
    """
    return {
        run.name: {
            "problems": len(run.records),
            "metrics": metrics.intervals(run.records),
            "by_regime": {
                name: metrics.intervals(some) for name, some in group_by_regime(run.records)
            },
        }
        for run in runs
    }
