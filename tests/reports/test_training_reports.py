"""Figures and tables of trainings, from logs that are written by hand.

Internals: figures and tables are made of logs that are written by hand.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from peirce.reports.files import plotting, writing
from peirce.reports.papers.gear import training
from peirce.reports.papers.gear.training import UNLABELLED_SETTINGS, TrainingRun, build_runs
from peirce.store import Point
from peirce.training.dpo import TrainConfig

STAGES = ("parsing", "consistency", "gear")


def points(schedule: str, seed: int, periods: int = 20) -> list[Point]:
    """Curves as a training would give them."""
    found = []
    for t in range(periods + 1):
        at = 48 * t
        for n, stage in enumerate(STAGES):
            taught = not schedule.startswith("single:") or schedule.endswith(stage)
            rate = (0.4 if taught else 0.05) / (1 + n)
            accuracy = 0.5 + 0.45 * (1 - math.exp(-rate * t)) + 0.01 * math.sin(t + seed)
            loss = 0.69 * math.exp(-rate * t)
            found += [
                Point(at, stage, "probe_accuracy", accuracy), Point(at, stage, "probe_loss", loss),
                Point(at, stage, "chosen_logratio", -0.02 * t * (1 + n)),
                Point(at, stage, "rejected_logratio", -0.1 * t), Point(at, stage, "weight", 1 + 0.1 * math.sin(t + n)),
            ]  # fmt: skip
            if schedule == "momentum":
                found += [Point(at, stage, "ewma", loss * 1.1)]
                found += [Point(at, stage, "improvement", 0.03 * math.exp(-t / 9))] if t else []
        found.append(Point(at, "", "instruction_following", 0.9 + 0.003 * t))
    return found


def row(
    training: str, schedule: str, seed: int = 0, base: str = "m/llama", digest: str = "aa11", **more
) -> dict:
    settings = {
        "schedule": schedule,
        "seed": seed,
        "w_min": 0.8,
        "w_max": 1.2,
        "m_max": 0.03,
        "beta": 0.5,
        **more,
    }
    return {
        "training": training, "status": "done",
        "settings": {"settings": settings, "base": {"name": base, "weights": digest}, "stages": list(STAGES)},
    }  # fmt: skip


@pytest.fixture(scope="module")
def found() -> list[TrainingRun]:
    told = [
        (f"{schedule[:3]}{base[2]}{seed}", schedule, seed, base)
        for base in ("m/llama", "m/neox")
        for schedule in ("momentum", "single:gear", "fixed", "single:parsing", "single:consistency")
        for seed in (0, 1)
    ]
    return build_runs((row(t, s, seed, base), points(s, seed)) for t, s, seed, base in told)


def test_trainings_stand_by_base_and_schedule_and_seeds_share_a_label(
    found: list[TrainingRun],
) -> None:
    assert [one.label for one in found[:4]] == ["fixed", "fixed", "momentum", "momentum"]
    assert [one.base for one in found] == ["llama"] * 10 + ["neox"] * 10
    assert [one.seed for one in found[:4]] == [0, 1, 0, 1]


def test_labels_say_what_differs_and_nothing_else() -> None:
    told = build_runs(
        [(row("a", "momentum"), []), (row("b", "momentum", w_min=0.2, w_max=2.0), []),
         (row("c", "fixed", w_min=0.2), []), (row("d", "fixed", seed=4, report_to="wandb", sample_tokens=64), []),
         (row("e", "single:gear", beta=0.1, digest="bb22"), []),
         (row("f", "remaining-loss", min_share=0.1, mix="3:1:1"), []),
         (row("g", "remaining-loss", min_share=0.2), [])]
    )  # fmt: skip
    assert {one.training: one.label for one in told} == {
        "a": "momentum (weights 0.8 to 1.2)", "b": "momentum (weights 0.2 to 2)", "c": "fixed",
        "d": "fixed", "e": "single:gear", "f": "remaining-loss (min_share 0.1)",
        "g": "remaining-loss (min_share 0.2)",
    }  # fmt: skip
    assert {one.training: one.base for one in told}["e"] == "llama (bb22)"


def test_settings_that_do_not_change_the_weights_are_in_no_label() -> None:
    told = TrainConfig()
    assert told.to_record().keys() - told.decisive_settings().keys() <= set(UNLABELLED_SETTINGS)


def test_a_panel_without_a_curve_says_so_and_a_warning_stands_where_it_was_set() -> None:
    if not plotting.has_matplotlib():
        pytest.skip("NO FIGURES HERE: matplotlib absent; make test EXTRAS=test,report")
    some = [
        Point(0, "gear", "probe_accuracy", 0.5),
        Point(0, "gear", "chosen_logratio", 0.0),
        Point(0, "parsing", "probe_accuracy", 0.5),
    ]
    told = build_runs([(row("a", "fixed", log_ratio_warning=-3.0), some),
                 (row("b", "fixed", base="m/neox", log_ratio_warning=-3.0), some[:2])])  # fmt: skip
    figure = training.draw_accuracies(told, "")
    assert figure is not None
    empty = [bool(panel.texts) for panel in figure.axes]  # a row a base, parsing before gear
    assert empty == [False, False, True, False]
    figure = training.draw_collapse_signs(told)
    assert figure is not None
    levels = [line.get_ydata()[0] for line in figure.axes[0].lines if line.get_linestyle() == ":"]
    assert levels == [-3.0]


def test_every_figure_of_the_paper_is_drawn_from_logs(
    found: list[TrainingRun], tmp_path: Path
) -> None:
    few = {"fixl0", "fixn0", "moml0", "moml1", "sinl0"}  # of each figure, and two bases
    some = [one for one in found if one.training in few]
    files, without = training.render_files(some, tmp_path)
    if not plotting.has_matplotlib():
        assert without == plotting.MISSING_MATPLOTLIB
        pytest.skip("NO FIGURES HERE: matplotlib absent; make test EXTRAS=test,report")
    writing.write_files(files)
    names = {path.name for path in tmp_path.iterdir()}
    assert without == ""
    wanted = {"figure6", "figure7", "watch", "curriculum-moml0", "curriculum-moml1"}
    assert names == {
        "training.csv", "training.md", *(f"{name}{form}" for name in wanted for form in (".png", ".svg"))
    }  # fmt: skip
    drawn = (tmp_path / "figure6.svg").read_text()
    assert "single:gear" in drawn and "momentum" not in drawn
    drawn = training.draw_figures(some)  # drawn twice, alike
    assert all(files[tmp_path / name] == data for name, data in drawn.items())


def test_a_figure_without_data_is_left_out_and_said() -> None:
    if not plotting.has_matplotlib():
        pytest.skip("NO FIGURES HERE: matplotlib absent; make test EXTRAS=test,report")
    (alone,) = build_runs([(row("a", "fixed"), [Point(16, "", "train_loss", 0.6)])])
    assert training.render_files([alone], Path("x"))[1] == training.NO_PROBES
    (probed,) = build_runs([(row("a", "fixed"), [Point(0, "gear", "probe_accuracy", 0.5)])])
    assert {name[:7] for name in training.draw_figures([probed])} == {"figure7"}


def test_a_collapse_is_watched_by_the_limits_that_each_training_was_given() -> None:
    if not plotting.has_matplotlib():
        pytest.skip("NO FIGURES HERE: matplotlib absent; make test EXTRAS=test,report")
    ratios = [Point(0, "gear", "chosen_logratio", 0.0), Point(960, "gear", "chosen_logratio", -1.2)]
    told = [(row("a", "fixed", log_ratio_warning=-0.8), ratios),
            (row("b", "momentum", log_ratio_warning=-0.8), ratios),
            (row("c", "single:gear", log_ratio_warning=-2.0), ratios)]  # fmt: skip
    figure = training.draw_collapse_signs(build_runs(told))
    (panel,) = figure.axes
    levels = [one.get_ydata()[0] for one in panel.lines if one.get_linestyle() == ":"]
    assert levels == [-2.0, -0.8]


def test_the_summary_says_where_each_stage_began_and_ended(
    found: list[TrainingRun], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plotting, "has_matplotlib", lambda: False)  # it has no figure
    files, _ = training.render_files(found[:3], tmp_path)
    (line, *_) = [
        one for one in str(files[tmp_path / "training.md"]).splitlines() if "| fix" in one
    ]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[:6] == ["fixl0", "llama", "fixed", "0", "done", "960"]
    assert cells[6] == "0.500 → 0.959" and cells[9] == "-1.200" and cells[10] == "0.900 → 0.960"
    told = list(csv.DictReader(str(files[tmp_path / "training.csv"]).splitlines()))
    assert len(told) == sum(len(c) for one in found[:3] for c in one.curves.values())
    assert float(told[0]["value"]) == 0.9  # whole numbers, not the rounded ones


@pytest.mark.parametrize(("template", "more"), [("compact", " --template compact"), ("full", "")])
def test_the_next_command_asks_as_the_pairs_did(template, more, capsys):
    from peirce.reports.screen import text
    from peirce.reports.screen import training as trained

    record = {"training": "a", "status": "done", "examples": 8, "seconds": 1.0, "stages": {}, "said": [],
              "model": "out/model", "base": "b", "template": template}  # fmt: skip
    trained.print_training(text.create_console(), record)
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"Next: peirce run TASK --model hf:out/model{more}"


def test_the_summary_says_where_the_time_went_in_one_line(capsys):
    from peirce.reports.screen import text
    from peirce.reports.screen import training as trained

    parts = {"updates": 60.0, "probes": 20.0, "samples": 15.0, "reference": 3.0, "saving": 1.0, "other": 1.0}  # fmt: skip
    record = {"training": "a", "status": "done", "examples": 8, "seconds": 100.0, "stages": {}, "said": [],
              "model": None, "seconds_by_part": parts}  # fmt: skip
    trained.print_training(text.create_console(), record)
    (line,) = [one for one in capsys.readouterr().out.splitlines() if one.startswith("Time: ")]
    assert line.startswith("Time: updates ") and "(60%), probes " in line
    assert "sampled answers 15" in line and line.endswith("other 1.0 s (1%)")
