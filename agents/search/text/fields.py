"""Rules over fields, as sentences: for now the shortest description by greedy growth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....records import Json
from ....tools.judge.conditions import AllOf, Condition
from ....tools.judge.prepared import Prepared
from ....tools.judge.rules import Rule, When
from .atoms import atoms_of


def joined(conditions: Sequence[Condition]) -> Condition:
    return conditions[0] if len(conditions) == 1 else AllOf(tuple(conditions))


def rules_over_fields(
    rows: Sequence[Mapping[str, Json]],
    labels: Sequence[str],
    public: Mapping[str, Json],
    expansions: float,
) -> tuple[Sequence[Rule], dict[str, Json]]:
    """The sentences, and what is said of the search."""
    prepared = Prepared(rows, public)
    atoms = atoms_of(prepared)
    best: tuple[float, Rule] | None = None
    for target in prepared.labels:
        wanted = [label == target for label in labels]
        for condition, holds in zip(atoms.conditions, atoms.holds, strict=True):
            right = float((holds == wanted).mean())
            if best is None or right > best[0]:
                other = next(label for label in prepared.labels if label != target)
                best = right, Rule((When(condition, target),), other)
    return ([best[1]] if best else []), {"tried": len(atoms.conditions) * len(prepared.labels)}
