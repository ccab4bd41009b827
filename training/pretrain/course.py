"""The course of a pretraining: lessons in, a model folder out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .packing import Rows


@dataclass(frozen=True)
class Pace:
    """How the weights are moved. The rates fall to a twentieth of their tops by the end, which is
    after so many seconds or so many tokens, whichever comes first."""

    seconds: float = math.inf
    tokens: float = math.inf
    rate: float = 2.5e-3  # AdamW: embeddings and norms
    matrix_rate: float = 0.02  # Muon: the matrices of the layers
    warmup: float = 0.03
    decay: float = 0.01


def learn(
    model: Any,
    rows: Iterator[Rows],
    pace: Pace,
    half: bool,
    progress: Callable[[float, int, float], None] | None = None,
) -> tuple[int, float]:
    """Trains until `pace.seconds` have passed; returns tokens seen and the last mean loss of
    answers. half: matrices are multiplied in bfloat16."""
    import torch
    from torch.nn import functional

    matrices: list[Any] = []
    rest: list[Any] = []
    for name, weight in model.named_parameters():
        inner = weight.ndim == 2 and "embed" not in name
        (matrices if inner else rest).append(weight)
    optimizers = [
        torch.optim.Muon(matrices, lr=pace.matrix_rate, weight_decay=pace.decay, momentum=0.95),
        torch.optim.AdamW(rest, lr=pace.rate, betas=(0.9, 0.98), weight_decay=0.0),
    ]
    tops = [pace.matrix_rate, pace.rate]
    device = model.device
    head = model.get_output_embeddings()
    start = time.monotonic()
    tokens, mean = 0, 0.0
    model.train()
    for step, batch in enumerate(rows):
        done = max((time.monotonic() - start) / pace.seconds, tokens / pace.tokens)
        if done >= 1:
            break
        factor = share_of_rate(done, pace.warmup)
        for optimizer, top in zip(optimizers, tops, strict=True):
            for group in optimizer.param_groups:
                group["lr"] = top * factor
        weights = torch.from_numpy(batch.weights).to(device)
        with torch.autocast(device.type, torch.bfloat16, enabled=half):
            hidden = model.base_model(
                input_ids=torch.from_numpy(batch.tokens).to(device),
                position_ids=torch.from_numpy(batch.positions).to(device),
                attention_mask=torch.from_numpy(batch.seen()).to(device),
                use_cache=False,
            ).last_hidden_state
            chosen = weights > 0
            logits = head(hidden[chosen])
        targets = torch.from_numpy(batch.targets).to(device)[chosen]
        losses = functional.cross_entropy(logits.float(), targets, reduction="none")
        weights = weights[chosen]
        loss = (losses * weights).sum() / weights.sum()
        for optimizer in optimizers:
            optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
        tokens += int((batch.lesson >= 0).sum())
        said = float(losses.detach()[weights == 1].mean())
        mean = said if step == 0 else 0.9 * mean + 0.1 * said
        if progress is not None:
            progress(done, tokens, mean)
    return tokens, mean


def share_of_rate(done: float, warmup: float) -> float:
    """The share of its highest learning rate when `done`, 0 to 1, of a course is over: a rise from 0.01
    over the share `warmup`, times half a cosine from 1 down to 0.05."""
    fall = 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * done))
    return min(1.0, done / warmup + 0.01) * fall


def multiplies_halves(device: str) -> bool:
    """Whether the hardware has instructions for bfloat16. A processor without them
    makes a float32 of each number first: this model then learns less than half as fast."""
    import torch

    if device == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    told = torch.cpu.get_capabilities()
    return device == "cpu" and any(told.get(name) for name in ("amx_bf16", "avx512_bf16", "bf16"))
