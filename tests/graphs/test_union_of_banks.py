"""The union of data and literature: what is said twice leaves, each side fills its half."""

from __future__ import annotations

import pytest
from peirce.agents.scripted import FunctionProposer
from peirce.records import Reply
from text_sessions import Told, play, problem, rows

YES_NO = ("yes", "no") * 5
PAPERS = [{"source": "a.md", "title": "A", "text": "It was found that evens are yes."}]
SIDE = {"examples": 4, "top": 2, "wrong": 30, "judge": "model", "rounds": 0}
# Of rows 0 … 3: how many a sentence gets right, by its last character.
SKILL = {"A": 4, "B": 3, "C": 2, "D": 1, "P": 4, "Q": 3, "R": 2, "S": 0}


def says(name, row):
    right = row < SKILL[name[-1]]
    return f"Final answer: {YES_NO[row] if right else YES_NO[row + 1 - 2 * (row % 2)]}"


def listed(names, source=""):
    return "\n".join(f"{n}. What is said by {name}{source}" for n, name in enumerate(names, 1))


def union(tmp_path, data, literature, same=(), **text):
    """Ranked texts of the bank. same: pairs that a model takes for the same."""
    told = Told(["- evens", listed(literature), listed(data)], says)

    def with_pairs(messages):
        prompt = messages[-1]["content"]
        if "whether two hypotheses" in prompt:
            pair = frozenset(line[-1] for line in prompt.splitlines() if "said by" in line)
            return f"Final answer: {'yes' if pair in same else 'no'}"
        return told(messages)

    played = play(tmp_path / "s.duckdb", problem(rows(YES_NO), papers=PAPERS),
                  FunctionProposer(with_pairs, "told"), "union",
                  **{**SIDE, "hypotheses": 4, "capacity": 4, **text})  # fmt: skip
    assert played.outcome["status"] == "done" and played.differences == []
    return "".join(row["text"][-1] for row in played.bank), played


@pytest.mark.parametrize(
    ("data", "literature", "same", "kept"),
    [
        ("ABCD", "PQRS", (), "APBQ"),  # two of each side, the best of it
        ("A", "PQRS", (), "APQR"),  # the free place goes to the other side
        ("ABCD", "", (), "ABCD"),
        ("", "PQRS", (), "PQRS"),
        ("ABCD", "PQRS", [frozenset("AP")], "ABQR"),  # P says what A says, which came first
        ("ABCD", "PQRS", [frozenset("AB")], "APCQ"),  # within a side too
        ("ABC", "ABC", (), "ABC"),  # the same texts
    ],
)
def test_each_thing_is_said_once_and_each_side_fills_its_half(
    tmp_path, data, literature, same, kept
):
    found, played = union(tmp_path, data, literature, same)
    assert sorted(found) == sorted(kept)
    merged = played.steps[-1].fields["union"]
    assert merged == {"candidates": len(data) + len(literature), "kept": len(kept)}
    assert len(set(found)) == len(found) <= 4


def test_a_model_that_has_nothing_to_say_of_the_data_leaves_the_literature(tmp_path):
    told = Told(["- evens", listed("PQ")], says)

    class Exhausted(FunctionProposer):
        async def propose(self, view, messages, tools, seed, schema=None):
            prompt = messages[-1]["content"]
            if "Rows with their labels" in prompt:
                return Reply(finish="exhausted")
            return await super().propose(view, messages, tools, seed, schema)

    played = play(tmp_path / "s.duckdb", problem(rows(YES_NO), papers=PAPERS),
                  Exhausted(lambda m: "no" if "whether two" in m[-1]["content"] else told(m), "told"),
                  "union", **{**SIDE, "hypotheses": 2, "capacity": 4})  # fmt: skip
    assert sorted(row["text"][-1] for row in played.bank) == ["P", "Q"]
    assert played.outcome["status"] == "done" and played.differences == []
