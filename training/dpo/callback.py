"""The Trainer callback that runs the curriculum: it draws pairs, measures, logs and saves.

Import this module only when a training starts, because it imports transformers. One epoch of the
Trainer is one period, the examples between two probes (measurements on validation pairs). The pairs
of a period are drawn when the period begins, with the stage weights from the probe before it.
Therefore no batch depends on weights that changed later.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.utils.data import Sampler
from transformers import TrainerCallback

from ...records import DataError, Json, PeirceError, UsageError
from . import checkpoints
from .curriculum import MomentumSchedule, Schedule
from .launcher import is_sharded
from .mixture import Mixture
from .overoptimization import OveroptimizationGuard
from .pair_tokens import PairTokens
from .processes import broadcast, run_with_help
from .progress import (
    TIMED_PARTS,
    MeasureSamples,
    Progress,
    SampleAnswers,
    TrainingInterrupted,
    TrainingLog,
)
from .scoring import ReferenceLogps, Scorer
from .settings import TrainConfig

if TYPE_CHECKING:
    from .scoring import Probe


@contextlib.contextmanager
def abort_passes(overdue: Callable[[], bool] | None) -> Iterator[None]:
    """Raise TrainingInterrupted before the next layer of a model runs, once `overdue()` is true.

    No layer runs while the optimizer changes the weights. Therefore an update is either finished or
    not begun.

    Args:
        overdue: Returns whether the training must end now. None disables the check.
    """
    if overdue is None:
        yield
        return

    def check(module: Any, inputs: Any) -> None:
        if overdue():
            raise TrainingInterrupted

    hook = register_module_forward_pre_hook(check)
    try:
        yield
    finally:
        hook.remove()


class PeriodSampler(Sampler):  # type: ignore[misc]
    """A sampler that yields the pairs of the current period, in the order in which they were
    drawn.
    """

    def __init__(self, length: int) -> None:
        self._length = length
        self.pairs: list[int] = []

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[int]:
        return iter(self.pairs)


class CurriculumCallback(TrainerCallback):  # type: ignore[misc]
    """The Trainer callback that runs the curriculum. Call `attach` before the training starts.

    Attributes:
        status: One of `store.trainings.STATUSES`. It is "done" unless something ended the training
            early.
        reach: How far the schedule can move the draws, as a sentence, for the progress reports.
    """

    def __init__(
        self,
        settings: TrainConfig,
        schedule: Schedule,
        mixture: Mixture[int],
        tokens: PairTokens,
        log: TrainingLog,
        measure_samples: MeasureSamples | None,
        progress: Callable[[Progress], None] | None,
        interrupt: Callable[[], bool] | None,
    ) -> None:
        self.settings = settings
        self.schedule = schedule
        self.mixture = mixture
        self.period = PeriodSampler(settings.period)
        self.guard = OveroptimizationGuard(settings)
        self.references = ReferenceLogps()
        self.status = "done"
        self.examples = 0
        self.probes: Mapping[str, Mapping[str, float]] = {}
        self.samples: Mapping[str, float] = {}
        self.reach = ""
        self._tokens = tokens
        self._log = log
        self._sampled = measure_samples
        self._progress = progress
        self._interrupt = interrupt
        self._began = time.monotonic()
        self._before = 0.0  # seconds of training before a resume
        self._spent = dict.fromkeys(TIMED_PARTS, 0.0)
        self._update_began = self._began
        self._loss: float | None = None
        self._probed = self._sampled_at = -1  # examples at the last probe and the last sample
        self._random_state = torch.get_rng_state()  # as after the last finished update
        self._trainer: Any = None

    def attach(self, trainer: Any, scorer: Scorer, probe: Probe, ask: SampleAnswers) -> None:
        """Set the trainer, and the scorer, probe and answer sampler that work on the trainer's
        model.

        Args:
            trainer: The trainer that calls this object.
            scorer: Computes log-probabilities of answers.
            probe: Measures the model on validation pairs.
            ask: Samples answers of the model.
        """
        self._trainer, self._scorer, self._probe, self._ask = trainer, scorer, probe, ask
        if self.settings.precompute:
            self._tokens.reference_logps = self.references.logps

    @property
    def seconds(self) -> float:
        """The training time so far in seconds, including the time before a resume."""
        return self._before + time.monotonic() - self._began

    @property
    def seconds_by_part(self) -> dict[str, float]:
        """The training time so far in seconds, by part: `TIMED_PARTS`, and "other" for the rest."""
        return {**self._spent, "other": max(0.0, self.seconds - sum(self._spent.values()))}

    @contextlib.contextmanager
    def measure_time(self, part: str) -> Iterator[None]:
        """Add the time of the `with` block to a part of the training time.

        Args:
            part: One of `progress.TIMED_PARTS`.
        """
        began = time.monotonic()
        try:
            yield
        finally:
            self._spent[part] += time.monotonic() - began

    # --- Trainer callbacks -----------------------------------------------------------------

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Probe the model before the first update, or repeat a probe that an interrupt cut off."""
        self.examples = state.global_step * self.settings.batch
        if self.examples % self.settings.period == 0:
            self._measure()
        self._random_state = torch.get_rng_state()

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Draw the pairs of the next period, and compute their missing reference
        log-probabilities.
        """
        length = self.settings.period
        number = state.global_step * self.settings.batch // length
        history = self.schedule.history
        drawn = self.mixture.draws(history, number * length, (number + 1) * length)
        self.period.pairs = [one.pair for one in drawn]
        self._tokens.tokenize(self.period.pairs)
        if self.settings.precompute:
            self._tell("reference")
            places = [self._tokens.positions(pair) for pair in self.period.pairs]
            keys = [(prompt, answer) for prompt, *answers in places for answer in answers]
            with self.measure_time("reference"):
                self.references.compute_missing(keys, self._scorer)

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Note when the update begins."""
        self._update_began = time.monotonic()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Stop the training after this update if the caller requests it.

        Several processes stop at the same update: the first one decides for all of them.
        """
        self._spent["updates"] += time.monotonic() - self._update_began
        self.examples = state.global_step * self.settings.batch
        self._random_state = torch.get_rng_state()
        if self.examples % self.settings.period:
            self._ask_to_stop(control)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        """Log the loss, learning rate and gradient norm of the last update."""
        if "loss" not in (logs or {}):  # the summary at the end
            return
        self._loss = float(logs["loss"])
        _check(self._loss, f"The loss of the update at {self.examples:,} examples")
        for name, key in (("train_loss", "loss"), ("learning_rate", "learning_rate"), ("grad_norm", "grad_norm")):  # fmt: skip
            if key in logs:
                self._point("", name, float(logs[key]))
        self._tell("train")

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Probe the model at the end of the period, and decide whether to stop and whether to
        save.
        """
        self.examples = state.global_step * self.settings.batch
        if self.examples % self.settings.period:  # interrupted within the period
            return
        self._measure()
        if self.guard.stop_reason and self.examples < self.settings.examples:
            self.status = "stopped"
            control.should_training_stop = control.should_save = True
        elif self.examples < self.settings.examples:
            self._ask_to_stop(control)
        number = self.examples // self.settings.period
        if number % self.settings.save_every == 0 or self.examples == self.settings.examples:
            control.should_save = True
        if control.should_save:
            self._tell("save")

    def save_interrupted(self) -> None:
        """Save a checkpoint of the last finished update, unless this checkpoint exists already."""
        update = self._trainer.state.global_step
        folder = Path(self._trainer.args.output_dir) / f"{checkpoints.PREFIX}{update}"
        if update and not (folder / checkpoints.STATE_FILE).is_file():
            torch.set_rng_state(self._random_state)  # dropout of the aborted update used it
            self._tell("save")
            self._trainer._save_checkpoint(self._trainer.model, None)

    def complete_checkpoint(self, folder: Path, identity: Mapping[str, Json]) -> None:
        """Add the curriculum's state to a checkpoint that the trainer has just written.

        Args:
            folder: The folder of the checkpoint.
            identity: The training id, settings, pairs and base model of the checkpoint.
        """
        state = {**identity, "examples": self.examples, "seconds": self.seconds,
                 "seconds_by_part": self._spent, "sharded": is_sharded(), "schedule": self.schedule.state_dict(), "mixture": self.mixture.state_dict(),
                 "guard": self.guard.state_dict(), "measured": [self._probed, self._sampled_at],
                 "probes": self.probes, "samples": dict(self.samples)}  # fmt: skip
        checkpoints.complete_checkpoint(folder, state, *self.references.to_arrays())
        checkpoints.prune_checkpoints(folder.parent, self.settings.keep)

    def load_checkpoint(self, folder: Path) -> None:
        """Restore the state of a checkpoint, so that the training continues from there.

        Raises:
            UsageError: The checkpoint was written with other settings or other pairs.
            DataError: The checkpoint cannot be read.
        """
        state, arrays = checkpoints.read_checkpoint(folder)
        for name in ("mixture", "schedule", "guard", "examples", "seconds"):
            if name not in state:
                raise DataError(f"The state of the checkpoint {folder} has no {name!r}: remove it, and"
                                " --resume goes on from the one before.")  # fmt: skip
        if bool(state.get("sharded")) != is_sharded():
            written, now = ("with", "without") if state.get("sharded") else ("without", "with")
            raise UsageError(
                f"The checkpoint {folder} was written {written} FSDP2 and cannot be continued {now} it:"
                " start the launcher with the same configuration."
            )
        self.mixture.check_state_dict(state["mixture"])
        self.schedule.load_state_dict(state["schedule"])
        self.guard.load_state_dict(state["guard"])
        self.references.load_arrays(arrays["keys"], arrays["values"])
        self._tokens.reference_logps = self.references.logps if self.settings.precompute else {}
        self.examples, self._before = state["examples"], state["seconds"]
        self._spent |= state.get("seconds_by_part", {})
        self._probed, self._sampled_at = state.get("measured", [self.examples, self.examples])
        self.probes, self.samples = state.get("probes", {}), state.get("samples", {})

    # --- a probe ----------------------------------------------------------------------------

    def _measure(self) -> None:
        """Probe and sample at this number of examples, as far as that is not done yet."""
        if self._probed != self.examples:
            self._run_probe()
            self._probed = self.examples
        number, every = self.examples // self.settings.period, self.settings.sample_every
        due = self._sampled is not None and every and number % every == 0
        if self._sampled is not None and due and self._sampled_at != self.examples:
            self._tell("sample")
            with self.measure_time("samples"):
                self.samples = self._sample(self._sampled)
            for name, value in self.samples.items():
                self._point("", name, value)
            self.guard.check_samples(self.examples, self.samples)
            self._sampled_at = self.examples
        self._point("", "seconds", self.seconds)
        self._tell("train")

    def _run_probe(self) -> None:
        self._tell("probe")
        with self.measure_time("reference"):
            self._probe.score_reference()
        with self.measure_time("probes"):
            self.probes = self._probe.measure()
        for stage, measured in self.probes.items():
            for name, value in measured.items():
                self._point(stage, name, value)
        losses = {stage: measured["probe_loss"] for stage, measured in self.probes.items()}
        for stage, loss in losses.items():
            _check(loss, f"The probe loss of the stage {stage} after {self.examples:,} examples")
        self.schedule.update(losses)
        self._write_weights()
        if self._trainer.args.report_to:
            told = {f"{name}/{stage}": value for stage, measured in self.probes.items()
                    for name, value in measured.items()}  # fmt: skip
            weights = self.schedule.weights().items()
            self._trainer.log(told | {f"weight/{stage}": weight for stage, weight in weights})
        self.guard.check_probes(self.examples, self.probes)

    def _write_weights(self) -> None:
        weights = self.schedule.weights()
        total = sum(weights.values())
        used = self.mixture.usage(self.schedule.history, self.examples)
        for stage, weight in weights.items():
            self._point(stage, "weight", weight)
            self._point(stage, "share", weight / total)
            self._point(stage, "drawn", used[stage].draws)
        if isinstance(self.schedule, MomentumSchedule):
            for name, values in (("ewma", self.schedule.averages), ("improvement", self.schedule.improvements)):  # fmt: skip
                for stage, value in values.items():
                    self._point(stage, name, value)

    def _sample(self, sampled: MeasureSamples) -> Mapping[str, float]:
        """Measure in the main process, sample in all, and share the values with all."""
        found: Mapping[str, float] = run_with_help(
            lambda ask: dict(sampled(ask)), self._ask, self._trainer.accelerator.num_processes
        )
        if "instruction_following" not in found:
            raise PeirceError("The sampler of the training measured no instruction_following.")
        return found

    def _ask_to_stop(self, control: Any) -> None:
        asked = self._interrupt is not None and self._interrupt()
        if broadcast(asked, self._trainer.accelerator.num_processes):
            self.status = "interrupted"
            control.should_training_stop = control.should_save = True

    def _point(self, stage: str, name: str, value: float) -> None:
        if self._trainer.is_world_process_zero():
            self._log.log_point(self.examples, stage, name, value)

    def _tell(self, doing: str) -> None:
        if self._progress is None or not self._trainer.is_world_process_zero():
            return
        self._progress(
            Progress(
                self.examples, self.settings.examples, self.seconds, self._loss, self.probes,
                self.schedule.weights(), self.samples, self.guard.messages, doing,
                self.reach,
            )
        )  # fmt: skip


def _check(loss: float, what: str) -> None:
    if not math.isfinite(loss):
        raise PeirceError(
            f"{what} is {loss}: training has diverged. Start again with a lower learning_rate."
        )
