"""`peirce compare`, and the lines on costs at the end of a run and of `peirce show --findings`."""

from __future__ import annotations

import json

import pytest
from scripted_run import RUN, put_files


@pytest.fixture
def folder(folder):
    put_files()
    return folder


def test_a_run_and_its_findings_say_what_a_hypothesis_cost(peirce, folder, finished):
    code, out, _ = finished(*RUN, "--quiet")
    assert code == 0  # two answers, and the script has no third one
    said = "3 model calls and under 0.1 s for the accepted hypothesis\n"
    assert f"cost      {said}" in out
    shown = peirce("show", "--findings")[1]
    assert shown.endswith(f"cost      {said}") and "gain  " not in shown and "advice" not in shown
    assert "cost  " not in peirce("show", "last", "one", "--findings")[1]
    assert isinstance(json.loads(peirce("show", "--findings", "--json")[1]), list)


def test_compare_prints_metrics_and_costs_of_each_session(peirce, folder):
    for seed in ("0", "1"):
        assert peirce(*RUN, "--quiet", "--seed", seed)[0] == 0
    first, second = (row["session"] for row in json.loads(peirce("sessions", "--json")[1]))
    code, out, _ = peirce("compare", first, second)
    assert code == 0 and f"scripted:script.json · {first}" in out
    lines = {line.split("  ")[0].strip(): line.split()[-2:] for line in out.splitlines()}
    assert lines["accepted hypotheses"] == ["1", "1"]
    assert lines["calls for each accepted hypothesis"] == ["3.000", "3.000"]
    assert lines["problems"] == ["1", "1"] and "US dollars" not in lines
    told = json.loads(peirce("compare", first, second, "--json")[1])
    assert [one["session"] for one in told["sessions"]] == [first, second]
    assert told["sessions"][0]["costs"]["per_accepted"]["calls"] == 3


def test_an_imported_session_and_one_that_is_not_there(peirce, folder):
    assert peirce("import", "answers.jsonl", "--task", "examples", "--data", "pairs.jsonl",
                  "--space", "space.jsonl", "--workers", "1", "--quiet")[0] == 0  # fmt: skip
    code, out, _ = peirce("compare")
    assert code == 0 and "model calls" in out and "tokens" not in out
    code, out, err = peirce("compare", "nothere")
    assert code != 0 and "nothere" in err and "Traceback" not in err and not out
