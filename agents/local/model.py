"""Load a local model and answer batches of prompts.

This module uses transformers, peft and, for 4-bit weights, bitsandbytes. proposer.py imports this
module when a model is opened, and calls all its functions on a single thread.

An adapter is not merged into the weights of its base, as in training. Code that a model repository
contains is never run.
"""

from __future__ import annotations

import contextlib
import copy
import gc
import logging
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from transformers.generation import LogitsProcessorList, StoppingCriteriaList
from transformers.utils import logging as transformers_logging

from ...records import DataError, Json, PeirceError, UsageError
from .decoding import Answer, Decoder, Prompt, count_parameters, make_decoder
from .files import ModelFolder, read_object
from .sampling import NanDetector, Sampling, resolve_sampling
from .settings import LocalSettings

# --- Output that transformers and related libraries print by default.


@contextlib.contextmanager
def silence_libraries(names: Sequence[str], level: int) -> Iterator[None]:
    """Return a context manager that suppresses warnings, progress bars and log messages.

    Log messages below `level` are suppressed for the loggers in `names`. Afterwards, the previous
    settings are restored.
    """
    loggers = [logging.getLogger(name) for name in names]
    levels = [one.level for one in loggers]
    bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.disable_progress_bar()
    for one in loggers:
        one.setLevel(level)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for one, before in zip(loggers, levels, strict=True):
            one.setLevel(before)
        if bars:
            transformers_logging.enable_progress_bar()


# Fields of a generation_config that `Sampling` takes over, or that do not apply when one token is
# chosen at a time.
REPLACED_FIELDS = ("do_sample", "temperature", "top_p", "top_k", "min_p", "repetition_penalty", "num_beams",
         "max_length", "max_new_tokens", "min_length", "typical_p", "epsilon_cutoff", "eta_cutoff",
         "top_h", "num_return_sequences", "transformers_version")  # fmt: skip
TOKEN_ID_FIELDS = ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id")
BATCH, SMALL_BATCH = 16, 64
# Up to this many parameters, a pass on a CPU costs nearly the same for few rows as for many.
TINY = 20_000_000
MEMORY = ("can't allocate memory", "not enough memory", "out of memory")
FAULTS = (OSError, ValueError, RuntimeError, LookupError, TypeError, AttributeError, ImportError,
          ArithmeticError, SafetensorError, StrictDataclassError)  # fmt: skip  # what a broken or foreign model raises while it is loaded


@dataclass
class LocalModel:
    """A loaded model with its tokenizer. `load_model` creates it.

    Attributes:
        sampling: How tokens are sampled.
        max_tokens: The maximum number of tokens per answer.
        context: The number of tokens that fit into the context; None if the model's files do not
            say.
        batch: The maximum number of requests in one batch.
        decoder: For a small model, a faster decoder that is used instead of the method `answer`;
            None for other models.
    """

    model: Any
    tokenizer: Any
    sampling: Sampling
    max_tokens: int
    context: int | None
    batch: int
    decoder: Decoder | None = None
    other_generation_settings: dict[str, Json] = field(
        default_factory=dict
    )  # further fields of the generation_config
    stop: str = ""  # a text that ends an answer, in addition to the model's own end tokens

    def set_stop(self, stop: str) -> None:
        """Set a text that ends an answer as soon as the model generates it."""
        self.stop = stop
        if self.decoder is not None:
            self.decoder.stop, self.decoder.text_of = stop, self.tokenizer.decode

    @property
    def dtype(self) -> str:
        """Return the data type of the weights, such as "bfloat16"."""
        return str(self.model.dtype).removeprefix("torch.")

    @property
    def device(self) -> str:
        """Return the name of the device that holds the weights, such as "cuda:0"."""
        return str(self.model.device)

    def answer(self, prompts: Sequence[Prompt]) -> list[Answer]:
        """Generate an answer to each prompt, in one batch.

        If the caller gives up a prompt while the batch runs, the answer to that prompt is
        meaningless. If the caller gives up all prompts, the batch ends within one token.
        """
        width = max(len(one.tokens) for one in prompts)
        padding = [width - len(one.tokens) for one in prompts]
        config, device = self.model.generation_config, self.model.device
        ids = [[config.pad_token_id] * pad + list(one.tokens) for pad, one in zip(padding, prompts, strict=True)]  # fmt: skip
        seen = [[0] * pad + [1] * (width - pad) for pad in padding]
        broken = NanDetector()
        ends = _Ends(self, prompts, width, broken)
        seeds = [one.seed for one in prompts]
        with torch.inference_mode():
            output = self.model.generate(
                input_ids=torch.tensor(ids, device=device),
                attention_mask=torch.tensor(seen, device=device),
                logits_processor=LogitsProcessorList(
                    [broken, *self.sampling.make_processors(seeds, padding, width)]
                ),
                stopping_criteria=StoppingCriteriaList([ends]),
                max_new_tokens=self.max_tokens,
            )
        made: list[list[int]] = output[:, width:].tolist()
        wrong = [False] * len(made) if broken.rows is None else broken.rows.tolist()
        return [
            Answer([], True, len(row), broken=True) if bad else self._cut(row, ends.after.get(n))
            for n, (row, bad) in enumerate(zip(made, wrong, strict=True))
        ]

    def _cut(self, row: list[int], after: int | None) -> Answer:
        told = self.model.generation_config.eos_token_id
        ending = set(told if isinstance(told, list) else [told])
        end = next((at for at, token in enumerate(row) if token in ending), None)
        if end is not None:
            return Answer(row[:end], True, end + 1)
        return Answer(row[:after], after is not None, len(row) if after is None else after)

    def free(self) -> None:
        """Delete the model and free its memory."""
        self.model = self.tokenizer = self.decoder = None
        self.release()

    def release(self) -> None:
        """Free the memory on the device that a failed batch still occupies."""
        if self.decoder is not None and not self.decoder.rows:
            self.decoder.release()
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


class _Ends:
    """A stopping criterion that reports which rows have ended."""

    def __init__(
        self, model: LocalModel, prompts: Sequence[Prompt], width: int, broken: NanDetector
    ) -> None:
        self._broken = broken
        self._model = model
        self._prompts = prompts
        self._width = width
        self.after: dict[int, int] = {}  # rows ended by the stop text, with their number of tokens

    def __call__(self, ids: torch.Tensor, scores: Any, **more: Any) -> torch.Tensor:
        if self._model.stop:
            made = ids.shape[1] - self._width
            tails = self._model.tokenizer.batch_decode(ids[:, -min(made, 8) :])
            for row, tail in enumerate(tails):
                if self._model.stop in tail:
                    self.after.setdefault(row, made)
        ended = [one.given_up or row in self.after for row, one in enumerate(self._prompts)]
        given_up = torch.tensor(ended, device=ids.device)
        return given_up if self._broken.rows is None else given_up | self._broken.rows


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error means that the device or the host has run out of memory."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(text in str(error).lower() for text in MEMORY)


# --- Loading ------------------------------------------------------------------------------------


def load_model(
    base: ModelFolder,
    adapter: ModelFolder | None,
    settings: LocalSettings,
    answers: bool = True,
    attention: str | None = None,
) -> LocalModel:
    """Load a model, with an adapter if one is passed.

    Args:
        base: The folder of the model.
        adapter: The folder of a LoRA adapter; None for none.
        settings: The settings of the model.
        answers: Whether the model will answer prompts. False loads only the weights, without a
            forward pass. After a forward pass, bitsandbytes could not train some of the weights.
        attention: The implementation of attention, as transformers names it; None for the library's
            choice, which is sdpa if the model supports it.

    Raises:
        UsageError: The device does not exist or has too little memory.
        DataError: A file of the model cannot be used.
    """
    tokenizer = load_tokenizer(base, adapter)
    with _quiet():
        with _convert_load_errors(f"model {base.name!r}"):
            model = _model(base, settings, attention)
        if adapter is not None:
            with _convert_load_errors(f"adapter {adapter.name!r} on {base.name!r}"):
                model = _adapted(model, adapter)
    model.eval()
    _check_vocabulary(base, model, tokenizer)
    _check_words(base, tokenizer)
    defaults = _defaults(base, model)
    sampling = resolve_sampling(settings, defaults, base.name)
    config = copy.deepcopy(defaults)
    for key in REPLACED_FIELDS:
        setattr(config, key, None)
    config.do_sample, config.num_beams, config.use_cache = False, 1, True
    _set_ends(base, config, tokenizer)
    model.generation_config = config
    rest = {key: value for key, value in config.to_diff_dict().items()
            if key not in (*REPLACED_FIELDS, *TOKEN_ID_FIELDS, "use_cache") and not key.startswith("_") and value}  # fmt: skip
    context = settings.context_tokens or context_size(model)
    most = settings.max_tokens
    with _convert_load_errors(f"model {base.name!r}"):
        decoder = make_decoder(model, sampling, most) if answers and not rest else None
    batch = settings.batch or default_batch(model, decoder)
    return LocalModel(model, tokenizer, sampling, most, context, batch, decoder, rest)


def default_batch(model: Any, decoder: Decoder | None) -> int:
    """Return the default of the setting `batch`.

    The default is larger for small models, for which more rows take hardly more time.

    Args:
        model: The loaded model.
        decoder: The decoder for small models; None for other models.
    """
    if decoder is None:
        return BATCH
    return SMALL_BATCH if count_parameters(model) <= TINY or model.device.type != "cpu" else BATCH


def load_tokenizer(base: ModelFolder, adapter: ModelFolder | None = None) -> Any:
    """Return the adapter's own tokenizer, with which it was trained, or that of the base.

    Raises:
        DataError: The tokenizer cannot be loaded.
    """
    source = adapter if adapter is not None and adapter.has_tokenizer else base
    with _quiet(), _convert_load_errors(f"the tokenizer of {base.name!r}"):
        return transformers.AutoTokenizer.from_pretrained(
            source.folder, local_files_only=True, trust_remote_code=False
        )


def _model(base: ModelFolder, settings: LocalSettings, attention: str | None) -> Any:
    more: dict[str, Any] = {} if attention is None else {"attn_implementation": attention}
    device = _device(settings.device)
    dtype: str = settings.dtype
    if settings.load_in_4bit:
        if dtype == "auto":
            stored = read_object(base.folder / "config.json")
            dtype = str(stored.get("dtype") or stored.get("torch_dtype") or "bfloat16")
        more["quantization_config"] = transformers.BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=getattr(torch, dtype),
        )  # fmt: skip
    model, told = transformers.AutoModelForCausalLM.from_pretrained(
        base.folder, dtype=dtype, use_safetensors=True, local_files_only=True,
        device_map="auto" if device == "auto" else {"": device},
        trust_remote_code=False, output_loading_info=True, **more,
    )  # fmt: skip
    for kind in ("missing_keys", "mismatched_keys"):
        if told.get(kind):
            first = sorted(str(key) for key in told[kind])[0]
            raise DataError(
                f"model {base.name!r} is incomplete: {len(told[kind])} of its weights are"
                f" missing or have another shape ({first})"
            )
    return model


def _device(wanted: str | None) -> str:
    here = ["cpu", *(f"cuda:{n}" for n in range(torch.cuda.device_count()))]
    here += ["mps"] if torch.backends.mps.is_available() else []
    if wanted is None:
        return here[1] if len(here) > 1 else "cpu"
    if wanted not in (*here, "auto") and not (wanted == "cuda" and "cuda:0" in here):
        raise UsageError(
            f"device {wanted!r} is not available: it must be one of {', '.join(here)}, auto"
        )
    return wanted


def _adapted(model: Any, adapter: ModelFolder) -> Any:
    import peft

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        adapted = peft.PeftModel.from_pretrained(model, adapter.folder, is_trainable=False)
    missing = [one for one in told if "missing adapter keys" in str(one.message)]
    if missing:
        raise DataError(
            f"adapter {adapter.name!r} does not fit its base: weights that its"
            " adapter_config.json requires are missing"
        )
    return adapted


def _check_vocabulary(base: ModelFolder, model: Any, tokenizer: Any) -> None:
    known = model.get_input_embeddings().weight.shape[0]
    if len(tokenizer) > known:
        raise DataError(
            f"the tokenizer of {base.name!r} has {len(tokenizer):,} tokens, more than the"
            f" {known:,} that the model embeds"
        )


def _check_words(base: ModelFolder, tokenizer: Any) -> None:
    """Check the tokenizer: if files are missing, transformers creates one without any tokens."""
    with _convert_load_errors(f"the tokenizer of {base.name!r}"):
        ids = tokenizer("A question, 1 2 3")["input_ids"]
    if not ids:
        raise DataError(f"{base.name!r} does not contain a usable tokenizer (tokenizer.json)")


def _defaults(base: ModelFolder, model: Any) -> Any:
    """Return the generation_config file of the model, or the one in its configuration."""
    if not (base.folder / "generation_config.json").is_file():
        return model.generation_config
    with _quiet(), _convert_load_errors(f"the generation_config of {base.name!r}"):
        return transformers.GenerationConfig.from_pretrained(base.folder, local_files_only=True)


def _set_ends(base: ModelFolder, config: Any, tokenizer: Any) -> None:
    if config.eos_token_id is None:
        config.eos_token_id = tokenizer.eos_token_id
    if config.eos_token_id is None:
        raise DataError(
            f"model {base.name!r} does not define a token that ends an answer (eos_token_id)"
        )
    if isinstance(config.eos_token_id, tuple):
        config.eos_token_id = list(config.eos_token_id)
    first = config.eos_token_id[0] if isinstance(config.eos_token_id, list) else config.eos_token_id
    pad = tokenizer.pad_token_id
    config.pad_token_id = first if pad is None else pad


def context_size(model: Any) -> int | None:
    """Return the context size of a model in tokens, or None if its configuration does not state
    it.
    """
    told = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    return told if isinstance(told, int) and told > 0 else None


@contextlib.contextmanager
def _convert_load_errors(what: str) -> Iterator[None]:
    """Convert errors of a model's files, or of the packages that read them, to one sentence."""
    try:
        yield
    except PeirceError:
        raise
    except FAULTS as error:
        if is_out_of_memory(error):
            raise UsageError(f"{what} does not fit into the memory of its device") from None
        cause = " ".join(str(error).split())[:300]
        raise DataError(f"{what} cannot be loaded: {type(error).__name__}: {cause}") from None


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence the libraries while they load, and restore the global random generator."""
    silent = silence_libraries(("transformers", "bitsandbytes", "peft"), logging.CRITICAL)
    with silent, torch.random.fork_rng(devices=[]):
        yield
