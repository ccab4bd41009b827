"""Decide whether a text is the source of a hypothesis: one function that takes one argument.

The text is parsed and compiled, but never executed. Models write sources that are indented, escaped
twice or not at all, or contain helpers and imports. Sources that can be read without guessing are
accepted. Each correction, such as removed indentation, is recorded by name in `meta["leniency"]`.
`breaches` lists the features of a source that the prompt forbids, such as imports. No function
here raises an exception because of the text, except `BudgetSpent`: a source that crashes the parser
is malformed.

`check_compile_cost` estimates the cost of compiling a source from its syntax tree. The reason is
that a short text can require much memory of CPython's compiler. A `finally` block is compiled again
at every `return`, `break` and `continue` that leaves its `try`, so nested blocks multiply: 904
characters needed over 3 GB. The names that a pattern binds are sorted by code whose cost grows with
the square of their number, and with the cube between alternatives: 17,000 characters needed 640 MB.
The maximum nesting that the compiler accepts depends on the depth of the caller's stack, so
`MAX_DEPTH` is far below that maximum.

The work of the parser is limited by the size of the source, by the checks in `parse_python`, and by
the budget of one answer (tests/tasks/test_program_bounds.py has the worst sources).
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ...records import Hypothesis, Json, Malformed
from ...sandbox import missing_imports
from ...tools.python_parser import CostlyText, ParsingBudget, parse_python

MAX_SOURCE_CHARACTERS = 20_000
MAX_DESCRIPTION_CHARACTERS = 1_000
ENTRY_NAMES = frozenset({"f", "fn", "solve", "transform"})

Function = ast.FunctionDef | ast.Lambda


def read_source(
    text: str,
    description: str = "",
    leniency: tuple[str, ...] = (),
    budget: ParsingBudget | None = None,
) -> Hypothesis | Malformed:
    """Parse the Python source of a hypothesis and find the function to call.

    The function to call is the last top-level function named f, fn, solve or transform. If there is
    no such function, it is the last top-level function.

    Args:
        text: the source, as the model wrote it.
        description: a description of the function in words.
        leniency: names of the corrections that were needed to find the source in an answer, such as
            "no_fence".
        budget: the number of characters that may still be parsed; None for a full budget for this
            text.

    Returns:
        A hypothesis. Its `meta` is {"entry": name of the function}, and if the text had to be
        corrected, also {"leniency": [names of the corrections]}. Its `breaches` list the features
            that
        the answer contract forbids: import, missing_import, helper_function, helper_class,
            top_level_code, prints, lambda and no_return. If there is no usable function,
            `Malformed` with the reason empty, too_long, syntax, no_function, no_argument or
            many_arguments.

    Raises:
        BudgetSpent: the budget has too few characters left.
    """
    if not text.strip():
        return Malformed("empty", "there is no source")
    if len(text) > MAX_SOURCE_CHARACTERS:
        return Malformed("too_long", f"source of {len(text):,} characters, over 20,000")
    budget = budget or ParsingBudget()
    first: Malformed | None = None
    for names, source in _readings(text):
        read = _parse(source, budget)
        if isinstance(read, str):
            first = first or Malformed("syntax", read)
            continue
        found = _check(source, read)
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
        if len(joined) <= MAX_DESCRIPTION_CHARACTERS
        else joined[: MAX_DESCRIPTION_CHARACTERS - 1] + "…"
    )


# --- readings: the text as it is first, then corrected for the usual slips -------------


def _readings(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield (names of corrections, source), each source once; the uncorrected text comes first."""
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
    """Return the text with Python escape sequences resolved; unknown escape sequences are not
    changed.
    """
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
    r"""Undo `\n` and `\t` outside of string literals, and read escaped quotes as delimiters.

    This reads a source whose own `"\n"` was not escaped a second time, as the contract requires.
    """
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


def _parse(source: str, budget: ParsingBudget) -> list[ast.AST] | str:
    """Return the nodes of a source that compiles, the module first, or what is wrong with it.

    Nothing is executed.
    """
    try:
        tree = parse_python(source, "exec", budget)
        nodes = _with_parents_first(tree)
        if nodes is None:
            return TOO_DEEP
        if why := _find_cost(nodes):
            return why
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `is 1` warns, but is legal
            compile(tree, "<hypothesis>", "exec", dont_inherit=True)
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        return f"{where}{error.msg}"[:300]
    except (RecursionError, MemoryError):
        return TOO_DEEP
    except CostlyText as error:
        return str(error)
    except ValueError:  # null bytes, lone surrogates, integers of over 4,300 digits
        return "characters or numbers that Python does not read"
    return nodes


def _check(source: str, nodes: Sequence[ast.AST]) -> _Found | Malformed:
    functions: list[tuple[str, Function]] = []
    breaches: set[str] = set()
    module = nodes[0]
    body = module.body if isinstance(module, ast.Module) else []
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            functions.append((statement.name, statement))
        elif name := _named_lambda(statement):
            functions.append(name)
        elif isinstance(statement, ast.ClassDef):
            breaches.add("helper_class")
        elif not _harmless(statement):
            breaches.add("top_level_code")
    if not functions:
        coroutine = any(isinstance(s, ast.AsyncFunctionDef) for s in body)
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
    if missing_imports(source, nodes):
        breaches.add("missing_import")
    for node in nodes:
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
    """Return whether a statement is a docstring, `pass` or an import (a breach of its own)."""
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


MAX_COMPILED_NODES = 100_000  # each node counts as often as it is compiled, about 100 bytes each
MAX_DEPTH = 200  # of the tree; CPython's own limit is near 1,000 minus the depth of the caller
TOO_DEEP = "nested too deeply"

_LEAVES = (ast.Return, ast.Break, ast.Continue)
_REPEATED = (ast.Try, ast.TryStar, ast.match_case)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def check_compile_cost(tree: ast.AST) -> str | None:
    """Return the reason why compiling `tree` would cost too much memory or time, or None."""
    nodes = _with_parents_first(tree)
    return TOO_DEEP if nodes is None else _find_cost(nodes)


def _find_cost(nodes: Sequence[ast.AST]) -> str | None:
    """Return why compiling a tree would cost too much, or None. `nodes` has parents first."""
    count = len(nodes)
    if any(isinstance(node, _REPEATED) for node in nodes):  # else each node is compiled once
        compiled: dict[int, tuple[int, int]] = {}  # node id -> (compiled nodes, exits from it)
        for node in reversed(nodes):
            compiled[id(node)] = _compiled(node, compiled)
        count = compiled[id(nodes[0])][0]
    if count > MAX_COMPILED_NODES:
        return (
            f"it would compile to over {MAX_COMPILED_NODES:,} parts, by its try or match statements"
        )
    return None


def _with_parents_first(tree: ast.AST) -> list[ast.AST] | None:
    """Return all nodes of a tree; None if it is deeper than `MAX_DEPTH`."""
    found: list[ast.AST] = []
    level = [tree]
    for _ in range(MAX_DEPTH):
        found += level
        below: list[ast.AST] = []
        for node in level:  # as `ast.iter_child_nodes` does, in half of its time
            for name in node._fields:
                value = getattr(node, name, None)
                if isinstance(value, list):
                    below += [item for item in value if isinstance(item, ast.AST)]
                elif isinstance(value, ast.AST):
                    below.append(value)
        if not below:
            return found
        level = below
    return None


def _compiled(node: ast.AST, below: dict[int, tuple[int, int]]) -> tuple[int, int]:
    if isinstance(node, (ast.Try, ast.TryStar)) and node.finalbody:
        inside, out = _sum([*node.body, *node.handlers, *node.orelse], below)
        again, leaving = _sum(node.finalbody, below)
        copies = out + 2  # at the end, at an exception, and at each exit
        return 1 + inside + copies * again, out + copies * leaving
    count, exits = _sum(ast.iter_child_nodes(node), below)
    if isinstance(node, ast.match_case):
        count += _ordering(node.pattern)
    if isinstance(node, _SCOPES):
        exits = 0
    return count + 1, exits + isinstance(node, _LEAVES)


def _sum(nodes: Iterable[ast.AST], below: dict[int, tuple[int, int]]) -> tuple[int, int]:
    pairs = [below[id(node)] for node in nodes]
    return sum(count for count, _ in pairs), sum(exits for _, exits in pairs)


def _ordering(pattern: ast.pattern) -> int:
    """Return the most instructions that it takes to put the names that a pattern binds in order."""
    size = 0
    bound: list[str] = []
    choice = False
    for part in ast.walk(pattern):
        size += 1
        choice = choice or isinstance(part, ast.MatchOr)
        name = part.rest if isinstance(part, ast.MatchMapping) else getattr(part, "name", None)
        if isinstance(name, str):
            bound.append(name)
    return len(bound) * (size + (len(set(bound)) ** 2 if choice else 0))
