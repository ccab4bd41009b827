"""Train a proposer by DPO on preference pairs that a schedule draws (GEAR, section 6.2).

    log = ListLog()
    train("models/base", table, TrainConfig(schedule="momentum"), Path("runs/first"), log)

The folder of a training contains:

    training.json        settings, pairs, base, chat template and tokenizer by digest, the date in
                         the prompts if `render_anew` is set, status, final measurements, the
                         seconds of each part, the number of processes and the implementation of
                         attention
    checkpoints/         checkpoint-N after update N, with the curriculum's state, for `resume`
    adapter/ or model/   the trained weights (model/ with `full`) and the tokenizer, once it ended

There are three differences from GEAR's released scripts. Prompts and answers are never truncated.
All three stages are probed with every schedule. A training on a single stage sees as many examples
as a training on a mixture. As in the released scripts, every probe uses the same pairs, dropout is
off, and the first period draws all stages equally.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...agents.local.settings import check_date
from ...records import Json, UsageError
from ...records.private_files import open_lock, write_folder
from ..base_models import Base, check_packages, find_base, write_origin
from ..splits import Split
from . import checkpoints
from .curriculum import Schedule, trainable_stages
from .launcher import check_launcher, is_sharded
from .mixture import Mixture
from .pair_tokens import PairTokens
from .progress import MeasureSamples, Progress, TrainingInterrupted, TrainingLog
from .reach import find_reach
from .record import CHECKPOINTS_FOLDER, begin_record, keep_rendering, write_record
from .reproduction import (
    DATE_KEY,
    VARIABLES_KEY,
    check_rendering,
    choose_rendering,
    limit_holds,
)
from .scoring import Probe, draw_pools
from .settings import TrainConfig

if TYPE_CHECKING:
    from ..pair_table import PairTable
    from .callback import CurriculumCallback
    from .models import LoadedBase


@dataclass(frozen=True)
class TrainingResult:
    """The result of a DPO training.

    Attributes:
        training: The id of the training.
        out: The folder of the training.
        status: "done"; "stopped" if a warning ended the training at a probe; or "interrupted" if
            `interrupt` or `overdue` ended it. `resume=True` continues an interrupted training.
        examples: The number of examples seen.
        model: The folder of the trained adapter or model; None after an interrupt.
        fields: The final measurements, as in training.json.
    """

    training: str
    out: Path
    status: str
    examples: int
    model: Path | None
    fields: Mapping[str, Json]  # as in training.json


def train(
    base: str,
    table: PairTable,
    settings: TrainConfig,
    out: Path,
    log: TrainingLog,
    *,
    measure_samples: MeasureSamples | None = None,
    progress: Callable[[Progress], None] | None = None,
    interrupt: Callable[[], bool] | None = None,
    overdue: Callable[[], bool] | None = None,
    resume: bool = False,
    session_names: Mapping[str, str] | None = None,
    template_variables: Mapping[str, Json] | None = None,
    prompt_date: str | None = None,
) -> TrainingResult:
    """Fine-tune a base model on preference pairs by DPO, and measure it on validation pairs.

    Args:
        base: A model folder, or an id on the Hugging Face hub.
        table: The preference pairs for training and validation.
        settings: The settings of the training.
        out: The folder of the training.
        log: The log that records the measurements.
        measure_samples: Measures answers that the model gives during training; None samples no
            answers.
        progress: Called after each update and after each probe.
        interrupt: Called after each update. If it returns true, the training saves a checkpoint and
            ends. Of several processes, the first one decides for all.
        overdue: Called before each layer of the model runs. If it returns true, the training ends
            at once, with a checkpoint of the last finished update. It is not called with several
            processes.
        resume: Continue from the last complete checkpoint in `out`, or from the start if there is
            no checkpoint. For a finished training, the stored result is returned; also for one that
            a warning stopped, unless the settings of the warnings are other ones. If its weights
            were removed, they are trained again.
        session_names: Names of the sessions of the pairs for error messages, by digest.
        template_variables: With `render_anew`, the variables of the base's chat template; None for
            its default variables. A resume keeps those of the first start.
        prompt_date: With `render_anew`, the date that the template writes, such as 2026-11-29; None
            for today. A resume keeps that of the first start.

    Raises:
        UsageError: `out` contains another training; or `out` contains a training and `resume` is
            False; or the base model, the pairs and the settings do not fit each other; or the base
            model renders the prompts in another way than the sessions; or the launcher divides the
            model in a way that is not supported; or `prompt_date` is no date.
        DataError: A file cannot be read.
        PeirceError: The loss is not finite, or a batch does not fit into memory.
        KeyboardInterrupt: `overdue` returned true before there was anything to save.
    """
    check_launcher(settings)
    check_packages()
    found = find_base(base)
    # Under a launcher, one process checks the folder for all of them before any of them writes.
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    anew: dict[str, Json] = {DATE_KEY: check_date(prompt_date) or datetime.now().date().isoformat()}
    anew |= {VARIABLES_KEY: dict(template_variables)} if template_variables else {}
    anew = anew if settings.render_anew else {}
    if processes == 1:
        record = begin_record(out, found, table, settings, resume, anew)
    else:
        from .processes import find_device, run_on_main_process

        find_device(settings)
        record = run_on_main_process(
            lambda: begin_record(out, found, table, settings, resume, anew), processes
        )
    if record["status"] in ("done", "stopped") and (out / str(record["model"])).is_dir():
        return _trained(out, record)
    with _alone(out):
        return _Run(found, table, settings, out, log, record, session_names or {}).go(
            measure_samples, progress, interrupt, overdue
        )


class _Run:
    """The part of a training that one process runs."""

    def __init__(
        self,
        base: Base,
        table: PairTable,
        settings: TrainConfig,
        out: Path,
        log: TrainingLog,
        record: dict[str, Any],
        sessions: Mapping[str, str],
    ) -> None:
        self._base, self._table, self._settings = base, table, settings
        self._out, self._log, self._record = out, log, record
        self._sessions = sessions
        self._notes: list[str] = []

    def go(
        self,
        sampled: MeasureSamples | None,
        progress: Callable[[Progress], None] | None,
        interrupt: Callable[[], bool] | None,
        overdue: Callable[[], bool] | None,
    ) -> TrainingResult:
        from ..external_libraries import quiet_libraries
        from .processes import broadcast, find_device, report_out_of_memory

        with quiet_libraries(), report_out_of_memory(self._settings):
            from .callback import abort_passes
            from .models import load_base, open_wording

            device, processes = find_device(self._settings)
            overdue = overdue if processes == 1 else None  # several processes must stop together
            rendering = choose_rendering(self._table.settings, self._settings, self._record)
            wording = open_wording(self._base, None, self._settings, *rendering)
            self._notes = check_rendering(
                wording, self._table.settings, self._settings.render_anew, self._sessions
            )
            keep_rendering(self._out, self._record, wording)
            opened = load_base(self._base, self._settings, device, *rendering)
            if progress is not None:
                progress(Progress(0, self._settings.examples, 0.0, phase="tokens"))
            try:
                with abort_passes(overdue):
                    course, trainer = self._build_trainer(
                        opened, processes, sampled, progress, interrupt
                    )
            except TrainingInterrupted:
                raise KeyboardInterrupt from None
            main: bool = trainer.is_world_process_zero()
            last = checkpoints.find_last_complete(self._out / CHECKPOINTS_FOLDER) if main else None
            last = broadcast(last, processes)
            if last is not None:
                course.load_checkpoint(last)
            if main:
                write_record(self._out, self._record | {"status": "running"})
                self._log.open(self._record["training"], _opening(self._record))
            self._train(course, trainer, opened, last, overdue)
            trainer.accelerator.wait_for_everyone()
        return _trained(self._out, self._record)

    def _build_trainer(
        self,
        opened: LoadedBase,
        processes: int,
        sampled: MeasureSamples | None,
        progress: Callable[[Progress], None] | None,
        interrupt: Callable[[], bool] | None,
    ) -> tuple[CurriculumCallback, Any]:
        """Return the course and the trainer, connected with each other."""
        from .callback import CurriculumCallback
        from .sampling import AnswerSampler
        from .scoring import Scorer
        from .trainer import make_dpo_config, make_trainer

        settings, record = self._settings, self._record
        tokens, drawn, probed = self._pools(opened)
        schedule, said = self._schedule(drawn, probed, tokens)
        stages = schedule.stages
        reach = find_reach(settings, stages)
        record |= {"reach": None if reach is None else reach.to_record()}
        record |= {"stages": list(stages), "pools": _counts(drawn, probed, tokens)}
        record |= {"attention": opened.attention, "processes": processes}
        mixture = Mixture({one: drawn[one] for one in stages}, settings.seed, settings.period)
        course = CurriculumCallback(
            settings, schedule, mixture, tokens, self._log, sampled, progress, interrupt
        )
        course.guard.add_notes([*self._notes, *said])
        course.reach = "" if reach is None else reach.describe()
        args = make_dpo_config(settings, opened, self._out / CHECKPOINTS_FOLDER, processes)
        told = {key: record[key] for key in ("training", "digest", "pairs", "base")}
        trainer = make_trainer(args, opened, settings, course, tokens, told)
        rows = 4 * settings.device_batch  # passes without gradients need less memory per row
        scorer = Scorer(trainer, tokens.sequence, rows)
        probe = Probe({one: probed[one] for one in stages}, tokens, scorer, settings.beta)
        ask = AnswerSampler(trainer, opened.wording, settings.sample_tokens, rows, opened.context)
        course.attach(trainer, scorer, probe, ask)
        if not is_sharded():  # FSDP2 divides the model when the training begins
            with course.measure_time("reference"):
                probe.score_reference()
        return course, trainer

    def _train(
        self,
        course: CurriculumCallback,
        trainer: Any,
        opened: LoadedBase,
        last: Path | None,
        overdue: Callable[[], bool] | None,
    ) -> None:
        """Train, save the result, and always record how the training ended."""
        from .callback import abort_passes

        main, record, status = trainer.is_world_process_zero(), self._record, "failed"
        try:
            try:
                with abort_passes(overdue):
                    trainer.train(resume_from_checkpoint=str(last) if last else None)
                status = course.status
            except TrainingInterrupted:
                status = "interrupted"
                course.save_interrupted()
            if status != "interrupted":
                with course.measure_time("saving"):
                    self._save(trainer, opened)
        except KeyboardInterrupt:
            status = "interrupted"
            raise
        finally:
            record |= {"status": status, "examples": course.examples, "fields": _fields(course)}
            if main:
                write_record(self._out, record)
                self._log.close(status, record["fields"])

    def _pools(
        self, opened: LoadedBase
    ) -> tuple[PairTokens, dict[str, list[int]], dict[str, list[int]]]:
        """Return tokens, and ids of the pairs to draw from and to probe, by stage."""
        settings, table = self._settings, self._table
        limit = min(settings.max_length, opened.context or settings.max_length)
        known = limit_holds(table.settings, opened.wording, settings, limit)
        tokens = PairTokens(table, opened.wording, opened.end, limit, known)
        drawn = draw_pools(table, tokens, Split.TRAIN, settings.examples, settings.seed)
        probed = draw_pools(table, tokens, Split.VALIDATION, settings.probe_pairs, settings.seed)
        return tokens, drawn, probed

    def _schedule(
        self, drawn: Mapping[str, list[int]], probed: Mapping[str, list[int]], tokens: PairTokens
    ) -> tuple[Schedule, list[str]]:
        """Return the schedule, and a sentence on everything that is left out."""
        settings = self._settings
        try:
            stages, said = trainable_stages(
                {stage: len(ids) for stage, ids in drawn.items()},
                {stage: len(ids) for stage, ids in probed.items()},
            )
            schedule = settings.make_schedule(stages)
        except UsageError as error:
            if not tokens.too_long:
                raise
            raise UsageError(
                f"{error} {len(tokens.too_long):,} pairs were longer than the token limit"
                " (max_length or the model's context length)."
            ) from None
        if tokens.too_long:
            said.append(
                f"{len(tokens.too_long):,} pairs were left out: prompt and answer are longer than"
                " the limit of tokens (max_length, or what the model holds)."
            )
        return schedule, said

    def _save(self, trainer: Any, opened: LoadedBase) -> None:
        from ..external_libraries import report_write_errors
        from .models import save_trained
        from .sharding import gather_weights

        full = self._settings.full
        weights = gather_weights(trainer.model, not full) if is_sharded() else None
        if not trainer.is_world_process_zero():
            return
        name = "model" if full else "adapter"

        def write(folder: Path) -> None:
            with report_write_errors(self._out):
                model = trainer.accelerator.unwrap_model(trainer.model)
                save_trained(model, opened, folder, weights)
            write_origin(folder, self._base, self._record["training"], self._table.digest)

        write_folder(self._out / name, write, replace=True)
        self._record["model"] = name


@contextlib.contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Lock the folder for this training; raises UsageError where another process trains there."""
    if int(os.environ.get("RANK", "0")):
        yield
        return
    with open_lock(out / ".lock") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"Another process is training in {str(out)!r} now.") from None
        yield


def _opening(record: Mapping[str, Any]) -> dict[str, Json]:
    return {key: record[key] for key in ("settings", "digest", "pairs", "base", "stages", "pools")}


def _trained(out: Path, record: Mapping[str, Any]) -> TrainingResult:
    model = out / record["model"] if record.get("model") else None
    return TrainingResult(
        record["training"], out, record["status"], record["examples"], model, record["fields"]
    )


def _counts(
    drawn: Mapping[str, list[int]], probed: Mapping[str, list[int]], tokens: PairTokens
) -> dict[str, Json]:
    return {
        "train": {stage: len(ids) for stage, ids in drawn.items()},
        "validation": {stage: len(ids) for stage, ids in probed.items()},
        "too_long": len(tokens.too_long),
    }


def _fields(course: CurriculumCallback) -> dict[str, Json]:
    used = course.mixture.usage(course.schedule.history, course.examples)
    return {
        "seconds": round(course.seconds, 3),
        "seconds_by_part": {part: round(s, 3) for part, s in course.seconds_by_part.items()},
        "probes": {stage: dict(one) for stage, one in course.probes.items()},
        "sampled": dict(course.samples),
        "weights": dict(course.schedule.weights()),
        "used": {stage: {"draws": use.draws, "pairs": use.pairs} for stage, use in used.items()},
        "said": list(course.guard.messages),
        "stopped": course.guard.stop_reason,
    }
