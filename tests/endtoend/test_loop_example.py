"""The loop from traces to a better proposer, as its example closes it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from tiny_model import require

SCRIPT = Path(__file__).parents[2] / "examples" / "close_the_loop.py"


def started(*arguments, **more):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI", "PEIRCE"))}
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), *map(str, arguments)], text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**clean, "OMP_NUM_THREADS": "1"}, **more,
    )  # fmt: skip


def test_a_folder_begun_with_other_sizes_is_refused_in_one_sentence(tmp_path):
    kept = {"rounds": 7}
    (tmp_path / "sizes.json").write_text(json.dumps(kept))
    one = started(tmp_path, "--quick")
    said = one.communicate(timeout=120)[1]
    assert one.returncode == 1
    assert "was begun with other sizes" in said and "rounds" in said
    assert "Traceback" not in said
    assert json.loads((tmp_path / "sizes.json").read_text()) == kept


@pytest.mark.parametrize(
    ("words", "said"),
    [(("--jobs", "0"), "at least 1 process"), (("--seeds", "1", "1"), "each seed once")],
)
def test_what_would_never_end_or_share_its_files_is_refused(tmp_path, words, said):
    one = started(tmp_path / "out", "--quick", *words)
    err = one.communicate(timeout=120)[1]
    assert one.returncode == 2 and said in err
    assert not (tmp_path / "out").exists()


def test_a_problem_that_failed_for_one_model_has_no_values_and_is_left_out_of_means():
    import importlib.util

    import numpy as np

    made = importlib.util.spec_from_file_location("close_the_loop", SCRIPT)
    loop = importlib.util.module_from_spec(made)
    sys.modules["close_the_loop"] = loop
    made.loader.exec_module(loop)
    of = {"a": {"beta": 0.5, "gamma": None}}
    values = [[loop.value(of, one, "beta") for one in ("a", "failed")]]
    assert np.isnan(loop.value(of, "a", "gamma"))
    drawn = np.array([[0, 1], [0, 0], [1, 1]])
    told = loop.interval(np.array(values), np.array([0, 1]), drawn)
    assert told["problems"] == 1 and told["mean"] == 0.5


@pytest.mark.soak
def test_the_loop_is_closed_and_goes_on_where_it_was_killed(tmp_path):
    """Too long for every change: two bases are pretrained, and all else comes after."""
    require("trl", "datasets")
    done = tmp_path / "seed-0.json"
    one = started(tmp_path, "--quick", "--seeds", "0")
    while not (done.exists() and "pairs" in json.loads(done.read_text())):
        assert one.poll() is None, one.communicate()[1]
        time.sleep(0.5)
    os.killpg(one.pid, signal.SIGKILL)
    one.wait()
    kept = json.loads(done.read_text())
    two = started(tmp_path, "--quick", "--seeds", "0")
    out, err = two.communicate(timeout=3_000)
    assert two.returncode == 0, err
    ended = json.loads(done.read_text())
    assert kept.items() <= ended.items()  # nothing was done again
    rows = json.loads((tmp_path / "tables.json").read_text())["models"]
    # The extra schedule is one of the first base alone, and what it is compared with too.
    assert len(rows) == 7 + 6 and {row["title"][1] for row in rows} >= {"base", "fixed", "momentum"}
    assert all(0 < row["instruction_following"]["mean"] <= 1 for row in rows)
    # Models, their differences from the base, and from the fixed curriculum.
    assert out.count("| llama |") == 7 + 6 + 5 and out.count("| gpt_neox |") == 6 + 5 + 4
    assert (tmp_path / "tables.md").read_text() in out
