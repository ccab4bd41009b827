"""Functions for terminal output: consoles, escaped text, tables and command lines."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...records import Json
from ...tools.sentence_rules.wording import MOST_TERMS

VERDICT_STYLES = {
    "accepted": "green",
    "consistent": "green",
    "redundant": "cyan",
    "inconsistent": "yellow",
    "malformed": "magenta",
    "error": "red",
}
DEFAULT_STORE = "peirce.duckdb"


def create_console(*, stderr: bool = False) -> Console:
    """Return a console that prints text without markup.

    Args:
        stderr: Print to stderr instead of stdout. Progress and messages go to stderr.
    """
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 120
    return Console(
        file=stream, markup=False, highlight=False, emoji=False, soft_wrap=False, width=width
    )


def escape_unprintable(text: str, *, keep_lines: bool = False) -> str:
    """Return `text` with control codes, direction marks and lone surrogates shown as escapes.

    Args:
        keep_lines: Keep line breaks and tabs.
    """
    keep = "\n\t" if keep_lines else ""
    return "".join(
        c if c in keep or c.isprintable() else c.encode("unicode_escape").decode("ascii")
        for c in text
    )


def to_one_line(value: object, width: int = 72) -> str:
    """Return a value as text on one line, shortened to at most `width` characters."""
    text = escape_unprintable(" ".join(value.split()) if isinstance(value, str) else repr(value))
    return text if len(text) <= width else text[: width - 1] + "…"


MAX_SUMMARY = 1_500  # characters of a hypothesis whose long lists were shortened
SHORTENED = (
    f"Lists of more than {MOST_TERMS} terms are shortened here; whole sentences: `peirce bank SESSION --full`,"
    " and --json."
)


def format_hypothesis(row: Mapping[str, Json], text: str, width: int, full: bool = False) -> str:
    """Return a hypothesis on one line: `text`, or its form with shortened lists if it has one.

    Args:
        row: The row of the hypothesis in the JSON output.
        text: The hypothesis.
        width: Maximum number of characters of `text`; a form with shortened lists may be longer.
        full: Whether to return all of `text`.
    """
    if full:
        return escape_unprintable(" ".join(text.split()))
    summary = row.get("summary")
    return to_one_line(text, width) if summary is None else to_one_line(summary, MAX_SUMMARY)


def format_duration(seconds: float) -> str:
    """Return a duration as text, as in 0.4 s, 12 s, 3:05 or 1:02:03."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    whole = int(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def format_command(verb: str, session: str, store: str, *options: str) -> str:
    """Return a `peirce` command line to copy. The store is left out if it is the default store.

    Args:
        verb: The command, such as resume.
        session: Id of the session.
        store: Path of the store.
        options: Further options.
    """
    named = [] if Path(store) == Path(DEFAULT_STORE) else ["--store", store]
    return shlex.join(["peirce", verb, session, *options, *named])


def format_resume(session: str, store: str, *, failed: bool, cause: str = "") -> str:
    """Return the command that continues a session.

    Args:
        session: Id of the session.
        store: Path of the store.
        failed: Whether problems failed. The command then runs them again.
        cause: Why the session ended early. If the budget was spent, this sentence proposes a larger
            budget (graphs/runtime/budget.py), which the command then sets.
    """
    budget = re.search(r"(--budget-\w+) ([\d.e+-]*\d)", cause)
    options = [*(["--retry-failed"] if failed else []), *(budget.groups() if budget else ())]
    return format_command("resume", session, store, *options)


def join_counts(pairs: Mapping[str, Json]) -> str:
    """Return counts with their names as text, as in "3 accepted, 1 malformed". Zeros are left
    out.
    """
    return ", ".join(
        f"{count} {escape_unprintable(str(name))}" for name, count in pairs.items() if count
    )


# Why a method ended a problem, as sentences for the screen and the page. The JSON output has the keys.
STOPS = {
    "exhausted": "the proposer had no more candidates",
    "all_found": "the search found no further sentence",
    "cap": "reached the limit of answers",
    "three_bad": "stopped after three failed answers",
    "bad": "stopped after the allowed number of failed answers",
    "target": "reached the target",
    "answered": "all questions were answered",
    "opened": "the bank was applied",
    "problem_budget": "used the tokens allowed for one problem",
    "no_progress": "the last answers added nothing",
}


def stop_sentence(cause: str, max_answers: int | None = None) -> str:
    """Return why a problem ended, in words. An unknown cause is returned unchanged.

    Args:
        cause: The cause that the session recorded.
        max_answers: The session's limit of answers per problem; None if it is not known.
    """
    if cause == "cap" and max_answers is not None:
        return f"reached the limit of {format_count(max_answers, 'answer')}"
    return STOPS.get(cause) or to_one_line(cause, 80)


def format_count(count: int, noun: str) -> str:
    """Return a count with its noun, as in "1 problem", "2 problems" or "1,200 problems"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def create_table(*headings: str, numbers: Iterable[int] = ()) -> Table:
    """Return an empty table without lines between cells.

    Args:
        headings: The column headings.
        numbers: Indices of the columns that are aligned to the right.
    """
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    right = set(numbers)
    for number, heading in enumerate(headings):
        made.add_column(heading, justify="right" if number in right else "left", overflow="fold")
    return made


def verdict_text(verdict: str) -> Text:
    """Return a verdict as text in its colour."""
    return Text(verdict, style=VERDICT_STYLES.get(verdict, ""))


def format_marks(values: Sequence[bool | None]) -> str:
    """Return one character per observation: ✓ for right, ✗ for wrong, · for undefined (None)."""
    return "".join({True: "✓", False: "✗", None: "·"}[value] for value in values)
