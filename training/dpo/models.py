"""The model of a training as it is loaded: base, tokenizer, chat template, adapter, precision.

Imported late: it imports torch, transformers and peft. The words and the weights are read by
`agents.local_model`, so a training and an `hf:` model never differ in what they read of a folder.
"""

from __future__ import annotations

import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peft import LoraConfig

from ...agents.local.chat import PLAIN, Wording
from ...agents.local.files import WORDS
from ...agents.local.model import load
from ...agents.local.settings import LocalSettings
from ...records import DataError, UsageError
from ..bases import Base, check_packages, write_origin
from .settings import TrainConfig
from .tokens import end_of_answer

LARGE = 1_000_000_000  # weights, above which activations are computed again by default


@dataclass
class Opened:
    """A base that is ready to be trained. end: the token that ends an answer. context: tokens that
    the model holds, None where it does not say."""

    base: Base
    model: Any
    tokenizer: Any
    wording: Wording
    end: int
    context: int | None


def open_base(base: Base, settings: TrainConfig, device: str) -> Opened:
    """Raises UsageError and DataError, one sentence each; UsageError too for a tokenizer that has no
    chat template where the settings give none."""
    quantized = in_four_bits(settings, device)
    if quantized:
        check_packages("bitsandbytes")
    # Weights that are trained themselves stay in float32; a frozen base need not.
    dtype = "float32" if settings.full else compute_dtype(settings, device)
    given = {"device": device, "dtype": dtype, "load_in_4bit": quantized, "max_tokens": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = load(base.found, None, LocalSettings.of(base.name, given), answers=False)
    if quantized:
        _keep_trainable(found.model)
    template = settings.chat_template or None
    wording = Wording(base.name, found.tokenizer, template, {}, False)
    if wording.template == PLAIN and template is None:
        raise UsageError(
            f"The tokenizer of {base.name!r} has no chat template, so prompts have no form:"
            " chat_template=FILE gives one, chat_template=plain says that you want none."
        )
    ends = found.model.generation_config.eos_token_id
    end = end_of_answer(wording, ends if isinstance(ends, list) else [ends])
    return Opened(base, found.model, found.tokenizer, wording, end, found.context)


def in_four_bits(settings: TrainConfig, device: str) -> bool:
    if settings.four_bit is None:
        return device.startswith("cuda") and not settings.full
    return settings.four_bit


def compute_dtype(settings: TrainConfig, device: str) -> str:
    """float32 or bfloat16."""
    if settings.compute != "auto":
        return settings.compute
    return "bfloat16" if device.startswith("cuda") else "float32"


def recomputes(settings: TrainConfig, model: Any) -> bool:
    """Whether activations are computed again in the backward pass."""
    if settings.recompute is None:
        return bool(model.num_parameters() > LARGE)
    return settings.recompute


def adapter_config(settings: TrainConfig) -> LoraConfig:
    names = [one.strip() for one in settings.lora_targets.split(",") if one.strip()]
    return LoraConfig(
        r=settings.lora_rank,
        lora_alpha=settings.lora_alpha,
        lora_dropout=settings.lora_dropout,
        target_modules=names[0] if names == ["all-linear"] else names,
        bias="none",
        task_type="CAUSAL_LM",
    )


def save_trained(model: Any, opened: Opened, folder: Path) -> None:
    """Writes the weights (of an adapter, its own alone) with the base's tokenizer. folder: new."""
    source = opened.base.found.folder
    model.save_pretrained(folder, safe_serialization=True)
    (folder / "README.md").unlink(missing_ok=True)  # peft writes one that says nothing
    copy_words(source, folder)
    if (folder / "config.json").is_file():
        copy_generation(source, folder)
    own = opened.wording.template
    if own not in (PLAIN, opened.tokenizer.chat_template):  # a file given for this training
        (folder / "chat_template.jinja").write_text(own, "utf-8")


def copy_words(source: Path, folder: Path) -> None:
    """Copies the tokenizer's files, its chat template among them."""
    for pattern in WORDS:
        for path in source.glob(pattern):
            shutil.copyfile(path, folder / path.name)


def copy_generation(source: Path, folder: Path) -> None:
    """Copies how a model samples: while it is trained its own settings are others."""
    (folder / "generation_config.json").unlink(missing_ok=True)
    if (source / "generation_config.json").is_file():
        shutil.copyfile(source / "generation_config.json", folder / "generation_config.json")


def _keep_trainable(model: Any) -> None:
    """bitsandbytes packs 4-bit weights anew for AVX512-BF16 at the first forward pass without
    gradients, and cannot train them after that; a probe is such a pass."""
    for module in model.modules():
        if hasattr(module, "support_avx512bf16_for_cpu"):
            module.support_avx512bf16_for_cpu = False


# --- An adapter merged into its base: a folder that any server loads.


def merge(adapter: Path, base: str | None, out: Path) -> Path:
    """Writes base and adapter as one model to `out`, which must not be there, and returns it. The
    weights keep the precision of the base's files.

    base: a folder or an id of the hub; None takes the one that the adapter names. UsageError for an
    adapter that is not there or was trained on another base, DataError for one that does not fit.
    """
    check_packages()
    if out.exists():
        raise UsageError(f"{str(out)!r} is there already; name a new folder for the merged model.")
    from ...agents.local.files import find, origin, weights_digest

    found, own = find(f"hf:{base}+{adapter}" if base is not None else f"hf:{adapter}")
    if own is None:
        raise UsageError(f"{str(adapter)!r} holds no adapter, but a model of its own.")
    whole = Base(base or found.name, found, weights_digest(found.folder))

    from ..libraries import quiet, writes

    new = out.with_name(f".{out.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    with quiet():
        from ...agents.local.model import load
        from ...agents.local.settings import LocalSettings

        model = load(
            found, own, LocalSettings(model=whole.name, device="cpu", max_tokens=1), answers=False
        ).model
        try:
            model = model.merge_and_unload(safe_merge=True)
        except ValueError as error:
            raise DataError(f"The adapter {str(adapter)!r} cannot be merged: {error}") from None
        new.parent.mkdir(parents=True, exist_ok=True)
        try:
            with writes(out):
                model.save_pretrained(new, safe_serialization=True)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
    # The adapter's own words, where it brings them, as `hf:BASE+ADAPTER` reads them.
    copy_words(own.folder if own.has_tokenizer else found.folder, new)
    copy_generation(found.folder, new)
    told = origin(adapter)
    if told is not None:
        write_origin(new, whole, str(told.get("training")), str(told.get("pairs")))
    new.rename(out)
    return out
