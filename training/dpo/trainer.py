"""TRL's DPOTrainer on pairs that are drawn period by period.

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
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from datasets import Dataset
from transformers import PrinterCallback, ProgressCallback
from trl import DPOConfig, DPOTrainer

from ...records import Json, UsageError
from ..external_libraries import parse_trackers, report_write_errors
from .callback import CurriculumCallback
from .checkpoints import PREFIX
from .launcher import is_sharded
from .models import LoadedBase, compute_dtype, make_peft_config, uses_gradient_checkpointing
from .pair_tokens import PairTokens
from .settings import TrainConfig
from .sharding import shard_reference, start_sharding


class CurriculumTrainer(DPOTrainer):  # type: ignore[misc]
    """TRL's DPOTrainer, with the draws and checkpoints of a `CurriculumCallback`.

    Args:
        course: The callback that controls the training.
        tokens: The pairs as tokens.
        identity: What each checkpoint records about the training, in addition to the state of
            `course`.
        precompute: Whether `tokens` contains the reference log-probabilities.
        dtype: The data type of the computation: float32 or bfloat16.
        kwargs: The arguments of DPOTrainer.
    """

    def __init__(
        self,
        course: CurriculumCallback,
        tokens: PairTokens,
        identity: Mapping[str, Json],
        precompute: bool,
        dtype: str,
        **kwargs: Any,
    ) -> None:
        self._reference, self._dtype = kwargs.get("ref_model"), dtype
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

    def create_accelerator_and_postprocess(self) -> None:
        """Create the accelerator, and divide the reference model if FSDP2 is used.

        The trained model is divided when the training begins.
        """
        super().create_accelerator_and_postprocess()
        if is_sharded():
            start_sharding(self.accelerator, self._dtype)
            self.is_fsdp_enabled = True
            if self._reference is not None:
                shard_reference(self.accelerator, self._reference)

    def _prepare_dataset(self, dataset: Any, *more: Any, **told: Any) -> Any:
        return dataset

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        return self._course.period

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        with self._course.measure_time("saving"):
            with report_write_errors(Path(self.args.output_dir)):
                super()._save_checkpoint(model, trial)
            self.accelerator.wait_for_everyone()  # each process writes files of its own
            if self.is_world_process_zero():
                folder = Path(self.args.output_dir) / f"{PREFIX}{self.state.global_step}"
                self._course.complete_checkpoint(folder, self._told)
            self.accelerator.wait_for_everyone()

    def save_model(self, output_dir: str | None = None, _internal_call: bool = False) -> None:
        """Save the weights of a checkpoint, unless FSDP2 saves them with the optimizer's state."""
        if not is_sharded():
            super().save_model(output_dir, _internal_call)

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
    bfloat16 = compute_dtype(settings, opened.device) == "bfloat16"
    # The settings decide, not `mixed_precision` in accelerate's configuration.
    os.environ["ACCELERATE_MIXED_PRECISION"] = "bf16" if bfloat16 else "no"
    recompute = uses_gradient_checkpointing(settings, opened.model)
    args = DPOConfig(
        output_dir=str(folder),
        use_cpu=opened.device == "cpu",
        bf16=bfloat16,
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
            course, tokens, identity, settings.precompute, compute_dtype(settings, opened.device),
            model=opened.model, ref_model=reference, args=args, processing_class=opened.tokenizer,
            peft_config=None if settings.full else make_peft_config(settings),
        )  # fmt: skip
    except ValueError as error:
        if "arget modules" not in str(error):
            raise
        raise UsageError(
            f"{opened.base.name!r} has no layers {settings.lora_targets!r} for an adapter"
            " (lora_targets). Use all-linear for every linear layer."
        ) from None
