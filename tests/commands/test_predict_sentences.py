"""`predict` for labelled text: votes, agreement and deciding sentence are those of the conditions by hand."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import peirce
import pytest
from labelled_session import LUX, PLAIN, RUDE, Labelled, labelled, write_lines
from peirce.agents.scripted import FunctionProposer
from peirce.records import DataError
from test_predict import FILE, bank_file

WORDS = ("kind", "fresh", "rude", "cold", "soup", "staff", "bread", "slow")
# (sentence, (right, covered) of 20 visits, what it says of the words of a text)
SENTENCES = (
    ('If the text mentions "kind" or "fresh", the label is good; otherwise bad.', (18, 20),
     lambda words: "good" if words & {"kind", "fresh"} else "bad"),
    ('If the text mentions "rude", the label is bad.', (4, 4),
     lambda words: "bad" if "rude" in words else None),
    ('If the text mentions "bread", the label is good.', (5, 6),
     lambda words: "good" if "bread" in words else None),
    ('If the text mentions "cold", the label is bad.', (3, 5),
     lambda words: "bad" if "cold" in words else None),
)  # fmt: skip


def entry(sentence: str, right: int, covered: int) -> dict:
    accuracy = (right + (20 - covered) / 2) / 20  # a visit without a label counts as a guess
    return {
        "text": sentence,
        "accuracy": accuracy,
        "visits": 20,
        "reward": accuracy,
        "covered": covered,
    }


def weight(right: int, covered: int) -> float:
    trust = (right + 1) / (covered + 2)
    return math.log(trust / (1 - trust))


def ranked() -> list[tuple]:
    """The sentences, the most accurate first."""
    return sorted(SENTENCES, key=lambda one: -entry(one[0], *one[1])["accuracy"])


def expected(words: set[str], inference: str) -> tuple[str, str, float]:
    """The label, the deciding sentence and the agreement."""
    said = [(sentence, weight(*counts), of(words)) for sentence, counts, of in ranked()]
    labels = [label for _, _, label in said if label is not None]
    if inference == "best":
        label = said[0][2]
        rule = said[0][0]
    else:
        totals = {name: sum(w for _, w, one in said if one == name) for name in ("bad", "good")}
        label = max(totals, key=lambda name: totals[name])
        rule = next((sentence for sentence, _, one in said if one == label), None)
    return label, rule, labels.count(label) / len(labels)


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    return bank_file(tmp_path, hypotheses=[entry(one, *counts) for one, counts, _ in SENTENCES])


@pytest.fixture
def meals(tmp_path: Path) -> Labelled:
    return labelled(tmp_path)


@pytest.mark.parametrize("inference", ["multi", "best"])
def test_label_rule_and_agreement_are_those_of_the_conditions(tmp_path, bank, inference):
    draw = random.Random(f"texts {inference}")
    texts = [" ".join(draw.sample(WORDS, draw.randrange(1, 5))) for _ in range(300)]
    data = write_lines(tmp_path / "new.jsonl", [{"review": text} for text in texts])
    rows = list(peirce.predict(bank, data, inference=inference))
    for row, text in zip(rows, texts, strict=True):
        label, rule, share = expected(set(text.split()), inference)
        assert (row.label, row.prediction, row.rule, row.hypothesis) == (label, label, rule, rule)
        assert row.agreement == pytest.approx(share), text
    assert len({row.rule for row in rows}) > (1 if inference == "multi" else 0)
    assert {0.5, 1.0} < {row.agreement for row in rows}


def test_a_row_that_nothing_decides_has_the_majority_label_and_no_agreement(tmp_path):
    only = bank_file(tmp_path, hypotheses=[entry(SENTENCES[1][0], 4, 4)])
    data = write_lines(tmp_path / "new.jsonl", [{"review": "soup"}, {"review": "rude"}])
    nothing, rude = peirce.predict(only, data)
    assert (nothing.how, nothing.rule, nothing.agreement) == ("majority", None, None)
    assert (rude.label, rude.rule, rude.agreement) == ("bad", SENTENCES[1][0], 1.0)


def test_a_model_is_asked_for_the_strategy_and_never_for_the_vote(tmp_path):
    """Two sentences take a model; `best` asks about one of them, `filter-weight` about both."""
    other = "Texts that sound annoyed are bad."
    sentences = [
        {"text": PLAIN, "accuracy": 0.9, "visits": 10},
        {"text": other, "accuracy": 0.8, "visits": 10},
    ]
    bank = bank_file(tmp_path, hypotheses=[*sentences, entry(SENTENCES[1][0], 4, 4)])
    data = write_lines(tmp_path / "new.jsonl", [{"review": "warm but rude"}])
    asked: list[str] = []

    def judge(messages):
        text = "\n".join(str(one["content"]) for one in messages)
        asked.extend(["applied"] * ("You apply a hypothesis" in text))
        return "Final answer: good" if "You apply a hypothesis" in text else "yes"

    (row,) = peirce.predict(bank, data, model=FunctionProposer(judge, "j"), inference="best")
    assert len(asked) == 1 and row.label == "good" and row.agreement == 0.5  # "rude" says bad
    (row,) = peirce.predict(
        bank, data, model=FunctionProposer(judge, "j"), inference="filter-weight"
    )
    assert len(asked) == 3 and row.label == "good" and row.agreement == pytest.approx(2 / 3)


def test_a_sentence_that_needs_a_model_does_not_vote_without_one(tmp_path):
    bank = bank_file(tmp_path, hypotheses=[{"text": PLAIN}, entry(SENTENCES[1][0], 4, 4)])
    data = write_lines(tmp_path / "new.jsonl", [{"review": "rude"}])
    (row,) = peirce.predict(bank, data)
    assert (row.label, row.agreement) == ("bad", 1.0)


def test_the_file_of_earlier_versions_is_read(tmp_path):
    assert "definition" not in FILE and json.loads(bank_file(tmp_path).read_text()) == FILE
    data = write_lines(tmp_path / "new.jsonl", [{"review": "kind"}])
    assert [row.label for row in peirce.predict(tmp_path / "bank.json", data)] == ["good"]


CUSTOMERS = {
    "labels": ["no", "yes"], "label_name": "churned", "shape": "fields", "description": "",
    "columns": {
        "tickets": {"kind": "number", "about": ""}, "age": {"kind": "number", "about": ""},
        "plan": {"kind": "choice", "about": "", "values": ["free", "pro"]},
    },
}  # fmt: skip
FEW, MANY = (
    'If tickets is at most 4, the label is "no"; otherwise, the label is "yes".',
    'If tickets is more than 4, the label is "yes"; otherwise, the label is "no".',
)
PRO = 'If plan is "pro", the label is "yes".'


@pytest.mark.parametrize("sentence", [FEW, MANY])
@pytest.mark.parametrize("inference", ["multi", "best", "weighted", "filter-weight"])
def test_a_missing_value_is_not_taken_for_the_label_of_all_other_rows(
    tmp_path, sentence, inference
):
    rows = [{"tickets": None}, {"tickets": 3}, {"tickets": 5}]
    data = write_lines(tmp_path / "new.jsonl", rows)
    bank = bank_file(tmp_path, public=CUSTOMERS, hypotheses=[entry(sentence, 18, 20)])
    missing, few, many = peirce.predict(bank, data, inference=inference)
    assert (missing.prediction, missing.label, missing.agreement, missing.rule) == (None,) * 4
    assert (missing.how, missing.reason) == ("missing_value", "missing_value")
    assert (few.label, many.label, many.rule, many.reason) == ("no", "yes", sentence, None)
    both = [entry(sentence, 18, 20), entry(PRO, 8, 10)]
    bank = bank_file(tmp_path, public=CUSTOMERS, hypotheses=both)
    data = write_lines(tmp_path / "new.jsonl", [{"tickets": None, "plan": "pro"}])
    (row,) = peirce.predict(bank, data, inference=inference)
    if inference == "best":  # the only sentence that this strategy reads
        assert row.how == "majority" and row.agreement == 0.0
    else:
        assert (row.label, row.rule, row.agreement, row.reason) == ("yes", PRO, 1.0, None)


@pytest.mark.parametrize("name", ["new.csv", "new.jsonl"])
def test_an_empty_text_is_a_text_without_words_and_has_its_row(tmp_path, bank, name):
    texts = ["soup", "", "kind", "  ", "soup", ""]
    rows = [f"{text}\n" for text in texts[:-1]] + ['""\n', "\n"]
    data = tmp_path / name
    if name == "new.csv":  # an empty line is a row, except at the end of the file
        data.write_text("".join(["review\n", *rows]))
    else:
        write_lines(data, [{"review": text} for text in texts])
    found = list(peirce.predict(bank, data))
    labels = [row.label for row in found]
    assert labels == ["bad", "bad", "good", "bad", "bad", "bad"]
    assert not any(row.reason for row in found) and found[1].agreement == found[0].agreement
    peirce.predict(bank, data, out=tmp_path / "out.csv")
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 7


def test_a_row_of_empty_cells_has_its_row(tmp_path, bank):
    data = tmp_path / "new.csv"
    data.write_text("id,review\n1,kind\n,\n\n2,soup\n,\n")
    labels = [row.label for row in peirce.predict(bank, data)]
    assert labels == ["good", "bad", "bad", "bad"]


def test_a_missing_value_that_the_session_has_itself_is_read_as_in_the_session(tmp_path):
    """Only customers without an entry and those with few tickets stay, so the session is right."""
    lines = [
        {"tickets": n % 9 if n % 3 else None, "churned": "yes" if n % 3 and n % 9 > 4 else "no"}
        for n in range(90)
    ]
    data = write_lines(tmp_path / "train.jsonl", lines[:60])
    write_lines(tmp_path / "val.jsonl", lines[60:])
    store = tmp_path / "store.duckdb"
    session = peirce.run("labels", data=data.parent, label="churned", store=store, model="search")
    found = list(peirce.predict(session.session, data, store=store))
    assert [row.label for row in found] == [line["churned"] for line in lines[:60]]


def test_columns_that_no_sentence_uses_may_be_absent(tmp_path):
    data = write_lines(tmp_path / "new.jsonl", [{"tickets": 3}, {"tickets": 5}])
    bank = bank_file(tmp_path, public=CUSTOMERS, hypotheses=[entry(FEW, 18, 20)])
    assert [row.label for row in peirce.predict(bank, data)] == ["no", "yes"]
    both = [entry(FEW, 18, 20), entry(PRO, 8, 10)]
    bank = bank_file(tmp_path, public=CUSTOMERS, hypotheses=both)
    with pytest.raises(DataError, match="there is no column 'plan'"):
        list(peirce.predict(bank, data))
    bank = bank_file(tmp_path, public=CUSTOMERS, hypotheses=[entry(FEW, 18, 20), {"text": PLAIN}])
    assert [row.label for row in peirce.predict(bank, data)] == ["no", "yes"]
    judge = FunctionProposer(lambda messages: "Final answer: no", "j")
    with pytest.raises(DataError, match="there is no column 'age'"):  # a model reads all columns
        list(peirce.predict(bank, data, model=judge))


def test_the_weighted_strategy_names_the_sentence_that_decided(meals):
    session = meals.finished(judge="exact", inference="weighted")
    found = list(peirce.predict(session.session, meals.data / "test.jsonl", store=meals.store))
    assert {row.how for row in found} == {"weights"} and {row.rule for row in found} <= {LUX, RUDE}
    assert all(row.hypothesis == row.rule for row in found)
