"""Recorded answers under `--protocol gear`: which published figures are reproduced by import and replay,
and what departs, with counts (docs/results/protocols.md).

A small recording of the same form always runs. Without the public data, the tests about GPT-4's answers
are skipped with a notice that says what is missing. With every change a part of these answers is
imported, in `make soak` all."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce.records import UsageError

sys.path.insert(0, str(Path(__file__).parent))
from recorded_part import WHOLE, read_whole, write_part

WRONG = "Adds one.\n```python\ndef fn(x):\n    return x + [1]\n```"
FIRST = "def fn(x):\n    return x[:1]"
LAST = "import math\ndef fn(x):\n    return [x[math.ceil(-1)]]"


def fenced(rule: str) -> str:
    return f"The rule is this.\n```python\n{rule}\n```"


def pair(given: list[int], output: list[int]) -> dict[str, str]:
    return {"input": str(given), "output": str(output)}


DATA = [
    {"idx": 0, "train": [pair([3, 1], [3]), pair([4, 4, 2], [4])], "test": [pair([7], [7]), pair([2, 9], [2])]},
    {"idx": 2, "train": [pair([3, 1], [1]), pair([4, 4, 2], [2])], "test": [pair([7], [7]), pair([2, 9], [9])]},
]  # fmt: skip


def turn(*responses: str, history: bool = False) -> dict[str, Any]:
    return {
        "query": "Find a rule.",
        "history": [{"role": "user", "content": "Find a rule."}] if history else None,
        "responses": list(responses),
    }


RECORD = {
    "model": "own-stand-in", "temperature": 0.7, "n": 2, "max_iter": 3, "dataset": "list_function",
    "problems": [
        {"idx": 0, "turns": [turn(WRONG, fenced(FIRST))], "chosen_rules": [FIRST],
         "published_test_accs": [1.0, 1.0]},
        {"idx": 2, "turns": [turn(WRONG, WRONG), turn(WRONG, fenced(LAST), history=True)],
         "chosen_rules": [WRONG.splitlines()[2], LAST], "published_test_accs": [1.0, 1.0]},
    ],
}  # fmt: skip


def count_chosen(session: Any) -> dict[str, int]:
    """Compare the rule that was chosen last in each problem with its published accuracies.

    Rules that are found only in malformed answers, or not at all, have no accuracies.
    """
    loaded = peirce.load(session.session, store=session.store)
    found: Counter[str] = Counter()
    for problem in {step.problem for step in loaded.steps}:
        steps = [step for step in loaded.steps if step.problem == problem]
        fields = steps[-1].fields
        rule = fields["chosen_rule"].strip()
        marks = [
            [float(mark is True) for mark in one.hidden.marks]
            for step in steps
            for answer in step.answers
            for one in answer.judged
            if one.hypothesis is not None and one.hypothesis.text.strip() == rule
        ]
        found[
            "not judged"
            if not marks
            else "equal"
            if marks[-1] == fields["published_test_accs"]
            else "other"
        ] += 1
    return dict(found)  # fmt: skip


def verdicts(session: Any) -> Mapping[str, list[str]]:
    loaded = peirce.load(session.session, store=session.store)
    found: dict[str, list[str]] = {}
    for step in loaded.steps:
        judged = [one for answer in step.answers for one in answer.judged]
        found.setdefault(step.problem, []).extend(one.verdict.value for one in judged)
    return found


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("own")
    (folder / "list_function.jsonl").write_text("".join(json.dumps(row) + "\n" for row in DATA))
    (folder / "answers.json").write_text(json.dumps(RECORD))
    (folder / "space.jsonl").write_text("[]\n[1]\n[3, 1, 2]\n")
    options = {"data": folder / "list_function.jsonl", "space": folder / "space.jsonl"}
    return folder, options


def test_an_own_recording_is_imported_under_gear_and_replays(own):
    folder, options = own
    done = peirce.import_recorded(
        folder / "answers.json", protocol="gear", store=folder / "import.duckdb", **options
    )
    assert done.protocol.startswith(
        "gear, with answer_format=fenced_function, method=imported (not applicable here: "
    )
    assert count_chosen(done) == {"equal": 1, "not judged": 1}
    assert done.malformed == {"breach_import": 1} and sum(done.verdicts.values()) == 6
    assert peirce.replay(store=done.store).differences == []
    loose = peirce.import_recorded(
        folder / "answers.json", store=folder / "loose.duckdb", **options
    )
    assert count_chosen(loose) == {"equal": 2} and loose.protocol == ""


def test_its_answers_are_judged_alike_up_to_gears_stop(own):
    folder, options = own
    model = f"recorded:{folder / 'answers.json'}"
    under = peirce.run(
        "list_functions", model=model, protocol="gear", answer_format="fenced_function",
        store=folder / "run.duckdb", **options,
    )  # fmt: skip
    assert under.protocol == "gear, with answer_format=fenced_function"
    whole = verdicts(
        peirce.import_recorded(
            folder / "answers.json", protocol="gear", store=folder / "again.duckdb", **options
        )
    )
    stopped = verdicts(under)
    assert {name: len(some) for name, some in stopped.items()} == {"0": 2, "2": 3}
    assert all(whole[name][: len(some)] == some for name, some in stopped.items())
    assert peirce.replay(store=under.store).differences == []
    form = peirce.run("list_functions", model=model, protocol="gear", store=folder / "form.duckdb",
                      **options)  # fmt: skip
    assert form.malformed == {"no_tuple": 5}


def test_an_import_under_a_protocol_of_another_task_is_refused(own):
    folder, options = own
    with pytest.raises(UsageError, match=r"protocol is 'abd': .*; the protocol for it is gear"):
        peirce.import_recorded(
            folder / "answers.json", protocol="abd", store=folder / "no.duckdb", **options
        )


def import_gpt4(file: Path, shared_data: Path, own: Any, store: Path) -> Any:
    """Import answers of GPT-4 under gear on a small sample space, which changes only novelty."""
    return peirce.import_recorded(
        file,
        task="list_functions",
        data=shared_data / "gear" / "list_function.jsonl",
        protocol="gear",
        space=own[1]["space"],
        store=store,
    )


def test_all_but_one_of_the_chosen_rules_of_gpt4_have_the_published_accuracies(
    shared_data, own, tmp_path
):
    """The other one imports a module, which the strict contract refuses."""
    records = write_part(shared_data, tmp_path / "part.json")
    gpt4 = import_gpt4(tmp_path / "part.json", shared_data, own, tmp_path / "store.duckdb")
    assert count_chosen(gpt4) == {"equal": len(records) - 1, "not judged": 1}
    assert gpt4.malformed == {"breach_import": 14}
    assert peirce.replay(gpt4.session, store=gpt4.store).differences == []


def test_124_of_the_125_chosen_rules_of_gpt4_have_the_published_accuracies(
    shared_data, own, tmp_path
):
    gpt4 = import_gpt4(shared_data / WHOLE, shared_data, own, tmp_path / "store.duckdb")
    assert count_chosen(gpt4) == {"equal": 124, "not judged": 1}
    assert gpt4.malformed == {"breach_import": 14} and sum(gpt4.verdicts.values()) == 1_105
    assert peirce.replay(gpt4.session, store=gpt4.store).differences == []


def test_the_departures_of_the_recording_have_these_counts(shared_data):
    record = read_whole(shared_data)
    turns = [one for problem in record["problems"] for one in problem["turns"]]
    assert (record["temperature"], record["n"], record["max_iter"]) == (0.7, 5, 3)
    assert len(turns) == 221 and {len(one["responses"]) for one in turns} == {5}
    later = [one for one in turns if one["history"]]
    assert len(later) == 96 and all(
        "does not work for the following" in one["query"] for one in later
    )
    lines = (shared_data / "gear" / "list_function.jsonl").read_text().splitlines()
    assert {len(json.loads(line)["train"]) for line in lines} == {8}


@pytest.mark.soak
def test_442_of_gpt4s_answers_come_before_gears_stop(shared_data, tmp_path):
    """On the paper's sample space, because novelty decides where a problem stops."""
    under = peirce.run(
        "list_functions", data=shared_data / "gear" / "list_function.jsonl", protocol="gear",
        model=f"recorded:{shared_data / WHOLE}",
        answer_format="fenced_function", store=tmp_path / "run.duckdb",
    )  # fmt: skip
    counts = {"accepted": 70, "redundant": 138, "inconsistent": 225, "malformed": 9}
    assert under.verdicts == counts and under.ends == {"three_bad": 124, "exhausted": 1}
