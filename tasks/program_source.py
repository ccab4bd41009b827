"""Whether a text is the source of a hypothesis: one function that takes one argument.

The text is parsed and compiled, never executed. What a model writes comes indented, escaped twice
or not at all, with helpers and imports: what can be read without guessing is read, each such
tolerance noted by name (`meta["leniency"]`), each breach of the answer contract too (`breaches`).
Nothing here raises, whatever the text; a source that the parser itself cannot bear is malformed.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from ..records import Hypothesis, Json, Malformed
from .program_bounds import TOO_DEEP, too_costly

SOURCE_CHARACTERS = 20_000
DESCRIPTION_CHARACTERS = 1_000
ENTRY_NAMES = frozenset({"f", "fn", "solve", "transform"})

Function = ast.FunctionDef | ast.Lambda


def read_source(
    text: str, description: str = "", leniency: tuple[str, ...] = ()
) -> Hypothesis | Malformed:
    """The hypothesis whose source is `text`.

    meta: {"entry": name of the function}, and {"leniency": [names]} where any was used.
    breaches: import, helper_function, helper_class, top_level_code, prints, lambda, no_return.
    Malformed reasons: empty, too_long, syntax, no_function, no_argument, many_arguments.
    The entry is the last top-level function called f, fn, solve or transform, else the last one.
    """
    if not text.strip():
        return Malformed("empty", "there is no source")
    if len(text) > SOURCE_CHARACTERS:
        return Malformed("too_long", f"source of {len(text):,} characters, over 20,000")
    first: Malformed | None = None
    for names, source in _readings(text):
        read = _parse(source)
        if isinstance(read, str):
            first = first or Malformed("syntax", read)
            continue
        found = _check(read)
        if isinstance(found, Malformed):
            if first is None or found.reason != "no_function":
                first = found
            continue
        used = [*leniency, *names]
        meta: dict[str, Json] = {"entry": found.entry, **({"leniency": used} if used else {})}
        return Hypothesis(source, _sentence(description), meta, found.breaches)
    return first or Malformed("syntax")


def _sentence(text: str) -> str:
    joined = " ".join(text.split())
    return (
        joined
        if len(joined) <= DESCRIPTION_CHARACTERS
        else joined[: DESCRIPTION_CHARACTERS - 1] + "…"
    )


# --- readings: as it stands first, then what the usual slips would make of it -------------


def _readings(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """(leniencies, source), each source once; escapes are undone only after the text as it is."""
    seen: set[str] = set()
    plain = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff").rstrip()
    for name, base in (
        ((), plain),
        (("unescaped",), unescape(plain)),
        (("unescaped_outside_strings",), _unescape_outside_strings(plain)),
    ):
        for more, source in _shapes(base):
            if source not in seen:
                seen.add(source)
                yield (*name, *more), source


def _shapes(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    lines = text.strip("\n").rstrip()
    yield (), lines
    yield ("dedented",), textwrap.dedent(lines)
    yield ("first_line_dedented",), lines.lstrip()
    yield ("tabs",), textwrap.dedent(lines.expandtabs(4))


ESCAPE = re.compile(
    r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|[\\'\"abfnrtv\n])"
)
_ONE = {
    "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r",
    "t": "\t", "v": "\v", "\n": "",
}  # fmt: skip


def unescape(text: str) -> str:
    """Python's escapes undone, whatever the other characters; unknown ones stay as they are."""
    return ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(match: re.Match[str]) -> str:
    body = match[1]
    if body in _ONE:
        return _ONE[body]
    code = int(body[1:], 16) if body[0] in "xuU" else int(body, 8)
    return chr(code) if code < 0x110000 else match[0]


_OUTSIDE = re.compile(
    r"(?P<break>\\n)|(?P<tab>\\t)|(?P<comment>\#(?:[^\n\\]|\\(?!n))*)"
    r"|(?P<quote>\\?(?:'''|\"\"\"|'|\"))|(?P<other>[\s\S])"
)


def _unescape_outside_strings(text: str) -> str:
    r"""`\n` and `\t` undone outside of string literals alone, escaped quotes as delimiters: reads
    a source whose own `"\n"` was not escaped once more, as the contract would have it."""
    if "\\" not in text:
        return text
    parts: list[str] = []
    at = 0
    while at < len(text):
        match = _OUTSIDE.match(text, at)
        if match is None:
            break
        at = match.end()
        if match["break"]:
            parts.append("\n")
        elif match["tab"]:
            parts.append("    ")
        elif match["quote"]:
            close = text.find(match["quote"], at)
            if close < 0:
                return text
            quote = match["quote"].lstrip("\\")
            parts.append(quote + text[at:close] + quote)
            at = close + len(match["quote"])
        else:
            parts.append(match[0])
    return "".join(parts)


# --- what the source holds --------------------------------------------------------------


@dataclass(frozen=True)
class _Found:
    entry: str
    breaches: tuple[str, ...]


def _parse(source: str) -> ast.Module | str:
    """The tree of a source that compiles, else what is wrong with it. Nothing is executed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes and `is 1` warn; not our business
            tree = ast.parse(source)
            if why := too_costly(tree):
                return why
            compile(tree, "<hypothesis>", "exec", dont_inherit=True)
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        return f"{where}{error.msg}"[:300]
    except (RecursionError, MemoryError):
        return TOO_DEEP
    except ValueError:  # null bytes, lone surrogates, integers of over 4,300 digits
        return "characters or numbers that Python does not read"
    return tree


def _check(tree: ast.Module) -> _Found | Malformed:
    functions: list[tuple[str, Function]] = []
    breaches: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            functions.append((statement.name, statement))
        elif name := _named_lambda(statement):
            functions.append(name)
        elif isinstance(statement, ast.ClassDef):
            breaches.add("helper_class")
        elif not _harmless(statement):
            breaches.add("top_level_code")
    if not functions:
        coroutine = any(isinstance(s, ast.AsyncFunctionDef) for s in tree.body)
        return Malformed(
            "no_function",
            "the function is a coroutine" if coroutine else "no function at top level",
        )
    preferred = [pair for pair in functions if pair[0] in ENTRY_NAMES]
    entry, function = (preferred or functions)[-1]
    if wrong := _wrong_arguments(entry, function.args):
        return wrong
    if len({name for name, _ in functions}) > 1:
        breaches.add("helper_function")
    if isinstance(function, ast.Lambda):
        breaches.add("lambda")
    elif not any(isinstance(node, (ast.Return, ast.Yield)) for node in ast.walk(function)):
        breaches.add("no_return")
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            breaches.add("import")
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print":
            breaches.add("prints")
    return _Found(entry, tuple(sorted(breaches)))


def _named_lambda(statement: ast.stmt) -> tuple[str, Function] | None:
    if isinstance(statement, ast.AnnAssign):
        targets: list[ast.expr] = [statement.target]
    elif isinstance(statement, ast.Assign):
        targets = statement.targets
    else:
        return None
    target = targets[0]
    if isinstance(statement.value, ast.Lambda) and isinstance(target, ast.Name):
        return target.id, statement.value
    return None


def _harmless(statement: ast.stmt) -> bool:
    """A docstring, or an import (which is a breach of its own)."""
    if isinstance(statement, (ast.Import, ast.ImportFrom, ast.Pass)):
        return True
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _wrong_arguments(name: str, arguments: ast.arguments) -> Malformed | None:
    positional = arguments.posonlyargs + arguments.args
    needed = len(positional) - len(arguments.defaults)
    if not positional and arguments.vararg is None:
        return Malformed("no_argument", f"{name} takes no argument")
    if needed > 1:
        return Malformed("many_arguments", f"{name} needs {needed} arguments, and gets one")
    if any(default is None for default in arguments.kw_defaults):
        return Malformed("many_arguments", f"{name} needs a keyword argument, and gets none")
    return None
