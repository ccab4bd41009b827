"""A whole session on grids: it runs, scores over the shared sample space and replays."""

from __future__ import annotations

import json
from pathlib import Path

import peirce
import pytest
from peirce.tasks import load_problems

WRONG = repr(("all of them", "def f(g):\n    return g"))


@pytest.mark.parametrize("task", ["mini_arc", "arc"])
def test_a_scripted_session_runs_scores_and_replays(tmp_path: Path, task: str) -> None:
    made = [problem for problem, _ in load_problems(task, problems=3, seed=1)]
    script = {p.id: [repr((p.secret["description"], p.secret["rule"])), WRONG] for p in made}
    model = tmp_path / "answers.json"
    model.write_text(json.dumps(script))
    store = str(tmp_path / "s.duckdb")
    session = peirce.run(
        task, problems=3, seed=1, model=f"scripted:{model}", store=store, workers=1
    )
    assert session.verdicts["accepted"] == 3 and session.verdicts["inconsistent"] == 3
    assert session.metrics["test_pass"]["mean"] == 0.5
    assert session.metrics["top1"]["mean"] == 1.0
    assert peirce.replay(session.session, store=store)["differences"] == []


def test_a_session_on_a_folder_names_it_by_one_hash(tmp_path: Path) -> None:
    folder = tmp_path / "ARC"
    for k in (1, 2):
        pair = {"input": [[k]], "output": [[k, k]]}
        place = folder / "data" / ("training", "evaluation")[k % 2] / f"{k:08x}.json"
        place.parent.mkdir(parents=True)
        place.write_text(json.dumps({"train": [pair, pair], "test": [pair]}))
    rows = peirce.tasks_show("arc", "00000002", data=folder)
    assert [row["id"] for row in rows] == ["00000002"] and rows[0]["space"] == 2
    model = tmp_path / "answers.json"
    model.write_text(json.dumps({"*": [WRONG]}))
    store = str(tmp_path / "s.duckdb")
    session = peirce.run("arc", data=folder, model=f"scripted:{model}", store=store, workers=1)
    (settings,) = [row["settings"] for row in peirce.sessions(store=store)]
    assert session.verdicts["inconsistent"] == 2
    assert settings["operational"]["data"]["name"] == "ARC"
    assert len(settings["operational"]["data"]["sha256"]) == 64
