"""Train a classifier and predict labels with it, by transformers' Trainer and peft.

Importing this module imports torch. Therefore `fitting` imports it only when a training starts.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch.utils.data import Dataset
from transformers.trainer_utils import get_last_checkpoint

from ...agents.local.files import ModelFolder
from ...agents.local.model import context_size
from ...records import DataError, UsageError
from ...records.private_files import make_folder, write_folder
from ...tools.label_scores import macro_f1
from ..external_libraries import parse_trackers, report_write_errors
from .epochs import Epoch, EpochCallback, LabelledRows, TokenRows, epoch_score, length_batches
from .settings import ClassifierSettings

FULL_TRAINING_WEIGHTS = 100_000_000  # number of weights below which all weights are trained
HIGH_RATE_WEIGHTS = 10_000_000  # number of weights below which the learning rate is higher
LOAD_ERRORS = (
    OSError,
    ValueError,
    RuntimeError,
    KeyError,
    TypeError,
    AttributeError,
)  # errors that files of unknown origin may cause


class _Rows(Dataset):  # type: ignore[misc]
    def __init__(self, rows: LabelledRows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows[0])

    def __getitem__(self, place: int) -> dict[str, Any]:
        return {"input_ids": self._rows[0][place], "labels": self._rows[1][place]}


class _Watch(transformers.TrainerCallback):  # type: ignore[misc]
    """Collects the results of each epoch, and reports them."""

    def __init__(self, told: EpochCallback | None) -> None:
        self.told = told
        self.epochs: dict[int, Epoch] = {}
        self._train: list[float] = []

    def restore(self, history: Sequence[dict[str, Any]]) -> None:
        for one in history:
            self._take(one)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **more: Any) -> None:
        one = self._take({**(logs or {}), "epoch": state.epoch or 0.0})
        if self.told is not None:
            self.told(one, state.global_step, state.max_steps)

    def _take(self, logs: dict[str, Any]) -> Epoch | None:
        if "loss" in logs:
            self._train.append(float(logs["loss"]))
        if "eval_loss" not in logs:
            return None
        number = round(float(logs["epoch"]))
        loss = float(np.mean(self._train)) if self._train else float("nan")
        self._train = []
        self.epochs[number] = Epoch(
            number, loss, *(float(logs[f"eval_{name}"]) for name in ("loss", "accuracy", "f1", "score"))
        )  # fmt: skip
        return self.epochs[number]


class ClassifierTrainer:
    """Trains one classifier on one data set of labelled rows.

    Attributes:
        tokenizer: The tokenizer of the base model.
        weights: The number of weights of the model.
        trained: The number of weights that are trained.
        learning_rate: The peak learning rate.
        max_length: The maximum number of tokens per row.
    """

    def __init__(
        self, base: ModelFolder, labels: Sequence[str], settings: ClassifierSettings, out: Path
    ) -> None:
        transformers.set_seed(settings.seed)
        self._settings = settings
        self._out = out
        self._labels = labels
        self.tokenizer = _tokenizer(base)
        model = _model(base, labels, settings, self.tokenizer)
        self.weights = sum(one.numel() for one in model.parameters())
        self.max_length = min(settings.max_length, context_size(model) or settings.max_length)
        full = settings.full if settings.full is not None else self.weights < FULL_TRAINING_WEIGHTS
        self._model = model if full else _adapted(model, settings)
        self.trained = sum(one.numel() for one in self._model.parameters() if one.requires_grad)
        small = 1e-3 if self.weights < HIGH_RATE_WEIGHTS else 5e-5
        self.learning_rate = settings.learning_rate or (small if full else 2e-4)

    def train(
        self, train: LabelledRows, val: LabelledRows, resume: bool, progress: EpochCallback | None
    ) -> tuple[list[Epoch], int]:
        """Train the model, and load the weights of the best epoch.

        Args:
            train: The training rows with their label numbers.
            val: The validation rows with their label numbers.
            resume: Continue from the last complete checkpoint.
            progress: Called during training; None for no calls.

        Returns:
            The results of all epochs, and the number of the best epoch.
        """
        watch = _Watch(progress)
        folder = self._out / "checkpoints"
        make_folder(folder)
        last = _last_whole(folder) if resume else None
        trainer = transformers.Trainer(
            model=self._model,
            args=self._arguments(folder, len(train[0])),
            train_dataset=_Rows(train),
            eval_dataset=_Rows(val),
            data_collator=transformers.DataCollatorWithPadding(self.tokenizer),
            compute_metrics=_scores,
            callbacks=[
                watch,
                transformers.EarlyStoppingCallback(early_stopping_patience=self._settings.patience),
            ],
        )
        trainer.remove_callback(transformers.PrinterCallback)
        trainer.remove_callback(transformers.ProgressCallback)
        if last is not None:
            state = transformers.TrainerState.load_from_json(str(Path(last) / "trainer_state.json"))
            watch.restore(state.log_history)
        with report_write_errors(self._out):
            trainer.train(resume_from_checkpoint=last)
        self._model = trainer.model
        best = max(watch.epochs.values(), key=lambda one: (one.score, -one.number))
        shutil.rmtree(folder, ignore_errors=True)
        return [watch.epochs[number] for number in sorted(watch.epochs)], best.number

    def predict(self, rows: TokenRows) -> list[int]:
        """Return, for each row, the index of the label that the model predicts."""
        self._model.eval()
        found = [0] * len(rows)
        device = next(self._model.parameters()).device
        for together in length_batches([len(row) for row in rows], 2 * self._settings.batch):
            told = self.tokenizer.pad(
                {"input_ids": [rows[place] for place in together]}, return_tensors="pt"
            )
            with torch.inference_mode():
                logits = self._model(
                    **{key: value.to(device) for key, value in told.items()}
                ).logits
            for place, one in zip(together, logits.float().argmax(-1).tolist(), strict=True):
                found[place] = one
        return found

    def save(self, folder: Path) -> None:
        """Save the model and its tokenizer in `folder`, replacing an existing folder."""

        def write(place: Path) -> None:
            with report_write_errors(folder):
                self._model.save_pretrained(place)
            self.tokenizer.save_pretrained(place)

        write_folder(folder, write, replace=True)

    def _arguments(self, folder: Path, rows: int) -> Any:
        one = self._settings
        return transformers.TrainingArguments(
            output_dir=str(folder), num_train_epochs=one.epochs, seed=one.seed,
            per_device_train_batch_size=one.batch, per_device_eval_batch_size=2 * one.batch,
            learning_rate=self.learning_rate, lr_scheduler_type="cosine",
            warmup_steps=int(one.warmup * one.epochs * -(-rows // one.batch)),
            weight_decay=one.weight_decay, eval_strategy="epoch", save_strategy="epoch",
            logging_strategy="steps", logging_steps=max(1, -(-rows // one.batch) // 8),
            save_total_limit=1, load_best_model_at_end=True, metric_for_best_model="score",
            greater_is_better=True, report_to=parse_trackers(one.report_to), disable_tqdm=True,
            bf16=torch.cuda.is_available(), dataloader_pin_memory=torch.cuda.is_available(),
            remove_unused_columns=False, save_only_model=False,
        )  # fmt: skip


def _last_whole(folder: Path) -> str | None:
    """Return the newest checkpoint whose state can be read, and remove newer incomplete ones.

    The state is written last, so a checkpoint that a kill left incomplete has none.
    """
    while folder.is_dir() and (last := get_last_checkpoint(str(folder))) is not None:
        try:
            transformers.TrainerState.load_from_json(str(Path(last) / "trainer_state.json"))
        except (OSError, ValueError, TypeError):
            shutil.rmtree(last)
        else:
            return str(last)
    return None


def _scores(told: Any) -> dict[str, float]:
    logits, true = np.asarray(told.predictions, np.float64), np.asarray(told.label_ids)
    said = logits.argmax(-1)
    high = logits.max(-1, keepdims=True)
    of_true = np.take_along_axis(logits - high, true[:, None], -1)[:, 0]
    loss = float(np.mean(np.log(np.exp(logits - high).sum(-1)) - of_true))
    f1 = macro_f1(said.tolist(), true.tolist())
    return {
        "accuracy": float((said == true).mean()), "f1": f1, "score": epoch_score(f1, loss),
    }  # fmt: skip


def _tokenizer(base: ModelFolder) -> Any:
    try:
        made = transformers.AutoTokenizer.from_pretrained(
            base.folder, local_files_only=True, trust_remote_code=False
        )
    except LOAD_ERRORS as error:
        raise DataError(
            f"the tokenizer of {base.name!r} cannot be loaded: {_cause(error)}"
        ) from None
    if made.pad_token_id is None:
        made.pad_token = made.eos_token
    if made.pad_token_id is None:
        raise UsageError(f"the tokenizer of {base.name!r} does not define a token that ends a text")
    made.padding_side = "right"
    return made


def _model(
    base: ModelFolder, labels: Sequence[str], settings: ClassifierSettings, tokenizer: Any
) -> Any:
    more: dict[str, Any] = {}
    if (
        torch.cuda.is_available()
        and _size(base) >= 10 * FULL_TRAINING_WEIGHTS
        and not settings.full
    ):
        more["quantization_config"] = transformers.BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=torch.bfloat16, llm_int8_skip_modules=["score"],
        )  # fmt: skip
    else:
        more["dtype"] = torch.float32
    try:
        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            base.folder, num_labels=len(labels), local_files_only=True, trust_remote_code=False,
            use_safetensors=True, id2label=dict(enumerate(labels)),
            label2id={label: place for place, label in enumerate(labels)}, **more,
        )  # fmt: skip
    except LOAD_ERRORS as error:
        raise UsageError(
            f"base {base.name!r} cannot become a classifier: {_cause(error)}"
        ) from None
    model.config.pad_token_id = tokenizer.pad_token_id
    model.config.use_cache = False
    return model


def _size(base: ModelFolder) -> int:
    """Estimate the number of weights from the size of the files, at two bytes each."""
    return sum(path.stat().st_size for path in base.weights) // 2


def _adapted(model: Any, settings: ClassifierSettings) -> Any:
    import peft

    config = peft.LoraConfig(
        task_type="SEQ_CLS", r=settings.lora_rank, lora_alpha=settings.lora_alpha,
        lora_dropout=settings.lora_dropout, target_modules="all-linear",
    )  # fmt: skip
    if getattr(model, "is_loaded_in_4bit", False):
        model = peft.prepare_model_for_kbit_training(model)
    return peft.get_peft_model(model, config)


def _cause(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
