"""Figures and tables of trainings on preference pairs (GEAR, appendix B).

`build_runs` collects trainings with their learning curves and labels. Trainings with the same
schedule and different seeds have the same label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from ....records import Json
from ....store.trainings import Point
from ...files import plotting, tables
from ...files.plotting import add_legend_below, create_figure, render_figure, wrap_text
from ...files.tables import Cell, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SCHEDULES = (
    "fixed",
    "momentum",
    "remaining-loss",
    "single:parsing",
    "single:consistency",
    "single:gear",
)  # in the order of figures
STAGES = ("parsing", "consistency", "gear")
UNLABELLED_SETTINGS = ("schedule", "seed", "examples", "save_every", "keep", "report_to", "device", "attention", "device_batch",
          "recompute", "precompute", "log_ratio_warning", "following_drop", "stop", "sample_every",
          "sample_tokens")  # fmt: skip
# The only schedule that a setting affects.
SCHEDULE_OF_SETTING = {
    **dict.fromkeys(("alpha", "epsilon", "m_max", "w_min", "w_max", "lag"), "momentum"),
    "mix": "fixed", "min_share": "remaining-loss",
}  # fmt: skip

Curve = list[tuple[int, float]]  # (examples, value) pairs, sorted by examples.


@dataclass(frozen=True)
class TrainingRun:
    """One DPO training with its learning curves.

    Args:
        label: The schedule, and the settings in which this training differs from other trainings
            with the same schedule. The label does not contain the seed.
        curves: The curves, by stage and name of the measurement. A curve is a list of (examples,
            value).
    """

    training: str
    base: str
    schedule: str
    label: str
    seed: int
    status: str
    settings: Mapping[str, Json]
    stages: tuple[str, ...]
    curves: Mapping[tuple[str, str], Curve]

    def get_curve(self, stage: str, name: str) -> Curve:
        """Return the curve of a measurement at a stage. It is empty if nothing was measured."""
        return self.curves.get((stage, name), [])

    @property
    def sort_key(self) -> tuple[int, str, int]:
        """A key that sorts by schedule in the order of figures, then by label, then by seed."""
        place = SCHEDULES.index(self.schedule) if self.schedule in SCHEDULES else len(SCHEDULES)
        return place, self.label, self.seed


def build_runs(rows: Iterable[tuple[Mapping[str, Json], Sequence[Point]]]) -> list[TrainingRun]:
    """Return trainings with their curves, sorted by base model, schedule, label and seed.

    Args:
        rows: For each training, its row of `store.trainings` and its logged points.
    """
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
            TrainingRun(str(row["training"]), bases[place], schedule, _label(schedule, own, like),
                int(own.get("seed", 0)), str(row["status"]), own, stages, curves)
        )  # fmt: skip
    return sorted(found, key=lambda one: (one.base, one.sort_key))


def _bases(told: Sequence[Json]) -> list[str]:
    """Return the name of each base.

    It is the last part of the folder's name, with the first digits of the digest of its weights if
    two bases share that name.
    """
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
    """Return the schedule with the settings that differ among `like`; weights form one part."""
    differ = [
        key for key in own
        if key not in UNLABELLED_SETTINGS and SCHEDULE_OF_SETTING.get(key, schedule) == schedule
        and len({repr(other.get(key)) for other in like}) > 1
    ]  # fmt: skip
    told = []
    if {"w_min", "w_max"} & set(differ):
        told.append(f"weights {own.get('w_min'):g} to {own.get('w_max'):g}")
    told += [f"{key} {_shown(own[key])}" for key in differ if key not in ("w_min", "w_max")]
    return f"{schedule} ({', '.join(told)})" if told else schedule


def _shown(value: Json) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


# --- Figures of trainings (GEAR, appendix B): the effect of a schedule on each preference.
#
#  - figure6: probe accuracy of each stage in training on one stage alone;
#  - figure7: the same with schedules that mix the stages;
#  - curriculum-TRAINING (figures 8 to 10), one for each momentum training: probe losses, their
#    averages, improvements and weights;
#  - watch: signs of a collapse that probe accuracy hides: chosen log-ratios, with a dotted line at
#    the value that triggers a warning for a stage, and sampled answers.
#
# A row of panels is a base model. Each seed of a schedule has a thin line, their mean a bold one.

WIDTH, HEIGHT = 3.9, 2.7  # Size of a panel in inches.
SCHEDULE_COLOURS = {"fixed": "C0", "momentum": "C3", "remaining-loss": "C7", "single:parsing": "C1", "single:consistency": "C2",
           "single:gear": "C4"}  # fmt: skip
STAGE_COLOURS = {"parsing": "C1", "consistency": "C2", "gear": "C4"}
OTHER_COLOURS = ("C5", "C6", "C8", "C9", "C0")  # Further labels of one schedule; dashed.
SINGLE = "single:"
BOLD, THIN, WIDER = 1.5, 0.6, 0.7


def draw_figures(runs: Sequence[TrainingRun]) -> dict[str, bytes]:
    """Return all figures for which the trainings have data, as .png and .svg, by file name."""
    single = [one for one in runs if one.schedule.startswith(SINGLE)]
    mixed = [one for one in runs if not one.schedule.startswith(SINGLE)]
    wanted: dict[str, Callable[[], Figure | None]] = {
        "figure6": partial(draw_accuracies, single, "Training on one preference"),
        "figure7": partial(draw_accuracies, mixed, "Training on all three preferences"),
        "watch": partial(draw_collapse_signs, runs),
    }
    for one in runs:
        if one.schedule == "momentum":
            wanted[f"curriculum-{one.training}"] = partial(draw_curriculum, one)
    made = {name: render_figure(one) for name, one in wanted.items()}
    return {name + form: data for name, of in made.items() for form, data in (of or {}).items()}


def draw_accuracies(runs: Sequence[TrainingRun], title: str) -> Figure | None:
    """Draw the probe accuracy over examples, with one column per stage and one row per base model.

    A probe is a measurement on validation pairs. The result is None if there was no probe.
    """
    stages = _stages(runs, "probe_accuracy")
    if not stages:
        return None
    bases = list(dict.fromkeys(one.base for one in runs))
    values = [v for one in runs for s in stages for _, v in one.get_curve(s, "probe_accuracy")]
    lowest = min(0.45, *values)  # All panels share one axis.
    figure, panels = _grid(len(bases), len(stages), title)
    looks = _looks(runs)
    for row, base in zip(panels, bases, strict=True):
        for panel, stage in zip(row, stages, strict=True):
            own = [one for one in runs if one.base == base]
            _compared(panel, own, [one.get_curve(stage, "probe_accuracy") for one in own], looks)
            panel.axhline(0.5, color="grey", lw=0.7, ls=":")
            panel.set_ylim(max(-0.03, lowest - 0.05), 1.03)
            panel.set_title(wrap_text(f"{stage} · {base}", WIDTH - 0.4), fontsize=9)
        row[0].set_ylabel("probe accuracy")
    _finish(figure, panels, runs)
    return figure


def draw_curriculum(run: TrainingRun) -> Figure | None:
    """Draw the losses, averages, improvements and weights of one momentum training, by stage.

    The result is None if the training has no such data.
    """
    named = {
        "probe_loss": "probe loss", "ewma": "average loss (E)",
        "improvement": "improvement (m)", "weight": "weight (w)",
    }  # fmt: skip
    there = [name for name in named if any(run.get_curve(stage, name) for stage in run.stages)]
    if not there:
        return None
    title = f"{run.label}, seed {run.seed} · {run.base} · training {run.training}"
    figure, ((*panels,),) = _grid(1, len(there), title)
    for panel, name in zip(panels, there, strict=True):
        for stage in run.stages:
            if curve := run.get_curve(stage, name):
                steps = {"drawstyle": "steps-post", "marker": ""}
                look = steps if name == "weight" else {"marker": _mark(curve), "ms": 3}
                panel.plot(
                    *zip(*curve, strict=True), color=_of_stage(stage), lw=BOLD, label=stage, **look
                )
        panel.set_title(named[name], fontsize=9)
        _bounds(panel, run.settings, name)
    for panel in panels:
        panel.set_xlabel("examples")
        panel.grid(alpha=0.25)
    add_legend_below(figure, panels, run.stages)
    return figure


def draw_collapse_signs(runs: Sequence[TrainingRun]) -> Figure | None:
    """Draw mean log-ratios, and the instruction following and consistency of sampled answers.

    These curves show whether a model collapses. Columns without data are left out. The result is
    None if no training has data.
    """
    columns: dict[str, Callable[[TrainingRun], Curve]] = {
        "chosen log-ratio, mean over the stages": lambda one: _mean_of(
            [one.get_curve(stage, "chosen_logratio") for stage in one.stages]
        ),
        "rejected log-ratio, mean over the stages": lambda one: _mean_of(
            [one.get_curve(stage, "rejected_logratio") for stage in one.stages]
        ),
        "instruction following of samples": lambda one: one.get_curve("", "instruction_following"),
        "consistency of samples": lambda one: one.get_curve("", "consistent"),
    }
    there = {name: of for name, of in columns.items() if any(of(one) for one in runs)}
    if not there:
        return None
    bases = list(dict.fromkeys(one.base for one in runs))
    figure, panels = _grid(len(bases), len(there), "What probe accuracy does not show")
    looks = _looks(runs)
    for row, base in zip(panels, bases, strict=True):
        own = [one for one in runs if one.base == base]
        for panel, (name, of) in zip(row, there.items(), strict=True):
            _compared(panel, own, [of(one) for one in own], looks)
            panel.set_title(wrap_text(f"{name} · {base}", WIDTH - 0.4), fontsize=9)
            if name.startswith("chosen"):
                _edges(panel, [one.settings.get("log_ratio_warning") for one in own])
    _finish(figure, panels, runs)
    return figure


# --- inside ------------------------------------------------------------------------------


def _grid(rows: int, columns: int, title: str) -> tuple[Figure, Any]:
    width = WIDTH * columns
    figure = create_figure(width, 1.1 + HEIGHT * rows)
    figure.suptitle(wrap_text(title, width - 0.5), fontsize=10)
    return figure, figure.subplots(rows, columns, squeeze=False)


def _finish(figure: Figure, panels: Any, runs: Sequence[TrainingRun]) -> None:
    for panel in panels.ravel():
        panel.grid(alpha=0.25)
        if not panel.get_legend_handles_labels()[0]:  # Reference lines have no label.
            panel.text(0.5, 0.5, "no data", ha="center", va="center", transform=panel.transAxes)
    for panel in panels[-1]:
        panel.set_xlabel("examples")
    add_legend_below(figure, list(panels.ravel()), list(dict.fromkeys(one.label for one in runs)))


def _compared(
    panel: Any,
    runs: Sequence[TrainingRun],
    curves: Sequence[Curve],
    looks: Mapping[str, Mapping[str, Any]],
) -> None:
    """Draw one line per label; several seeds are also drawn separately as thin lines."""
    for place, (label, look) in enumerate(looks.items()):
        own = [c for one, c in zip(runs, curves, strict=True) if one.label == label and c]
        if not own:
            continue
        for curve in own if len(own) > 1 else ():
            panel.plot(*zip(*curve, strict=True), lw=THIN, alpha=0.5, **look)
        mean = _mean_of(own)
        width = BOLD + WIDER * (len(looks) - 1 - place)  # Equal curves must not hide each other.
        panel.plot(
            *zip(*mean, strict=True), lw=width, label=label, marker=_mark(mean), ms=3, **look
        )


def _looks(runs: Sequence[TrainingRun]) -> dict[str, dict[str, Any]]:
    """Return the style of each label: a colour per schedule, then other colours with dashes."""
    labels: dict[str, list[str]] = {}
    for one in runs:
        own = labels.setdefault(one.schedule, [])
        if one.label not in own:
            own.append(one.label)
    return {
        label: {"color": OTHER_COLOURS[(place - 1) % len(OTHER_COLOURS)], "ls": "--"}
        if place
        else {"color": SCHEDULE_COLOURS.get(schedule, "C7")}
        for schedule, own in labels.items()
        for place, label in enumerate(own)
    }


def _mean_of(curves: Sequence[Curve]) -> Curve:
    """Return the mean at those numbers of examples where all nonempty curves have a value."""
    at: dict[int, list[float]] = {}
    known = [curve for curve in curves if curve]
    for curve in known:
        for examples, value in curve:
            at.setdefault(examples, []).append(value)
    return [(x, sum(some) / len(some)) for x, some in sorted(at.items()) if len(some) == len(known)]


def _mark(curve: Curve) -> str:
    return "o" if len(curve) <= 25 else ""


def _stages(runs: Sequence[TrainingRun], name: str) -> list[str]:
    there = {stage for one in runs for stage in one.stages if one.get_curve(stage, name)}
    return [*(s for s in STAGES if s in there), *sorted(there - set(STAGES))]


def _of_stage(stage: str) -> str:
    return STAGE_COLOURS.get(stage, "C7")


def _bounds(panel: Any, settings: Mapping[str, Any], name: str) -> None:
    """Draw the bounds that the settings put on improvements or weights."""
    named = {"improvement": ("m_max",), "weight": ("w_min", "w_max")}.get(name, ())
    _edges(panel, [settings.get(one) for one in named])


def _edges(panel: Any, values: Sequence[Json]) -> None:
    """Draw a dotted line at each value; missing settings have none."""
    for value in sorted({one for one in values if isinstance(one, int | float)}):
        panel.axhline(value, color="grey", lw=0.7, ls=":")


# --- Tables of trainings: first and last values of each stage, and signs of a collapse.

LONG_COLUMNS = ("training", "base", "schedule", "seed", "examples", "stage", "name", "value")
NO_PROBES = "No figures are written because no probe has been logged yet"


def render_files(runs: Sequence[TrainingRun], folder: Path) -> tuple[dict[Path, str | bytes], str]:
    """Return the files to write, and a sentence that says why there are no figures ("" if there
    are).

    The files are training.csv (every point of every curve), training.md (one row per training) and
    the figures.
    """
    found: dict[Path, str | bytes] = {
        folder / "training.csv": tables.as_csv(long_table(runs)),
        folder / "training.md": tables.as_markdown(summary_table(runs)),
    }
    if not plotting.has_matplotlib():
        return found, plotting.MISSING_MATPLOTLIB
    drawn = draw_figures(runs)
    return found | {folder / name: data for name, data in drawn.items()}, "" if drawn else NO_PROBES


def long_table(runs: Sequence[TrainingRun]) -> Table:
    """Return a table with one row per point of a curve."""
    rows: list[tuple[Cell, ...]] = [
        (one.training, one.base, one.label, one.seed, examples, stage, name, value)
        for one in runs
        for (stage, name), curve in sorted(one.curves.items())
        for examples, value in curve
    ]
    return Table(LONG_COLUMNS, tuple(rows))


def summary_table(runs: Sequence[TrainingRun]) -> Table:
    """Return a table with one row for each training.

    The columns are the accuracy of each stage at the first and the last probe, the lowest chosen
    log-ratio of any stage, the instruction following of sampled answers at the first and the last
    sample, and the range of the stage weights.
    """
    stages = list(dict.fromkeys(stage for one in runs for stage in one.stages))
    heads = ("training", "base", "schedule", "seed", "status", "examples",
             *(f"{stage} accuracy" for stage in stages), "minimum chosen log-ratio",
             "instruction following", "weights")  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for one in runs:
        ratios = [
            value for stage in one.stages for _, value in one.get_curve(stage, "chosen_logratio")
        ]
        weights = [value for stage in one.stages for _, value in one.get_curve(stage, "weight")]
        rows.append(
            (
                *(one.training, one.base, one.label, one.seed, one.status, count_examples(one)),
                *(_course(one.get_curve(stage, "probe_accuracy")) for stage in stages),
                min(ratios) if ratios else None,
                _course(one.get_curve("", "instruction_following")),
                f"{min(weights):.3f} to {max(weights):.3f}" if weights else None,
            )
        )
    return Table(heads, tuple(rows))


def count_examples(run: TrainingRun) -> int:
    """Return the number of examples at the last point of any curve of a training."""
    return max((curve[-1][0] for curve in run.curves.values() if curve), default=0)


def _course(curve: Curve) -> str | None:
    """Return the first and the last value of a curve as text."""
    return f"{curve[0][1]:.3f} → {curve[-1][1]:.3f}" if curve else None
