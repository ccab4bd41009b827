"""`peirce train` that is killed and gone on with by the command line ends with the weights of one that
never was. Soak: three processes that load torch."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))
sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))


def command(place: Path, *words: str) -> subprocess.Popen[str]:
    path = os.pathsep.join(one for one in sys.path if one)
    return subprocess.Popen(
        [sys.executable, "-m", "peirce", "train", *words, "--store", str(place / "s.duckdb")],
        cwd=place, env={**os.environ, "PYTHONPATH": path}, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )  # fmt: skip


def ended(process: subprocess.Popen[str]) -> str:
    said, _ = process.communicate(timeout=900)
    assert process.returncode == 0, said
    return said


@pytest.mark.soak
def test_a_killed_command_is_gone_on_with_to_the_same_weights(tmp_path: Path) -> None:
    from tiny_model import make_model, require

    require("trl", "datasets")
    import torch
    from safetensors.torch import load_file
    from stored_pairs import store_pairs

    make_model(tmp_path / "base", initializer_range=0.02)
    store_pairs(tmp_path / "s.duckdb")
    flags = ["--base", "base", "--examples", "64", "--period", "8", "--batch", "4", "--device-batch", "4",
             "--probe-pairs", "4", "--learning-rate", "1e-3", "--full", "--no-precompute",
             "--device", "cpu"]  # fmt: skip
    killed = command(tmp_path, *flags, "--out", "killed")
    until = time.monotonic() + 600
    # Anywhere after the first checkpoint, also while the next one is being written.
    while not (tmp_path / "killed" / "checkpoints" / "checkpoint-4").is_dir():
        assert killed.poll() is None and time.monotonic() < until
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "killed" / "model").exists()
    ended(command(tmp_path, *flags, "--out", "straight"))
    assert "done after 64 examples" in ended(command(tmp_path, "--resume", "--out", "killed"))
    first, second = (
        load_file(tmp_path / name / "model" / "model.safetensors")
        for name in ("straight", "killed")
    )
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)
