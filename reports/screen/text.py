"""The pieces that what is printed is made of: consoles, text that is shown and not obeyed, tables,
verdicts, times, commands to copy."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...records import Json

VERDICT_STYLES = {
    "accepted": "green",
    "consistent": "green",
    "redundant": "cyan",
    "inconsistent": "yellow",
    "malformed": "magenta",
    "error": "red",
}
DEFAULT_STORE = "peirce.duckdb"


def console(*, talk: bool = False) -> Console:
    """A console that prints text as it is: on stdout for data, on stderr for talk."""
    stream = sys.stderr if talk else sys.stdout
    width = None if stream.isatty() else 120
    return Console(
        file=stream, markup=False, highlight=False, emoji=False, soft_wrap=False, width=width
    )


def visible(text: str, *, lines: bool = False) -> str:
    """`text` with everything that a terminal would obey shown as an escape: control codes, marks
    of direction, lone surrogates. With `lines`, line breaks and tabs stay."""
    keep = "\n\t" if lines else ""
    return "".join(
        c if c in keep or c.isprintable() else c.encode("unicode_escape").decode("ascii")
        for c in text
    )


def one_line(value: object, width: int = 72) -> str:
    """A value on one line of at most `width` characters."""
    text = visible(" ".join(value.split()) if isinstance(value, str) else repr(value))
    return text if len(text) <= width else text[: width - 1] + "…"


def duration(seconds: float) -> str:
    """0.4 s, 12 s, 3:05, 1:02:03."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    whole = int(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def command(verb: str, session: str, store: str) -> str:
    """A command line to copy; the store is named where it is not the default one."""
    named = [] if Path(store) == Path(DEFAULT_STORE) else ["--store", store]
    return shlex.join(["peirce", verb, session, *named])


def counts(pairs: Mapping[str, Json]) -> str:
    return ", ".join(f"{count} {visible(str(name))}" for name, count in pairs.items() if count)


# Why a method ended a problem, in the words of a person; the JSON keeps the keys.
STOPS = {
    "exhausted": "the proposer had nothing more to say",
    "cap": "reached the limit of answers",
    "three_bad": "stopped after three failed answers",
    "bad": "stopped after the allowed number of failed answers",
    "target": "reached the target",
    "answered": "every question was answered",
    "opened": "the bank was read",
}


def stop_sentence(cause: str) -> str:
    """Return why a problem ended, in words; a cause that is not known here as it is."""
    return STOPS.get(cause) or one_line(cause, 80)


def number_of(count: int, what: str) -> str:
    """1 problem, 2 problems, 1,200 problems."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def table(*headings: str, numbers: Iterable[int] = ()) -> Table:
    """A table without lines between cells; columns in `numbers` stand to the right."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    right = set(numbers)
    for number, heading in enumerate(headings):
        made.add_column(heading, justify="right" if number in right else "left", overflow="fold")
    return made


def verdict_text(verdict: str) -> Text:
    return Text(verdict, style=VERDICT_STYLES.get(verdict, ""))


def marks(values: Sequence[bool | None]) -> str:
    """One character an observation: right, wrong, undefined."""
    return "".join({True: "✓", False: "✗", None: "·"}[value] for value in values)
