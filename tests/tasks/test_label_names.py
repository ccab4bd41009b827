"""One reader of labels for files and answers: what it forgives, and what it keeps apart.

Internals: the reader of labels is called with names that no data set would have.
"""

from __future__ import annotations

import time

import pytest
from peirce.records import DataError
from peirce.tasks.text.label_names import LabelNames


@pytest.mark.parametrize(
    "text",
    ["truthful", "Truthful", " TRUTHFUL\n", "**truthful**", '"truthful"', "“Truthful”.", "[truthful",
     "{truthful}", "`truthful`", "__truthful__", "<truthful>", "(truthful)!", "## truthful",
     "*“truthful.”*", "ｔruthful", "truthful…"],
)  # fmt: skip
def test_a_label_comes_back_from_every_writing_of_it(text: str) -> None:
    assert LabelNames(["truthful", "deceptive"]).find(text) == "truthful"


@pytest.mark.parametrize("text", ["", "   ", "truthfully", "truthful or deceptive", "***", "other"])
def test_what_is_no_label_is_none(text: str) -> None:
    assert LabelNames(["truthful", "deceptive"]).find(text) is None


@pytest.mark.parametrize(
    "names",
    [["<=50K", ">50K"], ["C", "C++", "C#"], ["-1", "1", "0"], ["1", "1.5"], ["+", "-"], ["no", "not"],
     ["has stress", "no stress"], ["Headline 1", "Headline 2"], ["'", '"'], ["ja", "nein", "weiß"]],
)  # fmt: skip
def test_every_label_comes_back_as_itself_and_no_other(names: list[str]) -> None:
    labels = LabelNames(names)
    assert [labels.find(name) for name in names] == names
    assert [labels.index(f" {name.upper()} ") for name in names] == list(range(len(names)))


@pytest.mark.parametrize(
    "names", [["Yes", "yes"], ["spam", "spam."], ['"a"', "a"], ["x  y", "X Y"]]
)
def test_two_labels_that_cannot_be_told_apart_are_an_error(names: list[str]) -> None:
    with pytest.raises(DataError, match="differ only in case"):
        LabelNames(names, "f.csv")


def test_a_blank_label_is_an_error() -> None:
    with pytest.raises(DataError, match=r"^f\.csv: a label is blank"):
        LabelNames(["a", " "], "f.csv")


def test_a_megabyte_of_answer_is_read_in_no_time() -> None:
    labels = LabelNames(["a", "b"])
    begun = time.process_time()
    assert labels.find("*" * 1_000_000) is None and labels.find("# " * 499 + "a") == "a"
    assert time.process_time() - begun < 10
