"""The live picture of a training, as a terminal shows it.

Internals: the screen is drawn on a clock of the test's own.
"""

from __future__ import annotations

import io

from peirce.reports.screen.training_progress import ClassifierProgress, TrainingProgress
from peirce.training.dpo.progress import Progress
from rich.console import Console

WARNING = "The mean chosen log-ratio of parsing is -0.62, below -0.5."


def screen_lines(kind: type, width: int, *told: object) -> list[str]:
    """What stands in the picture 754 seconds after the training began."""
    clock = iter([0.0, 0.0])
    out = Console(record=True, force_terminal=True, width=width, file=io.StringIO())
    screen = kind("runs/a", out=out, live=True, quiet=True, clock=lambda: next(clock, 754.0))
    for one in told:
        screen(one)
    out.print(screen._draw())
    return [line.rstrip() for line in out.export_text().splitlines()]


def test_bar_state_stages_and_warnings_have_lines_of_their_own() -> None:
    stages = ("parsing", "consistency", "gear")
    probe = {"probe_loss": 0.61, "probe_accuracy": 0.7, "chosen_logratio": -0.62}
    began = Progress(0, 51_200, 0.0)
    told = Progress(12_800, 51_200, 754.0, 0.4123, dict.fromkeys(stages, probe),
                    dict.fromkeys(stages, 1.182), {"instruction_following": 0.94}, (WARNING,), "sample")  # fmt: skip
    lines = screen_lines(TrainingProgress, 100, began, told)
    assert set(lines[0]) <= set("━╺╸") and len(lines[0]) == 60
    assert lines[1] == (
        "12,800 of 51,200 examples   loss 0.412   12:34, about 37:42 left   sampling answers"
    )
    cells = [line.split() for line in lines[4:7]]
    assert cells == [[stage, "0.610", "0.700", "-0.620", "1.182"] for stage in stages]
    assert lines[7:] == ["sampled: instruction following 0.940", WARNING]
    assert screen_lines(TrainingProgress, 100) == ["loading the model"]


def test_the_reach_of_the_schedule_is_one_line_at_the_start() -> None:
    told = (
        "In 8 simulated courses of the probe losses, momentum moves at most 3.5% of 51,200 draws."
    )
    out = Console(record=True, width=60, file=io.StringIO())
    screen = TrainingProgress("runs/a", out=out, live=False)
    screen(Progress(0, 51_200, 0.0, phase="tokens"))
    for examples in (0, 32, 64):
        screen(Progress(examples, 51_200, 1.0, reach=told))
    assert out.export_text().splitlines() == [told]


def test_a_classifier_says_how_far_it_is() -> None:
    told = {"set": "dreaddit", "epoch": None, "update": 30, "updates": 130}
    bar, line = screen_lines(ClassifierProgress, 60, told)
    assert set(bar) <= set("━╺╸") and len(bar) == 60
    assert line == "dreaddit: update 30 of at most 130   12:34, about 41:53 left"


def test_reproduce_prints_the_reach_of_each_training_once() -> None:
    from types import SimpleNamespace

    from peirce.reports.screen.reproduction import ReproductionProgress

    out = Console(file=io.StringIO(), width=200)
    screen = ReproductionProgress(out=out)
    for number, name in enumerate(("train momentum", "train remaining-loss"), 1):
        step = SimpleNamespace(name=name, problems=())
        screen.take_step(SimpleNamespace(number=number, total=2, step=step, phase="begin"))
        for examples in (0, 8):
            screen.take_training(Progress(examples, 16, 1.0, reach="It moves at most 2%."))
    assert out.file.getvalue().count("It moves at most 2%.\n") == 2
