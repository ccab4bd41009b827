"""`peirce reproduce gear-table4`: the experiment of tables 2 and 4 of the GEAR paper (section 6).

Sessions of collecting models on published observations give preference pairs. The base is trained
on these pairs by each schedule, with equally many examples. The base and the trained models answer
held-out problems by the method `t3`. A step that is finished is recorded in the folder and never
done again. Unfinished sessions and trainings continue from what they stored. Therefore the same
command continues an experiment that was stopped at any point.

What is done here and differs from the paper is listed on the page of results
(`reports/papers/gear/reproduction.py`) and in docs/reference/deviations.md.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from ...records import Interrupted, Json, PeirceError, UsageError
from ...reports.papers.gear.training import STAGES
from ...training.splits import Split
from ..arguments import validate_call
from ..option_types import ReproduceOptions
from ..outcome import load_outcome
from ..session.event_loops import run_coroutine
from ..session.execution import OnEvent
from ..session.planning import RunPlan, opening_settings, plan_run
from ..session.resuming import resume
from ..session.running import execute_plan, run_config
from ..train.pairing import pairs
from ..train.training import train
from ..train.training_folder import REQUEST_FILE, read_config
from .folder import BASE_FOLDER, ExperimentFolder
from .outcome import write_results
from .published_files import read_data_sets, split_problems
from .results import Reproduction
from .sessions import (
    STEP_KEY,
    base_arguments,
    check_finished,
    find_session,
    is_finished,
    max_failures,
    session_options,
)
from .settings import OWN_DEFAULTS, SINGLE, ReproductionConfig
from .steps import BASE, PAIRS_STEP, Step, plan_steps

if TYPE_CHECKING:
    from ..train.results import PairReport

EXPERIMENTS = ("gear-table4",)
TINY = "tiny"  # the base that comes with Peirce
SET_BY_EXPERIMENT = ("schedule", "seed", "examples", "period")


@dataclass(frozen=True)
class StepProgress:
    """A change in the progress of an experiment.

    Attributes:
        number: The number of the step, from 1.
        total: The number of all steps.
        step: The step.
        phase: "begin", "done", or "before" for a step that an earlier call finished.
        seconds: For done, the seconds of the step.
    """

    number: int
    total: int
    step: Step
    phase: str
    seconds: float = 0.0


@dataclass(frozen=True)
class Listeners:
    """Functions that are told about the progress; each may be None."""

    on_step: Callable[[StepProgress], None] | None = None
    on_event: OnEvent | None = None
    on_progress: Callable[[Any], None] | None = None
    on_pairs: Callable[[int, int, int], None] | None = None


@dataclass(frozen=True)
class Machine:
    """Where the work runs, which does not affect the results."""

    sandbox: str = "process"
    workers: int | None = None
    concurrency: int | None = None


@validate_call
def reproduce(
    experiment: str,
    config: ReproductionConfig | None = None,
    *,
    sandbox: str = "process",
    workers: int | None = None,
    concurrency: int | None = None,
    on_step: Callable[[Any], None] | None = None,
    on_event: Callable[[Any], None] | None = None,
    on_progress: Callable[[Any], None] | None = None,
    on_pairs: Callable[[int, int, int], None] | None = None,
    **overrides: Unpack[ReproduceOptions],
) -> Reproduction:
    """Run the experiment of a paper, or continue it where it stopped.

    Args:
        experiment: gear-table4, the experiment of tables 2 and 4 of the GEAR paper.
        config: settings of the experiment; None for the defaults.
        sandbox: the sandbox that runs hypotheses: process or docker.
        workers: number of sandbox processes; None for one per core.
        concurrency: number of problems in progress at the same time; None for the default.
        on_step: called with a `StepProgress` when a step begins or ends.
        on_event: called with each event of a session.
        on_progress: called with `training.dpo.progress.Progress`.
        on_pairs: called with the number of problems read, of all problems, and of pairs so far.
        overrides: single settings by name, which replace settings of `config`.

    Returns:
        The rows of table 4, and the paths of tables and figures.

    Raises:
        UsageError: a setting is invalid, the base does not exist, or the folder contains an
            experiment with other settings.
        DataError: a file of the data is invalid.
        Interrupted: the first Ctrl-C or SIGTERM stopped a session or a training. What was done is
            stored.
        PeirceError: a step failed, for example because an endpoint does not answer.
    """
    check_experiment(experiment)
    config = reproduction_config(config, overrides)
    config.check_required()
    began = time.monotonic()
    listeners = Listeners(on_step, on_event, on_progress, on_pairs)
    machine = Machine(sandbox, workers, concurrency)
    return _Experiment(experiment, config, listeners, machine).run(began)


def check_experiment(name: str) -> None:
    """Raise UsageError if there is no experiment with this name."""
    if name not in EXPERIMENTS:
        raise UsageError(f"experiment {name!r}: it must be one of {', '.join(EXPERIMENTS)}")


def reproduction_config(
    config: ReproductionConfig | None, overrides: Mapping[str, Any]
) -> ReproductionConfig:
    """Return the settings with single settings replaced. None counts as not set."""
    before = {} if config is None else config.explicit_values()
    given = {name: one for name, one in overrides.items() if one is not None}
    return ReproductionConfig(**{**before, **given})


class _Experiment:
    """One call of `reproduce`."""

    def __init__(
        self, name: str, config: ReproductionConfig, listeners: Listeners, machine: Machine
    ) -> None:
        self._name, self._config = name, config
        self._tell, self._machine = listeners, machine
        self._folder = ExperimentFolder(config.out)

    def run(self, began: float) -> Reproduction:
        from ...training.base_models import check_packages
        from ...training.dpo.launcher import check_launcher
        from ...training.dpo.settings import TrainConfig

        check_packages()
        if int(os.environ.get("WORLD_SIZE", "1")) > 1:
            raise UsageError(
                "peirce reproduce runs in one process: start it without a launcher, and run its"
                " trainings on several GPUs with accelerate launch -m peirce train in their folders"
            )
        settings = training_settings(self._config)
        check_launcher(TrainConfig.from_mapping(settings["settings"]))
        data_sets = read_data_sets(str(self._config.data), self._config.seed, self._config.limit)
        splits = split_problems(data_sets, self._config.seed)
        with self._folder.locked():
            base = self._find_base()
            date = self._open_rendering(settings["settings"])
            by_split = {
                str(split): sorted(group for group, own in splits.items() if own is split)
                for split in Split
            }
            steps = plan_steps(self._config, data_sets, splits)
            _check_splits(steps, splits)
            self._check_sessions(steps)
            decisive = self._config.decisive_settings() | {
                "base": None, "data": None, "train_config": settings["file"],
            }  # fmt: skip
            self._folder.begin(
                {
                    "experiment": self._name,
                    "settings": decisive,
                    "base": {"name": base.name, "weights": base.weights},
                    "data": {one.task: one.identify() for one in data_sets},
                    "prompt_date": date,
                },
                by_split,
            )
            before = len([one for one in steps if one.name in self._folder.steps])
            for number, step in enumerate(steps[:-1], 1):
                self._do(step, number, len(steps))
            progress = StepProgress(len(steps), len(steps), steps[-1], "begin")
            self._say(progress)
            start = time.monotonic()
            written = write_results(self._folder, self._config, steps[:-1])
            self._say(replace(progress, phase="done", seconds=time.monotonic() - start))
        return Reproduction.from_dict(
            {
                "experiment": self._name, "out": str(self._folder.path), **written,
                "seconds": round(time.monotonic() - began, 1), "done_before": before,
                "steps": len(steps),
            }
        )  # fmt: skip

    def _say(self, progress: StepProgress) -> None:
        if self._tell.on_step is not None:
            self._tell.on_step(progress)

    def _find_base(self) -> Any:
        from ...training import quick
        from ...training.base_models import find_base

        name = str(self._config.base)
        if name != TINY or Path(name).is_dir():
            found = find_base(name)
            self._base = name if found.files.commit else str(found.files.folder.resolve())
            return found
        place = self._folder.path / BASE_FOLDER
        self._folder.check_base_name(TINY)
        if not place.is_dir():
            quick.write_base(place)
        self._base = str(place)
        return replace(find_base(str(place)), name=TINY)

    def _open_rendering(self, training: Mapping[str, Json]) -> str | None:
        """Find how the base renders prompts, and return the date in them, or None without a date.

        The date is that of the first start.

        Raises:
            UsageError: The base has no chat template.
        """
        from ...training.pairs import ModelText, OwnRendering

        request, args = self._folder.request, base_arguments(self._config)
        today = datetime.now().date().isoformat()
        date = request["prompt_date"] if request.get("prompt_date") else today
        own = OwnRendering(args.chat_template, args.variables, date)
        text = ModelText(self._base, own=own)
        self._date = text.date
        self._rendering = replace(own, date=text.date) if training["render_anew"] else None
        return self._date

    def _check_sessions(self, steps: Sequence[Step]) -> None:
        """Check files of observations and settings of models before anything is written.

        Every file is checked, and every model once, except for models that are trained later.
        """
        from ...agents import check_model

        seen: set[Any] = set()
        for step in steps:
            evaluates_base = step.kind == "evaluate" and step.model == BASE
            if step.name in self._folder.steps or not (evaluates_base or step.kind == "collect"):
                continue
            assert step.data_set is not None
            file = step.data_set.observations.get(step.shown)
            if {file, step.model} <= seen | {None}:
                continue
            config = self._plan(step).config
            if step.model not in seen:
                options = opening_settings(config.model, config.cluster)
                run_coroutine(check_model(str(config.model.model), options))
            seen |= {file, step.model}

    def _do(self, step: Step, number: int, total: int) -> None:
        progress = StepProgress(number, total, step, "begin")
        if step.name in self._folder.steps:
            self._say(replace(progress, phase="before"))
            return
        self._say(progress)
        began = time.monotonic()
        try:
            result = self._work(step)
        except Interrupted:
            raise
        except PeirceError as error:
            raise type(error)(f"{step.name}: {error}") from error
        seconds = time.monotonic() - began
        self._folder.finish(step.name, {**result, "seconds": round(seconds, 1)})
        self._say(replace(progress, phase="done", seconds=seconds))

    def _work(self, step: Step) -> dict[str, Json]:
        if step.kind == "pairs":
            return self._build_pairs()
        if (reason := self.left_out(step)) is not None:
            return {"left_out": reason}
        if step.kind == "train":
            return self._train(step.model)
        return self._run_session(step)

    def left_out(self, step: Step) -> str | None:
        """Return why a training or its evaluation is left out, or None."""
        found: str | None = self._folder.steps[PAIRS_STEP]["missing"].get(step.model) if (
            step.kind in ("train", "evaluate") and PAIRS_STEP in self._folder.steps
        ) else None  # fmt: skip
        return found

    # --- sessions

    def _run_session(self, step: Step) -> dict[str, Json]:
        session = find_session(self._folder.store, step.name)
        if session is None:
            plan = self._plan(step)
            marked = {**plan.operational, STEP_KEY: step.name}
            done = execute_plan(replace(plan, operational=marked), self._tell.on_event)
        elif is_finished(self._folder.store, session, self._config.skip_failed):
            done = load_outcome(self._folder.store, session)
        else:
            done = resume(
                session, retry_failed=True, on_event=self._tell.on_event, store=self._folder.store,
                sandbox=self._machine.sandbox, workers=self._machine.workers,
                concurrency=self._machine.concurrency, max_failures=max_failures(self._config),
            )  # fmt: skip
        check_finished(done, step, self._config.skip_failed)
        _free_memory()
        return {
            "session": done.session, "digest": done.digest, "problems": done.problems,
            "failed": dict(done.failed), "answers": done.steps, "verdicts": dict(done.verdicts), "usage": dict(done.usage),
        }  # fmt: skip

    def _plan(self, step: Step) -> RunPlan:
        assert step.data_set is not None
        model = self._model_of(step)
        config = run_config(None, session_options(self._config, step, model, self._date) | {
            "store": self._folder.store, "sandbox": self._machine.sandbox,
            "workers": self._machine.workers, "concurrency": self._machine.concurrency,
        })  # fmt: skip
        return plan_run(step.data_set.task, config)

    def _model_of(self, step: Step) -> str:
        if step.kind == "collect":
            return step.model
        if step.model == BASE:
            return f"hf:{self._base}"
        name = self._folder.steps[f"train {step.model}"]["model"]
        model = self._folder.training(step.model) / name
        return f"hf:{model}" if name == "model" else f"hf:{self._base}+{model}"

    # --- pairs and trainings

    def _build_pairs(self) -> dict[str, Json]:
        """Build the pairs that fit the trainings, which then need not tokenize all of them."""
        sessions = [
            one["session"] for name, one in self._folder.steps.items()
            if "session" in one and name.startswith("collect ")
        ]  # fmt: skip
        most = int(training_settings(self._config)["settings"]["max_length"])
        context = context_length(self._base)
        report = pairs(
            *sessions, seed=self._config.seed, fixed=self._folder.splits_file, base=self._base,
            max_length=min(most, context or most), own_rendering=self._rendering,
            store=self._folder.store, workers=self._machine.workers, progress=self._tell.on_pairs,
        )  # fmt: skip
        counts = {split: dict(stages) for split, stages in report.by_split.items()}
        return {
            "digest": report.digest, "pairs": report.pairs, "by_split": counts,
            "by_model": {name: dict(one) for name, one in report.by_model.items()},
            "missing": _missing_schedules(report),
        }  # fmt: skip

    def _train(self, schedule: str) -> dict[str, Json]:
        from ...agents.local.files import weights_digest
        from ...training.dpo.record import read_record

        out = self._folder.training(schedule)
        rendering = self._rendering
        record = train(
            self._base, out=out, template_variables=rendering.variables if rendering else None,
            prompt_date=rendering.date if rendering else None, pairs=str(self._folder.steps[PAIRS_STEP]["digest"]),
            resume=(out / REQUEST_FILE).exists() or (out / "training.json").exists(),
            sample_answers=self._config.sample_answers, store=self._folder.store,
            on_progress=self._tell.on_progress,
            **training_settings(self._config)["settings"], schedule=schedule,
        )  # fmt: skip
        _free_memory()
        if record.model is None:
            raise Interrupted(f"the training with {schedule} was stopped; its checkpoint is kept")
        model = Path(record.model)
        reach = read_record(out).get("reach")
        return {
            "training": record.training, "status": record.status, "model": model.name,
            "weights": weights_digest(model), "examples": record.examples,
            "stages": {name: dict(one) for name, one in (record.stages or {}).items()},
            "notes": list(record.said or ()), "reach": reach,
        }  # fmt: skip


def training_settings(config: ReproductionConfig) -> dict[str, Any]:
    """Return {"file": the settings in the YAML file, "settings": those of every training}.

    Raises:
        DataError: The file cannot be read.
        UsageError: A setting is invalid, or is set by the experiment.
    """
    from ...training.dpo.settings import TrainConfig

    read = read_config(config.train_config)
    for name in SET_BY_EXPERIMENT:
        if name in read:
            raise UsageError(
                f"{config.train_config} sets {name}: use --{name} of peirce reproduce instead, which counts"
                " for all trainings"
            )
    if "chat_template" in read:
        raise UsageError(
            f"{config.train_config} sets chat_template: use --base-arg chat_template=FILE of peirce"
            " reproduce instead, which counts for the trainings and the evaluation"
        )
    settings = {
        **OWN_DEFAULTS,
        **read, "examples": config.examples, "period": config.period, "seed": config.seed,
        "chat_template": base_arguments(config).chat_template or "",
    }  # fmt: skip
    checked = TrainConfig.from_mapping(settings)
    return {"file": read, "settings": {**settings, "max_length": checked.max_length}}


def context_length(base: str) -> int | None:
    """Return the number of tokens that a base model holds, or None if its files do not say."""
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(base, local_files_only=True).get_text_config()
    except (OSError, ValueError, KeyError, AttributeError):
        return None  # the training says what is wrong with the model
    told = getattr(config, "max_position_embeddings", None)
    return told if isinstance(told, int) and told > 0 else None


def _check_splits(steps: Sequence[Step], splits: Mapping[str, Split]) -> None:
    """Raise UsageError if a split is empty."""
    for split in Split:
        if split not in splits.values():
            raise UsageError(
                f"no problem is in the split {split}: raise --limit, or add data sets to --data"
            )
    if not any(step.kind == "collect" for step in steps):
        raise UsageError("no training problem has observations: add files io_pairs/NAME_N.json")


def _missing_schedules(report: PairReport) -> dict[str, Json]:
    """Return the schedules that have no pairs to train on or to probe with, each with a reason.

    Pairs that are too long for the trainings are not in the report.
    """
    long = int(report.left_out.get("too_long", 0))
    limit = f" ({long:,} pairs of all stages were too long)" if long else ""
    lacking = {
        stage: [split for split in ("train", "validation") if not report.by_split.get(split, {}).get(stage)]
        for stage in STAGES
    }  # fmt: skip
    return {
        f"{SINGLE}{stage}": (
            f"the sessions gave no {stage} pairs for {' and '.join(splits)} that fit the training"
            f"{limit}"
        )
        for stage, splits in lacking.items()
        if splits
    }


def _free_memory() -> None:
    """Free the memory of a model that is no longer used, also on a GPU."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
