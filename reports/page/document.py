"""The page as one file: words, style and script of this folder, and the data behind them.

What models, files and problems say is data. It stands in script elements that no browser runs
(`application/json`), with every `<` written as an escape, and reaches the page as text nodes alone
(no script of this folder writes HTML). A content policy lets exactly the two inline parts of this
package count, by their hashes, and forbids the network; from `peirce view` it may ask its own server.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files

from ...records import Json

STYLE = "page.css"
SCRIPTS = ("elements.js", "values.js", "plots.js", "overview.js", "figures.js", "problem.js", "listing.js",
           "comparison.js", "training.js", "main.js")  # fmt: skip
BODY = "page.html"
DEEPEST = 200  # levels of a value that the encoder could not nest


def document(
    overview: Mapping[str, Json],
    problems: Iterable[tuple[str, str, Mapping[str, Json]]],
    *,
    live: bool = False,
) -> Iterator[str]:
    """The parts of the file, in order, so that no page has to be in memory whole. problems: session,
    problem, and what is shown of it; none where a server gives them."""
    style, script = part(STYLE), _script()
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
        f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n{part(BODY)}\n"
    )
    yield _data("told", overview)
    # The script stands before the problems: it draws the overview while they are still being read.
    yield f"<script>{script}</script>\n"
    for number, (session, problem, told) in enumerate(problems):
        yield _data(f"p{number}", {"session": session, "id": problem, **told})
    yield "</body>\n</html>\n"


@cache
def part(name: str) -> str:
    """A file of this folder."""
    return (files(__package__) / name).read_text("utf-8").strip()


@cache
def _script() -> str:
    parts = "\n".join(part(name) for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}\n}})();'


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def _data(name: str, value: Mapping[str, Json]) -> str:
    return f'<script type="application/json" id="{name}">{embedded(value)}</script>\n'


def embedded(value: Json) -> str:
    """JSON that a browser reads back and that ends no element: of ASCII, `<` and `>` as escapes; what
    is no JSON number (NaN, infinities) is written as a text, and so is what no encoder can nest."""
    try:
        text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    except (ValueError, RecursionError):
        text = json.dumps(_plain(value, DEEPEST), separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(value: Json, levels: int) -> Json:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return repr(value)
    if isinstance(value, Mapping | list | tuple) and not levels:
        return f"… (nested more than {DEEPEST} levels deep)"
    if isinstance(value, Mapping):
        return {key: _plain(one, levels - 1) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one, levels - 1) for one in value]
    return value
