"""Papers as people have them, written by the test as PDF and Markdown, through the methods that read
literature: sources, quotes that are false, papers that say nothing, and no call at a second reading."""

from __future__ import annotations

import sys
from pathlib import Path

import peirce
import pytest
from peirce.agents.scripted import FunctionProposer
from peirce.records import DataError, Unavailable
from peirce.tasks import DataWarning

sys.path.insert(0, str(Path(__file__).parent))
from text_model import FALSE_QUOTE, RULES, TextModel, calls_of, role_of, write_own

fpdf = pytest.importorskip("fpdf", reason="PAPERS AS PDF NOT TESTED: fpdf2 absent (extra test)")
pytest.importorskip("pypdf", reason="PAPERS AS PDF NOT TESTED: pypdf absent (extra text)")

FINDINGS = {
    "a_gardens.pdf": "people who speak of gardens are warm",
    "b_engines.pdf": "an engine in a text goes with warm words",
    "c_silver.md": "silver is named in cold texts",
}
SETTINGS = {"hypotheses": 6, "observations": 24, "split": ("ind",)}
SMALL = {"top": 3, "wrong": 4, "capacity": 8, "rewrites": 2}


def pdf(path, *lines):
    document = fpdf.FPDF()
    document.add_page()
    document.set_font("Helvetica", size=12)
    for line in lines:
        document.multi_cell(0, 8, line, new_x="LMARGIN", new_y="NEXT")
    document.output(str(path))


@pytest.fixture
def papers(tmp_path):
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, finding in FINDINGS.items():
        title = f"A study of {name[2:-4]}"
        lines = [title, "We asked forty readers.", f"FINDING: {finding}", "We thank all of them."]
        if name.endswith("pdf"):
            pdf(folder / name, *lines)
        else:
            (folder / name).write_text(f"# {title}\n\n" + "\n\n".join(lines[1:]))
    return folder


@pytest.fixture
def data(tmp_path):
    return write_own(tmp_path / "data", "text")


@pytest.fixture
def model():
    return TextModel(("warm", "cold"), RULES["text"], nonsense=0)


def hypotheses(session):
    trace = peirce.load(session.session, store=session.store)
    return [judged.hypothesis for step in trace.steps for answer in step.answers
            for judged in answer.judged if judged.hypothesis is not None]  # fmt: skip


def run(method, data, papers, model, store, **more):
    options = {**SETTINGS, "data": data, "literature": papers, "store": store, **more}
    if method == "hyporefine":
        options["method_arg"] = SMALL
    return peirce.run("labels", method=method, model=getattr(model, "proposer", model), **options)


def test_skip_bad_leaves_out_papers_that_cannot_be_read(data, papers, model, tmp_path):
    (papers / "d_lines.jsonl").write_text('{"title": "Kept", "text": "FINDING: x"}\n{"title"\n')
    with pytest.raises(DataError, match=r"d_lines\.jsonl, line 2: not JSON"):
        run("literature", data, papers, model, tmp_path / "s.duckdb")
    with pytest.warns(DataWarning, match=r"d_lines\.jsonl: 1 record that .* left out: line 2"):
        session = run("literature", data, papers, model, tmp_path / "s.duckdb", skip_bad=True)
    assert session.status == "done" and model.asked["summary"] == 4


@pytest.mark.parametrize("method", ["literature", "hyporefine"])
def test_hypotheses_name_their_papers_and_a_false_quote_is_flagged(method, data, papers, tmp_path):
    model = TextModel(("warm", "cold"), (), nonsense=0)  # each sentence another
    session = run(method, data, papers, model, tmp_path / "s.duckdb")
    assert session.status == "done" and model.asked["summary"] == 3
    first = hypotheses(session)[:6]
    sources = [one.meta.get("source") for one in first]
    # The model names paper 1 behind two of three hypotheses; one of these quotes nothing real.
    assert sources == ["a_gardens.pdf", "a_gardens.pdf", ""] * 2
    kind = "literature" if method == "literature" else "both"
    assert {one.meta["from"] for one in first} == {kind}
    for number, one in enumerate(first):
        if number % 3 == 0:
            assert one.meta["quote"] == FALSE_QUOTE and one.breaches == ("quote_not_in_source",)
        elif number % 3 == 2:
            assert one.breaches == (("no_source",) if method == "literature" else ())
        elif one.meta["quote"] == FINDINGS["a_gardens.pdf"]:
            assert one.breaches == ()
        else:  # a quote of another paper than the one that is named
            assert one.meta["quote"] in FINDINGS.values()
            assert one.breaches == ("quote_not_in_source",)
    assert session.breaches["quote_not_in_source"] >= 2
    asked = model.calls
    assert peirce.replay(session.session, store=session.store)["differences"] == []
    again = peirce.resume(session.session, model=model.proposer, store=session.store)
    assert (again.digest, model.calls) == (session.digest, asked)


def test_the_prompt_shows_each_summary_under_its_title_and_no_label(data, papers, tmp_path):
    prompts, told = [], TextModel(("warm", "cold"), RULES["text"])

    def watched(messages):
        prompts.append(messages[-1]["content"])
        return told(messages)

    run("literature", data, papers, FunctionProposer(watched, "m"), tmp_path / "s.duckdb")
    (asked,) = [one for one in prompts if role_of(one) == "propose"]
    for number, (name, finding) in enumerate(FINDINGS.items(), 1):
        assert f"Paper {number}: A study of {name[2:-4]}\n- of A study of" in asked
        assert f'["{finding}"]' in asked
    assert "label: warm" not in asked and "label: cold" not in asked
    summaries = [one for one in prompts if role_of(one) == "summary"]
    assert ["forty readers" in one for one in summaries] == [True] * 3


def test_hyporefine_rewrites_by_literature_and_data_in_turn(data, papers, model, tmp_path):
    session = run("hyporefine", data, papers, model, tmp_path / "s.duckdb")
    trace = peirce.load(session.session, store=session.store)
    rewritten = [step for step in trace.steps if "rewrites" in step.fields]
    assert rewritten
    calls = calls_of(session)
    for step in rewritten:
        assert len(step.fields["rewrites"]) == 2
        proposed, *rewrites = [calls[f"step/{step.step}/{name}"]["request"]
                               for name in ("propose/0", "rewrite/0", "rewrite/1")]  # fmt: skip
        said = [one["messages"][-1]["content"] for one in (proposed, *rewrites)]
        assert ["Findings of papers:" in one for one in said] == [False, True, False]
        assert ["Rows with their labels:" in one for one in said] == [True, False, True]
        assert [one["role"] for one in rewrites] == ["literature", "proposer"]
        rows = step.fields["wrong"]
        for row in rows:
            assert trace.problems[0].shown[row].input["text"] in said[2]
    assert any(one.meta.get("rewrite") == 1 for one in hypotheses(session))
    assert any(one.meta.get("source") == "a_gardens.pdf" for one in hypotheses(session))


def test_a_paper_without_text_is_left_out_with_a_warning(data, papers, model, tmp_path):
    document = fpdf.FPDF()
    document.add_page()
    document.output(str(papers / "d_scanned.pdf"))
    with pytest.warns(DataWarning, match=r"1 papers? without text .*d_scanned\.pdf"):
        session = run("literature", data, papers, model, tmp_path / "s.duckdb")
    assert session.status == "done" and model.asked["summary"] == 3
    alone = tmp_path / "alone"
    alone.mkdir()
    (papers / "d_scanned.pdf").rename(alone / "d_scanned.pdf")
    with pytest.raises(DataError, match=r"no paper here has text: d_scanned\.pdf"):
        run("literature", data, alone, model, tmp_path / "none.duckdb")
    assert not (tmp_path / "none.duckdb").exists()


def test_a_reader_of_literature_that_goes_away_is_asked_no_paper_twice(
    data, papers, model, tmp_path
):
    expected = run("literature", data, papers, model, tmp_path / "whole.duckdb")
    late = TextModel(("warm", "cold"), RULES["text"], nonsense=0)

    def away(messages):
        if role_of(messages[-1]["content"]) == "propose":
            raise Unavailable("The model is at lunch.")
        return late(messages)

    store = tmp_path / "s.duckdb"
    session = run("literature", data, papers, FunctionProposer(away, "text model"), store)
    assert list(session.failed.values()) == ["The model is at lunch."]
    again = peirce.resume(session.session, model=late.proposer, retry_failed=True, store=store)
    assert (again.status, again.digest) == ("done", expected.digest)
    assert late.asked == model.asked


def test_a_long_paper_is_read_in_pieces_and_may_be_quoted_from_each(data, model, tmp_path):
    folder = tmp_path / "long"
    folder.mkdir()
    filler = "\n\n".join(f"Paragraph {n} " + "says very little at all " * 40 for n in range(40))
    (folder / "a_long.md").write_text(
        f"# A long study\n\nFINDING: it begins with gardens\n\n{filler}\n\nFINDING: it ends with engines\n"
    )
    session = run("literature", data, folder, model, tmp_path / "s.duckdb")
    assert model.asked["summary"] == 2
    quotes = {
        (one.meta["quote"], one.breaches) for one in hypotheses(session) if one.meta["source"]
    }
    assert {quote for quote, breaches in quotes if not breaches} <= {
        "it begins with gardens", "it ends with engines",
    }  # fmt: skip
    assert any(not breaches for _, breaches in quotes)
