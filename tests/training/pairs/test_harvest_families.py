"""Pairs of all three families, from real small sessions: what was run is judged by the oracle of the
family, and nothing is executed again.

Internals: pairs are built with choices that the command has no options for.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import peirce
import pytest
from peirce.agents.scripted import ScriptedProposer
from peirce.records import Json, Reply, StoreError
from peirce.store import Store
from peirce.training import Fractions, PairTable, Splits, Stage
from peirce.training.pairs import PairChoices
from peirce.training.pairs.build_pairs import build_pairs

sys.path.insert(0, str(Path(__file__).parents[2] / "commands"))
from labelled_session import LUX, PLAIN, RUDE, data_set

ALL_TRAIN = Splits(fractions=Fractions(1, 0, 0))


def table_of(store: str, sessions: list[str]) -> tuple[PairTable, Json]:
    with Store.open(store, write=False) as opened:
        made = build_pairs(opened, sessions, PairChoices(splits=ALL_TRAIN))
    return made.table, made.report


TAIL = repr(("All but the first.", "def f(x):\n    return x[1:]"))
SHORT = repr(
    ("All but the first, of short ones.", "def f(x):\n    return x[1:] if len(x) < 3 else x[9]")
)
LAST = repr(
    ("The last, where there are two.", "def f(x):\n    return x[-1:] if len(x) > 1 else []")
)
WRONG = repr(("All.", "def f(x):\n    return x"))


@pytest.fixture
def lists(tmp_path: Path) -> dict[str, object]:
    """What two problems on lists are asked with: a file of them, a store, and a small S."""
    data, few = tmp_path / "problems.jsonl", tmp_path / "space.jsonl"
    few.write_text("".join(f"[{a}, {b}, {a}]\n[{b}, {a}]\n" for a in range(4) for b in range(4)))
    shown = [[{"input": [n, 2], "output": [2]}, {"input": [n], "output": []}] for n in (3, 4)]
    data.write_text(
        "".join(
            json.dumps(
                {"idx": name, "train": pairs, "test": [{"input": [1, 2, 3], "output": [2, 3]}]}
            )
            + "\n"
            for name, pairs in zip("ab", shown, strict=True)
        )
    )
    return {
        "store": str(tmp_path / "store.duckdb"), "space": str(few), "data": str(data), "workers": 1
    }  # fmt: skip


def one_each(task: str, answers: list[str | Reply], **options: object) -> list[str]:
    """Sessions of one answer each: `io` asks once."""
    return [
        peirce.run(task, model=ScriptedProposer([one]), method="io", **options).session
        for one in answers
    ]


def firsts(table: PairTable, stage: Stage) -> list[tuple[str, str]]:
    """Chosen and rejected without a context."""
    return [
        table.texts(i)[1:]
        for i in table.positions(stage)
        if table.prompt_context[table.prompt[i]] == 0
    ]


def test_programs_yield_pairs_of_all_stages(lists: dict[str, object]) -> None:
    answers = [TAIL, SHORT, LAST, WRONG, "nothing of the kind"]
    table, report = table_of(str(lists["store"]), one_each("list_functions", answers, **lists))
    assert all(report["by_split"]["train"].values())
    assert {pair[1] for pair in firsts(table, Stage.PARSING)} == {"nothing of the kind"}
    assert {pair[1] for pair in firsts(table, Stage.CONSISTENCY)} == {WRONG}
    # Defined on all of S or on half of it; over SHORT the two others gain alike but for agreement.
    assert set(firsts(table, Stage.GEAR)) == {(TAIL, SHORT), (LAST, SHORT)}
    assert set(table.prompt_problem) == {"a", "b"} and set(table.prompt_context) == {0, 1, 2}


def test_logic_yields_pairs_and_the_cost_stands_in_the_score(tmp_path: Path) -> None:
    store = str(tmp_path / "store.duckdb")
    found = peirce.run("abd", problems=1, model="search", method="io", store=store)

    def rule(formula: str) -> str:
        return json.dumps({"formula": formula, "description": "a rule"})

    everything, nothing = rule("(= x x)"), rule("(not (= x x))")
    sessions = one_each("abd", [everything, nothing, "I cannot say."], store=store, problems=1)
    table, report = table_of(store, [found.session, *sessions])
    assert all(report["by_split"]["train"].values())
    ((best, worst),) = firsts(table, Stage.GEAR)
    assert worst == everything != best  # it repairs all worlds and marks every element
    assert {pair[1] for pair in firsts(table, Stage.CONSISTENCY)} == {nothing}
    assert "elements are abnormal" in table.prompts[0][0]["content"]


def test_text_yields_pairs_and_a_data_set_is_in_one_split(tmp_path: Path) -> None:
    store = str(tmp_path / "store.duckdb")
    options = {"data": data_set(tmp_path), "judge": "exact", "hypotheses": 1}
    answers = [f"1. {one}\n" for one in (LUX, RUDE, PLAIN)] + [""]
    sessions = one_each("labels", answers, store=store, **options)
    table, report = table_of(store, sessions)
    ((best, worst),) = firsts(table, Stage.GEAR)
    assert (best, worst) == (answers[0], answers[1])  # it says more: of all texts, not of some
    assert {pair[1] for pair in firsts(table, Stage.CONSISTENCY)} == {answers[2]}
    assert {pair[1] for pair in firsts(table, Stage.PARSING)} == {""}
    assert report["groups"]["train"] == 1


def test_imported_answers_yield_pairs(lists: dict[str, object], tmp_path: Path) -> None:
    record = tmp_path / "answers.jsonl"
    told = [
        {"problem": "a", "step": n, "answer": one} for n, one in enumerate([TAIL, "no", WRONG], 1)
    ]
    record.write_text("".join(f"{json.dumps(one)}\n" for one in told))
    session = peirce.import_recorded(
        str(record), task="list_functions", answer_format="tuple", **lists
    )
    table, report = table_of(str(lists["store"]), [session.session])
    assert report["by_split"]["train"] == {"parsing": 3, "consistency": 1, "gear": 0}
    assert firsts(table, Stage.CONSISTENCY) == [(TAIL, WRONG)]
    assert list(report["by_model"]) == ["recorded:answers.jsonl"]


def test_an_answer_cut_at_the_token_limit_is_no_malformed_one(lists: dict[str, object]) -> None:
    """What the judge of a session says of it is what the harvest looks for."""
    cut = one_each("list_functions", [TAIL, WRONG, Reply('("It', finish="length")], **lists)
    table, report = table_of(str(lists["store"]), cut)
    assert report["left_out"]["cut"] == 2 and not len(table.positions(Stage.PARSING))


@pytest.mark.parametrize("store_of", ["closed", "owned"])
def test_counting_alone_needs_no_ownership(lists: dict[str, object], store_of: str) -> None:
    store = str(lists["store"])
    sessions = one_each("list_functions", [TAIL, WRONG], **lists)
    if store_of == "owned":
        with Store.open(store, write=True):
            counted = peirce.pairs(*sessions, store=store, dry_run=True)
            with pytest.raises(StoreError, match="is writing to"):
                peirce.pairs(*sessions, store=store)
    else:
        counted = peirce.pairs(*sessions, store=store, dry_run=True)
    assert peirce.pair_sets(store=store) == []
    assert peirce.pairs(*sessions, store=store) == counted
