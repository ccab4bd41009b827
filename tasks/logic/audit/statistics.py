"""Figures of a set by regime, prompt worlds beside holdouts: what the paper's tables 1 and F.1 hold,
and shares of true and of masked atoms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from ....records import Json
from ....tools.logic.judging import REGIMES
from ....tools.logic.theories import SIGNATURE
from .reading import Audited, AuditedInstance, ReadSet


def rows(found: ReadSet) -> list[dict[str, Json]]:
    made: list[dict[str, Json]] = []
    for regime in REGIMES:
        some = [one for one in found.instances if one.regime == regime]
        for side in ("prompt", "holdout"):
            for name, values in _figures(some, side):
                kept = [value for value in values if value is not None]
                if kept:
                    made.append(
                        {
                            "regime": regime, "worlds": side, "statistic": name,
                            "mean": fmean(kept), "least": min(kept), "most": max(kept),
                            "n": len(kept),
                        }
                    )  # fmt: skip
    return made


def _figures(
    some: Sequence[AuditedInstance], side: str
) -> Iterator[tuple[str, Iterable[float | None]]]:
    sides = [one.prompts if side == "prompt" else one.holdouts for one in some]
    worlds = [audited for part in sides for audited in part]
    yield "worlds an instance", [len(part) for part in sides]
    yield "elements", [len(one.world.names) for one in worlds]
    for name, places in SIGNATURE.items():
        yield f"{name} true", [len(one.world.true[name]) / _atoms(one, places) for one in worlds]
    for name in ("R", "S"):
        yield (
            f"{name} unknown",
            [len(one.world.unknown.get(name, ())) / _atoms(one, 2) for one in worlds],
        )
    yield "unknown atoms", [len(one.world.unknown_atoms) for one in worlds]
    yield "lower bound", [one.judged.bound if one.judged else None for one in worlds]
    yield "reference cost", [one.judged.cost if one.judged else None for one in worlds]
    yield "slack", [_slack(one) for one in worlds]
    yield "reference valid", [None if _cost(one) is _NONE else float(_cost(one) is not None)
                              for one in worlds]  # fmt: skip
    if side == "prompt":
        yield "cheater margin", [one.gold.get("cheaterMargin") for one in some]
        yield "reference AST", [one.reference.size if one.reference else None for one in some]


_NONE = -1


def _cost(one: Audited) -> int | None:
    return _NONE if one.judged is None else one.judged.cost


def _slack(one: Audited) -> int | None:
    if one.judged is None or one.judged.cost is None:
        return None
    return one.judged.cost - one.judged.bound


def _atoms(one: Audited, places: int) -> int:
    return int(len(one.world.names) ** places)
