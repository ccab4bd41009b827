"""Discovery scores of a session, from the store alone: of sets whose labels were made, and of no other.

Internals: scores of a session without a generated rule are asked for directly, and no table shows
them.
"""

from __future__ import annotations

import json
from pathlib import Path

import peirce
import pytest
from peirce.agents.scripted import FunctionProposer
from peirce.records import Observation, Problem
from peirce.reports.papers.hypobench.metrics import NAMES, discovery_metrics
from peirce.tasks import load_problems

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(scope="module")
def admission(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of our own in the published layout."""
    out = tmp_path_factory.mktemp("made") / "sets"
    peirce.tasks_generate("labels", out=out, problems=1, seed=5)
    return next(out.rglob("config.yaml")).parent


def problem(folder: Path) -> Problem:
    return load_problems("labels", str(folder))[0][0]


def run(folder: Path, store: Path, sentences: list[str]) -> dict[str, float]:
    said = "\n".join(f"{n}. {one}" for n, one in enumerate(sentences, 1))
    session = peirce.run(
        "labels", data=folder, method="zero-shot-gen", model=FunctionProposer(lambda messages: said, said),
        judge="exact", store=store, hypotheses=len(sentences),
    )  # fmt: skip
    assert session.status == "done"
    found = peirce.evaluate(session.session, store=store)["sessions"][0]["metrics"]
    return {name: found[name]["mean"] for name in NAMES}


def test_a_bank_of_the_true_sentence_scores_one(admission: Path, tmp_path: Path) -> None:
    truths = problem(admission).secret["truths"]
    found = run(admission, tmp_path / "s.duckdb", truths)
    assert {found[n] for n in NAMES if n not in ("identified", "hdr_identified")} == {1.0}


def test_identified_rules_are_scored_by_themselves_and_from_shown_rows() -> None:
    """No shown row has more than 2 papers, so the second rule is not to be known; hidden ones have."""
    columns = {"math": {"kind": "choice", "values": ["A", "B"]}, "papers": {"kind": "number"}}
    public = {"labels": ["in", "out"], "columns": columns, "shape": "fields"}
    rows = [
        Observation({"math": m, "papers": p}, "in" if m == "A" or p > 2 else "out")
        for m in "AB" for p in range(5)
    ]  # fmt: skip
    shown = tuple(row for row in rows if row.input["papers"] < 3)
    truths = ["If math is A, in; otherwise out.", "If papers is more than 2, in; otherwise out."]
    secret = {"splits": {}, "truths": truths}
    known = Problem("s#0", "labels", "text", shown, tuple(rows), public, secret, "s")
    found = discovery_metrics(known, truths[:1])
    assert (found["hdr"], found["identified"], found["hdr_identified"]) == (0.5, 0.5, 1.0)
    assert discovery_metrics(known, truths[1:])["hdr_identified"] == 0.0


def test_a_bank_of_guesses_finds_nothing(admission: Path, tmp_path: Path) -> None:
    labels = problem(admission).public["labels"]
    sentences = [f'If math is "{grade}", the label is {labels[1]}.' for grade in ("B", "C")]
    found = run(admission, tmp_path / "s.duckdb", sentences)
    assert found["hdr"] < 0.3 and found["identical"] == 0


def test_a_method_without_hypotheses_has_no_discovery_scores(
    admission: Path, tmp_path: Path
) -> None:
    session = peirce.run(
        "labels", data=admission, method="direct", model=FunctionProposer(lambda _: "admitted", "yes"),
        store=tmp_path / "s.duckdb", split=["val"],
    )  # fmt: skip
    found = peirce.evaluate(session.session, store=tmp_path / "s.duckdb")["sessions"][0]["metrics"]
    assert {found[name]["mean"] for name in NAMES} == {None}


def test_findings_of_the_literature_are_no_true_rules(admission: Path, tmp_path: Path) -> None:
    folder = tmp_path / "real"
    folder.mkdir()
    for file in admission.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    told = json.loads((folder / "metadata.json").read_text())
    sentence = told.pop("ground_truth_hypotheses")[0]
    (folder / "metadata.json").write_text(json.dumps(told | {"known_hypotheses": [sentence]}))
    real = problem(folder)
    assert real.secret["known"] == [sentence] and "truths" not in real.secret
    assert set(discovery_metrics(real, [sentence]).values()) == {None}
