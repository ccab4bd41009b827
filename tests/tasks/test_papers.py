"""Literature as users have it: each form is read, packed too, in one order; what has no text is left
out and named; nothing that is wrong with a file ends in anything but one sentence.

Internals: papers are read without a session that summarises them.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import warnings
import zlib
from pathlib import Path

import pytest
from peirce.records import DataError, UsageError
from peirce.tasks import DataWarning
from peirce.tasks.io.bad_records import skip_bad_records
from peirce.tasks.text.papers import Paper, data_identity, read_papers

TEXT = "Liars use fewer words about space.\n\nThey use more exaggeration."


def pdf(path: Path, *pages: str, title: str = "", password: str = "") -> Path:
    fpdf = pytest.importorskip("fpdf", reason="PDF NOT TESTED: fpdf2 absent (extra test)")
    document = fpdf.FPDF()
    document.set_font("helvetica", size=11)
    if title:
        document.set_title(title)
    for page in pages:
        document.add_page()
        if page:
            document.multi_cell(0, text=page)
        else:
            document.rect(20, 20, 50, 50)
    if password:
        document.set_encryption(owner_password="owner", user_password=password)
    document.output(str(path))
    return path


def need_pypdf() -> None:
    pytest.importorskip("pypdf", reason="PDF NOT READ: pypdf absent (extra text)")


def read_silently(path: Path) -> list[Paper]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        return read_papers(path)


def test_a_folder_is_read_in_the_order_of_its_files_names(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "inner.txt").write_text("Inner\n\nwords")
    (tmp_path / "c.txt").write_text("Last\nwords")
    (tmp_path / "a.md").write_text("# First\n\nwords")
    (tmp_path / ".hidden.txt").write_text("nothing")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.txt").write_text("nothing")
    found = read_silently(tmp_path)
    assert [(p.source, p.title) for p in found] == [
        ("a.md", "First"), ("b/inner.txt", "Inner"), ("c.txt", "Last"),
    ]  # fmt: skip
    assert read_silently(tmp_path) == found
    assert data_identity(tmp_path) == data_identity(tmp_path)
    assert read_silently(tmp_path / "c.txt") == [Paper("c.txt", "Last", "Last\nwords")]


def test_a_pdf_gives_its_title_and_the_text_of_all_pages(tmp_path):
    need_pypdf()
    pdf(tmp_path / "named.pdf", "Page one speaks of liars.", "Page two of space.", title="On lies")
    pdf(tmp_path / "unnamed.pdf", "A line that is the title\nand more words")
    pdf(tmp_path / "word.pdf", "Cues to deceit\nand more", title="Microsoft Word - draft7.doc")
    named, unnamed, word = read_silently(tmp_path)
    assert (named.title, unnamed.title, word.title) == (
        "On lies", "A line that is the title", "Cues to deceit",
    )  # fmt: skip
    assert named.text == "Page one speaks of liars.\n\nPage two of space."


def test_packed_files_read_as_unpacked_ones(tmp_path):
    need_pypdf()
    whole = pdf(tmp_path / "p.pdf", "Some words.").read_bytes()
    (tmp_path / "p.pdf").unlink()
    (tmp_path / "p.pdf.gz").write_bytes(gzip.compress(whole))
    (tmp_path / "t.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    first, second = read_silently(tmp_path)
    assert (first.source, first.text) == ("p.pdf.gz", "Some words.")
    assert (second.source, second.text) == ("t.txt.gz", TEXT)


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ('---\ntitle: "In front"\nyear: 2\n---\n# Heading\nwords', "In front"),
        ("![logo](x.png)\n\n# The *heading* of it #\n\nwords", "The *heading* of it"),
        ("Underlined\n===\nwords", "Underlined"),
        ("**No heading**\nwords", "No heading"),
        ("#hashtag is no heading\n", "#hashtag is no heading"),
    ],
)
def test_a_markdown_paper_is_named_by_its_front_matter_or_heading(tmp_path, content, title):
    (tmp_path / "p.md").write_text(content)
    (paper,) = read_silently(tmp_path)
    assert paper.title == title
    assert "year: 2" not in paper.text


BIB = r"""
% a comment
@string{jasp = "J. of Something"}
@article{ott2011, title = {Finding {D}eceptive Opinion Spam}, journal = jasp,
  abstract = "Liars, we {"}find{"}, use \emph{fewer} words
     about space \& more about them\-selves --- often."}
@inproceedings{acc, title={Erd{\H o}s and G\"odel na\"{\i}ve fa\c{c}ade Stra\ss e},
  abstract={A} # { and } # "B"}
@misc{none, title = {Without}}
@comment{ @article{x, abstract={no}} }
"""


def test_bib_entries_with_an_abstract_are_papers(tmp_path):
    (tmp_path / "refs.bib").write_text(BIB)
    with pytest.warns(DataWarning, match=r"1 papers .* skipped: refs.bib#none \(no abstract\)"):
        first, second = read_papers(tmp_path)
    assert (first.source, first.title) == ("refs.bib#ott2011", "Finding Deceptive Opinion Spam")
    assert 'Liars, we "find", use fewer words about space & more' in first.text
    assert second.title == "Erdős and Gödel naïve façade Straße"
    assert second.text.endswith("\n\nA and B")


def test_an_entry_without_an_end_is_named_by_its_line(tmp_path):
    (tmp_path / "refs.bib").write_text("\n\n@article{a, title={x}}\n@article{b, title={y}\n")
    with pytest.raises(DataError, match=r"refs\.bib, line 4: an entry begins here and has no end"):
        read_papers(tmp_path)


def test_over_a_hundred_entries_without_an_end_are_an_error_also_with_skip_bad(tmp_path):
    (tmp_path / "refs.bib").write_text("@misc{a, \n" * 101)
    with (
        skip_bad_records(True),
        pytest.raises(DataError, match=r"line 101: .* no end, and so have 100 before it"),
    ):
        read_papers(tmp_path)


def test_lines_of_json_give_all_the_text_that_they_have(tmp_path):
    rows = [
        {"title": "T", "abstract": "A", "text": "B", "year": 3},
        {"summary": "Only a summary\nof it"},
        {"title": "same", "text": "C", "abstract": "C"},
    ]
    (tmp_path / "l.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    assert read_silently(tmp_path) == [
        Paper("l.jsonl#1", "T", "T\n\nA\n\nB"),
        Paper("l.jsonl#2", "Only a summary", "Only a summary\nof it"),
        Paper("l.jsonl#3", "same", "same\n\nC"),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[1]", r"l\.jsonl, line 2: \[1\] is not an object"),
        ("{", r"l\.jsonl, line 2"),
        ('{"title": "x", "text": 3}', r"l\.jsonl, line 2, text: 3 is not a string"),
    ],
)
def test_a_wrong_line_names_file_line_and_field(tmp_path, line, said):
    (tmp_path / "l.jsonl").write_text('{"text": "x"}\n' + line)
    with pytest.raises(DataError, match=said):
        read_papers(tmp_path / "l.jsonl")


def test_a_title_that_cannot_be_read_is_left_out_and_counted(tmp_path):
    (tmp_path / "l.jsonl").write_text('{"text": "x"}\n{"title": 3, "text": "Words\\nand more"}')
    with pytest.warns(
        DataWarning,
        match=r"l\.jsonl: the title cannot be read in 1 place .*: line 2, title: 3 is not a string",
    ):
        _, paper = read_papers(tmp_path)
    assert (paper.title, paper.text) == ("Words", "Words\nand more")


BAD = {
    "lines": ("l.jsonl", b'{"text": "a"}\n{\n[1]\n{"text": "na\xefve"}\n{"text": "b"}\n', 3, "line 2"),
    "entries": (
        "r.bib", b"@misc{a, abstract={x}}\n@misc{b, abstract={y\n@misc{c, abstract={na\xefve}}\n"
        b"@misc{d, abstract={z}}\n", 2, "line 2: an entry begins here and has no end; also line 3",
    ),
    "a text": ("t.txt", b"fine\nna\xefve\n", 1, "line 2: not UTF-8 text"),
    "a cut file": ("t.txt.gz", gzip.compress(TEXT.encode())[:-9], 1, "cannot be read: "),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_skip_bad_leaves_out_papers_that_cannot_be_read_and_counts_them(tmp_path, name):
    file, content, count, said = BAD[name]
    (tmp_path / file).write_bytes(content)
    (tmp_path / "good.txt").write_text(TEXT)
    with pytest.raises(DataError, match=rf"{file}[,:] "):
        read_papers(tmp_path)
    with skip_bad_records(True), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = [paper.source for paper in read_papers(tmp_path)]
    left = {"lines": ["l.jsonl#1", "l.jsonl#5"], "entries": ["r.bib#a", "r.bib#d"]}.get(name, [])
    assert sorted(found) == sorted(["good.txt", *left])
    (one,) = caught
    records = "record that cannot be read is" if count == 1 else "records that cannot be read are"
    assert f"{tmp_path / file}: {count} {records} left out: {said}" in str(one.message)
    (tmp_path / "good.txt").unlink()
    if not left:
        with (
            skip_bad_records(True),
            pytest.raises(DataError, match="none of 1 records can be read"),
        ):
            read_papers(tmp_path)


def test_a_pdf_without_text_is_left_out_and_named(tmp_path):
    need_pypdf()
    pdf(tmp_path / "scan.pdf", "")
    (tmp_path / "t.txt").write_text(TEXT)
    (tmp_path / "empty.md").write_text(" \n")
    with pytest.warns(
        DataWarning,
        match=r"2 papers .*: empty\.md \(the file is empty\), scan\.pdf \(a PDF without",
    ):
        assert [p.source for p in read_papers(tmp_path)] == ["t.txt"]
    with pytest.raises(DataError, match=r"no paper here has text: scan\.pdf \(a PDF without text"):
        read_papers(tmp_path / "scan.pdf")


def test_damaged_and_locked_pdfs_are_left_out(tmp_path):
    need_pypdf()
    whole = pdf(tmp_path / "a.pdf", "Some words.\n" * 40).read_bytes()
    (tmp_path / "a.pdf").unlink()
    (tmp_path / "good.txt").write_text(TEXT)
    (tmp_path / "nonsense.pdf").write_bytes(b"\x00\x01 not a PDF at all")
    (tmp_path / "nothing.pdf").write_bytes(b"")
    pdf(tmp_path / "secret.pdf", "Some words.", password="open sesame")
    with pytest.warns(DataWarning, match=r"nonsense\.pdf \(damaged.*secret\.pdf \(locked\)"):
        assert [p.source for p in read_papers(tmp_path)] == ["good.txt"]
    rng = random.Random(5)
    for number in range(60):  # any damage: a text, or a reason
        bad = bytearray(whole)
        for _ in range(rng.choice((1, 5, 40))):
            bad[rng.randrange(len(bad))] = rng.randrange(256)
        (tmp_path / "bad.pdf").write_bytes(bad[: rng.choice((len(bad), rng.randrange(len(bad))))])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            assert "good.txt" in [p.source for p in read_papers(tmp_path)], number


def test_a_pdf_without_pypdf_is_one_sentence_with_the_install_line(tmp_path, monkeypatch):
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4")
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(UsageError, match=r"needs pypdf: pip install 'peirce\[text\]'"):
        read_papers(tmp_path)
    (tmp_path / "a.pdf").unlink()
    (tmp_path / "t.txt").write_text(TEXT)
    assert len(read_silently(tmp_path)) == 1


def test_files_of_other_forms_are_named(tmp_path):
    with pytest.raises(UsageError, match=r"papers: there is no such file"):
        read_papers(tmp_path / "papers")
    with pytest.raises(DataError, match=r"no literature here; looked for \.pdf, \.md"):
        read_papers(tmp_path)
    (tmp_path / "a.docx").write_bytes(b"PK")
    with pytest.raises(
        UsageError, match=r"a\.docx: not a supported literature file; supported are \.pdf"
    ):
        read_papers(tmp_path / "a.docx")
    (tmp_path / "t.txt").write_text(TEXT)
    with pytest.warns(DataWarning, match=r"1 files in unsupported formats are ignored: a\.docx"):
        assert len(read_papers(tmp_path)) == 1


def test_bytes_that_are_no_text_are_named_by_their_line(tmp_path):
    (tmp_path / "t.txt").write_bytes(b"fine\nna\xefve\n")
    with pytest.raises(DataError, match=r"t\.txt, line 2: not UTF-8 text"):
        read_papers(tmp_path)
    (tmp_path / "t.txt").write_bytes(gzip.compress(TEXT.encode())[:-9])
    with pytest.raises(DataError, match=r"t\.txt: cannot be read"):
        read_papers(tmp_path)


def test_control_characters_and_line_ends_of_other_systems_go(tmp_path):
    (tmp_path / "t.txt").write_bytes(b"\xef\xbb\xbfa\x00b\r\nc\rd\x0ce")
    assert read_silently(tmp_path)[0].text == "ab\nc\nd\n\ne"


def test_a_pdf_that_unpacks_to_too_much_is_left_out(tmp_path):
    need_pypdf()
    packed = zlib.compress(b" " * 51_000_000)
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed),
    ]
    content, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in (0, *places))
    trailer = b"trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % len(content)
    (tmp_path / "bomb.pdf").write_bytes(content + b"xref\n0 5\n" + table + trailer)
    with pytest.raises(DataError, match=r"bomb\.pdf \(more than 50,000,000 bytes on its pages\)"):
        read_papers(tmp_path)


@pytest.mark.parametrize("sign", [" ", "#", " #"])
def test_a_heading_of_many_blanks_costs_time_in_proportion(tmp_path, sign):
    (tmp_path / "a.md").write_text("# Liars" + sign * 100_000 + "b\n\nwords")
    assert read_silently(tmp_path)[0].title.startswith("Liars")


def test_headings_of_markdown_are_titles(tmp_path):
    headings = ("# One #", "  ## One", "One\n===", "One\n=== ", "#no heading\n\n# *One* ##  ")
    for number, heading in enumerate(headings):
        (tmp_path / f"{number}.md").write_text(f"words\n\n{heading}\n\n# Two")
    assert [paper.title for paper in read_silently(tmp_path)] == ["One"] * len(headings)


def test_a_bibliography_of_many_blanks_costs_time_in_proportion(tmp_path):
    (tmp_path / "a.bib").write_text("@misc{" + " " * 400_000 + "title={A}, abstract={b}}")
    assert read_silently(tmp_path)[0].title == "A"
