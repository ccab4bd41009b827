"""Two processes of a launcher train what one does, and what they refuse they refuse together."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tiny_model import make_model, require

require("trl", "datasets")

pytestmark = pytest.mark.soak

SCRIPT = """
import json, os, sys
base, out, *sys.path[:] = sys.argv[1:]
from pathlib import Path
from peirce.records import UsageError
from peirce.training.dpo import ListLog, TrainConfig, train
from tiny_pairs import make_table

TABLE = make_table()
SETTINGS = {"examples": 32, "period": 16, "batch": 8, "device_batch": 4, "probe_pairs": 6, "lora_rank": 4,
            "learning_rate": 1e-3, "device": "cpu"}

def sampled(ask):
    return {"instruction_following": float(len(ask([TABLE.prompts[0]], 1)[0]))}

log, told = ListLog(), {}
train(base, TABLE, TrainConfig.from_mapping(SETTINGS), Path(out), log, measure_samples=sampled)
told["points"] = [[*key, value] for key, value in log.points.items() if key[2] != "seconds"]
try:
    train(base, TABLE, TrainConfig.from_mapping(SETTINGS), Path(out), log)
except UsageError as error:
    told["refused"] = str(error)
Path(out, f"told-{os.environ.get('RANK', '0')}.json").write_text(json.dumps(told))
"""


def test_two_processes_train_what_one_does(tmp_path):
    base = make_model(tmp_path / "base")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    told = {}
    for name, launcher in (("one", []), ("two", ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"])):  # fmt: skip
        call = [sys.executable, *launcher, str(script), str(base), str(tmp_path / name), *sys.path]
        done = subprocess.run(call, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-2000:]
        told[name] = json.loads((tmp_path / name / "told-0.json").read_text())
    found, wanted = told["two"]["points"], told["one"]["points"]
    assert [one[:3] for one in found] == [one[:3] for one in wanted]
    assert [one[3] for one in found] == pytest.approx([one[3] for one in wanted], abs=1e-4)
    other = json.loads((tmp_path / "two" / "told-1.json").read_text())
    assert other["points"] == []  # one of them writes
    assert (
        "examples). Use --resume to continue it, or choose another folder."
        in told["two"]["refused"]
        == other["refused"]
    )
