"""Problems of one split alone: `--subset held-out` for the evaluation of what was trained on the
rest, by the rule that splits preference pairs (training/splits.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..records import Json, Problem, UsageError
from ..training.splits import Fractions, Split, Splits


@dataclass(frozen=True)
class Subset:
    names: tuple[Split, ...]  # in the order of `Split`
    splits: Splits

    def keeps(self, problem: Problem) -> bool:
        return self.splits.of(problem) in self.names

    def as_json(self) -> dict[str, Json]:
        parts = self.splits.fractions
        return {
            "names": [str(name) for name in self.names],
            "seed": self.splits.seed,
            "fractions": [parts.train, parts.validation, parts.held_out],
        }


def subset_of(names: Sequence[str], seed: int, fractions: str | None) -> Subset | None:
    """None where no split is named. UsageError for another name, fractions that are none, and
    fractions without a name, which would change nothing."""
    if not names:
        if fractions is not None:
            raise UsageError(f"--fractions {fractions} says nothing without --subset")
        return None
    known = [str(split) for split in Split]
    for name in names:
        if name not in known:
            raise UsageError(f"--subset {name}: it is one of {', '.join(known)}")
    chosen = tuple(split for split in Split if split in names)
    return Subset(chosen, Splits(seed, fractions_of(fractions)))


def fractions_of(told: str | None) -> Fractions:
    """Of "A,B,C"; None: the default. UsageError for what is no three numbers that sum to 1."""
    if told is None:
        return Fractions()
    try:
        train, validation, held_out = (float(part) for part in told.split(","))
    except ValueError:
        raise UsageError(
            f"--fractions {told!r} is not three numbers with commas between, as .5,.1,.4"
        ) from None
    return Fractions(train, validation, held_out)
