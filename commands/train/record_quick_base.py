"""Make the base model and the recorded answers that `peirce train --quick` uses (`training.quick`).

    python -m peirce.commands.train.record_quick_base FOLDER [--tokens N]

The script pretrains a base model in FOLDER, or uses the model that is there. It stores the model in
the package with 8 bits per number, and records the model's answers to easy generated problems. On
the same machine, the same model gives the same answers. The model solves hardly any list problem,
so answers of the built-in search are added for lists. The rules of these problems differ from the
rules of the problems on which `--quick` measures.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...records import Hypothesis
from ...tasks import load_family
from ...tasks.programs.family import answer_text
from ...training import quick
from ...training.pretrain import measure, run
from ...training.pretrain.library import search_programs
from ...training.pretrain.settings import PretrainSettings
from ..oracles import open_oracles
from ..session.event_loops import run_coroutine
from .pretraining import make_unseen_problems
from .quick_training import HELD_OUT_SEED, OBSERVATIONS, PROBLEMS

# A short training learns more from few, likely programs, and from many small batches.
PRETRAINING = PretrainSettings(
    tasks={"list_functions": 0.5, "acre": 0.5},
    problems={"list_functions": 700, "acre": 900},
    rows=8,
    programs=60,
)
RECORDED_SEED = 93_001
RECORDED_PROBLEMS = 60  # of each task
RECORDED_ANSWERS = 12  # answers to each of them; equal ones are stored once
TOKENS = 557_540  # of the recorded base, which was trained for 296 s of processor time


def main() -> None:
    """Parse the command line, and make the base model and its recorded answers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tokens", type=int, default=TOKENS)
    asked = parser.parse_args()
    if run.read_finished(asked.folder) is None:
        run.pretrain(PRETRAINING.model_copy(update={"tokens": asked.tokens}), asked.folder)
    quick.store_base(asked.folder)
    quick.write_base(asked.folder / "stored")
    model = measure.load_model(asked.folder / "stored")
    problems = [one for task in quick.TASKS for one in record_answers(task, *model)]
    quick.write_recorded(problems)
    for verdict in ("malformed", "inconsistent", "consistent"):
        count = sum(len(one.texts(verdict)) for one in problems)
        sys.stdout.write(f"{verdict} {count}\n")


def record_answers(task: str, model: Any, tokenizer: Any) -> list[quick.RecordedProblem]:
    """Generate problems of a task, and return them with the model's answers and their verdicts."""
    measured, _ = make_unseen_problems(task, OBSERVATIONS, 2 * PROBLEMS, HELD_OUT_SEED)
    rules = {str(one.secret["rule"]) for one in measured}
    made = make_unseen_problems(task, OBSERVATIONS, 3 * RECORDED_PROBLEMS, RECORDED_SEED)
    kept = [
        both for both in zip(*made, strict=True) if str(both[0].secret["rule"]) not in rules
    ][:RECORDED_PROBLEMS]  # fmt: skip
    prompts = measure.make_prompts([one for one, _ in kept], [space for _, space in kept])
    family = load_family("programs")
    texts: list[dict[str, None]] = [{} for _ in prompts]
    for place, text, ended, _ in measure.sample_answers(
        model, tokenizer, family, prompts, RECORDED_ANSWERS, RECORDED_SEED
    ):
        if ended:
            texts[place][text] = None
    if task == "list_functions":
        for place, prompt in enumerate(prompts):
            for one in search_programs(prompt.view.shown):
                texts[place][answer_text(one.sentence, one.source)] = None
    verdicts = run_coroutine(_judge(prompts, texts))
    return [
        quick.RecordedProblem(
            task, one.problem.id, str(one.problem.secret["rule"]), one.problem.shown, answers
        )
        for one, answers in zip(prompts, verdicts, strict=True)
    ]  # fmt: skip


async def _judge(
    prompts: Sequence[measure.ProbePrompt], texts: Sequence[dict[str, None]]
) -> list[tuple[tuple[str, str], ...]]:
    family = load_family("programs")
    found = []
    async with open_oracles(family) as tools:
        oracles = tools.make_oracles()
        for prompt, own in zip(prompts, texts, strict=True):
            answers = []
            for text in own:
                read = family.parse(prompt.view, text, family.answer_formats[0])
                verdict = "malformed"
                if read and isinstance(read[0], Hypothesis):
                    agreed = await family.measure_agreement(
                        read[0], prompt.view.shown, prompt.view, oracles
                    )
                    verdict = "consistent" if family.is_consistent(agreed) else "inconsistent"
                answers.append((verdict, text))
            found.append(tuple(answers))
    return found


if __name__ == "__main__":
    main()
