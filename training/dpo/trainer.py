"""TRL's DPOTrainer on pairs that are drawn period by period, and a sampler of the model's answers.

Import this module only when a training starts, because it imports torch, transformers and TRL. Four
features of TRL are not used:
 - the preparation of data sets. Pairs are tokenized already (`pair_tokens.py`), many pairs share an
   answer, and a pair that is too long is left out, whereas TRL truncates it;
 - the precomputed reference log-probabilities, which need all pairs before the first step. Most
   pairs of a large set are never drawn, so `scoring.ReferenceLogps` scores the pairs of a period
   when the period begins;
 - bfloat16 adapters on a 4-bit base model. At a learning rate of 1e-5 most updates would be lost by
   rounding, so all trained weights are float32;
 - the model card and the telemetry.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import PrinterCallback, ProgressCallback
from trl import DPOConfig, DPOTrainer

from ...agents.local.chat import PLAIN, ChatFormat
from ...agents.local.example_format import ExampleFormat
from ...records import Json, Message, UsageError
from ..external_libraries import parse_trackers, quiet_libraries, report_write_errors
from .callback import CurriculumCallback
from .checkpoints import PREFIX
from .models import LoadedBase, compute_dtype, make_peft_config, uses_gradient_checkpointing
from .pair_tokens import PairTokens
from .settings import TrainConfig


class CurriculumTrainer(DPOTrainer):  # type: ignore[misc]
    """TRL's DPOTrainer, with the draws and checkpoints of a `CurriculumCallback`.

    Args:
        course: The callback that controls the training.
        tokens: The pairs as tokens.
        identity: What each checkpoint records about the training, in addition to the state of
            `course`.
        precompute: Whether `tokens` contains the reference log-probabilities.
        kwargs: The arguments of DPOTrainer.
    """

    def __init__(
        self,
        course: CurriculumCallback,
        tokens: PairTokens,
        identity: Mapping[str, Json],
        precompute: bool,
        **kwargs: Any,
    ) -> None:
        some = Dataset.from_dict({"prompt": [""], "chosen": [""], "rejected": [""]})
        super().__init__(train_dataset=some, callbacks=[course], **kwargs)
        for weights in self.model.parameters():
            if weights.requires_grad:
                weights.data = weights.data.float()
        self.train_dataset = tokens
        self.precompute_ref_logps = precompute
        self._course = course
        self._told = identity
        for callback in (PrinterCallback, ProgressCallback):
            self.remove_callback(callback)

    def _prepare_dataset(self, dataset: Any, *more: Any, **told: Any) -> Any:
        return dataset

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        return self._course.period

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        with report_write_errors(Path(self.args.output_dir)):
            super()._save_checkpoint(model, trial)
        if self.is_world_process_zero():
            folder = Path(self.args.output_dir) / f"{PREFIX}{self.state.global_step}"
            self._course.complete_checkpoint(folder, self._told)
        self.accelerator.wait_for_everyone()

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        """Write no model card; `model_cards.dpo_card` writes the card of a training."""
        return None

    def _send_telemetry(self) -> None:
        return None


def make_dpo_config(settings: TrainConfig, opened: LoadedBase, folder: Path, processes: int) -> Any:
    """Return TRL's DPOConfig for a training.

    Args:
        settings: The settings of the training.
        opened: The loaded base model.
        folder: The folder for checkpoints.
        processes: The number of processes that train together.

    Raises:
        UsageError: A batch cannot be divided equally among the processes.
    """
    each = min(settings.device_batch, settings.batch // processes)
    if not each or settings.batch % (each * processes):
        raise UsageError(
            f"A batch of {settings.batch} pairs cannot be divided among {processes} processes"
            f" with {settings.device_batch} pairs each at a time (device_batch)."
        )
    device = str(opened.model.device)
    recompute = uses_gradient_checkpointing(settings, opened.model)
    args = DPOConfig(
        output_dir=str(folder),
        use_cpu=device == "cpu",
        bf16=compute_dtype(settings, device) == "bfloat16",
        seed=settings.seed,
        num_train_epochs=settings.periods,
        per_device_train_batch_size=each,
        gradient_accumulation_steps=settings.batch // (each * processes),
        learning_rate=settings.learning_rate,
        lr_scheduler_type=settings.lr_schedule,
        warmup_steps=settings.warmup,
        weight_decay=settings.weight_decay,
        max_grad_norm=settings.max_grad_norm,
        optim="adamw_torch",
        beta=settings.beta,
        disable_dropout=not settings.dropout,
        max_length=None,
        gradient_checkpointing=recompute,
        logging_steps=1,
        logging_nan_inf_filter=False,
        disable_tqdm=True,
        eval_strategy="no",
        save_strategy="no",
        report_to=parse_trackers(settings.report_to),
    )
    _ = args.device
    args._n_gpu = min(args.n_gpu, 1)  # otherwise TRL refuses several GPUs without a launcher
    return args


def make_trainer(
    args: Any,
    opened: LoadedBase,
    settings: TrainConfig,
    course: CurriculumCallback,
    tokens: PairTokens,
    identity: Mapping[str, Json],
) -> CurriculumTrainer:
    """Create the trainer of a DPO training.

    Args:
        args: The DPOConfig from `make_dpo_config`.
        opened: The loaded base model.
        settings: The settings of the training.
        course: The callback that controls the training.
        tokens: The pairs as tokens.
        identity: What each checkpoint records about the training.

    Raises:
        UsageError: The model has no layers with the names in `settings.lora_targets`.
    """
    reference = copy.deepcopy(opened.model).requires_grad_(False) if settings.full else None
    try:
        return CurriculumTrainer(
            course, tokens, identity, settings.precompute, model=opened.model, ref_model=reference, args=args,
            processing_class=opened.tokenizer,
            peft_config=None if settings.full else make_peft_config(settings),
        )  # fmt: skip
    except ValueError as error:
        if "arget modules" not in str(error):
            raise
        raise UsageError(
            f"{opened.base.name!r} has no layers {settings.lora_targets!r} for an adapter"
            " (lora_targets). Use all-linear for every linear layer."
        ) from None


class AnswerSampler:
    """Samples answers of the model in training (`progress.SampleAnswers`).

    A call does not change the global random state. An answer begins where the answers of the pairs
    begin, so a model that reasons in sessions is sampled without reasoning.

    Args:
        trainer: The trainer of the model.
        wording: The chat template and the tokenizer.
        max_new_tokens: The maximum number of tokens of an answer.
        rows: The number of answers per batch.
        context: The context length in tokens; None if it is unknown. An answer ends where the
            context is full. If a prompt fills the context, its answer is empty.
    """

    def __init__(
        self,
        trainer: CurriculumTrainer,
        wording: ChatFormat,
        max_new_tokens: int,
        rows: int,
        context: int | None,
    ) -> None:
        self._trainer = trainer
        self._wording = wording
        self._format = ExampleFormat(wording)
        self._most = max_new_tokens
        self._rows = rows
        self._context = sys.maxsize if context is None else context

    def __call__(self, prompts: Sequence[Sequence[Message]], seed: int) -> list[str]:
        ids = self._format.tokenize_starts(prompts)
        held = [place for place, one in enumerate(ids) if len(one) < self._context]
        order = sorted(held, key=lambda place: len(ids[place]))
        model = self._trainer.accelerator.unwrap_model(self._trainer.model)
        devices = [model.device] if model.device.type == "cuda" else []
        found = [""] * len(ids)
        was = model.training
        model.eval()
        with (
            torch.random.fork_rng(devices=devices),
            quiet_libraries(),
            self._trainer.accelerator.autocast(),
        ):
            torch.manual_seed(seed)
            for start in range(0, len(order), self._rows):
                places = order[start : start + self._rows]
                for place, answer in zip(places, self._batch(model, [ids[one] for one in places]), strict=True):  # fmt: skip
                    found[place] = answer
        model.train(was)
        return found

    def _batch(self, model: Any, rows: Sequence[Sequence[int]]) -> list[str]:
        width, config = max(map(len, rows)), model.generation_config
        ids = [[config.pad_token_id] * (width - len(row)) + list(row) for row in rows]
        seen = [[0] * (width - len(row)) + [1] * len(row) for row in rows]
        with torch.no_grad():
            output = model.generate(
                input_ids=torch.tensor(ids, device=model.device),
                attention_mask=torch.tensor(seen, device=model.device),
                do_sample=True, temperature=1.0, top_k=0, top_p=1.0, use_cache=True,
                max_new_tokens=min(self._most, self._context - width),
            )  # fmt: skip
        said: list[str] = self._wording.tokenizer.batch_decode(output[:, width:], skip_special_tokens=True)  # fmt: skip
        if self._wording.template == PLAIN:
            said = [one.partition(self._wording.stop)[0] for one in said]
        return said
