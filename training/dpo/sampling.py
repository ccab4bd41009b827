"""Sample answers of the model in training, shared among the processes of a launcher.

Import this module only when a training starts, because it imports torch.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from ...agents.local.chat import PLAIN, ChatFormat
from ...agents.local.example_format import ExampleFormat
from ...records import Message
from ..external_libraries import quiet_libraries
from .launcher import is_sharded
from .processes import divide_batches, gather

if TYPE_CHECKING:
    from .trainer import CurriculumTrainer

_SEED_STEP = (
    1_000_003  # between two batches, so that samples with neighbouring seeds share no batch
)


class AnswerSampler:
    """Samples answers of the model in training (`progress.SampleAnswers`).

    All processes call this object at the same time with the same arguments. Each generates a part
    of the batches, and all get all answers. An answer depends on the seed and on the batch that
    contains it, but not on the number of processes. A call does not change the global random state.
    An answer begins where the answers of the pairs begin, so a model that reasons in sessions is
    sampled without reasoning.

    With FSDP2, a model generates each token by a collective operation, so a process that has
    finished its batch takes part until the slowest one has finished.

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
        batches = [order[start : start + self._rows] for start in range(0, len(order), self._rows)]
        accelerator = self._trainer.accelerator
        processes, own = accelerator.num_processes, accelerator.process_index
        model = accelerator.unwrap_model(self._trainer.model)
        devices = [accelerator.device] if accelerator.device.type == "cuda" else []
        found: dict[int, str] = {}
        was = model.training
        model.eval()
        with torch.random.fork_rng(devices=devices), quiet_libraries(), accelerator.autocast():
            for turn in divide_batches(len(batches), processes, self._crowded(ids, batches)):
                places = batches[turn[own]]
                torch.manual_seed(seed + _SEED_STEP * turn[own])
                found |= zip(places, self._batch(model, [ids[one] for one in places]), strict=True)
        model.train(was)
        texts = [""] * len(ids)
        for answers in gather(found, processes):
            for place, answer in answers.items():
                texts[place] = answer
        return texts

    def _crowded(self, ids: Sequence[Sequence[int]], batches: Sequence[Sequence[int]]) -> set[int]:
        """Return the batches that reach the end of the context, if FSDP2 is used.

        A process that has finished such a batch must not continue until another has finished a
        longer one, because the model may have no positions beyond its context.
        """
        if not is_sharded():
            return set()
        widths = [len(ids[batch[-1]]) for batch in batches]
        return {one for one, width in enumerate(widths) if width + self._most > self._context}

    def _batch(self, model: Any, rows: Sequence[Sequence[int]]) -> list[str]:
        width, config = max(map(len, rows)), model.generation_config
        accelerator = self._trainer.accelerator
        device = accelerator.device
        ids = [[config.pad_token_id] * (width - len(row)) + list(row) for row in rows]
        seen = [[0] * (width - len(row)) + [1] * len(row) for row in rows]
        with torch.no_grad():
            output = model.generate(
                input_ids=torch.tensor(ids, device=device),
                attention_mask=torch.tensor(seen, device=device),
                do_sample=True, temperature=1.0, top_k=0, top_p=1.0, use_cache=True,
                max_new_tokens=min(self._most, self._context - width),
                synced_gpus=is_sharded() and accelerator.num_processes > 1,
            )  # fmt: skip
        said: list[str] = self._wording.tokenizer.batch_decode(output[:, width:], skip_special_tokens=True)  # fmt: skip
        if self._wording.template == PLAIN:
            said = [one.partition(self._wording.stop)[0] for one in said]
        return said
