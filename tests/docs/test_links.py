"""Links between the Markdown files lead to files and headings that are there, and the index has every
page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
INDEX = REPOSITORY / "docs" / "README.md"
PAGES = [*sorted(REPOSITORY.glob("*.md")), *sorted((REPOSITORY / "docs").rglob("*.md"))]
ROOMS = [one for one in REPOSITORY.iterdir() if one.is_dir() and not one.name.startswith(".")]
FILES = [file.relative_to(REPOSITORY).as_posix() for room in ROOMS for file in room.rglob("*.py")]
FENCE = re.compile(r"^```.*?^```$", re.S | re.M)
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")


def prose(page: Path) -> str:
    """Without code: neither a comment in it is a heading nor an index of a list a link."""
    text = FENCE.sub("", page.read_text("utf-8"))
    indented = re.sub(r"^ {4}.*$", "", text, flags=re.M)
    return re.sub(r"`[^`\n]*`", lambda code: code[0].replace("(", "").replace("[", ""), indented)


def anchors(page: Path) -> set[str]:
    """Of its headings, as GitHub makes them: a second one of a name ends in -1."""
    found: list[str] = []
    for heading in re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text("utf-8")), re.M):
        kept = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        found.append(kept if kept not in found else f"{kept}-{found.count(kept)}")
    return set(found)


def links(page: Path) -> list[str]:
    return [
        to for to in LINK.findall(prose(page)) if "://" not in to and not to.startswith("mailto:")
    ]


ALL = [(page, to) for page in PAGES for to in links(page)]


@pytest.mark.parametrize(("page", "to"), ALL, ids=[f"{p.name}: {to}" for p, to in ALL])
def test_a_link_leads_somewhere(page: Path, to: str) -> None:
    name, _, heading = to.partition("#")
    target = (page.parent / name).resolve() if name else page
    assert target.exists()
    assert not heading or heading in anchors(target)


def test_there_are_links() -> None:
    assert len(ALL) > 100


def test_headings_and_links_are_read_as_they_are_meant(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A: `b` (c/)\n\n## A\n\n## A\n\n```\n# no heading [x](y)\n```\n\n    [x](y)\n[z](#a)\n"
    )
    assert anchors(page) == {"a-b-c", "a", "a-1"}
    assert links(page) == ["#a"]


def files_named(page: Path) -> set[str]:
    """Python files that stand in code, from the top of the repository or from a room on."""
    found = re.findall(r"`([\w/.-]+\.py)\b", page.read_text("utf-8"))
    return {name for name in found if "/" in name}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_python_file_that_a_page_names_is_there(page: Path) -> None:
    absent = {
        name
        for name in files_named(page)
        if not any(f"/{file}".endswith(f"/{name}") for file in FILES)
    }
    assert not absent


NAMED = [
    (page, *found)
    for page in PAGES
    for found in re.findall(r"`([\w/]+\.py): (\w+)`", page.read_text("utf-8"))
]


@pytest.mark.parametrize(("page", "file", "name"), NAMED, ids=lambda one: str(one).rsplit("/")[-1])
def test_a_name_that_a_page_says_stands_in_a_file_does(page: Path, file: str, name: str) -> None:
    defined = rf"^ *(?:async )?(?:def|class) {name}\b|^{name}\b.* ="
    assert re.search(defined, (REPOSITORY / file).read_text("utf-8"), re.M)


def test_the_index_has_every_page_of_docs() -> None:
    linked = {(INDEX.parent / to.partition("#")[0]).resolve() for to in links(INDEX)}
    beside = {page.resolve() for page in (REPOSITORY / "docs").glob("[!w]*/*.md")} - {
        INDEX.resolve()
    }
    assert beside <= linked, beside - linked
