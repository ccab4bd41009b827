"""What a reading makes of a bank: equal texts, abstentions, repeated answers, an interruption, shots.

Internals: the order in which rows are asked is a function of its own.
"""

from __future__ import annotations

import asyncio

import pytest
from peirce.agents.scripted import FunctionProposer
from peirce.graphs.methods.direct import alternate_labels
from text_sessions import INPUT, begin, go_on, play, problem, rows

YES = 'If the text mentions "item", the label is yes.'
NO = 'If the text mentions "item", the label is no.'
MEANT = "Warm texts are yes."


def entry(text, accuracy=0.0, visits=10, covered=None):
    return {"text": text, "accuracy": accuracy, "visits": visits, "covered": covered, "right": []}


def silent(messages):
    raise AssertionError("nobody is asked")


def read(path, *banks, count=4, model=None, judge="exact", **text):
    """The session of `infer` on these banks, and what its step says of the reading."""
    one = problem(rows(("yes", "no")), {"ind": rows(("yes",) * count)}, banks=[*banks])
    played = play(path / "s.duckdb", one, model or FunctionProposer(silent, "m"), "infer",
                  judge=judge, **text)  # fmt: skip
    return played, played.steps[-1].fields["inference"]


def test_shots_are_the_first_rows_of_each_label_in_turn():
    shown = rows(("no", "no", "yes", "no", "maybe", "yes"))
    assert alternate_labels(shown, 6) == [shown[n] for n in (0, 2, 4, 1, 5, 3)]
    assert alternate_labels(shown, 4) == [shown[n] for n in (0, 2, 4, 1)]
    assert alternate_labels(shown, 0) == [] == alternate_labels((), 3)


def test_shots_stand_in_the_prompt_in_that_order(tmp_path):
    prompts = []

    def answer(messages):
        prompts.append(messages[-1]["content"])
        return "Final answer: yes"

    one = problem(rows(("no", "no", "yes")), {"ind": rows(("yes",), 7)})
    play(tmp_path / "s.duckdb", one, FunctionProposer(answer, "m"), "direct", shots=3)
    (prompt,) = prompts
    assert prompt.index("item 0.") < prompt.index("item 2.") < prompt.index("item 1.")


def test_of_equal_texts_of_two_banks_the_first_stays(tmp_path):
    banks = [entry(YES, 0.2), entry(NO, 0.5)], [entry(YES, 0.9)]
    _, told = read(tmp_path, *banks, inference="best")
    assert told["entries"] == 2 and told["splits"]["ind"]["labels"] == ["no"] * 4


@pytest.mark.parametrize(
    ("accuracy", "visits", "covered", "consistent"),
    [
        (0.6, 10, 4, True),  # 3 of 4, and 6 guesses
        (0.6, 10, 10, False),
        (0.7, 10, 10, True),
        (0.8, 10, 4, True),  # all 5 … which are no more than 4
        (0.5, 10, 0, False),  # it never applied
        (0.7, 10, None, True),
        (0.6, 10, None, False),
        (0.9, 0, None, False),
    ],
)
def test_consistent_is_what_is_right_where_it_applies(
    tmp_path, accuracy, visits, covered, consistent
):
    bank = [entry(YES, accuracy, visits, covered), entry(NO, 0.1)]
    _, told = read(tmp_path, bank, inference="best", tau=0.7)
    assert told["gear"]["consistency"] == consistent / 2
    assert told["gear"]["generalizability"] == (1.0 if consistent else None)


def test_a_stored_sentence_votes_by_the_rows_that_it_covered(tmp_path):
    # 2 of 2 is 3 to 1, 7 of 10 is 2 to 1; by accuracy alone it would be 7 to 5 against 2 to 1
    _, told = read(tmp_path, [entry(YES, 0.6, 10, 2), entry(NO, 0.7, 10, 10)], inference="multi")
    assert told["splits"]["ind"]["labels"] == ["yes"] * 4


def test_a_sentence_of_the_session_votes_by_the_rows_that_it_covered(tmp_path):
    narrow = 'If the text mentions "0", "1", the label is no.'  # 2 of 2
    one = problem(rows(("no",) * 3 + ("yes",) * 7), {"ind": rows(("yes",) * 3)})  # YES: 7 of 10
    model = FunctionProposer(lambda messages: f"1. {YES}\n2. {narrow}", "m")
    played = play(tmp_path / "s.duckdb", one, model, judge="exact", inference="multi",
                  examples=10, hypotheses=2, rounds=0)  # fmt: skip
    found = played.steps[-1].fields["inference"]["splits"]["ind"]["labels"]
    assert found == ["no", "no", "yes"]


@pytest.mark.parametrize("method", ["abduce", "io", "refine", "hypogenic"])
def test_rows_that_a_sentence_leaves_open_are_no_mistakes_in_the_bank_of_any_method(
    tmp_path, method
):
    narrow = 'If the text mentions "0", "1", the label is no.'  # 2 of 2, and 8 that it leaves open
    one = problem(rows(("no",) * 3 + ("yes",) * 7), {"ind": rows(("yes",) * 3)})
    own = {"examples": 10, "hypotheses": 1, "rounds": 1} if method == "hypogenic" else {}
    model = FunctionProposer(lambda messages: f"1. {narrow}", "m")
    played = play(tmp_path / "s.duckdb", one, model, method, judge="exact", inference="best", **own)
    (entry,) = played.bank
    assert (entry["visits"], entry["covered"], entry["right"]) == (10, 2, [0, 1])
    assert entry["accuracy"] == (2 + 8 / 2) / 10
    assert played.steps[-1].fields["inference"]["gear"]["consistency"] == 1.0


def test_of_repeated_answers_the_majority_counts_and_agreement_is_its_mean_share(tmp_path):
    answers = {
        0: ["yes", "no", "no"],
        1: ["yes", "yes", "yes"],
        2: ["no", "yes", "does not apply"],  # of equals the first
        3: ["no", "no", "no"],
    }

    def answer(messages):
        row = INPUT.search(messages[-1]["content"])
        return f"Final answer: {answers[int(row.group(1))].pop(0)}"

    played, told = read(tmp_path, [entry(MEANT, 0.9)], model=FunctionProposer(answer, "m"), judge="auto",
                        inference="best", repeats=3, concurrency=1)  # fmt: skip
    assert told["splits"]["ind"]["labels"] == ["no", "yes", "no", "no"]
    assert told["agreement"] == pytest.approx((2 / 3 + 1 + 1 / 3 + 1) / 4)
    assert played.differences == []


def test_a_bank_that_is_read_is_left_open_by_a_stop_and_read_to_its_end_by_resume(tmp_path):
    one = problem(rows(("yes", "no")), {"ind": rows(("yes",) * 120)}, banks=[[entry(MEANT, 0.9)]])
    stop, asked = asyncio.Event(), []

    def answer(messages):
        asked.append(messages)
        stop.set()
        return "Final answer: yes"

    text = {"inference": "multi", "judge": "auto"}
    model = FunctionProposer(answer, "m")
    whole = play(tmp_path / "whole.duckdb", one, model, "infer", **text)
    asked.clear()
    session = begin(tmp_path / "s.duckdb", one, model, "infer", **text)
    stop.clear()
    stopped = go_on(tmp_path / "s.duckdb", session, model, stopping=stop)
    assert stopped.outcome["status"] == "interrupted"
    assert all("inference" not in step.fields for step in stopped.steps)
    assert len(asked) == 50
    resumed = go_on(tmp_path / "s.duckdb", session, model)
    assert resumed.outcome["status"] == "done" and len(asked) == 120
    assert resumed.digest == whole.digest and resumed.differences == []
