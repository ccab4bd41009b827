"""Sentences with long lists of terms: shown shortened, with a name, and kept whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from labelled_session import data_set
from peirce.tests.page_blocks import read_text

# Far more than the 4,000 characters that a sentence in prose may have.
TERMS = ["kind", "the fresh", "fresh", "warm", *(f"seldom{n} heard{n}" for n in range(400))]
LIST = ", ".join(map(json.dumps, TERMS))
THEME = f"If the text mentions one of {LIST}, the label is good; otherwise bad."
SHOWN = (
    'one of the theme "kind, fresh, warm" ("kind", "the fresh", "fresh", "warm", "seldom0 heard0",'
)
RUN = ["run", "labels", "--data", "meals", "--method", "abduce", "--judge", "exact",
       "--model", "scripted:script.json", "--max-answers", "1", "--quiet"]  # fmt: skip


@pytest.fixture
def folder(folder: Path) -> Path:
    data_set(folder)
    Path("script.json").write_text(json.dumps({"*": [f"1. {THEME}"]}))
    return folder


def joined(text: str) -> str:
    return " ".join(text.split())


def test_a_person_reads_twelve_terms_and_is_told_once_where_the_others_are(peirce, finished):
    code, out, _ = finished(*RUN)
    assert code == 0
    told = [out]
    for command in (["bank"], ["show", "last", "--findings"], ["show", "last", "meals#0"]):
        told.append(peirce(*command)[1])
    for shown in map(joined, told):
        assert SHOWN in shown and "… and 392 more" in shown and "heard200" not in shown
        assert shown.count("seldom5") == shown.count("`peirce bank SESSION --full`") == 1
    effects = joined(peirce("bank", "--effects")[1])
    assert "… and 392 more" in effects and "heard200" not in effects


def test_the_whole_sentence_is_kept_where_it_is_used(peirce, finished):
    assert finished(*RUN)[0] == 0
    full = peirce("bank", "--full")[1]
    assert "… and" not in full and "--full" not in full
    assert "".join(THEME.split()) in "".join(full.split())
    (row,) = json.loads(peirce("bank", "--json")[1])
    assert row["text"] == THEME and SHOWN in row["summary"]
    (found,) = json.loads(peirce("show", "last", "--findings", "--json")[1])
    assert found["hypothesis"] == found["reading"] == THEME and SHOWN in found["summary"]
    assert peirce("bank", "--out", "saved.json")[0] == 0
    assert THEME in {
        one["text"] for one in json.loads(Path("saved.json").read_text())["hypotheses"]
    }
    code, out, _ = peirce("predict", "--bank", "last", "--data", "meals/ood.jsonl", "--json")
    assert code == 0 and [json.loads(line)["prediction"] for line in out.splitlines()][:2] == [
        "good",
        "bad",
    ]


def test_the_page_shows_the_shortened_sentence_and_holds_the_whole_one(peirce, finished):
    assert finished(*RUN)[0] == 0 and peirce("report", "last", "--out", "page.html")[0] == 0
    page = read_text(Path("page.html").read_text())
    assert "seldom7 heard7" in page and "heard200" in page and "and 392 more" in page
