"""How accelerate's launcher started this process, read from the environment variables that it sets.

Supported are DistributedDataParallel (every GPU holds the complete model) and FSDP2 (every GPU holds
a part of each weight). All other ways to divide a model are refused before anything is loaded,
because they would hang or give wrong results. This module does not import torch.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ...records import UsageError
from .settings import TrainConfig

ADVICE = (
    "Use DistributedDataParallel or FSDP2 instead (examples/accelerate has configurations for both)"
)
# Environment variables that accelerate's launcher sets to true, and what they switch on.
_REFUSED = {
    "ACCELERATE_USE_MEGATRON_LM": "Megatron-LM",
    "ACCELERATE_USE_PARALLELISM_CONFIG": "A division of layers or of sequences among GPUs"
    " (use_parallelism_config)",
}

_REFUSED_WITH_SHARDING = (
    (
        "FSDP_ACTIVATION_CHECKPOINTING", "fsdp_activation_checkpointing",
        "set it to false, and use --recompute to save memory",
    ),
    (
        "FSDP_OFFLOAD_PARAMS", "fsdp_offload_params",
        "set it to false, and use more GPUs or train an adapter",
    ),
)  # fmt: skip


def is_sharded(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether the launcher asks for FSDP, which divides every weight among the processes.

    Args:
        environment: The environment variables.
    """
    return _is_true(environment, "ACCELERATE_USE_FSDP")


def check_launcher(settings: TrainConfig, environment: Mapping[str, str] = os.environ) -> None:
    """Check that the training works with what the launcher asks for.

    Args:
        settings: The settings of the training.
        environment: The environment variables.

    Raises:
        UsageError: The launcher asks for DeepSpeed, Megatron-LM, FSDP1 or another way to divide a
            model that is not supported, or for FSDP2 with weights in 4 bits; or the environment
            asks for FSDP, but no launcher started this process.
    """
    if _is_true(environment, "ACCELERATE_USE_DEEPSPEED"):
        stage = environment.get("ACCELERATE_DEEPSPEED_ZERO_STAGE", "")
        name = f"DeepSpeed ZeRO-{stage}" if stage.isdecimal() else "DeepSpeed"
        raise UsageError(f"{name} is not supported. {ADVICE}.")
    for variable, name in _REFUSED.items():
        if _is_true(environment, variable):
            raise UsageError(f"{name} is not supported. {ADVICE}.")
    if not is_sharded(environment):
        return
    if "LOCAL_RANK" not in environment:  # without it, torch opens no group of processes
        raise UsageError(
            "ACCELERATE_USE_FSDP is set, but no launcher started this process: start it with"
            " accelerate launch (examples/accelerate), or unset ACCELERATE_USE_FSDP."
        )
    if environment.get("FSDP_VERSION", "1") != "2":
        raise UsageError(
            "FSDP1 is not supported: set fsdp_version: 2 in accelerate's configuration, or start"
            " with accelerate launch --fsdp_version 2."
        )
    for variable, name, advice in _REFUSED_WITH_SHARDING:
        if _is_true(environment, variable):
            raise UsageError(f"{name} is not supported: {advice}.")
    if settings.four_bit:
        raise UsageError(
            "Weights in 4 bits cannot be divided among processes by FSDP2: leave out --four-bit, or"
            " use DistributedDataParallel (examples/accelerate/ddp.yaml)."
        )


def _is_true(environment: Mapping[str, str], name: str) -> bool:
    return environment.get(name, "").lower() in ("1", "true", "yes", "on")
