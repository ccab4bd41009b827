"""What a session found stands at its end: on the screen, in the JSON, in the bank and in Python."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

SUMS = 'input,output\n"[1, 2, 3]",6\n"[4]",4\n[],0\n"[2, 9]",11\n'
RUN = ("run", "examples", "--data", "sums.csv", "--quiet")


@pytest.fixture
def folder(folder: Path) -> Path:
    (folder / "sums.csv").write_text(SUMS)
    return folder


def test_the_best_hypothesis_is_the_first_line_of_a_run_and_of_the_bank(peirce, finished):
    code, out, _ = finished(*RUN)
    assert code == 0
    head = out.split("examples, abduce, search")[0]
    assert head.startswith("sums\n 1. Return the sum of x.\n")
    assert "def f(x):\n          return sum(x)" in head
    assert "right on 4 of 4 shown observations" in head
    assert " 1 predicts " in head and " 2 predicts " in head
    bank = json.loads(peirce("bank", "--json")[1])
    assert bank[0]["text"].endswith("return sum(x)") and bank[0]["rank"] == 1
    rewarded = json.loads(peirce("bank", "--alpha", "0.5", "--json")[1])
    assert rewarded[0]["text"] != bank[0]["text"]  # exploration favours what came last


def test_the_json_holds_the_findings_with_their_evidence(finished):
    session = json.loads(finished(*RUN, "--json")[1])
    first, second = session["findings"][:2]
    assert (first["problem"], first["rank"], first["reading"]) == (
        "sums",
        1,
        "Return the sum of x.",
    )
    assert first["shown"] == {"right": 4, "of": 4} and first["held_out"] is None
    assert first["bits"] < second["bits"]
    apart = first["disagreement"]
    assert apart["outputs"][0] == str(sum(apart["input"])) != apart["outputs"][1]


def scripted(programs: list[str]) -> list[str]:
    """The options of a model that answers with these bodies of a function of x, one after another."""
    answers = [repr((body, f"def f(x):\n    return {body}")) for body in programs]
    Path("script.json").write_text(json.dumps({"*": answers}))
    return ["--model", "scripted:script.json", "--max-answers", str(len(answers))]


def parted(out: str) -> str:
    """The line on an input for which two hypotheses differ."""
    return next(line.strip() for line in out.splitlines() if "For the input" in line)


def test_outputs_of_different_types_are_written_in_different_ways(peirce):
    model = scripted(["sum(x)", "str(sum(x)) if len(x) > 3 else sum(x)"])
    code, out, err = peirce(*RUN, *model)
    assert code == 0, err
    assert re.search(r"1 predicts (\d+) and 2 predicts '\1'\.$", parted(out)), out


@pytest.mark.parametrize(
    ("first", "second"),
    [("'a b'", "'a  b'"), ("''", "'nothing (error)'"), ("'long' * 40", "'long' * 40 + 'er'")],
)
def test_outputs_that_differ_little_are_not_shortened_to_the_same_text(peirce, first, second):
    model = scripted([f"sum(x) if len(x) < 4 else {one}" for one in (first, second)])
    _, out, _ = peirce(*RUN, *model)
    one, other = re.search(r"1 predicts (.+) and 2 predicts (.+)\.$", parted(out)).groups()
    assert one != other and max(len(one), len(other)) <= 61


MANY = ("run", "examples", "--data", "many.csv", "--max-answers", "1", "--quiet")


def write_many() -> None:
    """Seven problems that the search solves, and one that it does not."""
    rows = ["problem,input,output"]
    for number in range(7):
        rows += [f'p{number},"[{n}, {number}]",{n + number}' for n in range(3)]
    rows += ["text,abc,Qz;", "text,xy,7!k"]
    Path("many.csv").write_text("\n".join(rows) + "\n")


def test_a_problem_without_a_hypothesis_is_named(peirce, finished):
    write_many()
    out = finished(*MANY)[1]
    assert "No hypothesis was found for text.\n" in out
    (more,) = re.findall(r"^… and the findings of 2 more problems: peirce (.+)$", out, re.M)
    code, out, _ = peirce(*more.split())
    assert code == 0 and "p6\n 1. Return" in out and "return sum(x)" in out
    assert "right on 3 of 3 shown observations" in out
    assert "No hypothesis was found for text.\n" in out
    assert json.loads(peirce("resume", "--json", "--quiet")[1])["unexplained"] == ["text"]


def test_a_run_that_finds_nothing_says_so_and_names_what_to_try(peirce):
    Path("words.csv").write_text("input,output\nabc,Qz;\nhello,7!k\nxy,#\n")
    code, out, _ = peirce("run", "examples", "--data", "words.csv", "--quiet")
    reason = (
        "search finds no hypothesis that is right on all 3 shown observations in 150,000 expansions"
    )
    assert code == 0 and out.startswith(f"No hypothesis was found for words.\n  {reason}\n")
    said = re.search(r"^next +(.+)$", out, re.M)[1]
    assert "--model openai:NAME" in said and "peirce report" not in said
    assert reason in " ".join(peirce(*said.rpartition("peirce ")[2].split())[1].split())


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        (
            [["a", 1], ["b", "two"], ["c", None]],
            "no hypothesis that is right on all 3 shown observations (the outputs are of several"
            " kinds: null, text, whole number) in ",
        ),
        (
            [["a", "b"], ["a", "c"]],
            "the input 'a' has two outputs, 'b' and 'c': no function has both",
        ),
    ],
)
def test_data_without_a_program_end_in_a_sentence_that_says_why(peirce, pairs, reason):
    lines = [json.dumps({"input": given, "output": output}) for given, output in pairs]
    Path("p.jsonl").write_text("\n".join(lines))
    code, out, err = peirce("run", "examples", "--data", "p.jsonl")
    assert code == 0 and "No hypothesis was found for p.\n  " in out
    assert reason in out and "Traceback" not in err
    assert "Use another model" not in err


def test_findings_that_do_not_fit_are_not_presented_as_fitting(peirce, finished):
    assert "None of these" not in finished(*RUN)[1]
    code, out, _ = peirce(*RUN, *scripted(["len(x)", "0"]))
    assert code == 0
    assert out.startswith("sums\n None of these hypotheses is consistent with the shown")


def test_a_stored_session_shows_its_findings_again(peirce, finished):
    session = json.loads(finished(*RUN, "--json")[1])
    code, out, _ = peirce("show", session["session"], "sums", "--findings")
    assert code == 0 and out.startswith("sums\n 1. Return the sum of x.\n")
    assert out.count("def f(x):") == out.count("right on 4 of 4") > 3
    rows = json.loads(peirce("show", "last", "--findings", "--json")[1])
    assert rows[:3] == session["findings"] and len(rows) > 3
    code, _, err = peirce("show", "last", "--findings", "--calls")
    assert code == 2 and "--findings and --calls" in err


def test_held_out_pairs_are_counted_and_do_not_rank(peirce):
    Path("split.csv").write_text(
        'input,output,split\n"[1, 2, 3]",6,shown\n"[4]",4,shown\n[],0,shown\n"[30, 9]",39,hidden\n'
    )
    session = json.loads(peirce("run", "examples", "--data", "split.csv", "--quiet", "--json")[1])
    assert session["findings"][0]["held_out"] == {"right": 1, "of": 1}


def test_more_than_five_problems_end_with_a_count(finished):
    write_many()
    out = finished(*MANY)[1]
    assert "p4\n" in out and "p5\n" not in out
    assert "the findings of 2 more problems" in out


def test_python_gives_the_findings_as_rows_tables_and_html(folder):
    import peirce

    session = peirce.run("examples", data="sums.csv")
    found = session.findings()
    assert found[0].reading == "Return the sum of x." and found[0].shown.right == 4
    frame = found.to_pandas()
    assert list(frame["rank"]) == list(range(1, len(found) + 1))
    assert len(session.findings("sums")) == len(found) >= len(session.best) > 1
    page = session._repr_html_()
    assert "Return the sum of x." in page and "4 of 4" in page
    again = peirce.load(session.session).findings()
    assert again[0] == found[0] and len(again) == len(found)
    with pytest.raises(peirce.PeirceError, match=r"no problem 'sun'.*sums"):
        session.findings("sun")


def test_html_in_a_hypothesis_is_shown_and_not_obeyed():
    from peirce import Finding, Findings, RightCount

    text = "<script>alert(1)</script>"
    row = Finding(
        problem=text, rank=1, hypothesis=text, reading=text, shown=RightCount(right=1, of=1),
        held_out=None, consistent=True, bits=1.0, disagreement=None,
    )  # fmt: skip
    assert "<script>" not in Findings([row])._repr_html_()


def finding(**values: Any) -> Any:
    from peirce import Finding, RightCount

    of = RightCount(right=1, of=1)
    told = {"problem": "p", "rank": 1, "hypothesis": "h", "reading": "r", "shown": of,
            "held_out": None, "consistent": True, "bits": 1.0, "disagreement": None}  # fmt: skip
    return Finding(**{**told, **values})


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_table_without_findings_has_the_columns_of_one_with_findings(library):
    pytest.importorskip(library)
    from peirce import Findings

    tables = [getattr(Findings(rows), f"to_{library}")() for rows in ([], [finding()])]
    assert (
        list(tables[0].columns)
        == list(tables[1].columns)
        == list(Findings([finding()]).to_rows()[0])
    )
    assert len(tables[0]) == 0
    assert Findings([])._repr_html_() == "<p>No hypothesis was found.</p>"


def test_a_polars_table_takes_inputs_and_counts_of_every_kind():
    pytest.importorskip("polars")
    from peirce import Disagreement, Findings, RightCount

    apart = [
        Disagreement(input=one, outputs=["1", None]) for one in ([1, 2], {"a": "b"}, "text", 3)
    ]
    rows = [finding(disagreement=one) for one in apart]
    rows += [finding()] * 120 + [finding(held_out=RightCount(right=2, of=5, covered=3))]
    table = Findings(rows).to_polars()
    assert list(table["disagreement_input"][:4]) == ["[1, 2]", '{"a": "b"}', '"text"', "3"]
    last = table.row(-1, named=True)
    assert (last["held_out_right"], last["held_out_covered"], last["held_out"]) == (2, 3, 5)


def test_a_notebook_shows_the_disagreement_and_no_text_twice():
    from peirce import Disagreement, Findings

    text = "If the text mentions <b>, the label is x."
    apart = Disagreement(input={"text": "<b>"}, outputs=["<i>", "y"])
    page = Findings([finding(hypothesis=text, reading=text, disagreement=apart)])._repr_html_()
    assert page.count("If the text mentions &lt;b&gt;") == 1 and ">hypothesis<" not in page
    assert (
        "{&#x27;text&#x27;: &#x27;&lt;b&gt;&#x27;}, 1 predicts &lt;i&gt; and 2 predicts y." in page
    )
    assert ">hypothesis<" in Findings([finding()])._repr_html_()


def test_a_sentence_is_counted_on_the_rows_that_it_covers(peirce):
    """Both sentences are clauses of one rule: they never predict different labels for one text."""
    words = ["refund please", "late invoice", "the parcel", "a login", "my printer"] * 8
    labels = ["billing" if "refund" in one or "invoice" in one else "other" for one in words]
    rows = [
        f"{word} {n},{label}" for n, (word, label) in enumerate(zip(words, labels, strict=True))
    ]
    Path("tick.csv").write_text("ticket,label\n" + "\n".join(rows) + "\n")
    rules = ['If the text mentions "refund", the label is "billing".',
             'If the text mentions "invoice", the label is "billing".']  # fmt: skip
    answers = ["1. " + one for one in rules]
    Path("script.json").write_text(json.dumps({"*": answers}))
    run = ["run", "labels", "--data", "tick.csv", "--label", "label", "--quiet", "--model",
           "scripted:script.json", "--judge", "exact", "--max-answers", "2"]  # fmt: skip
    code, out, err = peirce(*run)
    assert code == 0, err
    found = json.loads(peirce("show", "last", "--findings", "--json")[1])
    assert len(found) == 2 and found[0]["disagreement"] is None
    shown = found[0]["shown"]
    assert shown["right"] == shown["covered"] < shown["of"]
    line = f"right on {shown['right']} of the {shown['covered']} shown that it covers (of {shown['of']})"
    assert line in out and "does not apply" not in out.partition("labels, ")[0]
    assert "its accuracy counts a guess among the labels" in peirce("bank")[1]
