"""`check labels`: a sentence that a user brings, on the shown rows and on those of a split."""

from __future__ import annotations

import peirce
import pytest
from labelled_session import LUX, PLAIN, RUDE, Model, labelled, write_lines
from peirce.agents.scripted import FunctionProposer
from peirce.records import UsageError

TRUE = 'If the text mentions "kind", "fresh" or "warm", the label is good; otherwise bad.'


@pytest.fixture
def meals(tmp_path):
    return labelled(tmp_path)


def judged(meals, *lines, **options):
    told = [
        {"problem": "meals", "hypothesis": one} if isinstance(one, str) else one for one in lines
    ]
    path = write_lines(meals.folder / "brought.jsonl", told)
    given = {"data": meals.data, "observations": 20, **options}
    return list(peirce.check("labels", path, **given))


def test_a_sentence_is_scored_on_the_test_rows_unless_another_split_is_named(meals):
    (row,) = judged(meals, TRUE)
    assert (row["verdict"], row["reason"], row["split"]) == ("consistent", None, "ind")
    assert (row["accuracy"], row["f1"], row["covered"]) == (1.0, 1.0, 12)
    assert row["observations"] == [True] * 20 and row["hidden"] == [True] * 12
    assert row["undefined"] == {}
    (row,) = judged(meals, TRUE, split="ood")
    assert (row["split"], len(row["hidden"])) == ("ood", 10)
    (row,) = judged(meals, TRUE, split="val")
    assert (row["split"], len(row["hidden"])) == ("val", 8)


def test_a_row_that_a_sentence_does_not_apply_to_is_undefined_and_not_right(meals):
    # Of the 12 test rows, visits 200 to 211, the bad ones are odd and of those every third is rude:
    # n % 3 == 1 and n odd, 205 and 211. Both are right and the other ten have no label: accuracy 2/12.
    # F1 of bad: precision 2/2, recall 2/6, so 1/2; of good 0; their mean 1/4.
    (row,) = judged(meals, RUDE)
    assert (
        row["covered"] == 2 and row["hidden"].count(True) == 2 and row["hidden"].count(None) == 10
    )
    assert row["accuracy"] == pytest.approx(2 / 12) and row["f1"] == pytest.approx(1 / 4)
    assert row["verdict"] == "consistent"  # of those that it covers it is right on all
    assert row["undefined"].keys() == {"does_not_apply"}


def test_a_sentence_that_nobody_can_judge_has_no_score(meals):
    (row,) = judged(meals, PLAIN)
    assert row["verdict"] == "inconsistent"
    assert row["reason"].startswith("needs_model: ") and "--judge-model" in row["reason"]
    assert set(row["observations"]) == set(row["hidden"]) == {None}
    assert (row["accuracy"], row["f1"], row["covered"]) == (None, None, None)
    assert set(row["undefined"]) == {"needs_model"}


def test_a_named_model_judges_what_is_no_rule_and_is_not_asked_about_the_sample_space(meals):
    judge = Model()
    (row, exact) = judged(meals, PLAIN, TRUE, judge_model=FunctionProposer(judge, "judge"))
    assert (row["verdict"], row["accuracy"]) == ("consistent", 1.0)
    assert judge.asked == 20 + 12
    assert row["undefined"].keys() == {"not_asked"} and exact["undefined"] == {}
    judged(meals, TRUE, judge_model=FunctionProposer(judge, "judge"), judge="model")
    assert judge.asked == 2 * (20 + 12)


def test_an_answer_without_a_label_counts_as_wrong(meals):
    (row,) = judged(meals, PLAIN, judge_model=FunctionProposer(lambda messages: "blue", "blue"))
    assert set(row["hidden"]) == {False} and row["accuracy"] == 0.0
    assert "20 wrong" in row["reason"] and "unreadable" in row["reason"]


def test_an_answer_is_read_by_the_contract_and_what_is_no_sentence_is_malformed(meals):
    answer, empty, long = judged(
        meals,
        {"problem": "meals#0", "answer": f"Here it is:\n1. {TRUE}\n"},
        {"problem": "meals", "hypothesis": " "},
        {"problem": "meals", "hypothesis": "word " * 10_000},
    )
    assert (answer["verdict"], answer["accuracy"]) == ("consistent", 1.0)
    assert empty["verdict"] == long["verdict"] == "malformed"
    assert long["reason"].startswith("too_long") and long["hidden"] == [None] * 12
    assert long["accuracy"] is None


def test_the_threshold_of_consistency_may_be_set(meals):
    half = 'If the text mentions "soup", the label is good.'
    assert judged(meals, half, tau=1.0)[0]["verdict"] == "inconsistent"
    assert judged(meals, half, tau=0.1)[0]["verdict"] == "consistent"
    assert judged(meals, LUX, tau=0.5)[0]["verdict"] == "consistent"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"split": "test"}, "val, ind, ood"),
        (
            {"judge": "model"},
            "judge is 'model', but no model is given: choose one with --judge-model",
        ),
        ({"judge_model": "search"}, "cannot label texts"),
        (
            {"roles": {"judge": {"temperature": 0}}},
            "temperature: no model is given",
        ),
        ({"tau": 2.0}, "it is a share"),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(meals, options, said):
    with pytest.raises(UsageError, match=said):
        judged(meals, TRUE, **options)


def test_a_split_that_the_data_lacks_is_said(meals):
    (meals.data / "ood.jsonl").unlink()
    with pytest.raises(UsageError, match="meals#0 has no rows of split 'ood'; it has val, ind"):
        judged(meals, TRUE, split="ood")


def test_other_tasks_take_none_of_this(setting):
    path = write_lines(setting.folder / "none.jsonl", [])
    with pytest.raises(
        UsageError, match="split is 'ind': only tasks with labelled text take it, such as labels; "
    ):
        list(peirce.check("examples", path, data=setting.data, split="ind"))
