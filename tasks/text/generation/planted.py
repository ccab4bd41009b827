"""A data set whose rule is known: its rows, what there is to find, and what a reader can reach.

A generator gives clean rows and rules of the exact judge. `known` are the findings, each true by
itself; `optimal` are sentences that never contradict each other and together label every row as the
clean rule does: who knows them reaches the best accuracy that the rows allow. Both are sentences
that compile (tools/sentence_rules).

Noise comes after balancing, in one of two ways:
- exact: of each split `round(rate * rows)` rows get another label, of each label as nearly its part as
  there are whole rows, so that what was balanced stays so;
- sampled: each row gets another label with the probability of the rate.

The best accuracy of a split is the share of its rows that keep their label. It is a bound for whoever
sees no labels of the split, as long as the rate is below that of a guess.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias, get_args

from ....records import DataError, Json, Observation, UsageError
from ....tools.sentence_rules.prepared import Prepared
from ....tools.sentence_rules.rules import Rule
from ...io.messages import nearest
from ..columns import Columns
from ..problems import LABEL, Rows

Noise: TypeAlias = Literal["exact", "sampled"]
NOISES: tuple[Noise, ...] = get_args(Noise)
PARTS = (0.7, 0.1, 0.2)  # of training, validation and test rows (HypoBench, appendix B.3)
LONGEST = 3_500  # characters of a sentence; the family reads 4,000


@dataclass(frozen=True)
class Splits:
    """Rows by split, clean or noisy. changed: split -> how many rows have another label than the
    clean rule gives."""

    rows: Mapping[str, tuple[Observation, ...]]
    changed: Mapping[str, int]

    @property
    def labels(self) -> Counter[str]:
        return Counter(one.output for some in self.rows.values() for one in some)


def clean(rows: Mapping[str, Sequence[Observation]]) -> Splits:
    return Splits({split: tuple(some) for split, some in rows.items()}, dict.fromkeys(rows, 0))


def parted(rows: Sequence[Observation], draw: random.Random) -> dict[str, list[Observation]]:
    """The rows in another order as training, validation and test rows, `PARTS` of them."""
    mixed = draw.sample(list(rows), len(rows))
    first, second = (int(len(mixed) * part + 1e-9) for part in PARTS[:2])
    return {
        "train": mixed[:first],
        "val": mixed[first : first + second],
        "test": mixed[first + second :],
    }


def noisy(splits: Splits, rate: float, labels: Sequence[str], noise: Noise, seed: str) -> Splits:
    """Some rows with another of the labels. Raises UsageError for a way that is none, or a rate
    from which on the clean rule would be no better than a guess."""
    if noise not in NOISES:
        raise UsageError(f"--noise {noise}{nearest(noise, NOISES)}")
    if not 0 <= rate < 1 - 1 / len(labels):
        raise UsageError(f"noise of {rate}: from 0 to less than {1 - 1 / len(labels):.2f}")
    draw = random.Random(f"noise {seed}")
    found, changed = {}, {}
    for split, rows in splits.rows.items():
        places = _places(rows, rate, noise, draw)
        found[split] = tuple(
            replace(one, output=draw.choice([name for name in labels if name != one.output]))
            if place in places
            else one
            for place, one in enumerate(rows)
        )
        changed[split] = len(places)
    return Splits(found, changed)


def _places(
    rows: Sequence[Observation], rate: float, noise: Noise, draw: random.Random
) -> set[int]:
    if noise == "sampled":
        return {place for place in range(len(rows)) if draw.random() < rate}
    own = {
        label: [place for place, one in enumerate(rows) if one.output == label]
        for label in sorted({one.output for one in rows})
    }
    counts = {label: int(rate * len(some) + 1e-9) for label, some in own.items()}
    by_rest = sorted(own, key=lambda label: counts[label] - rate * len(own[label]))
    for label in by_rest[: round(rate * len(rows)) - sum(counts.values())]:
        counts[label] += 1
    return {place for label, some in own.items() for place in draw.sample(some, counts[label])}


def planted(
    name: str,
    columns: Columns,
    labels: Sequence[str],
    splits: Splits,
    description: str,
    known: Sequence[Rule | str],
    optimal: Sequence[Rule],
    told: Mapping[str, Json],
) -> Rows:
    """The data set. told: what else metadata.json says of how it was made. Raises DataError where a
    split has one label only, which is a fault of the generator."""
    for split, rows in splits.rows.items():
        if len({one.output for one in rows}) < 2:
            raise DataError(f"{name}, {split}: all rows have one label")
    sizes = {split: len(rows) for split, rows in splits.rows.items()}
    shares = {split: changed / sizes[split] for split, changed in splits.changed.items()}
    properties: dict[str, Json] = {
        **told,
        "effective_noise": {split: round(share, 4) for split, share in shares.items()},
        "best_accuracy": {split: round(1 - share, 4) for split, share in shares.items()},
        "labels": dict(sorted(splits.labels.items())),
        "optimal": [rule.written() for rule in optimal],
    }
    findings = [one if isinstance(one, str) else one.written() for one in known]
    return Rows(
        name,
        LABEL,
        tuple(labels),
        columns,
        splits.rows,
        description,
        tuple(dict.fromkeys(findings)),
        properties=properties,
    )


def public_of(columns: Columns, labels: Sequence[str]) -> dict[str, Json]:
    """What a rule has to know of the data set to be executed on its rows."""
    return {
        "labels": list(labels),
        "columns": {name: dict(told) for name, told in columns.about.items()},
        "shape": columns.shape,
        "description": "",
        "label_name": LABEL,
    }


def labelled(
    inputs: Sequence[Mapping[str, Json]], rule: Rule, columns: Columns, labels: Sequence[str]
) -> list[str | None]:
    """What the rule says of each input, None where it does not apply."""
    codes = rule.codes(Prepared(inputs, public_of(columns, labels)))
    return [None if code < 0 else labels[code] for code in codes.tolist()]


# --- What a generator is: named data sets, each a pure function of (name, seed, noise).
#
# A set's name is its folder in the published layout (`admission/level_2/depth_2`). Its tags are what
# `--level` chooses by: `--level depth`, `--level 3,plain`.


class Generator(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str: ...

    def sets(self, seed: int) -> Mapping[str, frozenset[str]]:
        """The names of its data sets with their tags, easy ones first."""
        ...

    def more(self, seed: int) -> Iterator[str]:
        """Names of further sets, without end or none: for `--problems N` above those that are named."""
        ...

    def made(self, name: str, seed: int, noise: Noise = "exact") -> Rows:
        """The data set of a name."""
        ...


def named(
    generator: Generator, count: int | None, seed: int, level: str | None = None
) -> list[str]:
    """The names of the sets: all, those that have every tag of `level`, the first `count` of them.
    Raises UsageError for a tag that no set has, or where none has all of them."""
    there = generator.sets(seed)
    wanted = [one.strip() for one in (level or "").split(",") if one.strip()]
    tags = sorted(set().union(*there.values()))
    for one in wanted:
        if one not in tags:
            raise UsageError(
                f"--level {level}: {generator.name} has no {one!r}{nearest(one, tags)}"
            )
    found = [name for name, told in there.items() if told.issuperset(wanted)]
    if not found:
        raise UsageError(f"--level {level}: no set of {generator.name} has all of these")
    if count is None:
        return found
    if count > len(found) and not wanted:
        others = generator.more(seed)
        found += [name for _, name in zip(range(count - len(found)), others, strict=False)]
    return found[:count]
