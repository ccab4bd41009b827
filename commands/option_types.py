"""Keywords of the public functions that take settings. Written by write_option_types.py from
config/ and graphs/; do not edit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from ..records import Proposer, Repairer
from ..records.tables import ArrowBatch, ArrowTable


class RunOptions(TypedDict, total=False):
    """Settings by name, of run, plan, import_recorded. None counts as not given."""

    method: str | None
    tool_calls: int | None
    answer_format: str | None
    strict_contract: bool | None
    lenient: bool | None
    history: Literal["descriptions", "chat"] | None
    feedback: bool | None
    template: Literal["full", "compact", "gear"] | None
    fit: Literal["auto", "refuse"] | None
    problem_tokens: int | None
    rounds: int | None
    max_answers: int | None
    history_limit: int | None
    patience: int | None
    ask_human: bool | None
    target_gap: int | float | None
    repair: str | Repairer | None
    seed_hypotheses: int | None
    data: str | Path | Collection[Mapping[str, Any]] | ArrowTable | ArrowBatch | None
    problems: int | None
    problem: Sequence[str] | None
    sample: int | None
    subset: Sequence[str] | None
    split_seed: int | None
    fractions: Sequence[int | float] | None
    fixed: str | Path | None
    observations: int | str | Path | None
    space: str | Path | None
    seed: int | None
    label: str | None
    ood: str | None
    target: str | None
    units: str | None
    learning_curve: bool | None
    skip_bad: bool | None
    model: str | Proposer | None
    temperature: int | float | None
    top_p: int | float | None
    max_tokens: int | None
    reasoning_effort: str | None
    reasoning_tokens: int | None
    timeout_s: int | float | None
    retries: int | None
    batch_files: bool | None
    model_arg: Sequence[str] | Mapping[str, Any] | None
    budget_expansions: int | None
    preset: str | None
    protocol: str | None
    judge_model: str | None
    judge_then: str | None
    literature_model: str | None
    namer_model: str | None
    then: str | None
    role: Sequence[str] | None
    roles: Mapping[str, Any] | None
    examples: int | Literal["all"] | None
    hypotheses: int | None
    tau: int | float | None
    judge: Literal["auto", "exact", "model"] | None
    repeats: int | None
    judge_batch: int | None
    prompts: Literal["own", "config"] | None
    inference: str | None
    shots: int | None
    validation_rows: int | None
    split: Sequence[Literal["val", "ind", "ood"]] | None
    literature: str | Path | None
    bank: Sequence[str | Path] | None
    method_arg: Sequence[str] | Mapping[str, Any] | None
    budget_tokens: int | None
    budget_usd: int | float | None
    price_in: int | float | None
    price_out: int | float | None
    price_cached: int | float | None
    max_failures: int | None
    sandbox: str | None
    strict_sandbox: bool | None
    solver: str | None
    workers: int | None
    cluster: str | None
    concurrency: int | None
    store: str | Path | None
    cache: bool | None
    method_options: Mapping[str, Any] | None


class DiscoverOptions(TypedDict, total=False):
    """Settings by name, of discover, which chooses the task and its data. None counts as not given."""

    method: str | None
    tool_calls: int | None
    answer_format: str | None
    strict_contract: bool | None
    lenient: bool | None
    history: Literal["descriptions", "chat"] | None
    feedback: bool | None
    template: Literal["full", "compact", "gear"] | None
    fit: Literal["auto", "refuse"] | None
    problem_tokens: int | None
    rounds: int | None
    max_answers: int | None
    history_limit: int | None
    patience: int | None
    ask_human: bool | None
    target_gap: int | float | None
    repair: str | Repairer | None
    seed_hypotheses: int | None
    problems: int | None
    problem: Sequence[str] | None
    sample: int | None
    subset: Sequence[str] | None
    split_seed: int | None
    fractions: Sequence[int | float] | None
    fixed: str | Path | None
    observations: int | str | Path | None
    space: str | Path | None
    seed: int | None
    ood: str | None
    units: str | None
    learning_curve: bool | None
    skip_bad: bool | None
    model: str | Proposer | None
    temperature: int | float | None
    top_p: int | float | None
    max_tokens: int | None
    reasoning_effort: str | None
    reasoning_tokens: int | None
    timeout_s: int | float | None
    retries: int | None
    batch_files: bool | None
    model_arg: Sequence[str] | Mapping[str, Any] | None
    budget_expansions: int | None
    preset: str | None
    protocol: str | None
    judge_model: str | None
    judge_then: str | None
    literature_model: str | None
    namer_model: str | None
    then: str | None
    role: Sequence[str] | None
    roles: Mapping[str, Any] | None
    examples: int | Literal["all"] | None
    hypotheses: int | None
    tau: int | float | None
    judge: Literal["auto", "exact", "model"] | None
    repeats: int | None
    judge_batch: int | None
    prompts: Literal["own", "config"] | None
    inference: str | None
    shots: int | None
    validation_rows: int | None
    split: Sequence[Literal["val", "ind", "ood"]] | None
    literature: str | Path | None
    bank: Sequence[str | Path] | None
    method_arg: Sequence[str] | Mapping[str, Any] | None
    budget_tokens: int | None
    budget_usd: int | float | None
    price_in: int | float | None
    price_out: int | float | None
    price_cached: int | float | None
    max_failures: int | None
    sandbox: str | None
    strict_sandbox: bool | None
    solver: str | None
    workers: int | None
    cluster: str | None
    concurrency: int | None
    store: str | Path | None
    cache: bool | None
    method_options: Mapping[str, Any] | None


class ResumeOptions(TypedDict, total=False):
    """Settings by name, of resume. None counts as not given."""

    timeout_s: int | float | None
    retries: int | None
    batch_files: bool | None
    sandbox: str | None
    strict_sandbox: bool | None
    solver: str | None
    workers: int | None
    cluster: str | None
    concurrency: int | None
    budget_tokens: int | None
    budget_usd: int | float | None
    price_in: int | float | None
    price_out: int | float | None
    price_cached: int | float | None
    max_failures: int | None
    store: str | Path | None
    cache: bool | None


class CheckOptions(TypedDict, total=False):
    """Settings by name, of check. None counts as not given."""

    data: str | Path | Collection[Mapping[str, Any]] | ArrowTable | ArrowBatch | None
    problems: int | None
    problem: Sequence[str] | None
    sample: int | None
    subset: Sequence[str] | None
    split_seed: int | None
    fractions: Sequence[int | float] | None
    fixed: str | Path | None
    observations: int | str | Path | None
    space: str | Path | None
    seed: int | None
    label: str | None
    ood: str | None
    target: str | None
    units: str | None
    learning_curve: bool | None
    skip_bad: bool | None
    answer_format: str | None
    strict_contract: bool | None
    sandbox: str | None
    strict_sandbox: bool | None
    solver: str | None
    workers: int | None
    cluster: str | None
    tau: int | float | None
    judge: Literal["auto", "exact", "model"] | None
    repeats: int | None
    role: Sequence[str] | None
    roles: Mapping[str, Any] | None


class PredictOptions(TypedDict, total=False):
    """Settings by name, of predict. None counts as not given."""

    inference: str | None
    judge: Literal["auto", "exact", "model"] | None
    repeats: int | None
    prompts: Literal["own", "config"] | None
    temperature: int | float | None
    top_p: int | float | None
    max_tokens: int | None
    reasoning_effort: str | None
    reasoning_tokens: int | None
    timeout_s: int | float | None
    retries: int | None
    model_arg: Sequence[str] | Mapping[str, Any] | None
    role: Sequence[str] | None
    roles: Mapping[str, Any] | None
    sandbox: str | None
    strict_sandbox: bool | None
    solver: str | None
    workers: int | None
    cluster: str | None
    concurrency: int | None
    store: str | Path | None


class SweepOptions(TypedDict, total=False):
    """Settings by name, of sweep, plan_sweep. None counts as not given."""

    sandbox: str | None
    strict_sandbox: bool | None
    solver: str | None
    workers: int | None
    cluster: str | None
    concurrency: int | None
    store: str | Path | None
    cache: bool | None


class PairsOptions(TypedDict, total=False):
    """Settings by name, of pairs. None counts as not given."""

    max_length: int | None
    contexts: Sequence[int | None] | None
    limit: int | None
    per_context: Sequence[int | None] | None
    ratio: Sequence[int] | None
    seed: int | None
    split_seed: int | None
    fractions: Sequence[int | float] | None
    fixed: str | Path | None
    template: str | None
    base: str | Path | None


class ReproduceOptions(TypedDict, total=False):
    """Settings by name, of reproduce, plan_reproduction. None counts as not given."""

    base: str | Path | None
    collect: Sequence[str] | None
    data: str | Path | None
    out: str | Path | None
    limit: int | None
    held_out: int | None
    max_answers: int | None
    rounds: int | None
    schedule: Sequence[str] | None
    examples: int | None
    period: int | None
    sample_answers: int | None
    train_config: str | Path | None
    seed: int | None
    template: Literal["full", "compact"] | None
    temperature: int | float | None
    top_p: int | float | None
    max_tokens: int | None
    skip_failed: bool | None
    collect_arg: Sequence[str] | None
    base_arg: Sequence[str] | None
