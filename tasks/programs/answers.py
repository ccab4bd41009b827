"""Extract a program from a model's answer: a tuple of two strings, a JSON object or a fenced block.

Minor errors of form are corrected if the meaning is clear, and each correction is recorded in
`meta["leniency"]`. All other answers are malformed, with a short stable reason. The readers of
tuples first try `ast.literal_eval`: on the answer, on the answer without Markdown fences, and on
each tuple of two literals within the answer. Then they use a scanner that also accepts line breaks
and unescaped quotes within a string. The scanner ends a string at a quote whose continuation fits a
tuple. If an answer contains several tuples, such as drafts, the last tuple that is a hypothesis is
used.

No function of this module raises an exception or executes the text. The work is bounded for all
texts. The number of examined positions is limited, and all attempts to read one answer share a
budget of characters that may be parsed.

`enforce_contract` applies the option `--strict-contract`. The answer contract allows one function
and nothing else; for a user's own pairs also imports (`allow_imports`). By default, a program that breaches the contract runs, and the breaches are
counted. With the option, the answer is malformed, and the reason is `breach_` with the most serious
breach. Safety does not depend on the contract, because programs run in the sandbox.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...records import Hypothesis, Malformed
from ...sandbox import missing_imports
from ...sandbox.inside.allowlist import ALLOWED_MODULES
from ...tools.python_parser import BudgetSpent, ParsingBudget, parse_python
from ..io.json_text import build_object_schema, find_objects
from .source import read_source, unescape

MAX_ANSWER_CHARACTERS = 200_000
# Each limit bounds the places that are examined in one answer. Of the places where a tuple may
# begin the last ones are kept, because drafts come first.
MAX_STARTS = 40
MAX_SPLITS = 4  # places where a description may end
MAX_CLOSINGS = 12  # places where a source may end
MAX_SCANNED_CHARACTERS = 100_000  # of all sources together that the scanner tries

ReadResult = Hypothesis | Malformed
_TOO_COSTLY = Malformed("too_costly", "there are too many ways to read the answer")


def read_answer(text: str, answer_format: str) -> Hypothesis | Malformed:
    """Return the hypothesis in a model's answer, or `Malformed` with the reason.

    In addition to the reasons of `read_source`, the reason can be too_long, no_tuple,
    not_two_strings, cut (the answer ends within the source), no_object, no_code or too_costly (the
    attempts to read the answer have parsed `python_parser.PARSED_CHARACTERS` characters).

    Args:
        text: the answer.
        answer_format: "tuple", "json" or "fenced_function".
    """
    if not text.strip():
        return Malformed("empty", "the answer is empty")
    if len(text) > MAX_ANSWER_CHARACTERS:
        return Malformed("too_long", f"answer of {len(text):,} characters, over 200,000")
    readers = {"tuple": _read_tuple, "json": _read_json, "fenced_function": _read_fenced}
    try:
        return readers[answer_format](text, ParsingBudget())
    except BudgetSpent:
        return _TOO_COSTLY


# --- tuple ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Pair:
    """A description and a source, as they were read from literals."""

    description: str
    source: str
    leniency: tuple[str, ...]


def _read_tuple(text: str, budget: ParsingBudget) -> ReadResult:
    failures: list[Malformed] = []
    for read in (_read_whole_answer, _read_literal_spans, _scan_strings):
        found = read(text, budget)
        if isinstance(found, Hypothesis):
            return found
        failures += found
    return min(
        failures, key=lambda failure: _FAILURE_RANK.get(failure.reason, 0), default=_no_tuple(text)
    )


# Of several failures the most informative one is reported: a tuple of three strings, or a tuple
# with a bad source, explains more than the lack of a tuple.
_FAILURE_RANK = {"not_two_strings": -1, "cut": 1, "no_tuple": 2}


def read_code(text: str) -> Hypothesis | Malformed:
    """Return the hypothesis for source code that comes from a user or a tool call.

    The code may be in a Markdown fence or surrounded by prose.
    """
    budget = ParsingBudget()
    read = read_source(text, budget=budget)
    if isinstance(read, Hypothesis) or read.reason not in ("syntax", "too_long"):
        return read
    if len(text) > MAX_ANSWER_CHARACTERS:
        return read
    try:
        within = _read_fenced(text, budget)
    except BudgetSpent:
        return _TOO_COSTLY
    return within if isinstance(within, Hypothesis) else read


def _no_tuple(text: str) -> Malformed:
    holds = "a function outside of one" if re.search(r"\bdef\s+\w+\s*\(", text) else "no function"
    return Malformed("no_tuple", f"no tuple of two strings in the answer; it holds {holds}")


def _read_whole_answer(text: str, budget: ParsingBudget) -> Hypothesis | list[Malformed]:
    failures: list[Malformed] = []
    bare, fenced = _without_fences(text)
    for candidate, leniency in ((text.strip(), ()), (bare.strip(), ("fence",) if fenced else ())):
        value = _literal(candidate, budget)
        if isinstance(value, str) or value is None:
            continue
        pair = _pair(value, candidate, leniency)
        if isinstance(pair, Malformed):
            failures.append(pair)
            continue
        read = read_source(pair.source, pair.description, pair.leniency, budget)
        if isinstance(read, Hypothesis):
            return read
        failures.append(read)
    return failures


def _pair(value: object, written: str, leniency: tuple[str, ...]) -> _Pair | Malformed:
    if not isinstance(value, (tuple, list)):
        return Malformed("no_tuple", f"the answer is a literal of type {type(value).__name__}")
    if len(value) != 2 or not all(isinstance(item, str) for item in value):
        kinds = ", ".join(type(item).__name__ for item in value[:5])
        return Malformed("not_two_strings", f"a tuple of {len(value)}: {kinds}")
    if isinstance(value, list):
        leniency = (*leniency, "brackets")
    elif not written.startswith("("):
        leniency = (*leniency, "no_parentheses")
    return _Pair(value[0], value[1], leniency)


def _literal(text: str, budget: ParsingBudget) -> object:
    """Return the value of a Python literal, or None where `text` is not one."""
    try:
        value: object = ast.literal_eval(parse_python(text, "eval", budget))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return value


# The groups are atomic and the repeats possessive, so that matching takes linear time per start.
_STRING = (
    r"(?>[rRuU]?(?>\"\"\"(?>[^\"\\]|\\[\s\S]|\"(?!\"\"))*+\"\"\""
    r"|'''(?>[^'\\]|\\[\s\S]|'(?!''))*+'''"
    r"|\"(?>[^\"\\\n]|\\[\s\S])*+\"|'(?>[^'\\\n]|\\[\s\S])*+'))"
)
_STRINGS = rf"(?>{_STRING}(?>\s*+{_STRING})*+)"
_SPAN = re.compile(rf"[(\[]\s*+{_STRINGS}\s*+,\s*+{_STRINGS}\s*+,?+\s*+[)\]]")
_START = re.compile(r"[(\[]\s*+[rRuU]?[\"']")
_BARE_START = re.compile(r"^[ \t]*+[rRuU]?[\"']", re.MULTILINE)
_FUNCTION = re.compile(r"\bdef\b|\blambda\b")


def _read_literal_spans(text: str, budget: ParsingBudget) -> Hypothesis | list[Malformed]:
    """Read each tuple of two literals within the answer; the last that is a hypothesis counts."""
    bare, fenced = _without_fences(text)
    found: list[ReadResult] = []
    end = 0
    outside = len(bare.strip())
    for start in [match.start() for match in _START.finditer(bare)][-MAX_STARTS:]:
        match = _SPAN.match(bare, start) if start >= end else None
        if match is None:
            continue
        end = match.end()
        pair = _pair(_literal(match[0], budget), match[0], ("fence",) if fenced else ())
        if isinstance(pair, _Pair):
            prose = ("prose",) if len(match[0]) < outside else ()
            leniency = (*pair.leniency, *prose)
            found.append(read_source(pair.source, pair.description, leniency, budget))
    hypotheses = [read for read in found if isinstance(read, Hypothesis)]
    if hypotheses:
        return hypotheses[-1]
    return [read for read in found if isinstance(read, Malformed)]


def _scan_strings(text: str, budget: ParsingBudget) -> Hypothesis | list[Malformed]:
    """Scan for strings with real line breaks, unescaped quotes or missing brackets."""
    bare, fenced = _without_fences(text)
    leniency = ("fence", "scanned") if fenced else ("scanned",)
    starts = [match.end() - 1 for match in _START.finditer(bare)]
    if not starts:
        starts = [match.end() - 1 for match in _BARE_START.finditer(bare)]
        leniency = (*leniency, "no_parentheses")
    failures: list[Malformed] = []
    found: Hypothesis | None = None
    end = 0
    left = MAX_SCANNED_CHARACTERS
    for start in starts[-MAX_STARTS:]:
        if start < end:
            continue
        for description, source_at in _first_strings(bare, start):
            for source, source_end in _second_strings(bare, source_at):
                if source is None:
                    failures.append(Malformed("cut", "the source string does not end"))
                elif _FUNCTION.search(source) and left > 0:
                    left -= len(source)
                    read = read_source(source, description, leniency, budget)
                    if isinstance(read, Hypothesis):
                        found, end = read, source_end
                        break
                    failures.append(read)
            if end > start:
                break
    return found or failures


def _delimiter(text: str, at: int) -> str:
    return text[at : at + 3] if text[at : at + 3] == text[at] * 3 else text[at]


def _first_strings(text: str, start: int) -> Iterator[tuple[str, int]]:
    """Yield (description, index of the opening quote of the second string), the nearest first."""
    delimiter = _delimiter(text, start)
    body = start + len(delimiter)
    closing = re.compile(rf"(?<!\\){delimiter}\s*+,\s*+[rRuU]?(?=[\"'])")
    for count, match in enumerate(closing.finditer(text, body)):
        if count == MAX_SPLITS:
            return
        yield unescape(text[body : match.start()]), match.end()


def _second_strings(text: str, start: int) -> Iterator[tuple[str | None, int]]:
    """Yield (source, index after it), the shortest first; no source where it does not end."""
    delimiter = _delimiter(text, start)
    body = start + len(delimiter)
    closing = re.compile(rf"(?<!\\){delimiter}(?=\s*+,?+\s*+(?:[)\]]|\Z))")
    count = 0
    for count, match in enumerate(closing.finditer(text, body), 1):
        yield text[body : match.start()], match.end()
        if count == MAX_CLOSINGS:
            return
    if count == 0 and _FUNCTION.search(text, body):
        yield None, start


# --- json -------------------------------------------------------------------------------

ANSWER_SCHEMA = build_object_schema(
    description="The hypothesis in one sentence.",
    code="The complete Python source of one function of one argument.",
)


def _read_json(text: str, budget: ParsingBudget) -> ReadResult:
    """Read the last object that holds a source; without an object, a tuple or a function."""
    within = find_objects(text, ANSWER_SCHEMA["properties"])
    failure: Malformed | None = None
    for said in reversed(within.objects):
        source, description = said.get("code"), said.get("description", "")
        if not isinstance(source, str) or not isinstance(description, str):
            failure = failure or Malformed("not_two_strings", "description and code must be texts")
            continue
        read = read_source(source, description, () if within.is_whole_text else ("prose",), budget)
        if isinstance(read, Hypothesis):
            return read
        failure = failure or read
    if failure is not None:
        return failure
    if within.truncated:
        return Malformed("cut", "the answer ends within its JSON object")
    for reader, form in ((_read_tuple, "tuple"), (_read_fenced, "function")):
        if isinstance(other := reader(text, budget), Hypothesis):
            leniency = [*other.meta.get("leniency", ()), form]
            return replace(other, meta={**other.meta, "leniency": leniency})
    return Malformed("no_object", "no JSON object with description and code in the answer")


# --- fences -----------------------------------------------------------------------------

_FENCE = re.compile(r"^[ \t]*+(?:`{3,}|~{3,})[ \t]*+([^`]*)$")


@dataclass(frozen=True)
class _Block:
    body: str
    closed: bool


def _blocks(text: str) -> tuple[list[_Block], str]:
    """Return the fenced blocks of a text and the prose around them."""
    blocks: list[_Block] = []
    prose: list[str] = []
    body: list[str] | None = None
    for line in text.split("\n"):
        fence = _FENCE.match(line.rstrip("\r"))
        if fence and body is None:
            body = []
        elif fence and body is not None:
            blocks.append(_Block("\n".join(body), True))
            body = None
        elif body is None:
            prose.append(line)
        else:
            body.append(line)
    if body is not None:
        blocks.append(_Block("\n".join(body), False))
    return blocks, "\n".join(prose)


def _without_fences(text: str) -> tuple[str, bool]:
    """Return the text without Markdown fences, and whether there were any."""
    if "```" not in text:
        return text, False
    return re.sub(r"```[ \t]*+[\w+-]*[ \t]*(?=\r?\n|\Z)|```(?:[Pp]ython3?|py)?", "", text), True


def _read_fenced(text: str, budget: ParsingBudget) -> ReadResult:
    blocks, prose = _blocks(text)
    if not blocks:
        return _read_bare(_without_fences(text)[0], budget)
    failure: Malformed | None = None
    for block in blocks:
        leniency = () if block.closed else ("unclosed_fence",)
        read = read_source(block.body, prose, leniency, budget)
        if isinstance(read, Hypothesis):
            return read
        if not block.closed and read.reason in ("syntax", "empty"):
            read = Malformed("cut", f"the answer ends within its code: {read.detail}")
        failure = failure or read
    return failure or Malformed("no_code", "no block of code in the answer")


_TOP_LEVEL = re.compile(r"^(?:def|import|from)\b|^@|^\w+ = lambda\b", re.MULTILINE)


def _read_bare(text: str, budget: ParsingBudget) -> ReadResult:
    """Read a function without a fence, from its first line as far as the lines parse."""
    start = _TOP_LEVEL.search(text)
    if start is None or not _FUNCTION.search(text):
        return Malformed("no_code", "no block of code in the answer")
    lines = text[start.start() :].split("\n")
    ends = [i for i in range(1, len(lines)) if lines[i].strip() and lines[i][0] not in " \t"]
    first: Malformed | None = None
    for end in [len(lines), *reversed(ends[:MAX_CLOSINGS])]:
        body, before = "\n".join(lines[:end]), text[: start.start()]
        read = read_source(body, before, ("no_fence",), budget)
        if isinstance(read, Hypothesis):
            return read
        first = first or read
    return first or Malformed("no_code", "no block of code in the answer")


BREACHES = {  # ordered from the gravest to the least grave
    "import": "imports {names}",
    "missing_import": "uses {names} without importing them",
    "helper_function": "defines another function",
    "helper_class": "defines a class",
    "top_level_code": "has code outside of the function",
    "prints": "prints",
    "lambda": "is a lambda and no def",
    "no_return": "returns nothing",
}


def allow_imports(read: Hypothesis | Malformed) -> Hypothesis | Malformed:
    """Return a hypothesis without the breach "import" if the sandbox permits all that it imports."""
    if isinstance(read, Malformed) or "import" not in read.breaches:
        return read
    if not all(name in ALLOWED_MODULES for name in _modules(list(ast.walk(ast.parse(read.text))))):
        return read
    return replace(read, breaches=tuple(name for name in read.breaches if name != "import"))


def enforce_contract(read: Hypothesis | Malformed) -> Hypothesis | Malformed:
    """Return `Malformed` if a hypothesis breaches the answer contract, otherwise `read` unchanged.

    The reason is `breach_` followed by the name of the most serious breach.
    """
    if isinstance(read, Malformed) or not read.breaches:
        return read
    found = sorted(read.breaches, key=list(BREACHES).index)
    nodes = list(ast.walk(ast.parse(read.text)))
    of = {
        "import": sorted(set(_modules(nodes))),
        "missing_import": missing_imports(read.text, nodes),
    }
    said = ", ".join(BREACHES[name].format(names=", ".join(of.get(name, ()))) for name in found)
    detail = f"{said}; one function alone is allowed under --strict-contract"
    return Malformed(f"breach_{found[0]}", detail[:300])


def _modules(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")
