"""The plan of an experiment with its costs (`peirce reproduce --dry-run`).

Nothing is written, no model is called, and the base need not be on the disk. Prompts are rendered
from the data; their tokens are counted by splitting text as the tokenizers of Qwen and Llama do
before they merge, with one token for each digit. This is a lower bound for most tokenizers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from ...config import RunConfig
from ...records import Json, UsageError
from ...tasks import problem_family
from ..arguments import validate_call
from ..option_types import ReproduceOptions
from ..session.forecast import EXHAUSTIBLE_MODELS
from ..session.planning import plan_run
from ..session.running import run_config
from .experiment import (
    TINY,
    check_experiment,
    reproduction_config,
    training_settings,
)
from .model_sizes import ModelSize, find_model_size, parse_parameters
from .published_files import read_data_sets, split_problems
from .results import ReproductionPlan
from .sessions import session_options
from .settings import CostAssumptions, ReproductionConfig
from .steps import Step, plan_steps

DESCRIPTION_TOKENS = 30  # of an earlier hypothesis in a prompt
CONTEXT_HYPOTHESES = 2  # of most preference pairs, by the limits of contexts (1, 20, 190)
STAGE_COUNT = 3
MIN_ANSWERS = 3  # to a problem, which ends after three bad answers
ANSWERS_PER_ROUND = 3
STORE_BYTES = 58_000  # of an answer: 3 GB for 51,719 answers (docs/how-to/build-pairs.md)
WEIGHT_BYTES, OPTIMIZER_BYTES, BASE_BYTES = 4, 8, 2  # of a weight: trained, AdamW, published base
SUMMED = ("calls", "tokens_in", "tokens_out", "gpu_hours", "disk_bytes")
_TOKEN = re.compile(r" ?[^\W\d_]+|\d| ?(?:[^\s\w]|_)+[\r\n]*|\s*[\r\n]+|\s+")


def count_tokens(text: str) -> int:
    """Return an estimate of the number of tokens of a text."""
    return sum(1 for _ in _TOKEN.finditer(text))


@dataclass(frozen=True)
class PromptLengths:
    """The tokens of the first prompt of each problem of a session."""

    tokens: tuple[int, ...]

    @property
    def mean(self) -> float:
        """The mean over problems."""
        return sum(self.tokens) / max(1, len(self.tokens))


@validate_call
def plan_reproduction(
    experiment: str,
    config: ReproductionConfig | None = None,
    *,
    costs: CostAssumptions | None = None,
    **overrides: Unpack[ReproduceOptions],
) -> ReproductionPlan:
    """Return the steps of an experiment with calls, tokens, GPU hours and disk space.

    Nothing is started or written.

    Args:
        experiment: gear-table4, the experiment of tables 2 and 4 of the GEAR paper.
        config: settings of the experiment; None for the defaults.
        costs: the assumptions behind the costs; None for the defaults.
        overrides: single settings by name, which replace settings of `config`.

    Raises:
        UsageError: a setting is invalid, or the size of the base is unknown.
        DataError: a file of the data is invalid.
    """
    check_experiment(experiment)
    config = reproduction_config(config, overrides)
    config.check_required()
    return _Plan(config, costs or CostAssumptions()).make(experiment)


class _Plan:
    """The costs of the steps of one experiment."""

    def __init__(self, config: ReproductionConfig, costs: CostAssumptions) -> None:
        from ...training.dpo.settings import TrainConfig

        self._config, self._costs = config, costs
        self._training = TrainConfig.from_mapping(training_settings(config)["settings"])
        self._base = find_model_size(
            str(config.base), find_folder(str(config.base)), costs.base_size
        )
        self._prompts: dict[tuple[str, int], PromptLengths] = {}

    def make(self, experiment: str) -> ReproductionPlan:
        data_sets = read_data_sets(str(self._config.data), self._config.seed, self._config.limit)
        splits = split_problems(data_sets, self._config.seed)
        steps = plan_steps(self._config, data_sets, splits)
        rows = [self._fetch()] if not self._base.on_disk else []
        for step in steps:
            if step.kind in ("collect", "evaluate"):
                rows.append(self._session(step))
            elif step.kind == "train":
                rows.append(self._train(step))
            else:
                rows.append(_row(step.name, step.kind))
        total = {name: sum(row[name] or 0 for row in rows) for name in SUMMED}
        return ReproductionPlan.from_dict(
            {
                "experiment": experiment, "base": str(self._config.base), "steps": rows,
                "total": {"problems": None, **total}, "assumptions": self._assumptions(steps),
            }
        )  # fmt: skip

    def _fetch(self) -> dict[str, Json]:
        return _row(
            "download the base", "fetch", disk_bytes=round(BASE_BYTES * self._base.parameters)
        )

    def _session(self, step: Step) -> dict[str, Json]:
        prompts, count = self._lengths(step), len(step.problems)
        if step.kind == "collect":
            kind = step.model.partition(":")[0]
            each = min(float(self._costs.answers_per_problem), self._config.max_answers)
            least = 1 if kind in EXHAUSTIBLE_MODELS else min(MIN_ANSWERS, self._config.max_answers)
            most = self._config.max_answers
            earlier = (each - 1) / 2
        else:
            each = least = most = ANSWERS_PER_ROUND * self._config.rounds
            earlier = (ANSWERS_PER_ROUND - 1) / 2
        calls = round(each * count)
        tokens_in = round(calls * (prompts.mean + earlier * DESCRIPTION_TOKENS))
        tokens_out = calls * self._costs.answer_tokens
        return _row(
            step.name, step.kind, problems=count, calls=calls, least_calls=least * count,
            most_calls=most * count, tokens_in=tokens_in, tokens_out=tokens_out,
            gpu_hours=self._session_hours(step, tokens_in, tokens_out),
            disk_bytes=calls * STORE_BYTES,
        )  # fmt: skip

    def _session_hours(self, step: Step, tokens_in: int, tokens_out: int) -> float | None:
        size = self._base.scale
        if step.kind == "collect":
            if not step.model.startswith("hf:"):
                return None
            own = parse_parameters(step.model)
            size = size if own is None else ModelSize(own, "").scale
        seconds = tokens_out / self._costs.sample_rate + tokens_in / self._costs.read_rate
        return seconds * size / 3_600

    def _train(self, step: Step) -> dict[str, Json]:
        settings, pair = self._training, self.pair_tokens()
        probes = (settings.periods + 1) * STAGE_COUNT * settings.probe_pairs
        trained = settings.examples * pair
        read = trained + probes * pair  # the reference model, and the probes
        seconds = trained / self._costs.train_rate + read / self._costs.read_rate
        weights = self._base.parameters if settings.full else self._base.adapter_weights(settings.lora_rank)  # fmt: skip
        checkpoint = WEIGHT_BYTES + OPTIMIZER_BYTES
        disk = weights * (WEIGHT_BYTES + settings.keep * checkpoint)
        return _row(
            step.name, step.kind, tokens_in=round(trained + read), tokens_out=None,
            gpu_hours=seconds * self._base.scale / 3_600, disk_bytes=round(disk),
        )  # fmt: skip

    def pair_tokens(self) -> float:
        """Return the mean tokens of a preference pair: two sequences of prompt and answer.

        Pairs that are longer than the limit of the training are left out of the mean.
        """
        beside = CONTEXT_HYPOTHESES * DESCRIPTION_TOKENS + self._costs.answer_tokens
        kept = [
            tokens + beside for one in self._prompts.values() for tokens in one.tokens
            if tokens + beside <= self._training.max_length
        ]  # fmt: skip
        return 2 * sum(kept) / len(kept) if kept else 2.0 * self._training.max_length

    def _lengths(self, step: Step) -> PromptLengths:
        assert step.data_set is not None
        key = (step.data_set.task, step.shown)
        if key not in self._prompts:
            self._prompts[key] = self._render(step)
        return self._prompts[key]

    def _render(self, step: Step) -> PromptLengths:
        """Count the tokens of the first prompt of each problem."""
        from ...training.pair_prompts import render_prompt

        assert step.data_set is not None
        options = session_options(self._config, step, "search")
        options.pop("model_arg")  # of the models of the experiment
        config: RunConfig = run_config(None, options)
        plan = plan_run(step.data_set.task, config)
        answer_format = plan.settings["answer_format"]
        counts = []
        for problem, space in plan.chosen.pairs:
            words = problem_family(problem).words
            view = problem.make_view(space)
            messages = render_prompt(view, (), words, answer_format, self._config.template)
            counts.append(sum(count_tokens(str(one["content"])) for one in messages))
        return PromptLengths(tuple(counts))

    def _assumptions(self, steps: Sequence[Step]) -> list[str]:
        costs, base, training = self._costs, self._base, self._training
        kept = sum(
            tokens + CONTEXT_HYPOTHESES * DESCRIPTION_TOKENS + costs.answer_tokens <= training.max_length
            for one in self._prompts.values() for tokens in one.tokens
        )  # fmt: skip
        every = sum(len(one.tokens) for one in self._prompts.values())
        method = "all weights" if training.full else f"LoRA of rank {training.lora_rank}"
        return [
            f"the base has {base.parameters / 1e9:.3g} billion parameters ({base.source}; change it"
            f" with --base-size); {'it is on this machine' if base.on_disk else 'it is not on this machine'}",
            "rates are assumptions about a 7.6B model on one GPU of 80 GB, in inverse proportion to the"
            f" number of parameters, and were not measured: it samples {costs.sample_rate:,.0f} tokens"
            f" a second (--sample-rate), reads {costs.read_rate:,.0f} (--read-rate) and trains on"
            f" {costs.train_rate:,.0f} ({method}, --train-rate)",
            f"an answer has {costs.answer_tokens:,} tokens (--answer-tokens); reasoning comes on top",
            f"a collecting model gives {costs.answers_per_problem:g} answers to a problem, the paper's"
            f" mean (--answers-per-problem); from {MIN_ANSWERS} to {self._config.max_answers} are possible",
            "prompt tokens are counted on the rendered prompts, with one token for each word, digit and"
            " group of signs; most tokenizers need somewhat more",
            f"a training reads each of its {training.examples:,} pairs once with gradients and once with"
            f" the reference model, and {training.probe_pairs} pairs of each preference in each of"
            f" {training.periods + 1} probes; a pair has {self.pair_tokens():,.0f} tokens on average",
            f"{every - kept:,} of {every:,} prompts are too long for a training with max_length"
            f" {training.max_length:,}, and give no pairs",
            "models behind an endpoint use no GPU here; their price is their tokens times your rates",
            f"a stored answer takes {STORE_BYTES // 1000} kB, as in docs/how-to/build-pairs.md; the"
            " processor time of running the programs is not counted",
        ]  # fmt: skip


def find_folder(name: str) -> Path | None:
    """Return the folder of a model that is on this machine, or None. Nothing is downloaded."""
    if Path(name).expanduser().is_dir():
        return Path(name).expanduser()
    if name == TINY:
        from ...training.quick import BASE_FOLDER

        return BASE_FOLDER
    try:
        from ...agents.local.files import find_model

        return find_model(f"hf:{name}", fetch=False)[0].folder
    except (UsageError, ImportError):
        return None


def _row(step: str, kind: str, **values: Any) -> dict[str, Json]:
    empty: Mapping[str, Json] = dict.fromkeys(
        ("problems", "calls", "least_calls", "most_calls", "tokens_in", "tokens_out", "gpu_hours")
    )
    return {"step": step, "kind": kind, **empty, "disk_bytes": 0, **values}
