"""What the pages on one's own data print is what the commands print.

A page's files stand in fences with a language and a name (```csv pairs.csv). In its ```console
blocks `$ peirce …` is run in a folder that holds them, in order; what stands below has to be in its
output, line by line and in order, where "…" stands for any lines, and at the end of a line for its
rest. A command that fails is followed by its exit code, `[exit 1]`; others end with 0.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from peirce import cli

PAGES = Path(__file__).resolve().parents[2] / "docs"
NAMED = re.compile(r"^```\w+ ([\w.-]+)\n(.*?)^```$", re.S | re.M)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.S | re.M)
RECORDED = ("walks", "skill")  # transcripts, which walks/record.py or an agent wrote
ANY = "…"
EXIT = re.compile(r"\[exit (\d+)\]")


def commands(page: str) -> list[tuple[str, list[str]]]:
    """(command line, lines that it prints) of each, in order."""
    found: list[tuple[str, list[str]]] = []
    for line in "".join(CONSOLE.findall(page)).splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        else:
            found[-1][1].append(line)
    return found


def missing(wanted: list[str], printed: list[str]) -> str | None:
    """The first line of `wanted` that is not printed after those before it."""
    rest = iter(printed)
    for line in wanted:
        begins = line.removesuffix(ANY).rstrip() if line.endswith(ANY) else None
        if not line.strip() or line == ANY:
            continue
        if begins is None and not any(one.rstrip() == line.rstrip() for one in rest):
            return line
        if begins is not None and not any(one.startswith(begins) for one in rest):
            return line
    return None


def with_console() -> list[Path]:
    """Return the pages with console blocks, without docs/walks, which test_walks.py runs."""
    pages = [page for page in sorted(PAGES.rglob("*.md")) if page.parent.name not in RECORDED]
    return [page for page in pages if CONSOLE.search(page.read_text("utf-8"))]


def test_the_pages_on_own_data_have_console_blocks() -> None:
    tutorials = {
        PAGES / "tutorials" / f"{one}.md"
        for one in ("programs", "exception-rules", "labelled-text")
    }
    assert tutorials <= set(with_console())


@pytest.mark.parametrize("page", with_console(), ids=lambda page: page.name)
def test_a_page_prints_what_its_commands_print(
    page: Path, folder: Path, peirce: Callable[..., tuple[int, str]]
) -> None:
    text = page.read_text("utf-8")
    for name, content in NAMED.findall(text):
        (folder / name).write_text(content, "utf-8")
    for command, wanted in commands(text):
        program, *arguments = shlex.split(command)
        assert program == "peirce", command
        ends = EXIT.fullmatch(wanted[-1]) if wanted else None
        code, printed = peirce(*arguments)
        assert code == (int(ends[1]) if ends else 0), f"{command}:\n{printed}"
        absent = missing(wanted[:-1] if ends else wanted, printed.splitlines())
        assert absent is None, f"{command}: {absent!r} is not in\n{printed}"


def test_a_line_that_is_not_printed_is_noticed() -> None:
    assert missing(["a", "…", "c…"], ["a", "b", "cd"]) is None
    assert missing(["b", "a"], ["a", "b"]) == "a"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def peirce(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """(exit code, what was printed on stderr and then on stdout) of a command line."""

    def call(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main(list(arguments))
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.err + said.out

    return call
