"""Divide the weights of a training among its processes with torch's FSDP2.

Import this module only when a training starts, because it imports torch. With FSDP2 each pass
through a model is a collective operation: a layer gathers its weights from all processes before it
computes. Therefore all processes make the same number of passes in the same order, whoever needs
the result. `processes.divide_batches` sees to that for scoring and sampling.
"""

from __future__ import annotations

from typing import Any

import torch
from accelerate.utils import (
    DistributedType,
    FullyShardedDataParallelPlugin,
    fsdp2_prepare_model,
)
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.fsdp import MixedPrecisionPolicy


def start_sharding(accelerator: Any, dtype: str) -> None:
    """Prepare an accelerator that was started with FSDP2, before any model is divided.

    Args:
        accelerator: The accelerator of the trainer.
        dtype: The data type of the computation: float32 or bfloat16.
    """
    state = accelerator.state
    if state.distributed_type == DistributedType.MULTI_CPU:
        # accelerate divides weights on GPUs only, and would silently use DistributedDataParallel
        # on CPUs. torch divides them on CPUs as well, and this is how the tests run.
        state.fsdp_plugin = FullyShardedDataParallelPlugin()
        state.distributed_type = DistributedType.FSDP
    # Checkpoints of complete weights (FULL_STATE_DICT) hang when an adapter is loaded, with torch 2.13
    # and accelerate 1.15. Each process therefore always writes its part.
    plugin = state.fsdp_plugin
    plugin.state_dict_config = plugin.optim_state_dict_config = None
    plugin.set_state_dict_type("SHARDED_STATE_DICT")
    # accelerate would also sum gradients and round log-probabilities in bfloat16.
    plugin.mixed_precision_policy = MixedPrecisionPolicy(
        param_dtype=torch.bfloat16 if dtype == "bfloat16" else None, reduce_dtype=torch.float32
    )


def shard_reference(accelerator: Any, model: Any) -> None:
    """Divide a reference model, which is not trained, among the processes, layer by layer.

    TRL would divide it as one block, and then gather the complete model on every GPU.

    Args:
        accelerator: The accelerator, prepared by `start_sharding`.
        model: The model; it is changed in place.
    """
    fsdp2_prepare_model(accelerator, model)


def gather_weights(model: Any, trained_only: bool) -> dict[str, torch.Tensor]:
    """Return complete weights in the memory of the main process. All processes must call this.

    Args:
        model: The divided model.
        trained_only: Whether to leave out frozen weights.

    Returns:
        The weights by name in the main process, and an empty dictionary in the others.
    """
    options = StateDictOptions(
        full_state_dict=True, cpu_offload=True, ignore_frozen_params=trained_only
    )
    weights: dict[str, torch.Tensor] = get_model_state_dict(model, options=options)
    # An output layer that is tied to the embeddings is not saved twice.
    tied = {} if trained_only else getattr(model, "all_tied_weights_keys", {})
    return {name: one for name, one in weights.items() if name not in tied}
