"""What the data of a session is called: by one rule in evaluations and in studies.

Internals: the name of the data is asked for one session at a time, before any table is made.
"""

from __future__ import annotations

import asyncio

import peirce
import pytest
from peirce.records import InputSet, Observation, Problem, Verdict
from peirce.reports.metrics.grouping import name_data_sets
from peirce.store import Store


def settings(task="acre", data=None, task_file=None):
    def file(name):
        return None if name is None else {"name": name.split("@")[0], "sha256": name * 9}

    return {"task": task, "operational": {"data": file(data), "task_file": file(task_file)}}


def problem(name, *numbers, shown=1):
    pairs = tuple(Observation([n], [n]) for n in numbers)
    return Problem(name, "acre", "programs", pairs[:shown], pairs[shown:])


ONE, TWO, OTHER = problem("1", 1, 2, 3), problem("2", 4, 5, 6), problem("1", 7, 8, 9)


def test_generated_problems_stand_apart_from_a_files_and_have_one_name_whatever_else_there_is():
    assert name_data_sets([settings()], [[ONE]]) == ["acre (generated)"]
    assert name_data_sets([settings(data="a.jsonl")], [[ONE]]) == ["acre"]
    both = [settings(), settings(data="a.jsonl"), settings("arc")]
    assert name_data_sets(both, [[ONE], [ONE], [TWO]]) == [
        "acre (generated)",
        "acre",
        "arc (generated)",
    ]
    assert name_data_sets([settings(), settings()], [[ONE], [OTHER]]) == ["acre (generated)"] * 2


def test_files_of_different_problems_stand_apart_by_their_names():
    some = [settings(data="a.jsonl"), settings(data="b.jsonl"), settings("arc", "a.jsonl")]
    found = name_data_sets(some, [[ONE], [TWO], [ONE]])
    assert found == ["acre (a.jsonl)", "acre (b.jsonl)", "arc"]
    found = name_data_sets(some, [[ONE], [OTHER, TWO], [ONE]])  # one id, other pairs
    assert found == ["acre (a.jsonl)", "acre (b.jsonl)", "arc"]
    again = name_data_sets([settings(data="a@1"), settings(data="a@2")], [[ONE], [TWO]])
    assert len(set(again)) == 2 and all(name.startswith("acre (a a@") for name in again)


def test_a_part_of_a_file_is_the_same_data_whatever_is_shown_of_it():
    some = [settings(data=name) for name in ("whole.jsonl", "part.jsonl", "rest.jsonl")]
    shown_two = problem("1", 3, 1, 2, shown=2)
    assert name_data_sets(some[:2], [[ONE, TWO], [shown_two]]) == ["acre"] * 2
    assert name_data_sets(some, [[ONE, TWO], [ONE], [TWO]]) == ["acre"] * 3
    alone = name_data_sets(some[1:], [[ONE], [TWO]])
    assert alone == ["acre (part.jsonl)", "acre (rest.jsonl)"]


def test_a_users_own_task_is_named_as_its_file_names_it():
    assert name_data_sets([settings("dew", task_file="dew.yaml")], [[ONE]]) == ["dew"]


@pytest.fixture
def store(write, tmp_path):
    """One task thrice: from its generator and from two files."""
    place = tmp_path / "s.duckdb"
    space = InputSet("S", tuple([i] for i in range(9)))
    with Store.open(place, write=True) as opened:
        for data, numbers in ((None, (1, 2, 3)), ("a", (4, 5, 6)), ("b", (7, 8, 9))):
            one = problem("p", *numbers)
            session = opened.create_session(
                settings(data=data) | {"family": "programs", "method": "abduce", "model": "m"},
                [(one, space)],
            )
            judged = write.judged(Verdict.ACCEPTED, list(range(9)), [True], [True, True])
            ledger = opened.ledger(session)

            async def record(ledger=ledger, judged=judged):
                for step in write.steps(judged, problem="p"):
                    await ledger.record_step(step)
                await ledger.record_end("p", "done", "cap")

            asyncio.run(record())
    return place


def test_evaluation_and_study_call_the_data_alike_and_pool_none_of_it(store):
    ids = [row["session"] for row in peirce.sessions(store=store)]
    evaluated = peirce.evaluate(*ids, store=store)["settings"]
    names = {row["data_set"] for row in evaluated}
    assert names == {"acre (generated)", "acre (a)", "acre (b)"}
    assert [row["problems"] for row in evaluated] == [1, 1, 1]
    rows = peirce.study("defeasible", *ids, store=store)["rows"]
    assert {row["data_set"] for row in rows} == names
