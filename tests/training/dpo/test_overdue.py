"""A training that gives up an update, a probe or a sample ends at its last finished update, and a
resume ends with the weights and the log of a training that never stopped."""

from __future__ import annotations

import pytest
from tiny_model import make_model, require
from tiny_pairs import make_table

require("trl", "datasets")
import torch  # noqa: E402
from peirce.training.dpo import ListLog, TrainConfig, train  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

TABLE = make_table()
SETTINGS = {"examples": 32, "period": 16, "batch": 8, "device_batch": 4, "probe_pairs": 8, "full": True,
            "learning_rate": 1e-3, "device": "cpu", "sample_tokens": 8}  # fmt: skip
PROMPT = ({"role": "user", "content": "[1] -> [2]"},)


def sampled(ask):
    return {"instruction_following": sum(map(bool, ask([PROMPT], 3)))}


def run(base, out, *, overdue=None, resume=False, **changed):
    log = ListLog()
    settings = TrainConfig.from_mapping({**SETTINGS, **changed})
    ended = train(str(base), TABLE, settings, out, log, measure_samples=sampled, overdue=overdue,
                  resume=resume)  # fmt: skip
    return ended, log


def numbers(log):
    return {key: value for key, value in log.points.items() if key[2] != "seconds"}


@pytest.mark.parametrize("changed", [{}, {"dropout": True, "full": False, "lora_rank": 4}])
def test_an_update_probe_or_sample_that_is_given_up_changes_nothing(tmp_path, changed):
    base = make_model(tmp_path / "base", num_hidden_layers=1)
    calls = []
    straight, wanted = run(
        base, tmp_path / "straight", overdue=lambda: bool(calls.append(1)), **changed
    )
    (path,) = straight.model.glob("*.safetensors")
    weights = load_file(path)
    unfinished = set()
    for number, share in enumerate((0.02, 0.4, 0.55, 0.65, 0.75, 0.97)):
        out, left = tmp_path / f"out{number}", [int(share * len(calls))]

        def overdue(left=left):
            left[0] -= 1
            return left[0] < 0

        try:
            stopped, log = run(base, out, overdue=overdue, **changed)
        except KeyboardInterrupt:  # nothing was trained
            assert share == 0.02 and not (out / "training.json").exists()
            continue
        assert (stopped.status, log.status, stopped.model) == ("interrupted", "interrupted", None)
        assert left[0] == -1  # it ended at once
        update = stopped.examples // 8
        assert (
            not update
            or (out / "checkpoints" / f"checkpoint-{update}" / "curriculum.json").exists()
        )
        names = {key[2] for key in log.points if key[0] == stopped.examples}
        unfinished.add("probe" if "probe_loss" not in names else
                       "sample" if "instruction_following" not in names else "update")  # fmt: skip
        ended, after = run(base, out, resume=True, **changed)
        (path,) = ended.model.glob("*.safetensors")
        found = load_file(path)
        assert all(torch.equal(found[name], weights[name]) for name in weights)
        assert numbers(log) | numbers(after) == numbers(wanted)
    assert len(unfinished) > 1
