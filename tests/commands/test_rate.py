"""`rate`: scripted raters whose scores are worked by hand, on a session of the store.

Internals: the name that ratings are kept by, which tells raters apart that no test can reach.
"""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce import cli
from peirce.agents.scripted import FunctionProposer
from peirce.commands.score.rating import rater_name
from peirce.records import DataError, UsageError
from rated_session import FINDINGS, TRUE, Rater, rated

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def test_one_of_two_truths_matched_with_a_half_and_three_quarters(made) -> None:
    session, store = made(truths=TRUE)
    rater = Rater()
    *rows, summary = rated(session, store, rater)
    scores = summary["scores"]
    assert scores["released"] == {"fdr": 0.5, "rc": 0.75, "hdr": 0.375, "missing": 0}
    assert scores["paper"] == {"fdr": 0.5, "rc": 0.75, "hdr": 0.375, "missing": 0}
    assert scores["clarity"] == {"mean": 4.0, "n": 3, "missing": 0}
    kinds = [row["kind"] for row in rows]
    assert [kinds.count(k) for k in ("feature", "relationship", "variable", "clarity")] == [
        6,
        2,
        6,
        3,
    ]
    assert "novelty" not in kinds  # nothing is known beside it
    assert rows[-1]["reason"] == "so it is"


def test_what_was_rated_is_not_asked_again_and_a_cut_line_is(made) -> None:
    session, store = made(truths=TRUE)
    first = rated(session, store, Rater())
    file = store.with_name("s.duckdb.ratings") / f"{session}.jsonl"
    again = Rater()
    assert rated(session, store, again) == first and again.asked == []
    file.write_text(file.read_text()[:-20])
    assert rated(session, store, again) == first and len(again.asked) == 1
    third = Rater()
    assert rated(session, store, third) == first and third.asked == []


def test_novelty_shows_what_is_known_and_not_what_made_the_labels(made) -> None:
    session, store = made(truths=TRUE, findings=FINDINGS)
    rater = Rater()
    summary = rated(session, store, rater)[-1]["scores"]
    assert {"released", "novelty", "plausibility", "clarity"} <= summary.keys()
    novel = [text for text in rater.asked if "How new" in text]
    assert len(novel) == 3 and all(FINDINGS[0] in text for text in novel)
    assert not any(TRUE[0] in text for text in novel)


def test_other_findings_are_another_question(made, tmp_path: Path) -> None:
    session, store = made(truths=TRUE)
    asked = []
    for finding in (
        "Grades foretell success.",
        "Papers foretell success.",
        "Grades foretell success.",
    ):
        (tmp_path / "known.txt").write_text(finding)
        rater = Rater()
        rated(session, store, rater, scores=["novelty"], known=tmp_path / "known.txt")
        asked.append(len(rater.asked))
    assert asked == [3, 3, 0]


def test_a_rater_is_its_model_and_settings_wherever_it_is_served() -> None:
    class Served(FunctionProposer):
        def __init__(self, **told: Any) -> None:
            self.told = told

        def settings(self) -> Any:
            return {"model": "m", **self.told}

    here = rater_name(Served(endpoint="http://here/v1", temperature=0))
    assert here == rater_name(Served(endpoint="http://there/v1", temperature=0))
    assert here.startswith("m ") and here != rater_name(Served(temperature=1))


def test_an_unread_rating_is_missing_and_counted(made) -> None:
    session, store = made(truths=TRUE)
    summary = rated(session, store, Rater(How_much="a lot", How_clear="Score: 9"))[-1]["scores"]
    assert summary["released"] == {"fdr": 0.5, "rc": 0.0, "hdr": 0.0, "missing": 2}
    assert summary["clarity"] == {"mean": None, "n": 0, "missing": 3}


def test_what_cannot_be_rated_is_refused_in_one_sentence(made, tmp_path: Path) -> None:
    session, store = made(truths=TRUE)
    for name in ("novelty", "plausibility"):
        with pytest.raises(
            UsageError,
            match=f"{name} of school#0 cannot be rated, because there are no known findings",
        ):
            rated(session, store, Rater(), scores=[name])
    with pytest.raises(
        UsageError, match="no model is given to rate hypotheses: choose one with --scorer-model"
    ):
        list(peirce.rate(session, store=store))
    with pytest.raises(UsageError, match="search cannot rate hypotheses"):
        list(peirce.rate(session, store=store, scorer_model="search"))
    (tmp_path / "known.txt").write_text("- Grades foretell success.\n\n")
    told = rated(session, store, Rater(), scores=["novelty"], known=tmp_path / "known.txt")
    assert told[-1]["scores"]["novelty"]["mean"] == 4.0


def test_a_data_sets_name_alone_is_its_first_sample(made) -> None:
    session, store = made(truths=TRUE)
    assert peirce.bank(session, "school", store=store) == peirce.bank(
        session, "school#0", store=store
    )
    assert peirce.show(session, "school", store=store) == peirce.show(
        session, "school#0", store=store
    )
    rows = rated(session, store, Rater(), scores=["clarity"], problem="school")
    assert {row["problem"] for row in rows} == {"school#0"}
    with pytest.raises(UsageError, match="no problem 'scool'"):
        rated(session, store, Rater(), problem="scool")


def test_discovery_without_true_sentences_is_refused(made) -> None:
    session, store = made(findings=FINDINGS)
    with pytest.raises(
        UsageError,
        match=r"cannot be rated, because the true rules of its labels are unknown \(ground_truth_hypotheses in metadata.json\)",
    ):
        rated(session, store, Rater(), scores=["discovery"])


def test_rating_leaves_the_session_as_it_was(made) -> None:
    session, store = made(truths=TRUE)
    before = peirce.load(session, store=store)
    digest = peirce.sessions(store=store)
    rated(session, store, Rater())
    assert peirce.sessions(store=store) == digest and peirce.load(session, store=store) == before


def test_the_evaluation_shows_both_and_says_who_made_them(made, capsys) -> None:
    session, store = made(truths=TRUE, findings=FINDINGS)
    before = peirce.evaluate(session, store=store)["sessions"][0]
    assert before["rated"] == [] and before["metrics"]["novelty"]["mean"] is None
    rated(session, store, Rater())
    found = peirce.evaluate(session, store=store)["sessions"][0]
    assert [found["metrics"][name]["mean"] for name in ("novelty", "clarity")] == [4.0, 4.0]
    assert found["metrics"]["hdr"] == before["metrics"]["hdr"]  # by exact rules as before
    assert found["rated"][0]["scores"]["released"]["hdr"] == 0.375
    with pytest.raises(SystemExit):
        cli.main(["eval", session, "--store", str(store)])
    said = capsys.readouterr().out
    assert "come from exact rules, not from a model" in said
    assert "rated by scripted" in said and "released hdr 0.375" in said


def test_a_file_that_holds_no_ratings_is_refused_by_its_line(made, tmp_path: Path) -> None:
    session, store = made(truths=TRUE)
    good = {"kind": "feature", "problem": "p", "by": "b", "true": "t", "hypothesis": "h"}
    for wrong in ({"score": 0.5}, {"score": "1"}, {"kind": "clarity", "score": 3}, {"problem": None},
                  {"kind": ["feature"]}, {"hypothesis": 1}, {"true": None}):  # fmt: skip
        bad = tmp_path / "bad.jsonl"
        bad.write_text(json.dumps(good) + "\n" + json.dumps(good | wrong) + "\n")
        with pytest.raises(DataError, match="line 2: not a rating: "):
            peirce.agree(session, sheet=tmp_path / "s.csv", scores=bad, store=store)
        with pytest.raises(DataError, match="line 2: not a rating: "):
            rated(session, store, Rater(), ratings=bad)


def test_a_full_disk_leaves_whole_ratings_behind(made, tmp_path: Path) -> None:
    session, store = made(truths=TRUE)
    file = tmp_path / "kept.jsonl"
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            rated(session, store, Rater(), ratings=file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    kept = file.read_text()
    assert kept.endswith("\n") and all(json.loads(line) for line in kept.splitlines())
    again = Rater()
    assert len(rated(session, store, again, ratings=file)) == 18
    assert len(again.asked) == 17 - len(kept.splitlines())


def test_a_rating_is_given_as_soon_as_it_is_there(made) -> None:
    session, store = made(truths=TRUE)
    go_on = threading.Event()
    rater = Rater()

    class Waiting(FunctionProposer):
        async def propose(self, *told: Any, **more: Any) -> Any:
            if len(rater.asked) >= 2:
                assert await asyncio.to_thread(go_on.wait, 5), "nothing was given before all was"
            return await super().propose(*told, **more)

    rows = peirce.rate(session, store=store, scorer_model=Waiting(rater, "rater"), concurrency=1)
    first = [next(rows), next(rows)]
    assert [row["kind"] for row in first] == ["feature"] * 2 and not go_on.is_set()
    go_on.set()
    assert [*first, *rows] == rated(session, store, Rater())


def test_ctrl_c_says_how_to_go_on(made) -> None:
    _, store = made(truths=TRUE)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes the question and never answers
        model = f"http://127.0.0.1:{silent.getsockname()[1]}/v1#rater"
        command = [sys.executable, "-m", "peirce", "rate", "last", "--store", str(store),
                   "--scorer-model", model]  # fmt: skip
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as rating:
            silent.settimeout(60)
            connection, _ = silent.accept()
            connection.recv(1)
            rating.send_signal(signal.SIGINT)
            out, said = rating.communicate(timeout=60)
            connection.close()
    assert (rating.returncode, out) == (130, b"")
    assert (
        said == b"peirce: stopped. The ratings so far are kept; run the same command to continue.\n"
    )
