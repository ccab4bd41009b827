"""Write the page as one HTML file: markup, style and script of this folder, and the embedded data.

Text from models, files and problems is data. It is embedded in script elements of the type
`application/json`, which no browser executes, with every `<` escaped. The details of problems are
embedded compressed, in script elements of the type `text/plain` (`ProblemBlocks`). The scripts insert
data only as text nodes and never as HTML. A content security policy allows only the style and the script of this
package, identified by their hashes, and forbids network requests. A page from `peirce view` may
request data from its own server.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files

from ...records import Json
from ..screen.text import STOPS

STYLE = "page.css"
SCRIPTS = ("elements.js", "values.js", "differences.js", "plots.js", "drawings.js", "effects.js", "findings.js", "overview.js", "figures.js", "problem.js", "listing.js",
           "comparison.js", "training.js", "main.js")  # fmt: skip
BODY = "page.html"
MAX_DEPTH = 200  # Nesting depth to which a value is cut if the encoder fails on it.


BLOCK_CHARACTERS = 150_000  # of the JSON of a block, from which on it is complete
LEVEL = 6  # of zlib; level 9 takes twice the time and saves 3%
MEMORY_BYTES = 4_000_000  # of the blocks that wait in memory; more wait in a temporary file


class ProblemBlocks:
    """The details of problems for the page, compressed in blocks of several problems.

    A block is JSON texts, one per problem and line, compressed with zlib and encoded as base64. The
    page decompresses the block of a problem when the problem is opened or searched. Close the blocks,
    or use them as a context manager.
    """

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(MEMORY_BYTES)  # noqa: SIM115
        self._lines: list[str] = []
        self._characters = 0
        self._count = 0

    def add(self, session: str, problem: str, details: Mapping[str, Json]) -> None:
        """Add the details of the next problem of the page.

        Args:
            session: Id of the session.
            problem: Id of the problem.
            details: The result of `Contents.build_problem`.
        """
        line = _dump({"session": session, "id": problem, **details})
        self._lines.append(line)
        self._characters += len(line)
        if self._characters >= BLOCK_CHARACTERS:
            self._end_block()

    @property
    def waiting(self) -> int:
        """The number of problems that are not yet in a complete block."""
        return len(self._lines)

    def _end_block(self) -> None:
        if self._lines:
            packed = zlib.compress("\n".join(self._lines).encode("ascii"), LEVEL)
            first = f'<script type="text/plain" data-first="{self._count}">'.encode()
            self._file.write(first + base64.b64encode(packed) + b"</script>\n")
        self._count += len(self._lines)
        self._lines, self._characters = [], 0

    def __iter__(self) -> Iterator[str]:
        """Yield the elements of the page that hold the blocks, in order."""
        self._end_block()
        self._file.seek(0)
        for line in self._file:
            yield line.decode("ascii")

    def close(self) -> None:
        """Remove the temporary file."""
        self._file.close()

    def __enter__(self) -> ProblemBlocks:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def render_page(
    overview: Mapping[str, Json], problems: Iterable[str], *, live: bool = False
) -> Iterator[str]:
    """Yield the text of the HTML file in pieces, so that the page does not have to fit into memory.

    Args:
        overview: The result of `Contents.build_overview`.
        problems: The details of the problems (`ProblemBlocks`); empty if a server delivers the
            details.
        live: Allow the page to request data from the server that it came from.
    """
    style, script = read_part(STYLE), _script()
    connect = "'self'" if live else "'none'"
    policy = (
        f"default-src 'none'; style-src 'sha256-{_hash(style)}'; script-src 'sha256-{_hash(script)}';"
        f" img-src data:; connect-src {connect}; base-uri 'none'; form-action 'none'"
    )
    title = " · ".join(["Peirce", *(str(one["task"]) for one in overview["sessions"])][:4])
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n{read_part(BODY)}\n"
    )
    yield _data("told", overview)
    # The script precedes the problems, so that it draws the overview while they are still loading.
    yield f"<script>{script}</script>\n"
    yield from problems
    yield "</body>\n</html>\n"


@cache
def read_part(name: str) -> str:
    """Return the text of a file in this folder, without white space at its start and end."""
    return (files(__package__) / name).read_text("utf-8").strip()


@cache
def _script() -> str:
    stops = f"const STOPS = {encode_json(STOPS)};"
    parts = "\n".join([stops, *(read_part(name) for name in SCRIPTS)])
    return f'(() => {{\n"use strict";\n{parts}\n}})();'


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def _data(name: str, value: Mapping[str, Json]) -> str:
    return f'<script type="application/json" id="{name}">{encode_json(value)}</script>\n'


EXACT = 2**53 - 1  # the largest integer that a number of the page's script holds exactly


def encode_json(value: Json) -> str:
    """Encode a value as ASCII JSON that is safe inside a script element.

    `<`, `>` and `&` are escaped. NaN, infinities and integers too large for JavaScript are written
    as strings. Values that are nested too deeply are cut off.
    """
    text = _dump(value)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _dump(value: Json) -> str:
    """Encode a value as ASCII JSON for the page, in one line."""
    try:
        text = json.dumps(value, separators=(",", ":"), allow_nan=False)
        plain = not re.search("[0-9]{16}", text)
    except (ValueError, RecursionError):
        plain = False
    if not plain:
        text = json.dumps(_plain(value, MAX_DEPTH), separators=(",", ":"), allow_nan=False)
    return text


def _plain(value: Json, levels: int) -> Json:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return repr(value)
    if isinstance(value, int) and not -EXACT <= value <= EXACT:
        return str(value) if value.bit_length() < 14_000 else hex(value)  # Python limits `str`.
    if isinstance(value, Mapping | list | tuple) and not levels:
        return f"… (nested more than {MAX_DEPTH} levels deep)"
    if isinstance(value, Mapping):
        return {key: _plain(one, levels - 1) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one, levels - 1) for one in value]
    return value
