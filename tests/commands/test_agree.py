"""`agree`: sheets for people, and their agreement with scripted raters worked by hand."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path

import peirce
import pytest
from peirce import cli
from peirce.records import DataError, UsageError
from rated_session import BANK, TRUE, Rater, rated

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


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
    of_scores = found["relationship", "scripted", "consensus"]
    assert (of_scores["n"], of_scores["agreement"]) == (2, 0.5)  # .5; of .75 and .5 the lower

    peirce.evaluate(session, store=store, out=tmp_path / "tables", ratings=files)
    with (tmp_path / "tables/table8.csv").open() as lines:
        of_table = {(r["row"], r["column"].partition(" ")[0], r["column"].split()[-1]): r
                    for r in csv.DictReader(lines) if r["source"] == "here"}  # fmt: skip
    row = of_table["FDR: Cohen's kappa", "ann", "bob"]
    assert (float(row["value"]), row["n"]) == (of_people["kappa"], "6")
    assert row["data_sets"] == "school"
    assert float(of_table["RC: within one point", "scripted", "consensus"]["value"]) == 1.0


def test_sheets_without_a_folder_for_tables_are_refused(made, tmp_path: Path) -> None:
    session, store = made(truths=TRUE)
    with pytest.raises(UsageError, match="give a folder with --out"):
        peirce.evaluate(session, store=store, ratings=[tmp_path / "ann.csv"])


def test_a_sheet_of_few_takes_from_every_score(made, tmp_path: Path) -> None:
    session, store = made(truths=TRUE)
    rated(session, store, Rater(), scores=["discovery"])
    told = peirce.agree(session, sheet=tmp_path / "a.csv", items=3, store=store)[0]
    assert told["strata"] == {"school#0": {"0.5": 1, "0.75": 1, "no": 1}}
    peirce.agree(session, sheet=tmp_path / "b.csv", items=3, store=store)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_the_order_of_a_sheet_tells_no_scores(made, tmp_path: Path) -> None:
    session, store = made(truths=TRUE)
    rated(session, store, Rater(), scores=["discovery"])
    first = set()
    for seed in range(8):
        peirce.agree(session, sheet=tmp_path / f"{seed}.csv", items=3, seed=seed, store=store)
        with (tmp_path / f"{seed}.csv").open() as lines:
            first.add(next(csv.DictReader(lines))["hypothesis"])
    assert {BANK[0], BANK[1]} < first  # of the scores .5 and .75, which have one pair each


def test_a_sheet_that_went_through_a_spreadsheet_is_read(made, tmp_path: Path) -> None:
    session, store = made(truths=TRUE)
    rated(session, store, Rater(), scores=["discovery"])
    sheet = tmp_path / "s.csv"
    peirce.agree(session, sheet=sheet, store=store)
    plain = filled(sheet, tmp_path / "plain.csv", lambda row: ("yes", "0.5"))
    with plain.open() as lines:
        rows = list(csv.reader(lines))
    told = [[one.replace("yes", "TRUE").replace("0.5", "0,5") for one in row] for row in rows]
    for name, between in (("semicolons", ";"), ("tabs", "\t")):
        with (tmp_path / f"{name}.csv").open("w", encoding="utf-8-sig") as file:
            csv.writer(file, delimiter=between).writerows(told)
    files = [plain, tmp_path / "semicolons.csv", tmp_path / "tabs.csv"]
    found = peirce.agree(session, ratings=files, store=store)
    of_people = [row for row in found if not row["one"].startswith("scripted")]
    assert [(row["n"], row["agreement"]) for row in of_people] == [(6, 1.0)] * 6


def test_a_sheet_obeys_nothing_and_is_not_replaced(made, tmp_path: Path) -> None:
    session, store = made(truths=TRUE)
    scores = tmp_path / "r.jsonl"
    row = {
        "kind": "feature",
        "problem": "p",
        "by": "b",
        "true": "t",
        "score": 1,
        "hypothesis": '=HYPERLINK("x")',
    }
    scores.write_text(json.dumps(row) + "\n")
    sheet = tmp_path / "s.csv"
    peirce.agree(session, sheet=sheet, scores=scores, store=store)
    with sheet.open() as lines:
        assert [one["hypothesis"] for one in csv.DictReader(lines)] == [' =HYPERLINK("x")']
    with pytest.raises(
        UsageError, match="the file already exists and may be filled in; choose another file"
    ):
        peirce.agree(session, sheet=sheet, scores=scores, store=store)


def test_sheets_that_cannot_be_read_are_refused(made, tmp_path: Path) -> None:
    session, store = made(truths=TRUE)
    with pytest.raises(DataError, match="there are no ratings"):
        peirce.agree(session, sheet=tmp_path / "s.csv", store=store)
    rated(session, store, Rater(), scores=["discovery"])
    with pytest.raises(
        UsageError,
        match=r"give a sheet to write \(--sheet FILE\) or filled sheets to read \(--ratings FILE\)",
    ):
        peirce.agree(session, store=store)
    peirce.agree(session, sheet=tmp_path / "s.csv", store=store)
    for cells, wrong in (
        (("maybe", ""), "neither yes nor no"),
        (("yes", "0.6"), "is not one of 0, 0.25, 0.5, 0.75, 1"),
    ):
        bad = filled(tmp_path / "s.csv", tmp_path / "bad.csv", lambda row, cells=cells: cells)
        with pytest.raises(DataError, match=wrong):
            peirce.agree(session, ratings=[bad], store=store)
    (tmp_path / "ann").mkdir()
    same = filled(tmp_path / "s.csv", tmp_path / "ann" / "s.csv", lambda row: ("no", ""))
    with pytest.raises(
        DataError,
        match=r"'s' already rated p[0-9a-f]{12}; give every rater a different file name, or a name in a column `rater`",
    ):
        peirce.agree(session, ratings=[tmp_path / "s.csv", same], store=store)
    own = same.rename(tmp_path / "consensus.csv")
    with pytest.raises(DataError, match="'consensus' already rated"):
        peirce.agree(session, ratings=[own], store=store)
    item = (tmp_path / "s.csv").read_text().splitlines()[1].partition(",")[0]
    for line in ('{"item": ["p"]}', f'"{item}"'):
        (tmp_path / "list.jsonl").write_text(f"{line}\n")
        with pytest.raises(DataError, match="was not rated in this session"):
            peirce.agree(session, ratings=[tmp_path / "list.jsonl"], store=store)
    (tmp_path / "other.csv").write_text("item,feature,relationship\nnone,yes,1\n")
    with pytest.raises(DataError, match="was not rated in this session"):
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
