"""Build generated data sets whose rule is known: rows, findings, noise and best possible accuracy.

A generator produces rows without noise, and rules that can be applied without a model. `known`
holds the findings, each of which is true by itself. `optimal` holds rules that together label every
row without noise correctly and never contradict each other. A reader who knows `optimal` reaches
the best possible accuracy. Both are sentences that the judge can execute (tools/sentence_rules).

Noise is added after the labels were balanced, in one of two forms:

- exact: in each split, `round(rate * rows)` rows get another label. Each label loses the same share
  of rows up to rounding, so balanced splits stay balanced.
- sampled: each row gets another label with a probability of `rate`.

The best possible accuracy of a split is the share of rows that keep their label. Nobody who does
not see the labels of the split can do better, as long as the rate is below the error rate of a
guess.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias, get_args

from ....records import DataError, Json, Observation, UsageError
from ....tools.sentence_rules.prepared_rows import PreparedRows
from ....tools.sentence_rules.rules import Rule
from ...io.messages import suggest_nearest
from ..columns import Columns
from ..problems import DEFAULT_LABEL_NAME, LabelledData

Noise: TypeAlias = Literal["exact", "sampled"]
NOISE_KINDS: tuple[Noise, ...] = get_args(Noise)
SPLIT_SHARES = (0.7, 0.1, 0.2)  # training, validation and test rows (HypoBench, appendix B.3)
MAX_SENTENCE_CHARACTERS = 3_500  # characters per sentence; the family accepts 4,000


@dataclass(frozen=True)
class Splits:
    """The rows of each split of a generated data set, with or without noise.

    Attributes:
        rows: The rows by split.
        changed: The number of rows per split whose label differs from that of the clean rule.
    """

    rows: Mapping[str, tuple[Observation, ...]]
    changed: Mapping[str, int]

    @property
    def labels(self) -> Counter[str]:
        """The number of rows with each label in all splits together."""
        return Counter(one.output for some in self.rows.values() for one in some)


def make_clean_splits(rows: Mapping[str, Sequence[Observation]]) -> Splits:
    """Return rows by split as a `Splits` object without noise."""
    return Splits({split: tuple(some) for split, some in rows.items()}, dict.fromkeys(rows, 0))


def split_rows(rows: Sequence[Observation], draw: random.Random) -> dict[str, list[Observation]]:
    """Return rows, in random order, split into training, validation and test rows by
    `SPLIT_SHARES`.
    """
    mixed = draw.sample(list(rows), len(rows))
    first, second = (int(len(mixed) * part + 1e-9) for part in SPLIT_SHARES[:2])
    return {
        "train": mixed[:first],
        "val": mixed[first : first + second],
        "test": mixed[first + second :],
    }


def add_noise(
    splits: Splits, rate: float, labels: Sequence[str], noise: Noise, seed: str
) -> Splits:
    """Return the rows with some labels replaced by other labels.

    Args:
        splits: The rows without noise.
        rate: The share of rows to change, or the probability of a change.
        labels: All labels.
        noise: The kind of noise, "exact" or "sampled".
        seed: The seed of the changes.

    Raises:
        UsageError: There is no such kind of noise, or the rate is so high that the true rule is no
            better than a guess.
    """
    if noise not in NOISE_KINDS:
        raise UsageError(
            f"--noise {noise} is not a valid kind of noise{suggest_nearest(noise, NOISE_KINDS)}"
        )
    if not 0 <= rate < 1 - 1 / len(labels):
        raise UsageError(
            f"the noise rate must be from 0 to less than {1 - 1 / len(labels):.2f}, not {rate}"
        )
    draw = random.Random(f"noise {seed}")
    found, changed = {}, {}
    for split, rows in splits.rows.items():
        places = _choose_rows(rows, rate, noise, draw)
        found[split] = tuple(
            replace(one, output=draw.choice([name for name in labels if name != one.output]))
            if place in places
            else one
            for place, one in enumerate(rows)
        )
        changed[split] = len(places)
    return Splits(found, changed)


def _choose_rows(
    rows: Sequence[Observation], rate: float, noise: Noise, draw: random.Random
) -> set[int]:
    """Return the indices of the rows to change."""
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


def build_labelled_data(
    name: str,
    columns: Columns,
    labels: Sequence[str],
    splits: Splits,
    description: str,
    known: Sequence[Rule | str],
    optimal: Sequence[Rule],
    extra_properties: Mapping[str, Json],
) -> LabelledData:
    """Build a data set from generated rows and the rules that generated them.

    Args:
        name: The name of the data set.
        columns: The input columns.
        labels: The labels.
        splits: The rows.
        description: The subject of the data set.
        known: The findings, as rules or sentences.
        optimal: Rules that together label every row without noise correctly.
        extra_properties: Additional entries for `task_properties` in metadata.json.

    Raises:
        DataError: A split has only one label, which is an error of the generator.
    """
    for split, rows in splits.rows.items():
        if len({one.output for one in rows}) < 2:
            raise DataError(f"{name}, {split}: all rows have one label")
    sizes = {split: len(rows) for split, rows in splits.rows.items()}
    shares = {split: changed / sizes[split] for split, changed in splits.changed.items()}
    properties: dict[str, Json] = {
        **extra_properties,
        "effective_noise": {split: round(share, 4) for split, share in shares.items()},
        "best_accuracy": {split: round(1 - share, 4) for split, share in shares.items()},
        "labels": dict(sorted(splits.labels.items())),
        "optimal": [rule.to_text() for rule in optimal],
    }
    findings = [one if isinstance(one, str) else one.to_text() for one in known]
    return LabelledData(
        name,
        DEFAULT_LABEL_NAME,
        tuple(labels),
        columns,
        splits.rows,
        description,
        tuple(dict.fromkeys(findings)),
        properties=properties,
    )


def public_facts(columns: Columns, labels: Sequence[str]) -> dict[str, Json]:
    """Return the columns and labels in the form in which an exact sentence is compiled and applied."""
    return {
        "labels": list(labels),
        "columns": {name: dict(told) for name, told in columns.about.items()},
        "shape": columns.shape,
        "description": "",
        "label_name": DEFAULT_LABEL_NAME,
    }


def apply_rule(
    inputs: Sequence[Mapping[str, Json]], rule: Rule, columns: Columns, labels: Sequence[str]
) -> list[str | None]:
    """Return the label that a rule gives to each input; None for an input to which it does not
    apply.
    """
    codes = rule.codes(PreparedRows(inputs, public_facts(columns, labels)))
    return [None if code < 0 else labels[code] for code in codes.tolist()]


# --- Generators: named data sets, each a pure function of (name, seed, noise).
#
# The name of a set is its folder in the published layout (`admission/level_2/depth_2`). `--level`
# selects sets by their tags: `--level depth`, `--level 3,plain`.


class Generator(Protocol):
    """A generator of named data sets whose rule is known, such as the one of `labels:admission`."""

    @property
    def name(self) -> str:
        """The name of the generator: NAME in `labels:NAME`."""
        ...

    @property
    def about(self) -> str:
        """A description of the generator in one line."""
        ...

    def list_sets(self, seed: int) -> Mapping[str, frozenset[str]]:
        """Return the names of the standard data sets with their tags. Easy data sets come first."""
        ...

    def iter_further_names(self, seed: int) -> Iterator[str]:
        """Yield names of additional data sets, endlessly, or no names if there are none.

        Additional data sets are used if `--problems N` exceeds the number of standard data sets.
        """
        ...

    def generate(self, name: str, seed: int, noise: Noise = "exact") -> LabelledData:
        """Return the data set with this name."""
        ...


def select_set_names(
    generator: Generator, count: int | None, seed: int, level: str | None = None
) -> list[str]:
    """Return the names of the generator's data sets that have all tags in `level`.

    Args:
        generator: The generator.
        count: The maximum number of names, or None for all. If `level` is None and there are fewer
            standard data sets, additional data sets are used.
        seed: The seed of the data sets.
        level: Tags, separated by commas; None for no condition.

    Raises:
        UsageError: No data set has one of the tags, or none has all of them.
    """
    there = generator.list_sets(seed)
    wanted = [one.strip() for one in (level or "").split(",") if one.strip()]
    tags = sorted(set().union(*there.values()))
    for one in wanted:
        if one not in tags:
            raise UsageError(
                f"--level {level}: {generator.name} has no {one!r}{suggest_nearest(one, tags)}"
            )
    found = [name for name, told in there.items() if told.issuperset(wanted)]
    if not found:
        raise UsageError(f"--level {level}: no set of {generator.name} has all of these")
    if count is None:
        return found
    if count > len(found) and not wanted:
        others = generator.iter_further_names(seed)
        found += [name for _, name in zip(range(count - len(found)), others, strict=False)]
    return found[:count]
