"""`labels:admission`: the 13 admission data sets of HypoBench and a counterintuitive twin of each.

The simplest data set has one column, one condition and no noise. From there, one of four
difficulties is increased at a time: 1, 5, 10 or 15 findings; 1 to 4 conditions per finding; 0, 10,
20 or 30% of labels changed; 0, 3, 6 or 10 irrelevant columns. Each split has 200 rows. After these
26 data sets, `--problems` continues with applicants and a random rule (random_admission.py).

There are two differences from the published data sets:

- The rows of each split are balanced by the rule first, and then exactly the stated share of labels
  is changed. In the published sets, labels were changed before balancing, so that 10, 20 and 30%
  became 19, 28.5 and 38.7%.
- The sets with 6 and 10 irrelevant columns have exactly these numbers. The published sets have 5
  and 7.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..problems import LabelledData
from . import random_admission
from .admission_rules import (
    DEPTH_2,
    DEPTH_3,
    DEPTH_4,
    MATH,
    SIZE_5,
    SIZE_10,
    SIZE_15,
    AdmissionSet,
    Case,
    build_findings,
    complete_rule,
    find_columns,
    reverse_cases,
)
from .applicants import LABELS, build_columns, draw_balanced
from .planted import Noise, add_noise, build_labelled_data, make_clean_splits

ROWS_PER_SPLIT = 200  # rows per split
_TOPS = {"num_publications": 4}  # maxima in the sets of level 2
_ABOUT = (
    "Records of applicants to a university: grades, what they did besides, and whether they were"
    " admitted."
)
_OTHERS = (
    "num_publications",
    "num_letters",
    "num_activities",
    "science",
    "art",
    "history",
    "community_service_hours",
    "sports_played",
    "attendance_rate",
    "volunteer_projects",
)
_TWINS = "admission_adv"


def _set(level: int, name: str, cases: tuple[Case, ...], noise: float = 0.0, extra: int = 0) -> AdmissionSet:  # fmt: skip
    columns = (*find_columns(cases), *_OTHERS[:extra])
    tops = {one: top for one, top in _TOPS.items() if one in columns and level == 2}
    return AdmissionSet(f"admission/level_{level}/{name}", columns, cases, noise, extra, tops)


GRID: tuple[AdmissionSet, ...] = (
    _set(1, "base", MATH),
    _set(2, "depth_2", DEPTH_2),
    _set(2, "size_5", SIZE_5),
    _set(2, "distractor_3", MATH, extra=3),
    _set(2, "noise_10", MATH, 0.1),
    _set(3, "depth_3", DEPTH_3),
    _set(3, "size_10", SIZE_10),
    _set(3, "distractor_6", MATH, extra=6),
    _set(3, "noise_20", MATH, 0.2),
    _set(4, "depth_4", DEPTH_4),
    _set(4, "size_15", SIZE_15),
    _set(4, "distractor_10", MATH, extra=10),
    _set(4, "noise_30", MATH, 0.3),
)  # fmt: skip


def make_twin(one: AdmissionSet) -> AdmissionSet:
    """Return a copy of a data set's settings in which the conditions of the rule are reversed."""
    folder = one.folder.replace("admission/", f"{_TWINS}/")
    return replace(one, folder=folder, cases=reverse_cases(one.cases, one.maxima))


SETS_BY_NAME: Mapping[str, AdmissionSet] = {
    one.folder: one for one in (*GRID, *(make_twin(plain) for plain in GRID))
}


class AdmissionGenerator:
    """The generator `admission`, which makes tables of college applicants with rules of admission."""

    name = "admission"
    about = "applicants: grades, counts and truth values; 13 difficulties and their twins"

    def list_sets(self, seed: int) -> Mapping[str, frozenset[str]]:
        """Return the names of the 26 standard data sets, each with its tags."""
        return {name: _tags(name) for name in SETS_BY_NAME}

    def iter_further_names(self, seed: int) -> Iterator[str]:
        """Yield the names of data sets with random rules, endlessly."""
        number = 0
        while True:
            yield f"admission-{seed}-{number}"
            number += 1

    def generate(self, name: str, seed: int, noise: Noise = "exact") -> LabelledData:
        """Return the data set with this name."""
        if name not in SETS_BY_NAME:
            return random_admission.generate_set(seed, int(name.rpartition("-")[2]))
        one = SETS_BY_NAME[name]
        draw = random.Random(f"{name} {seed}")
        rule = complete_rule(one.cases)
        rows = {
            split: draw_balanced(one.columns, rule, ROWS_PER_SPLIT // 2, draw, one.maxima)
            for split in ("train", "val", "test")
        }
        splits = add_noise(make_clean_splits(rows), one.noise, LABELS, noise, f"{name} {seed}")
        told = {
            "underlying_model": "decision_tree",
            "balanced": True,
            "noise_level": one.noise,
            "noise": noise,
            "true_num_hypotheses": len(one.cases),
            "distractor": one.distractors,
            "depth": one.depth,
            "counterintuitive": name.startswith(_TWINS),
            "seed": seed,
        }
        columns = build_columns(one.columns, one.maxima)
        return build_labelled_data(
            name, columns, LABELS, splits, _ABOUT, build_findings(one.cases), [rule], told
        )


def _tags(name: str) -> frozenset[str]:
    """Return the tags of a set.

    `admission_adv/level_2/depth_2` has the tags 2, level_2, depth_2, depth and adv.
    """
    root, level, own = name.split("/")
    side = "adv" if root == _TWINS else "plain"
    return frozenset((level.removeprefix("level_"), level, own, own.rstrip("0123456789_"), side))


GENERATOR = AdmissionGenerator()
