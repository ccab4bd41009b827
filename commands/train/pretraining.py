"""`peirce pretrain`: train a small proposer from random weights, and test it on new problems."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...records import InputSet, Json, OracleSettings, Problem, UsageError
from ...reports.files import writing
from ...tasks.io.files import expand_home
from ...tasks.io.messages import DataWarning
from ...training.pretrain import run
from ...training.pretrain.settings import PretrainSettings
from ..arguments import validate_call
from ..session.event_loops import run_coroutine
from .results import Pretrained

TEST_SEED = 90_001  # seed of generated problems, far from the seeds of the library
OBSERVATION_COUNTS: Mapping[str, Sequence[int]] = {
    "list_functions": (1, 2, 3, 4), "acre": (2, 3, 4), "mini_arc": (1, 2, 3), "arc": (1, 2, 3),
}  # fmt: skip
ANSWERS_PER_PROBLEM = 8


@validate_call
def pretrain(
    out: str | Path,
    *,
    architecture: str = "llama",
    size: str = "small",
    minutes: float = 14.0,
    tokens: int | None = None,
    tasks: Sequence[str] = (),
    seed: int = 0,
    template: str = "compact",
    measure: int = 24,
    sandbox: str = "process",
    workers: int | None = None,
    on_progress: Callable[[Mapping[str, Json]], None] | None = None,
) -> Pretrained:
    """Train a small language model from random weights to propose hypotheses.

    The model is a decoder. It is trained on generated problems, with answers of the built-in
    search, and written as an ordinary Hugging Face folder. If `out` contains a model that was
    trained with equal settings, this model is returned.

    Args:
        out: the folder to write.
        architecture: llama or gpt_neox.
        size: small (below a million parameters, for a CPU) or large (for a GPU).
        minutes: duration of the training.
        tokens: number of training tokens, which replaces `minutes`.
        tasks: tasks to train on: list_functions, acre, mini_arc and arc; by default all of them.
        seed: seed of the training.
        template: template of the prompts; only compact is supported.
        measure: number of test problems for each task and number of observations, with 8 answers
            each; 0 for no test.
        sandbox: sandbox backend for the test.
        workers: number of workers for the test; None for the default.
        on_progress: called with the progress of the training.

    Raises:
        UsageError: a setting is invalid, or the folder cannot be written.
    """
    settings = _settings(
        tasks, architecture=architecture, size=size, minutes=minutes, tokens=tokens, seed=seed,
        template=template,
    )  # fmt: skip
    if measure < 0:
        raise UsageError(f"measure is {measure}: it must be at least 0")
    if run.read_finished(expand_home(out)) is None:  # checked before the training
        writing.check_folder(expand_home(out).absolute().parent)
    tell: run.ProgressCallback = on_progress or (lambda said: None)
    made = run.pretrain(settings, out, tell)
    record = dict(made.record)
    if measure and (not made.reused or "measured" not in record):
        figures = run_coroutine(_measured(made.out, settings, measure, sandbox, workers, tell))
        record = run.write_measurements(made.out, figures)
    return Pretrained.from_dict({"out": str(made.out), "used": made.reused, **record})


def _settings(tasks: Sequence[str], **options: Any) -> PretrainSettings:
    default = PretrainSettings()
    for name in tasks:
        if name not in default.tasks:
            raise UsageError(f"unknown task {name!r}: it must be one of {', '.join(default.tasks)}")
    chosen = {name: share for name, share in default.tasks.items() if not tasks or name in tasks}
    problems = {name: default.problems[name] for name in chosen}
    return PretrainSettings(**options, tasks=chosen, problems=problems)


async def _measured(
    folder: Path,
    settings: PretrainSettings,
    count: int,
    sandbox: str,
    workers: int | None,
    tell: run.ProgressCallback,
) -> list[dict[str, Json]]:
    from ...tasks import load_family as family_named
    from ...training.pretrain import measure
    from ..oracles import open_oracles

    family = family_named("programs")
    model, tokenizer = measure.load_model(folder)
    asked = [(task, n) for task in settings.tasks for n in OBSERVATION_COUNTS[task]]
    figures: list[dict[str, Json]] = []
    async with open_oracles(family, OracleSettings(sandbox, workers)) as tools:
        for k, (task, n) in enumerate(asked):
            progress = {"part": "measuring", "task": task, "observations": n}
            tell({**progress, "done": k / len(asked)})
            started = time.monotonic()
            some = measure.make_prompts(*make_unseen_problems(task, n, count))
            said = []
            for answer in measure.sample_answers(
                model, tokenizer, family, some, ANSWERS_PER_PROBLEM, settings.seed
            ):
                said.append(answer)
                part = len(said) / (len(some) * ANSWERS_PER_PROBLEM)
                tell({**progress, "done": (k + part) / len(asked)})
            found = await measure.judge_answers(
                family, some, said, tools.make_oracles(), ANSWERS_PER_PROBLEM
            )
            seconds = round(time.monotonic() - started, 1)
            figures.append({"observations": n, **found.as_json(), "seconds": seconds})
    return figures


def make_unseen_problems(
    task: str, observations: int, count: int, seed: int = TEST_SEED
) -> tuple[list[Problem], list[InputSet]]:
    """Generate easy problems that no training library contains, and return them with sample spaces.

    Args:
        task: name of the task.
        observations: number of shown observations of each problem.
        count: number of problems.
        seed: seed of the generator.
    """
    from ...records.tasks import SharesSpaces
    from ...tasks import load_task as task_named
    from ...tasks.programs.difficulty import generate_with_difficulty

    source: Any = task_named(task)
    easy = generate_with_difficulty(source, count, seed + observations, "easy")
    with warnings.catch_warnings():  # they would be about choices that the user did not make
        warnings.simplefilter("ignore", DataWarning)
        problems = list(source.observe(easy, str(observations), 0))
    if isinstance(source, SharesSpaces):
        return problems, source.spaces(problems, 0)
    return problems, [source.space(one, 0) for one in problems]
