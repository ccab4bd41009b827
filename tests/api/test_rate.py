"""`rate` and `agree`: scripted raters whose scores are worked by hand, on a session of the store."""

from __future__ import annotations

import asyncio
import csv
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce import cli
from peirce.agents.scripted import Answering
from peirce.records import DataError, UsageError

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

TRUE = ["If math is A, the label is in.", "If papers is at least 3, the label is in."]
BANK = ["If math is one of A, B, the label is in.", "If math is not A, the label is out.",
        "If nothing is said, the label is out of the ordinary."]  # fmt: skip
FINDINGS = ["Grades foretell success."]


def write(folder: Path, truths: Sequence[str] = (), findings: Sequence[str] = ()) -> Path:
    place = folder / "school"
    place.mkdir(parents=True)
    for split, size in (("train", 60), ("val", 30), ("test", 30)):
        rows = [("ABCDF"[n % 5], n // 5 % 5) for n in range(size)]
        told = {"math": [m for m, _ in rows], "papers": [p for _, p in rows]}
        label = ["in" if m == "A" or p > 2 else "out" for m, p in rows]
        (place / f"{split}.json").write_text(json.dumps(told | {"label": label}))
    (place / "config.yaml").write_text(
        "task_name: school\n"
        + "".join(f"{s}_data_path: ./{s}.json\n" for s in ("train", "val", "test"))
    )
    known = {"ground_truth_hypotheses": list(truths), "known_hypotheses": list(findings)}
    (place / "metadata.json").write_text(json.dumps({"task_description": "School.", **known}))
    return place


def session_on(data: Path, store: Path) -> Any:
    said = "\n".join(f"{n}. {one}" for n, one in enumerate(BANK, 1))
    return peirce.run(
        "labels", data=data, method="zero-shot-gen", model=Answering(lambda _: said, said),
        judge="exact", store=store, hypotheses=3,
    )  # fmt: skip


class Rater:
    """The first two of the bank match the first truth alone, with .5 and .75."""

    def __init__(self, **said: str) -> None:
        self.said = said
        self.asked: list[str] = []

    def __call__(self, messages: Sequence[Any]) -> str:
        text = str(messages[0]["content"])
        self.asked.append(text)
        for part, answer in self.said.items():
            if part.replace("_", " ") in text:
                return answer
        of_math = "math is" in text.split("B:")[-1]
        if "Two hypotheses" in text:
            return "Yes." if TRUE[0] in text and of_math else "no"
        if "this input variable" in text:
            return "yes" if "Variable: math" in text and BANK[2] not in text else "No"
        if "How much" in text:
            return "Score: 0.5" if BANK[0] in text else "0.75"
        return "Score: 4\nReasoning: so it is"


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., tuple[str, Path]]:
    def make(**known: Sequence[str]) -> tuple[str, Path]:
        store = tmp_path / "s.duckdb"
        return session_on(write(tmp_path, **known), store).session, store

    return make


def rated(session: str, store: Path, rater: Rater, **options: Any) -> list[dict[str, Any]]:
    return list(
        peirce.rate(session, store=store, scorer_model=Answering(rater, "rater"), **options)
    )


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


def test_novelty_shows_what_is_known_and_not_what_made_the_labels(made) -> None:
    session, store = made(truths=TRUE, findings=FINDINGS)
    rater = Rater()
    summary = rated(session, store, rater)[-1]["scores"]
    assert {"released", "novelty", "plausibility", "clarity"} <= summary.keys()
    novel = [text for text in rater.asked if "How new" in text]
    assert len(novel) == 3 and all(FINDINGS[0] in text for text in novel)
    assert not any(TRUE[0] in text for text in novel)


def test_an_unread_rating_is_missing_and_counted(made) -> None:
    session, store = made(truths=TRUE)
    summary = rated(session, store, Rater(How_much="a lot", How_clear="Score: 9"))[-1]["scores"]
    assert summary["released"] == {"fdr": 0.5, "rc": 0.0, "hdr": 0.0, "missing": 2}
    assert summary["clarity"] == {"mean": None, "n": 0, "missing": 3}


def test_what_cannot_be_rated_is_refused_in_one_sentence(made, tmp_path: Path) -> None:
    session, store = made(truths=TRUE)
    for name in ("novelty", "plausibility"):
        with pytest.raises(
            UsageError, match=f"{name} of school#0 cannot be rated: no known finding"
        ):
            rated(session, store, Rater(), scores=[name])
    with pytest.raises(UsageError, match="no model rates"):
        list(peirce.rate(session, store=store))
    with pytest.raises(UsageError, match="search rates nothing"):
        list(peirce.rate(session, store=store, scorer_model="search"))
    (tmp_path / "known.txt").write_text("- Grades foretell success.\n\n")
    told = rated(session, store, Rater(), scores=["novelty"], known=tmp_path / "known.txt")
    assert told[-1]["scores"]["novelty"]["mean"] == 4.0


def test_discovery_without_true_sentences_is_refused(made) -> None:
    session, store = made(findings=FINDINGS)
    with pytest.raises(UsageError, match="nobody knows what made its labels"):
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
    assert "by exact rules; no model made them" in said
    assert "rated by scripted" in said and "released hdr 0.375" in said


def test_a_file_that_holds_no_ratings_is_refused_by_its_line(made, tmp_path: Path) -> None:
    session, store = made(truths=TRUE)
    good = {"kind": "feature", "problem": "p", "by": "b", "true": "t", "hypothesis": "h"}
    for wrong in ({"score": 0.5}, {"score": "1"}, {"kind": "clarity", "score": 3}, {"problem": None},
                  {"kind": ["feature"]}, {"hypothesis": 1}, {"true": None}):  # fmt: skip
        bad = tmp_path / "bad.jsonl"
        bad.write_text(json.dumps(good) + "\n" + json.dumps(good | wrong) + "\n")
        with pytest.raises(DataError, match="line 2: no rating"):
            peirce.agree(session, sheet=tmp_path / "s.csv", scores=bad, store=store)
        with pytest.raises(DataError, match="line 2: no rating"):
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

    class Waiting(Answering):
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
        said
        == b"peirce: stopped; what was rated is kept, and the same command goes on from there\n"
    )


# --- agree -----------------------------------------------------------------------


def filled(sheet: Path, out: Path, fill: Callable[[dict[str, str]], tuple[str, str]]) -> Path:
    with sheet.open() as lines:
        rows = list(csv.DictReader(lines))
    for row in rows:
        row["feature"], row["relationship"] = fill(row)
    with out.open("w") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return out


def test_raters_and_model_agree_as_worked_by_hand(made, tmp_path: Path) -> None:
    session, store = made(truths=TRUE)
    rated(session, store, Rater(), scores=["discovery"])
    sheet = tmp_path / "sheet.csv"
    told = peirce.agree(session, sheet=sheet, store=store)[0]
    assert told["items"] == 6 and told["strata"] == {"school#0": {"0.5": 1, "0.75": 1, "no": 4}}
    header = sheet.read_text().splitlines()[0]
    assert header == "item,problem,true,hypothesis,feature,relationship"
    assert "0.75" not in sheet.read_text()
    items = [line.split(",")[0] for line in sheet.read_text().splitlines()[1:]]
    assert all(re.fullmatch("p[0-9a-f]{12}", one) for one in items)  # no number to a spreadsheet

    # ann says what the model says; bob calls one pair more shared, and is one point lower on one.
    def ann(row: dict[str, str]) -> tuple[str, str]:
        yes = row["true"] == TRUE[0] and row["hypothesis"] != BANK[2]
        return ("yes", "0.5" if row["hypothesis"] == BANK[0] else "0.75") if yes else ("no", "")

    def bob(row: dict[str, str]) -> tuple[str, str]:
        if row["hypothesis"] == BANK[2]:
            return ("1", "0.0") if row["true"] == TRUE[0] else ("0", "")
        return ("Yes", "0.5") if ann(row)[0] == "yes" else ("No", "")

    files = [filled(sheet, tmp_path / f"{f.__name__}.csv", f) for f in (ann, bob)]
    rows = peirce.agree(session, ratings=files, store=store)
    found = {(r["question"], r["one"].split()[0], r["other"]): r for r in rows}
    of_people = found["feature", "ann", "bob"]
    # The same on 5 of 6; by chance 2/6 * 3/6 + 4/6 * 3/6 = .5.
    assert (of_people["n"], of_people["within_one"]) == (6, None)
    assert of_people["kappa"] == pytest.approx((5 / 6 - 0.5) / 0.5)
    rc = found["relationship", "ann", "bob"]
    # (.5, .5) and (.75, .5): squares 0 and 1; by chance (2, 3) with (2, 2): 0, 0, 1, 1.
    assert (rc["n"], rc["agreement"], rc["within_one"]) == (2, 0.5, 1.0)
    assert rc["weighted_kappa"] == pytest.approx(1 - (1 / 2) / (2 / 4))
    assert found["feature", "scripted", "ann"]["kappa"] == 1.0
    assert found["relationship", "scripted", "ann"]["weighted_kappa"] == 1.0
    together = found["feature", "scripted", "consensus"]
    assert (together["n"], together["kappa"]) == (5, 1.0)  # the pair they differ on has none


def test_a_sheet_of_few_takes_from_every_score(made, tmp_path: Path) -> None:
    session, store = made(truths=TRUE)
    rated(session, store, Rater(), scores=["discovery"])
    told = peirce.agree(session, sheet=tmp_path / "a.csv", items=3, store=store)[0]
    assert told["strata"] == {"school#0": {"0.5": 1, "0.75": 1, "no": 1}}
    peirce.agree(session, sheet=tmp_path / "b.csv", items=3, store=store)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_sheets_that_cannot_be_read_are_refused(made, tmp_path: Path) -> None:
    session, store = made(truths=TRUE)
    with pytest.raises(DataError, match="there are no ratings"):
        peirce.agree(session, sheet=tmp_path / "s.csv", store=store)
    rated(session, store, Rater(), scores=["discovery"])
    with pytest.raises(UsageError, match="name a sheet"):
        peirce.agree(session, store=store)
    peirce.agree(session, sheet=tmp_path / "s.csv", store=store)
    for cells, wrong in (
        (("maybe", ""), "neither yes nor no"),
        (("yes", "0.6"), "none of 0, 0.25"),
    ):
        bad = filled(tmp_path / "s.csv", tmp_path / "bad.csv", lambda row, cells=cells: cells)
        with pytest.raises(DataError, match=wrong):
            peirce.agree(session, ratings=[bad], store=store)
    (tmp_path / "ann").mkdir()
    same = filled(tmp_path / "s.csv", tmp_path / "ann" / "s.csv", lambda row: ("no", ""))
    with pytest.raises(
        DataError, match=r"'s' has rated p[0-9a-f]{12} before; every rater needs a name"
    ):
        peirce.agree(session, ratings=[tmp_path / "s.csv", same], store=store)
    own = same.rename(tmp_path / "consensus.csv")
    with pytest.raises(DataError, match="'consensus' has rated"):
        peirce.agree(session, ratings=[own], store=store)
    (tmp_path / "list.jsonl").write_text('{"item": ["p"]}\n')
    with pytest.raises(DataError, match="line 1: no item"):
        peirce.agree(session, ratings=[tmp_path / "list.jsonl"], store=store)
    (tmp_path / "other.csv").write_text("item,feature,relationship\nnone,yes,1\n")
    with pytest.raises(DataError, match="line 2: no item 'none'"):
        peirce.agree(session, ratings=[tmp_path / "other.csv"], store=store)


def test_both_verbs_on_the_command_line(made, tmp_path: Path, monkeypatch, capsys) -> None:
    _, store = made(truths=TRUE)
    monkeypatch.chdir(tmp_path)
    rules = [{"when": "Two hypotheses", "say": "yes"}, {"when": "How much", "say": "1"}]
    script = {"rules": rules, "otherwise": "Score: 2\nReasoning: dull"}
    Path("rater.json").write_text(json.dumps(script))

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main([*arguments, "--store", str(store)])
        said = capsys.readouterr()
        return ended.value.code, said.out, said.err

    code, out, err = call("rate", "last", "--scorer-model", "scripted:rater.json", "--json")
    assert (code, err) == (0, "")
    last = json.loads(out.splitlines()[-1])
    assert last["scores"]["released"]["hdr"] == 1 and last["scores"]["paper"]["missing"] == 6
    code, out, _ = call("rate", "--scorer-model", "scripted:rater.json")
    assert code == 0 and "released" in out and "rated by scripted" in out
    code, _, err = call("rate", "--scorer-model", "scripted:rater.json", "--score", "novelty")
    assert code == 2 and "novelty of school#0 cannot be rated" in err
    code, out, _ = call("agree", "--sheet", "s.csv")
    assert code == 0 and "6 pairs" in out
    filled(Path("s.csv"), Path("ann.csv"), lambda row: ("yes", "1"))
    code, out, _ = call("agree", "--ratings", "ann.csv", "--json")
    assert code == 0 and json.loads(out)[0]["agreement"] == 1.0
    assert call("agree", "--ratings", "ann.csv")[0] == 0
