"""`peirce report` and `peirce view` as verbs and on the command line.

Internals: the making of a page is broken on purpose, so that the old page has to stay.
"""

from __future__ import annotations

import json

import peirce
import pytest
from page_sessions import judged, small_problem, steps, write
from peirce.cli import app
from peirce.records import StoreError, UsageError
from typer.testing import CliRunner


@pytest.fixture
def store(tmp_path):
    problem = small_problem("p")
    path = tmp_path / "s.duckdb"
    for _ in range(2):
        write(path, [(problem, steps(problem, ("a", judged(problem, "t"))))])
    return path


def test_it_says_what_it_wrote(store, tmp_path):
    out = tmp_path / "new" / "page.html"
    told = peirce.report(store=store, out=out)
    last = peirce.sessions(store=store)[-1]["session"]
    assert told == {
        "sessions": [last],
        "problems": 1,
        "file": str(out),
        "bytes": out.stat().st_size,
    }
    both = peirce.report(
        *(one["session"][:5] for one in peirce.sessions(store=store)), store=store, out=out
    )
    assert both["problems"] == 2 and len(both["sessions"]) == 2
    assert [path.name for path in out.parent.iterdir()] == ["page.html"]


def test_an_old_page_stays_where_a_new_one_cannot_be_made(store, tmp_path, monkeypatch):
    out = tmp_path / "page.html"
    out.write_text("old")
    monkeypatch.setattr(
        "peirce.reports.page.contents.describe_problem", lambda *_, **__: {"x": object()}
    )
    with pytest.raises(TypeError):
        peirce.report(store=store, out=out)
    assert out.read_text() == "old" and len(list(tmp_path.glob(".page*"))) == 0


def test_what_cannot_be_is_said(store, tmp_path):
    with pytest.raises(
        UsageError, match=r"page\.txt: the page is one HTML file; choose a name that ends in \.html"
    ):
        peirce.report(store=store, out=tmp_path / "page.txt")
    with pytest.raises(StoreError, match="no session 'nope'"):
        peirce.report("nope", store=store, out=tmp_path / "p.html")
    with pytest.raises(UsageError):
        peirce.report(store=store, out=tmp_path / "p.html", name="nope")
    with pytest.raises(StoreError, match="no store at"):
        peirce.report(store=tmp_path / "none.duckdb", out=tmp_path / "p.html")
    assert not (tmp_path / "p.html").exists()


def test_a_page_is_written_without_the_sandbox_of_the_session(tmp_path):
    problem, store = small_problem("p"), tmp_path / "s.duckdb"
    settings = {"operational": {"observations": 2, "data": None, "sandbox": "elsewhere"}}
    write(store, [(problem, steps(problem, ("a", judged(problem, "t"))))], settings=settings)
    out = tmp_path / "page.html"
    peirce.report(store=store, out=out)
    assert '"unchecked":"' in out.read_text() and "elsewhere" in out.read_text()


def test_the_command_line_names_the_page(store, tmp_path):
    out = tmp_path / "page.html"
    found = CliRunner().invoke(app, ["report", "--store", str(store), "--out", str(out)])
    assert found.exit_code == 0 and str(out) in found.output.replace("\n", "")
    told = CliRunner().invoke(app, ["report", "--store", str(store), "--out", str(out), "--json"])
    assert json.loads(told.stdout)["file"] == str(out)
