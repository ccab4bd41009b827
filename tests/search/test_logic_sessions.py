"""Whole sessions of the embedded search on rules: consistent and novel by the protocol, with the
tool and without, beside answers of other models, and where it has nothing to search."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce.agents import open_model
from peirce.records import Problem, Reply

from .logic_problems import generated, worlds_of

BUDGET = 3_000


def saved(path: Path, problems: Sequence[Problem], **other: Any) -> Path:
    """The problems as a user's own file. other: fields of theirs that are others."""
    with path.open("w") as file:
        for problem in problems:
            said = dict(problem.public["theory"])
            own = {
                "id": problem.id,
                "regime": said.pop("regime"),
                "theory": said,
                "worlds": [o.input for o in problem.shown],
                **other,
            }
            print(json.dumps(own), file=file)
    return path


def session(folder: Path, data: Path, name: str = "s", **more: Any) -> Any:
    store = folder / f"{name}.duckdb"
    given = {"budget_expansions": BUDGET, "max_answers": 4, "workers": 1, **more}
    if not isinstance(given.get("model", ""), str):
        del given["budget_expansions"]
    return peirce.run("abd", data=data, store=store, **given)


def verdicts(done: Any) -> dict[str, int]:
    return {name: count for name, count in done.verdicts.items() if count}


@pytest.mark.parametrize("tool_calls", [0, 4])
def test_every_answer_is_accepted(tmp_path: Path, tool_calls: int) -> None:
    data = saved(tmp_path / "problems.jsonl", generated()[:3])
    done = session(tmp_path, data, tool_calls=tool_calls)
    assert done.status == "done" and not done.failed
    assert set(verdicts(done)) == {"accepted"} and done.verdicts["accepted"] >= 6


def test_the_trade_off_is_recorded_and_one_seed_and_another_answer_alike(tmp_path: Path) -> None:
    data = saved(tmp_path / "problems.jsonl", generated()[:1])
    said = []
    for seed in (0, 1):
        done = session(tmp_path, data, f"seed{seed}", seed=seed, model="search:safe", max_answers=1)
        trace = peirce.load(done.session, store=done.store)
        assert trace.settings["model_settings"]["trade_off"] == "safe"
        said.append([[answer.text for answer in step.answers] for step in trace.steps])
    assert said[0] == said[1]


HOSTILE = (
    "no rule at all",
    json.dumps({"formula": "(and (P x)", "description": "cut"}),
    json.dumps({"formula": "(Ab x)", "description": "itself"}),
    json.dumps({"formula": "(Nobody x)", "description": "unknown"}),
    json.dumps({"formula": "(P x)", "description": "perhaps forbidden, perhaps not valid"}),
    json.dumps({"formula": "(= x x)", "description": "all"}),
    json.dumps({"formula": 7}),
)


class Beside:
    """Gives HOSTILE answers, each followed by one of the search."""

    def __init__(self) -> None:
        self.search: Any = None
        self.own: list[str] = []

    def settings(self) -> dict[str, Any]:
        return {"model": "beside", "tools": False}

    async def propose(self, view, messages, tools, seed, schema=None) -> Reply:
        if view.own_answer_count % 2 == 0 and view.own_answer_count // 2 < len(HOSTILE):
            return Reply(HOSTILE[view.own_answer_count // 2])
        if self.search is None:
            self.search = await open_model("search", {"budget_expansions": BUDGET, "workers": 1})
        reply = await self.search.propose(view, messages, tools, seed, schema)
        self.own += [reply.text] * (reply.finish == "stop")
        return reply

    async def close(self) -> None:
        if self.search is not None:
            await self.search.close()


def test_among_answers_of_another_model_those_of_the_search_are_accepted(tmp_path: Path) -> None:
    data = saved(tmp_path / "problems.jsonl", generated()[2:3])
    model = Beside()
    done = session(tmp_path, data, model=model, method="refine", max_answers=14, target_gap=0.0)
    assert done.status == "done" and not done.failed
    assert len(model.own) >= 3
    assert done.verdicts["accepted"] >= 1 and done.verdicts["malformed"] >= 3


def test_the_repairer_mends_what_others_give(tmp_path: Path) -> None:
    data = saved(tmp_path / "problems.jsonl", generated()[1:2])
    done = session(
        tmp_path,
        data,
        model=Beside(),
        method="refine",
        repair="search",
        max_answers=4,
        target_gap=0,
    )
    assert done.status == "done" and not done.failed


def test_a_theory_of_another_form_ends_as_exhausted(tmp_path: Path) -> None:
    problem = generated()[0]
    theory = {
        "names": ["own"],
        "axioms": ["(exists x (Ab x))"],
        "signature": {"P": 1, "Q": 1, "R": 2, "S": 2},
        "allowed": ["P"],
    }
    data = saved(tmp_path / "problems.jsonl", [problem], theory=theory)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        done = session(tmp_path, data)
    assert done.status == "done" and done.ends == {"exhausted": 1} and not verdicts(done)
    assert any("default form" in str(one.message) for one in caught)


def test_a_space_of_the_users_own_is_used(tmp_path: Path) -> None:
    problem = generated()[0]
    data = saved(tmp_path / "problems.jsonl", [problem])
    space = tmp_path / "space.jsonl"
    worlds = worlds_of("own space", (5, 6, 7))
    rows = [[world.as_json(), name] for world in worlds for name in world.names]
    space.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = session(tmp_path, data, space=space)
    assert set(verdicts(done)) == {"accepted"}
