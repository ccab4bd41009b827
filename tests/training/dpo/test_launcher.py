"""What a launcher asks for and a training cannot do is refused in one sentence, before a base is read.

Internals: a run without GPUs cannot start FSDP1 or DeepSpeed, so their variables are checked alone.
"""

from __future__ import annotations

import pytest
from peirce.records import UsageError
from peirce.training.dpo import TrainConfig
from peirce.training.dpo.launcher import check_launcher, is_sharded

LAUNCHED = {"ACCELERATE_USE_FSDP": "true", "LOCAL_RANK": "0"}
FSDP2 = {**LAUNCHED, "FSDP_VERSION": "2"}


@pytest.mark.parametrize(
    ("environment", "settings", "words"),
    [
        (
            {"ACCELERATE_USE_DEEPSPEED": "true", "ACCELERATE_DEEPSPEED_ZERO_STAGE": "3"},
            {},
            "DeepSpeed ZeRO-3 is not supported",
        ),
        ({"ACCELERATE_USE_DEEPSPEED": "true"}, {}, "DeepSpeed is not supported"),
        ({"ACCELERATE_USE_MEGATRON_LM": "true"}, {}, "Megatron-LM is not supported"),
        ({**FSDP2, "ACCELERATE_USE_PARALLELISM_CONFIG": "true"}, {}, "use_parallelism_config"),
        ({**LAUNCHED, "FSDP_VERSION": "1"}, {}, "fsdp_version: 2"),
        (LAUNCHED, {}, "fsdp_version: 2"),
        (
            {"ACCELERATE_USE_FSDP": "true", "FSDP_VERSION": "2"},
            {},
            "no launcher started this process",
        ),
        ({**FSDP2, "FSDP_OFFLOAD_PARAMS": "true"}, {}, "fsdp_offload_params is not supported"),
        ({**FSDP2, "FSDP_ACTIVATION_CHECKPOINTING": "true"}, {}, "use --recompute"),
        (FSDP2, {"four_bit": True}, "leave out --four-bit"),
    ],
)
def test_an_unsupported_division_is_refused_in_one_sentence(environment, settings, words):
    with pytest.raises(UsageError) as caught:
        check_launcher(TrainConfig.from_mapping(settings), environment)
    assert words in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("four_bit", [None, False])
def test_fsdp2_and_plain_launches_are_accepted(four_bit):
    settings = TrainConfig.from_mapping({"four_bit": four_bit})
    check_launcher(settings, FSDP2)
    check_launcher(TrainConfig.from_mapping({"four_bit": True}), {"WORLD_SIZE": "2"})
    assert is_sharded(FSDP2) and not is_sharded({"ACCELERATE_USE_FSDP": "false"})


def test_a_refusal_comes_before_the_base_is_read(tmp_path, monkeypatch):
    from peirce.training.dpo import ListLog, train

    monkeypatch.setenv("ACCELERATE_USE_DEEPSPEED", "true")
    with pytest.raises(UsageError, match="DeepSpeed is not supported"):
        train("no such base", None, TrainConfig(), tmp_path / "out", ListLog())
    assert not (tmp_path / "out").exists()
