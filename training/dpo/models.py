"""Load, save and merge the model of a training, with its tokenizer, chat template and adapter.

Import this module only when a training starts, because it imports torch, transformers and peft. The
code in `agents.local` reads the tokenizer and the weights, so a training and an `hf:` model read
the same things from a folder.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from peft import LoraConfig

from ...agents.local.chat import PLAIN, ChatFormat
from ...agents.local.files import TOKENIZER_FILES
from ...agents.local.model import load_model, load_tokenizer
from ...agents.local.settings import LocalSettings
from ...records import DataError, Json, UsageError
from ...records.private_files import write_folder
from ..base_models import Base, check_packages, write_origin
from .launcher import is_sharded
from .pair_tokens import answer_end_token
from .settings import TrainConfig

GRADIENT_CHECKPOINTING_WEIGHTS = (
    1_000_000_000  # number of weights above which activations are recomputed by default
)


@dataclass
class LoadedBase:
    """A base model that is loaded and ready for training.

    Attributes:
        base: The files of the base model.
        model: The loaded model.
        tokenizer: The loaded tokenizer.
        wording: The chat template, with the tokenizer that applies it.
        end: The id of the token that ends an answer.
        context: The context length in tokens; None if the model does not specify one.
        device: The device that computes. With FSDP2, the weights are loaded on the CPU, and each
            process later moves its part of them to this device.
    """

    base: Base
    model: Any
    tokenizer: Any
    wording: ChatFormat
    end: int
    context: int | None
    device: str

    @property
    def attention(self) -> str:
        """The implementation of attention that the model uses, as transformers names it."""
        return str(self.model.config._attn_implementation)


def open_wording(
    base: Base,
    tokenizer: Any,
    settings: TrainConfig,
    variables: Mapping[str, Json] | None = None,
    date: str | None = None,
) -> ChatFormat:
    """Return the chat template of a training, with the tokenizer that applies it.

    Args:
        base: The files of the base model.
        tokenizer: The loaded tokenizer; None to load it.
        settings: The settings of the training.
        variables: As in `load_base`.
        date: As in `load_base`.

    Raises:
        UsageError: Neither the tokenizer nor the settings contain a chat template.
        DataError: The tokenizer cannot be read.
    """
    tokenizer = tokenizer or load_tokenizer(base.files)
    template = settings.chat_template or None
    wording = ChatFormat(base.name, tokenizer, template, variables or {}, False, known_only=True)
    if wording.template == PLAIN and template is None:
        raise UsageError(
            f"The tokenizer of {base.name!r} has no chat template to format prompts with. Set"
            " chat_template=FILE to use a template, or chat_template=plain to use none."
        )
    if date is not None:
        wording.freeze_date(datetime.fromisoformat(date))
    return wording


def load_base(
    base: Base,
    settings: TrainConfig,
    device: str,
    variables: Mapping[str, Json] | None = None,
    date: str | None = None,
) -> LoadedBase:
    """Load a base model for training.

    Args:
        base: The files of the base model.
        settings: The settings of the training.
        device: The device on which to load the model, for example cuda.
        variables: The variables of the chat template in the sessions from which the pairs come.
            Variables that this model's template does not use are ignored.
        date: The date that prompts contain if the chat template writes one, such as 2026-11-29;
            None for the current date.

    Raises:
        UsageError: The settings do not fit the base model, or neither the tokenizer nor the
            settings contain a chat template.
        DataError: The base model cannot be read.
    """
    quantized = loads_in_4bit(settings, device)
    if quantized:
        check_packages("bitsandbytes")
    attention = find_attention(settings, device)
    # Weights that are trained directly stay in float32; a frozen base need not.
    dtype = "float32" if settings.full else compute_dtype(settings, device)
    place = "cpu" if is_sharded() else device
    given = {"device": place, "dtype": dtype, "load_in_4bit": quantized, "max_tokens": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = load_model(
            base.files, None, LocalSettings.from_options(base.name, given), False, attention
        )
    if quantized:
        _keep_trainable(found.model)
    wording = open_wording(base, found.tokenizer, settings, variables, date)
    ends = found.model.generation_config.eos_token_id
    end = answer_end_token(wording, ends if isinstance(ends, list) else [ends])
    return LoadedBase(base, found.model, found.tokenizer, wording, end, found.context, device)


def loads_in_4bit(settings: TrainConfig, device: str) -> bool:
    """Return whether the base model is loaded in 4 bits.

    By default it is loaded in 4 bits on a GPU if an adapter is trained, but not with FSDP2.
    """
    if settings.four_bit is None:
        return device.startswith("cuda") and not settings.full and not is_sharded()
    return settings.four_bit


def compute_dtype(settings: TrainConfig, device: str) -> str:
    """Return the name of the data type for computation: float32 or bfloat16."""
    if settings.compute != "auto":
        return settings.compute
    return "bfloat16" if device.startswith("cuda") else "float32"


def find_attention(settings: TrainConfig, device: str) -> str | None:
    """Return the implementation of attention to load a model with; None for the library's choice.

    Raises:
        UsageError: FlashAttention is requested but cannot be used.
    """
    if settings.attention == "flash_attention_2":
        if find_spec("flash_attn") is None:
            raise UsageError(
                "attention flash_attention_2 needs the package flash-attn, which is not installed:"
                " install it, or use --attention sdpa."
            )
        if not device.startswith("cuda") or compute_dtype(settings, device) != "bfloat16":
            raise UsageError(
                "attention flash_attention_2 needs a GPU and compute bfloat16: use --attention sdpa."
            )
    return None if settings.attention == "auto" else settings.attention


def uses_gradient_checkpointing(settings: TrainConfig, model: Any) -> bool:
    """Return whether the backward pass recomputes activations, which saves memory.

    By default it recomputes activations for models above a size limit.
    """
    if settings.recompute is None:
        return bool(model.num_parameters() > GRADIENT_CHECKPOINTING_WEIGHTS)
    return settings.recompute


def make_peft_config(settings: TrainConfig) -> LoraConfig:
    """Return the LoRA configuration for the package peft, as `settings` describes it."""
    names = [one.strip() for one in settings.lora_targets.split(",") if one.strip()]
    return LoraConfig(
        r=settings.lora_rank,
        lora_alpha=settings.lora_alpha,
        lora_dropout=settings.lora_dropout,
        target_modules=names[0] if names == ["all-linear"] else names,
        bias="none",
        task_type="CAUSAL_LM",
    )


def save_trained(
    model: Any, opened: LoadedBase, folder: Path, weights: Mapping[str, Any] | None = None
) -> None:
    """Save the trained weights, and the tokenizer of the base model, in a new folder.

    Args:
        model: The trained model. For an adapter, only the adapter's weights are saved.
        opened: The base model of the training.
        folder: The folder to write to.
        weights: The weights by name, if `model` holds only a part of each; None if it is complete.
    """
    source = opened.base.files.folder
    model.save_pretrained(folder, safe_serialization=True, state_dict=weights)
    (folder / "README.md").unlink(missing_ok=True)  # peft writes an empty template
    copy_tokenizer(source, folder)
    if (folder / "config.json").is_file():
        copy_generation_config(source, folder)
    own = opened.wording.template
    if own not in (
        PLAIN,
        opened.tokenizer.chat_template,
    ):  # a file from the settings of this training
        (folder / "chat_template.jinja").write_text(own, "utf-8")


def copy_tokenizer(source: Path, folder: Path) -> None:
    """Copy the tokenizer's files, including its chat template, from `source` to `folder`."""
    for pattern in TOKENIZER_FILES:
        for path in source.glob(pattern):
            shutil.copyfile(path, folder / path.name)


def copy_generation_config(source: Path, folder: Path) -> None:
    """Replace the generation configuration in `folder` with the one in `source`.

    Training changes the generation configuration, so the saved file is not the base model's.
    """
    (folder / "generation_config.json").unlink(missing_ok=True)
    if (source / "generation_config.json").is_file():
        shutil.copyfile(source / "generation_config.json", folder / "generation_config.json")


def _keep_trainable(model: Any) -> None:
    """Keep 4-bit weights on a CPU trainable.

    At the first forward pass without gradients (a probe is such a pass), bitsandbytes repacks 4-bit
    weights for AVX512-BF16 and cannot train them afterwards.
    """
    for module in model.modules():
        if hasattr(module, "support_avx512bf16_for_cpu"):
            module.support_avx512bf16_for_cpu = False


# --- Merging an adapter into its base.


def merge_adapter(adapter: Path, base: str | None, out: Path) -> Path:
    """Merge an adapter into its base model, and write a complete model folder.

    The merged weights keep the precision of the base model's files.

    Args:
        adapter: The folder of the adapter.
        base: A folder or an id on the Hugging Face hub; None uses the base that the adapter names.
        out: The folder to write. It must not exist.

    Returns:
        The path `out`.

    Raises:
        UsageError: `out` exists, the adapter is missing, or it was trained on another base model.
        DataError: The adapter does not fit the base model.
    """
    check_packages()
    if out.exists():
        raise UsageError(f"{str(out)!r} already exists; choose a new folder for the merged model.")
    from ...agents.local.files import find_model, read_origin, weights_digest

    found, own = find_model(f"hf:{base}+{adapter}" if base is not None else f"hf:{adapter}")
    if own is None:
        raise UsageError(f"{str(adapter)!r} contains a complete model, not an adapter.")
    whole = Base(base or found.name, found, weights_digest(found.folder))

    from ..external_libraries import quiet_libraries, report_write_errors

    with quiet_libraries():
        from ...agents.local.model import load_model
        from ...agents.local.settings import LocalSettings

        model = load_model(
            found, own, LocalSettings(model=whole.name, device="cpu", max_tokens=1), answers=False
        ).model
        try:
            model = model.merge_and_unload(safe_merge=True)
        except ValueError as error:
            raise DataError(f"The adapter {str(adapter)!r} cannot be merged: {error}") from None
    told = read_origin(adapter)

    def write(folder: Path) -> None:
        with quiet_libraries(), report_write_errors(out):
            model.save_pretrained(folder, safe_serialization=True)
        # `hf:BASE+ADAPTER` also uses the adapter's own tokenizer where it has one.
        copy_tokenizer(own.folder if own.has_tokenizer else found.folder, folder)
        copy_generation_config(found.folder, folder)
        if told is not None:
            write_origin(folder, whole, str(told.get("training")), str(told.get("pairs")))

    write_folder(out, write)
    return out
