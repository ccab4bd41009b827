"""Every command of `peirce` that README, docs and the log show is one: its verb is there, with its
options."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce.cli import app
from typer.main import get_command

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = [*sorted(REPOSITORY.glob("*.md")), *sorted((REPOSITORY / "docs").rglob("*.md"))]
CODE = re.compile(r"`+[^`]*`+|^ {4,}.*$|^(?:\$ )?peirce .*$", re.M)
COMMAND = re.compile(
    r"(?<![\w/.-])peirce ((?:tasks )?[a-z]+(?:-[a-z]+)*)\b((?:[^`\n|;#]|(?<=\S)#)*)"
)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def verbs(command: Any, names: tuple[str, ...] = ()) -> dict[str, set[str]]:
    """The options of each verb, by its words; of "" those of `peirce` itself."""
    found = {
        " ".join(names): {
            name for one in command.params for name in (*one.opts, *one.secondary_opts)
        }
        | {"--help"}
    }
    for name, below in getattr(command, "commands", {}).items():
        found |= verbs(below, (*names, name))
    return found


VERBS = verbs(get_command(app)) | {row["task"]: {"--help"} for row in peirce.tasks_list()}
KNOWN = set().union(*VERBS.values())


def commands(page: Path) -> list[tuple[str, frozenset[str]]]:
    """(verb, options) of each command; lines that end in a backslash are one."""
    text = re.sub(r"\\\n\s*", " ", page.read_text("utf-8"))
    fenced = "\n".join(re.findall(r"^```\w*[^\n]*\n(.*?)^```$", text, re.S | re.M))
    code = "\n".join([*(found[0] for found in CODE.finditer(text)), fenced])
    found = COMMAND.findall(code)
    return [(verb, frozenset(OPTION.findall(rest))) for verb, rest in found]


SHOWN = sorted(
    {(page.name, verb, options) for page in PAGES for verb, options in commands(page)},
    key=lambda one: (one[0], one[1], sorted(one[2])),
)


@pytest.mark.parametrize(
    ("page", "verb", "options"),
    SHOWN,
    ids=[f"{page}-{verb}-{' '.join(sorted(options))}" for page, verb, options in SHOWN],
)
def test_a_command_that_a_page_shows_is_one(page: str, verb: str, options: frozenset[str]) -> None:
    assert verb in VERBS, f"{page}: peirce {verb}"
    assert options <= VERBS[verb], f"{page}: peirce {verb} has no {options - VERBS[verb]}"


def test_there_are_commands() -> None:
    assert len(SHOWN) > 80 and {verb for _, verb, _ in SHOWN} >= {"run", "tasks generate", "train"}


def test_a_command_that_is_none_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "    peirce run T --model http://h/v1#N \\\n      --sede 3  # --not-this\n`peirce rnu`"
    )
    assert commands(page) == [("run", frozenset({"--model", "--sede"})), ("rnu", frozenset())]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_an_option_that_a_page_speaks_of_is_one(page: Path) -> None:
    """In prose, of whichever verb; lines of code that are no commands of ours are left out."""
    lines = page.read_text("utf-8").splitlines()
    own = "\n".join(line for line in lines if not re.match(r" {4}(?!peirce)", line))
    said = set(re.findall(r"`(--[a-z][a-z-]*)", own))
    assert said <= KNOWN | OF_OTHERS, said - KNOWN


OF_OTHERS = {
    *("--jinja", "--reasoning-config"),  # of llama-server and vLLM
    *("--host", "--n-jobs-per-worker", "--no-reload", "--tunnel"),  # of langgraph dev
}
