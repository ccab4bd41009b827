"""SIGTERM ends `peirce train` within seconds at a checkpoint, even within a long update, and `--resume`
ends with the weights of a training that never stopped. Soak: a process that loads torch."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import peirce
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))
sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))

# The second update takes much longer than five seconds of a core.
SETTINGS = {"examples": 1_536, "period": 768, "batch": 768, "device_batch": 4, "probe_pairs": 4,
            "learning_rate": 1e-3, "full": True, "precompute": False, "device": "cpu"}  # fmt: skip


@pytest.mark.soak
def test_sigterm_ends_a_long_update_at_the_last_checkpoint(tmp_path: Path) -> None:
    from tiny_model import make_model, require

    require("trl", "datasets")
    import torch
    from safetensors.torch import load_file
    from stored_pairs import store_pairs

    base = str(make_model(tmp_path / "base"))
    store_pairs(tmp_path / "s.duckdb")
    flags = [
        "--full" if name == "full" else "--no-precompute" if name == "precompute" else
        f"--{name.replace('_', '-')}={value}" for name, value in SETTINGS.items()
    ]  # fmt: skip
    path = os.pathsep.join(one for one in sys.path if one)
    process = subprocess.Popen(
        [sys.executable, "-m", "peirce", "train", "--base", base, "--out", "stopped", *flags,
         "--store", "s.duckdb"], cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    until = time.monotonic() + 1_800
    done = tmp_path / "stopped" / "checkpoints" / "checkpoint-1" / "curriculum.json"
    while not done.is_file():
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    time.sleep(1)
    before = _processor_seconds(process.pid)
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=600)
    took = _children_seconds() - before
    assert process.returncode == 130, said
    assert "interrupted" in said and "To continue, run: peirce train --resume --out stopped" in said
    assert took < 5, took
    folder = tmp_path / "stopped"
    record = peirce.train(out=folder, resume=True, store=tmp_path / "s.duckdb")
    assert record.status == "done" and record.examples == 1_536
    straight = peirce.train(
        base, out=tmp_path / "straight", store=tmp_path / "s.duckdb", **SETTINGS
    )
    first, second = (
        load_file(Path(str(one.model)) / "model.safetensors") for one in (record, straight)
    )
    assert all(torch.equal(first[name], second[name]) for name in first)


def _processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + _children_seconds()


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
