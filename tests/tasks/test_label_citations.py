"""`labels:citations`: highly and rarely cited abstracts of a local file of works."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from peirce import tasks_generate
from peirce.records import DataError, UsageError
from peirce.tasks import DataWarning, load_problems

WORDS = " ".join(f"word{n}" for n in range(60))


def work(number: int, venue: str = "Radiology", year: int = 2012, **more: Any) -> dict[str, Any]:
    return {
        "title": f"Paper {number} of {venue} {year}", "abstract": f"Finding {number}. {WORDS} {venue} {year}",
        "venue": venue, "year": year, "citations": number, **more,
    }  # fmt: skip


def openalex(number: int, venue: str, year: int) -> dict[str, Any]:
    """Cited `number` times in its second year, and much more often long after."""
    words = f"Finding {number} . {WORDS}".split()
    counts = [{"year": year + 2, "cited_by_count": number}, {"year": year + 8, "cited_by_count": 500 - number}]  # fmt: skip
    return {
        "display_name": f"Work {number} of {year}", "publication_year": year, "type": "article",
        "abstract_inverted_index": {word: [n] for n, word in enumerate(words)},
        "primary_location": {"source": {"display_name": venue}},
        "counts_by_year": counts, "cited_by_count": 500,
    }  # fmt: skip


def written(path: Path, works: list[Any]) -> Path:
    lines = "".join(json.dumps(one) + "\n" for one in works)
    path.write_bytes(gzip.compress(lines.encode()) if path.suffix == ".gz" else lines.encode())
    return path


def test_each_cohort_gives_the_same_share_at_both_ends(tmp_path: Path) -> None:
    works = [work(n, venue, year) for venue in ("Radiology", "Health Affairs")
             for year in (2012, 2013, 2018) for n in range(100)]  # fmt: skip
    path = written(tmp_path / "works.jsonl", works)
    found = [one for one, _ in load_problems("labels:citations", f"{path}?share=0.1&ood=2017")]
    assert [one.id for one in found] == [
        "citations/health-affairs#0", "citations/radiology#0", "citations/all#0",
    ]  # fmt: skip
    radiology = found[1]
    assert radiology.public["columns"] == {"abstract": {"kind": "text", "about": "of the paper"}}
    spans = radiology.secret["splits"]
    assert len(radiology.shown) == 28 and spans["ood"][1] - spans["ood"][0] == 20
    rows = (*radiology.shown, *radiology.hidden)
    assert Counter(one.output for one in rows) == {"highly cited": 30, "rarely cited": 30}
    for one in rows:
        number = int(one.input["abstract"].split(".")[0].removeprefix("Finding "))
        assert number >= 90 if one.output == "highly cited" else number < 10


def test_openalex_works_count_the_citations_of_the_first_years(tmp_path: Path) -> None:
    works = [openalex(n, "NeurIPS", 2015) for n in range(100)]
    path = written(tmp_path / "works.jsonl.gz", works)
    ((one, _),) = load_problems("labels:citations", f"{path}?share=0.25")
    high = [o for o in (*one.shown, *one.hidden) if o.output == "highly cited"]
    assert len(high) == 25
    assert all(int(o.input["abstract"].split()[1]) >= 75 for o in high)
    with pytest.raises(DataError, match="no venue has 10 works of each label"):
        load_problems("labels:citations", f"{path}?after=all")  # 500 each: no gap
    works[0]["cited_by_count"] = 9_000  # more than its counts: the first years are unknown
    with pytest.warns(DataWarning, match="1 of 100 works are left out .no citations of these"):
        load_problems("labels:citations", f"{written(path, works)}?share=0.25")


def test_what_is_left_out_is_counted_by_its_reason(tmp_path: Path) -> None:
    works: list[Any] = [work(n) for n in range(100)]
    works += [work(100, abstract="short"), work(101, type="editorial"), work(102, year="2012"),
              work(3), work(103, citations=None), "text"]  # fmt: skip
    path = written(tmp_path / "works.jsonl", works)
    with pytest.warns(DataWarning, match="6 of 106 works are left out") as told:
        load_problems("labels:citations", str(path))
    said = str(told[0].message)
    for reason in (
        "no abstract of 50 words",
        "no paper",
        "no year",
        "a title that was there before",
    ):
        assert reason in said


def test_every_venue_has_a_set_of_its_own_however_it_is_spelt(tmp_path: Path) -> None:
    venues = ("Health Affairs", "health affairs!", "all", "物理", "數學", "x" * 5_000)
    works = [work(n, venue) for venue in venues for n in range(100)]
    path = written(tmp_path / "works.jsonl", works)
    told = tasks_generate("labels:citations", tmp_path / "new", data=path)
    assert [one["name"].removeprefix("citations/") for one in told["sets"]] == [
        "health-affairs", "all-2", "health-affairs-2", "x" * 80, "數學", "物理", "all",
    ]  # fmt: skip
    read = [one.id for one, _ in load_problems("labels", str(tmp_path / "new"))]
    assert len(read) == 7 and len(list((tmp_path / "new" / "citations").iterdir())) == 7


def test_works_that_are_not_as_they_should_be_are_left_out(tmp_path: Path) -> None:
    """No number where one is due, numbers below 0, and what stands twice."""
    works: list[Any] = [work(n) for n in range(100)]
    works += [
        work(200, counts_by_year=[{"year": 2013, "cited_by_count": "many"}]),
        work(201, counts_by_year=[{"year": 2013, "cited_by_count": [1]}]),
        work(202, counts_by_year=["2013"]),
        work(208, is_retracted=True), work(203, citations=True), work(204, citations=-3), work(205, year=True),
        work(206, abstract=None, abstract_inverted_index={"a": [None, "x", 1], "b": "z"}),
        work(207, abstract=works[1]["abstract"]),
    ]  # fmt: skip
    path = written(tmp_path / "works.jsonl", works)
    with pytest.warns(DataWarning, match="9 of 109 works are left out") as told:
        ((one, _),) = load_problems("labels:citations", str(path))
    assert len(one.shown) + len(one.hidden) == 20
    for reason in ("no citations of these years 5", "no year 1", "no abstract of 50 words 1",
                   "an abstract that was there before 1", "no paper 1"):  # fmt: skip
        assert reason in str(told[0].message)
    floats = [{**one, "year": 2012.0, "citations": float(one["citations"])} for one in works[:100]]
    ((other, _),) = load_problems("labels:citations", str(written(path, floats)))
    assert other.shown == one.shown


def test_a_file_that_leaves_nothing_to_learn_from_says_why(tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text("[]")
    with pytest.raises(DataError, match="found no usable works"):
        load_problems("labels:citations", str(tmp_path / "none.json"))
    path = written(tmp_path / "works.jsonl", [work(n) for n in range(200)])
    with pytest.raises(UsageError, match="all works are from 2000 or later"):
        load_problems("labels:citations", f"{path}?ood=2000")


def test_citations_need_a_file_and_take_known_settings(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs a file of works: --data"):
        load_problems("labels:citations")
    with pytest.raises(UsageError, match="no such file of works"):
        load_problems("labels:citations", str(tmp_path / "none.jsonl"))
    path = written(tmp_path / "works.jsonl", [work(n) for n in range(100)])
    for query, said in (("shares=1", "has no setting 'shares'"), ("share=0.7", "share must be above 0"),
                        ("after=soon", "must be whole numbers")):  # fmt: skip
        with pytest.raises(UsageError, match=said):
            load_problems("labels:citations", f"{path}?{query}")


def test_citations_are_generated_as_files(tmp_path: Path) -> None:
    path = written(tmp_path / "works.jsonl", [work(n) for n in range(100)])
    told = tasks_generate("labels:citations", tmp_path / "new", data=f"{path}?share=0.2", format="huggingface")  # fmt: skip
    assert told["problems"] == 1 and told["sets"][0]["rows"] == {"train": 28, "val": 4, "test": 8}
    ((one, _),) = load_problems("labels", str(tmp_path / "new" / "citations" / "radiology"))
    assert len(one.shown) == 28 and set(one.public["labels"]) == {"highly cited", "rarely cited"}
    with pytest.raises(UsageError, match="labels:shoe generates its rows"):
        tasks_generate("labels:shoe", tmp_path / "other", data=path)
    with pytest.raises(
        UsageError, match="--level 3: task 'list_functions' does not take this option"
    ):
        tasks_generate("list_functions", tmp_path / "x.jsonl", level="3")
