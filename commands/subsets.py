"""Problems of one split alone: `--subset held-out` for the evaluation of what was trained on the
rest, by the rule that splits preference pairs (training/splits.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..records import DataError, Json, Problem, UsageError

if TYPE_CHECKING:
    from ..training.splits import Split, Splits


@dataclass(frozen=True)
class Subset:
    """The splits that are kept, and the rule that says which problem stands in which."""

    names: tuple[Split, ...]  # in the order of `Split`
    splits: Splits

    def keeps(self, problem: Problem) -> bool:
        return self.splits.of(problem) in self.names

    def as_json(self) -> dict[str, Json]:
        parts, fixed = self.splits.fractions, self.splits.fixed
        return {
            "names": [str(name) for name in self.names],
            "seed": self.splits.seed,
            "fractions": [parts.train, parts.validation, parts.held_out],
            **({"fixed": {group: str(fixed[group]) for group in sorted(fixed)}} if fixed else {}),
        }


def subset_of(
    names: Sequence[str],
    seed: int,
    fractions: Sequence[float] | None,
    fixed: str | Path | None = None,
) -> Subset | None:
    """None where no split is named. UsageError for another name, and for a seed, fractions or fixed
    groups without a name, which would change nothing; DataError for the file of fixed groups."""
    if not names:
        for option, told in (("--split-seed", seed or None), ("--fractions", fractions),
                             ("--fixed", fixed)):  # fmt: skip
            if told is not None:
                raise UsageError(f"{option} says nothing without --subset")
        return None
    from ..training.splits import Split

    known = [str(split) for split in Split]
    for name in names:
        if name not in known:
            raise UsageError(f"--subset {name}: it is one of {', '.join(known)}")
    chosen = tuple(split for split in Split if split in names)
    return Subset(chosen, splits_of(seed, fractions, fixed))


def splits_of(
    seed: int, fractions: Sequence[float] | None, fixed: str | Path | None = None
) -> Splits:
    """fractions: of train, validation, held-out, None for the default; fixed: as `read_fixed`."""
    from ..training.splits import Fractions, Splits

    if fractions is not None and len(fractions) != 3:
        raise UsageError(f"fractions {list(fractions)}: train, validation and held-out are needed")
    parts = Fractions() if fractions is None else Fractions(*fractions)
    return Splits(seed, parts, {} if fixed is None else read_fixed(fixed))


def read_fixed(path: str | Path) -> dict[str, Split]:
    """Groups by name with their split, from {split: [groups]}. Raises DataError, with the file."""
    from ..tasks.io.files import expanded, read_json
    from ..training.splits import Split

    place = expanded(path)
    told = read_json(place)
    names = [split.value for split in Split]
    if not isinstance(told, Mapping) or not all(
        name in names and isinstance(groups, list) and all(isinstance(g, str) for g in groups)
        for name, groups in told.items()
    ):
        raise DataError(f"{place}: an object is needed that holds, by {', '.join(names)}, lists of"
                        " the groups (names of problems) in each")  # fmt: skip
    found: dict[str, Split] = {}
    for name, groups in told.items():
        for group in groups:
            if found.setdefault(group, Split(name)) is not Split(name):
                raise DataError(f"{place}: group {group!r} stands in {found[group]} and in {name}")
    return found
