"""Trainings as figures and tables read them: what each is called, its curves, and which of them are one
schedule under several seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from ....records import Json
from ....store.trainings import Point

SCHEDULES = (
    "fixed",
    "momentum",
    "single:parsing",
    "single:consistency",
    "single:gear",
)  # in figures
STAGES = ("parsing", "consistency", "gear")
BESIDE = ("schedule", "seed", "examples", "save_every", "keep", "report_to", "device", "device_batch",
          "recompute", "precompute", "log_ratio_warning", "following_drop", "stop", "sample_every",
          "sample_tokens")  # fmt: skip
MOMENTUM = ("alpha", "epsilon", "m_max", "w_min", "w_max", "lag")  # settings of that schedule alone

Curve = list[tuple[int, float]]  # (examples, value), by examples


@dataclass(frozen=True)
class Run:
    """One DPO training. label: its schedule, and the settings by which it differs from others of that
    schedule, whatever their base; without the seed, so that seeds share it."""

    training: str
    base: str
    schedule: str
    label: str
    seed: int
    status: str
    settings: Mapping[str, Json]
    stages: tuple[str, ...]
    curves: Mapping[tuple[str, str], Curve]

    def curve(self, stage: str, name: str) -> Curve:
        return self.curves.get((stage, name), [])

    @property
    def order(self) -> tuple[int, str, int]:
        place = SCHEDULES.index(self.schedule) if self.schedule in SCHEDULES else len(SCHEDULES)
        return place, self.label, self.seed


def runs(rows: Iterable[tuple[Mapping[str, Json], Sequence[Point]]]) -> list[Run]:
    """rows: of each training its row of `store.trainings` and its points. Ordered by base, then as
    figures have schedules, then by seed."""
    held = list(rows)
    settings = [dict(row["settings"].get("settings") or {}) for row, _ in held]
    bases = _bases([row["settings"].get("base") for row, _ in held])
    found = []
    for place, (row, points) in enumerate(held):
        own = settings[place]
        like = [other for other in settings if other.get("schedule") == own.get("schedule")]
        curves: dict[tuple[str, str], Curve] = {}
        for point in points:
            curves.setdefault((point.stage, point.name), []).append((point.examples, point.value))
        told = row["settings"].get("stages") or ()
        there = [*told, *(stage for stage, _ in curves if stage and stage not in told)]
        stages = tuple(sorted(dict.fromkeys(there), key=_stage))
        schedule = str(own.get("schedule", "?"))
        found.append(
            Run(str(row["training"]), bases[place], schedule, _label(schedule, own, like),
                int(own.get("seed", 0)), str(row["status"]), own, stages, curves)
        )  # fmt: skip
    return sorted(found, key=lambda one: (one.base, one.order))


def _bases(told: Sequence[Json]) -> list[str]:
    """What bases are called: the last part of the folder's name, with the first digits of its weights'
    digest where two of one name differ."""
    names = [PurePath(_part(one, "name") or "?").name or "?" for one in told]
    digests: dict[str, set[str]] = {}
    for name, one in zip(names, told, strict=True):
        digests.setdefault(name, set()).add(_part(one, "weights"))
    return [
        f"{name} ({_part(one, 'weights')[:6]})" if len(digests[name]) > 1 else name
        for name, one in zip(names, told, strict=True)
    ]


def _part(base: Json, key: str) -> str:
    return str((base.get(key) if isinstance(base, Mapping) else base) or "")


def _stage(name: str) -> tuple[int, str]:
    return (STAGES.index(name) if name in STAGES else len(STAGES)), name


def _label(schedule: str, own: Mapping[str, Json], like: Sequence[Mapping[str, Json]]) -> str:
    """Settings that differ among `like`, as the ones of the weights are read in one."""
    differ = [
        key for key in own
        if key not in BESIDE and (key not in MOMENTUM or schedule == "momentum")
        and len({repr(other.get(key)) for other in like}) > 1
    ]  # fmt: skip
    told = []
    if {"w_min", "w_max"} & set(differ):
        told.append(f"weights {own.get('w_min'):g} to {own.get('w_max'):g}")
    told += [f"{key} {_shown(own[key])}" for key in differ if key not in ("w_min", "w_max")]
    return f"{schedule} ({', '.join(told)})" if told else schedule


def _shown(value: Json) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
