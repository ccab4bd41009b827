"""Several processes of `accelerate launch` train what one does, with the configurations of
examples/accelerate: the same weights, probes and sampled answers, also after a stop and a resume.

    python -m pytest tests/training/dpo/test_sharding.py -m ""     # with four processes, too
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from stored_pairs import store_pairs
from tiny_model import make_model, require
from tiny_pairs import make_table

require("trl", "datasets")
from peirce.records import UsageError  # noqa: E402
from peirce.training.dpo import ListLog, TrainConfig, train  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

CONFIGURATIONS = Path(__file__).parents[3] / "examples" / "accelerate"
TABLE = make_table()
# Ten updates in two periods. 20 prompts make an odd number of batches, which two processes share.
SETTINGS = {"examples": 80, "period": 40, "batch": 8, "device_batch": 2, "probe_pairs": 6, "lora_rank": 4,
            "learning_rate": 1e-3, "device": "cpu", "sample_tokens": 8}  # fmt: skip
SCRIPT = """
import json, os, shutil, sys
base, out, full, *sys.path[:] = sys.argv[1:]
from pathlib import Path
from peirce.training.dpo import TrainConfig
from test_sharding import SETTINGS, run

out, full = Path(out), full == "full"
main = os.environ["RANK"] == "0"
told = run(base, out / "straight", full)
stopped = run(base, out / "stopped", full, stop=True)
if main:
    shutil.copytree(out / "stopped", out / "copy")
resumed = run(base, out / "stopped", full, resume=True)
if main:
    (out / "told.json").write_text(json.dumps({"straight": told, "stopped": stopped, "resumed": resumed}))
"""


def run(base, out, full, stop=False, resume=False):
    """Train and return what is compared: status, points, sampled answers and fields."""
    log, answers = ListLog(), []

    def sampled(ask):
        answers.append(ask([TABLE.prompts[n] for n in range(20)], 1))
        return {"instruction_following": sum(map(bool, answers[-1])) / 20}

    ended = train(
        str(base), TABLE, TrainConfig.from_mapping({**SETTINGS, "full": full}), Path(out), log,
        measure_samples=sampled, interrupt=lambda: stop, resume=resume,
    )  # fmt: skip
    points = [[*key, value] for key, value in log.points.items() if key[2] != "seconds"]
    return {"status": ended.status, "points": points, "answers": answers, "fields": ended.fields}


def launch(tmp_path, base, configuration, processes, full):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    call = [sys.executable, "-m", "accelerate.commands.launch",
            "--config_file", str(CONFIGURATIONS / f"{configuration}.yaml"),
            "--num_processes", str(processes), "--main_process_port", "0",
            str(script), str(base), str(tmp_path), "full" if full else "adapter",
            str(Path(__file__).parent), *sys.path]  # fmt: skip
    done = subprocess.run(call, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[:3000]
    return json.loads((tmp_path / "told.json").read_text())


def weights(folder):
    (path,) = [*folder.glob("adapter/*.safetensors"), *folder.glob("model/*.safetensors")]
    return load_file(path)


def largest_difference(found, wanted):
    assert found.keys() == wanted.keys()
    return max((found[name] - wanted[name]).abs().max().item() for name in wanted)


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    """Return a base for an adapter and one to train in full, whose embeddings are tied to its output."""
    folder = tmp_path_factory.mktemp("models")
    return {
        False: make_model(folder / "base"),
        True: make_model(folder / "tied", tie_word_embeddings=True),
    }


@pytest.fixture(scope="module")
def single(bases, tmp_path_factory):
    """Return the folder and the record of a training by one process, of an adapter or in full."""
    found = {}

    def trained(full):
        if full not in found:
            out = tmp_path_factory.mktemp("single")
            found[full] = out, run(bases[full], out, full)
        return found[full]

    return trained


soak = pytest.mark.soak


@pytest.mark.parametrize(
    ("configuration", "processes", "full"),
    [
        ("fsdp2-adapter", 2, False),
        ("fsdp2-full", 2, True),
        pytest.param("fsdp2-adapter", 4, False, marks=soak),
        pytest.param("fsdp2-full", 4, True, marks=soak),
        pytest.param("ddp", 2, False, marks=soak),
        pytest.param("ddp", 2, True, marks=soak),
        pytest.param("ddp", 4, False, marks=soak),
        pytest.param("ddp", 4, True, marks=soak),
    ],
)
def test_several_processes_train_what_one_does(
    tmp_path, bases, single, configuration, processes, full, record_property
):
    base = bases[full]
    folder, wanted = single(full)
    told = launch(tmp_path, base, configuration, processes, full)
    straight = told["straight"]
    difference = largest_difference(weights(tmp_path / "straight"), weights(folder))
    record_property("largest_difference", difference)
    print(f"{configuration}, {processes} processes: the weights differ by at most {difference:.1e}")
    assert difference < 1e-5
    assert straight["answers"] == wanted["answers"] and len(wanted["answers"]) == 3
    assert [one[:3] for one in straight["points"]] == [one[:3] for one in wanted["points"]]
    for found, expected in zip(straight["points"], wanted["points"], strict=True):
        near = 1e-3 if found[2] == "grad_norm" else 1e-4  # a sum of squares over all weights
        assert found[3] == pytest.approx(expected[3], rel=near, abs=1e-4), found[:3]
    parts = straight["fields"]["seconds_by_part"]
    assert all(parts[name] > 0 for name in ("updates", "probes", "samples", "reference", "saving"))
    assert sum(parts.values()) == pytest.approx(straight["fields"]["seconds"], abs=0.01)

    assert (told["stopped"]["status"], told["resumed"]["status"]) == ("interrupted", "done")
    assert largest_difference(weights(tmp_path / "stopped"), weights(tmp_path / "straight")) == 0.0
    if configuration.startswith("fsdp2"):
        with pytest.raises(UsageError, match="was written with FSDP2"):
            run(base, tmp_path / "copy", full, resume=True)


@soak
def test_the_command_line_prints_the_result_of_several_processes_once(tmp_path, bases):
    store_pairs(tmp_path / "store.duckdb")
    call = [sys.executable, "-m", "accelerate.commands.launch",
            "--config_file", str(CONFIGURATIONS / "fsdp2-adapter.yaml"), "--main_process_port", "0",
            "-m", "peirce", "train", "--base", str(bases[False]), "--pairs", "last",
            "--store", str(tmp_path / "store.duckdb"), "--out", str(tmp_path / "out"),
            "--examples", "16", "--period", "8", "--batch", "4", "--device-batch", "2", "--probe-pairs", "4",
            "--lora-rank", "2", "--max-length", "256", "--no-precompute", "--device", "cpu"]  # fmt: skip
    done = subprocess.run(call, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[:3000]
    assert done.stdout.count("done after 16 examples") == done.stdout.count("Time: updates") == 1
    record = json.loads((tmp_path / "out" / "training.json").read_text())
    assert (record["status"], record["processes"]) == ("done", 2)
