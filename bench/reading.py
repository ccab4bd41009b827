"""How the time to read a model's text grows with its length: `python bench/reading.py [--readers a,b]
[--shapes c,d] [--worst 3] [--json FILE]`.

Every function that reads text of a model is given every shape of text, at the most characters that it
reads (or 200,000) and at a quarter as many. Printed for each reader: the slowest shapes, the CPU time at
full length, and the exponent e of the growth of the time with the length n, as n^e. Where the time at
full length is below 50 ms, the exponent says little and nothing needs to be done.

A text is made longer step by step, so a reader that takes quadratic time ends at a few seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from table import Row, add_json_option, format_table, write_rows

Reader = Callable[[str], object]
CHARACTERS = 200_000
ENOUGH_S = 0.05  # at full length: less needs no look at its growth
LONGEST_S = 2.0  # a longer text is not tried after one that took so long
EXPONENT = 1.4

LETTERS = "".join(filter(str.islower, map(chr, range(ord("a"), 0x2000))))

# --- shapes -----------------------------------------------------------------------------------------
# (beginning, repeated part, end); the repeated part fills the text.
SHAPES: dict[str, tuple[str, str, str]] = {
    "letters": ("", "x", ""),
    "digits": ("", "7", ""),
    "long words": ("", "incomprehensibilities" * 8 + " ", ""),
    "sentences": ("", "The text mentions a hotel, so it is truthful. ", ""),
    "think tags": ("", "<think>", ""),
    "closing think tags": ("", "</think>", ""),
    "two kinds of think tags": ("", "<think><thinking>", ""),
    "reasoning tags": ("", "<reasoning>", "</reasoning>"),
    "tool call tags": ("", "<tool_call>", ""),
    "tool calls": ("", '<tool_call>{"name": "execute", "arguments": {}}</tool_call>', ""),
    "tags of XML": ("", "<a><b/></a>", ""),
    "open parentheses": ("", "(", ""),
    "closed parentheses": ("", ")", ""),
    "pairs of parentheses": ("", "()", ""),
    "open lists": ("", "[[", ""),
    "open list before a quote": ("", '["', ""),
    "open objects": ("", '{"a":', ""),
    "objects": ("", '{"a": 1}', ""),
    "objects with a source": ("", '{"code": "def f(x:", "description": "d"}\n', ""),
    "an unclosed object": ('{"code": "', "a ", ""),
    "objects of hypotheses": ('{"hypotheses": [', '"a", ', '"a"]}'),
    "unclosed list of hypotheses": ('{"hypotheses": [', '"a", ', ""),
    "braces": ("", "{", ""),
    "braces with a quote": ("", '{"', ""),
    "double quotes": ("", '"', ""),
    "single quotes": ("", "'", ""),
    "three quotes": ("", '"""\n', ""),
    "quoted commas": ("(", '"a", ', ")"),
    "pairs of texts": ("", '("a", "def f(x: 1")\n', ""),
    "pairs without end": ("", '("a", "def f', ""),
    "a pair and quotes": ('("d", "def f(x): ', '")', ""),
    "quotes before commas": ('("d', '", "def ', ""),
    "curly quotes": ("", "“", ""),
    "closing curly quotes": ("", "“a”’", ""),
    "single curly quotes": ("", " ‘a", ""),
    "angle quotes": ("", "«a ", ""),
    "apostrophes": ("", "don't ", ""),
    "backslashes": ("", "\\", ""),
    "escaped quotes": ('"', '\\"', ""),
    "backticks": ("", "`", ""),
    "backtick and word": ("", "`a ", ""),
    "tildes": ("", "~", ""),
    "fences": ("", "```\n", ""),
    "fenced functions": ("", "```python\ndef f(x: 1\n```\n", ""),
    "mixed fences": ("", "```\n~~~\n", ""),
    "fences within lines": ("", "``` ", ""),
    "an unclosed fence": ("```python\ndef f(x):\n", "    x = (\n", ""),
    "combining marks": ("a", "\u0315\u0300", ""),
    "combining marks in a tuple": ('("d", "def f(a', "\u0315\u0300", '): return 1")'),
    "combining marks in a function": ("def f(a", "\u0315\u0300", "):\n    return 1"),
    "characters that decompose": ("", "\ufdfa", ""),
    "fields of an f-string": ("def f(x): return f'", "{x}", "'"),
    "fields of an f-string in a tuple": ('("d", f"', "{x}", '")'),
    "dotted import": ("import a", ".a", "\ndef f(x): return x"),
    "lines": ("", "\n", ""),
    "carriage returns": ("", "\r", ""),
    "lines of Windows": ("", "a\r\n", ""),
    "blank lines between letters": ("", "a\n\n", ""),
    "blank lines with blanks": ("", "\n \t\n ", ""),
    "form feeds": ("", "\f", ""),
    "blanks": ("", " ", "x"),
    "tabs": ("", "\t", "x"),
    "no-break spaces": ("", "\u00a0", "x"),
    "blanks after a word": ("def", " ", ""),
    "blanks after a tag": ("<tool_call>", " ", "x"),
    "blanks in a tool call": ("<tool_call>x", " ", "x"),
    "blanks after a mark": ('{"name"', " ", "x"),
    "blanks after a bracket": ("[", " ", "x"),
    "blanks after a number": ("score: 4", " ", "x"),
    "blanks after a quote": ('("a"', " ", "x"),
    "indented lines": ("", "            x\n", ""),
    "escaped line breaks": ("def f(x):", "\\n    x", ""),
    "escapes": ("", "\\u0000", ""),
    "escaped letters": ("", "\\x41\\u0041", ""),
    "null characters": ("", "\0", ""),
    "functions": ("", "def f(x): return x\n", ""),
    "functions without end": ("", "def f", ""),
    "functions at lines": ("", "def f(x:\n", ""),
    "lambdas": ("f = ", "lambda:", ""),
    "nots": ("", "not ", "x"),
    "minuses": ("", "-", "1"),
    "pluses": ("1", "+1", ""),
    "comparisons": ("x", " < x", ""),
    "colons": ("", ":", ""),
    "commas": ("", ",", ""),
    "words and commas": ("", "a, ", ""),
    "percent signs": ("", "%", ""),
    "stars": ("", "*", ""),
    "bold words": ("", "**a** ", ""),
    "unclosed bold words": ("", "**a", ""),
    "underscores": ("", "_", ""),
    "table": ("", "| a | b |\n", ""),
    "headings": ("", "# a\n", ""),
    "numbered list": ("", "1. a\n", ""),
    "numbers within a line": ("", "a. 2. ", ""),
    "bullets": ("", "- a\n", ""),
    "hypothesis titles": ("", "Hypothesis 1: a\n", ""),
    "bold hypothesis titles": ("1. ", "**Hypothesis", ""),
    "sources": ("1. a [", "source paper ", "]"),
    "open sources": ("1. a ", '[source 1, quote "a ', ""),
    "labels": ("", "Label: deceptive\n", ""),
    "final answers": ("", "final answer: ", ""),
    "final answers in brackets": ("", "final answer (", ""),
    "label words": ("", "truthful ", ""),
    "label words with not": ("", "not truthful ", ""),
    "two labels": ("", "truthful deceptive ", ""),
    "scores": ("", "Score: 4\n", ""),
    "numbers": ("", "4.5 ", ""),
    "scores out of": ("", "4/5 ", ""),
    "reasons": ("", "because ", ""),
    "chosen patterns": ("", "chosen pattern ", ""),
    "and": ("the text mentions a hotel ", "and mentions a room ", "is truthful"),
    "or": ("the text mentions a hotel ", "or mentions a room ", "is truthful"),
    "if then": ("", "if the text mentions a hotel then ", "it is truthful"),
    "lists of words": ("Texts that mention one of ", '"hotel", ', '"room" are truthful.'),
    "lists of quotes": ("Texts that mention ", '"', ' are truthful'),
    "a long quoted word": ('If the text mentions "', "x", '", it is truthful.'),
    "a long word of a sentence": ("Texts that mention ", "x", " are truthful."),
    "a long word in brackets": ("1. had [", "x", "] | truthful"),
    "clauses": ("", "If the text mentions hotel, it is truthful. ", ""),
    "brackets of a sentence": ("Texts that ", "(mention a hotel or ", "are truthful"),
    "not of a sentence": ("If it is ", "not the case that it is ", "long, it is truthful"),
    "otherwise": ("Texts that mention a hotel are truthful, ", "otherwise ", "deceptive"),
    "quantifiers": ("", "(exists y ", "(P y)"),
    "formulas": ("", "(P x)", ""),
    "nested formulas": ("", "(not ", "(P x)"),
    "wide formula": ("(and ", "(P x) ", ")"),
    "mixed formulas": ("", "(and (P x) (or (Q x y) ", "(P x)"),
    "many variables": ("", "(forall y (and (Q x y) ", "(P x)"),
    "many letters": ("(and ", "".join(f"(P {c}) " for c in LETTERS), ")"),
    "bound letters": ("", "".join(f"(forall {c} (and (P {c}) " for c in LETTERS), "(P x)"),
    "equalities": ("(and ", "(= x x) ", ")"),
    "object names": ("(P ", "a1 ", ")"),
    "arguments in a field": ('{"arguments": "', "\\\\\\\"", '"}'),
    "emoji": ("", "\U0001f468\u200d\U0001f469\u200d\U0001f467 ", ""),
    "right-to-left marks": ("", "\u202e\u2066a", ""),
    "surrogates": ("", "\ud800", ""),
    "capital letters with dots": ("", "İ", ""),
    "full-width letters": ("", "Ａ", ""),
    "rich markup": ("", "[bold][/bold]", ""),
    "keys": ("", "sk-", ""),
    "addresses": ("", "https://a?b@", ""),
    "entities": ("", "&lt;", ""),
    "escape codes": ("", "\x1b[31m", ""),
}  # fmt: skip


def text_of(shape: str, characters: int) -> str:
    """Return a text of a shape with about so many characters, and never more."""
    beginning, part, end = SHAPES[shape]
    count = max(1, (characters - len(beginning) - len(end)) // len(part))
    return f"{beginning}{part * count}{end}"[:characters]


# --- readers ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A reader, and the most characters that it reads."""

    read: Reader
    characters: int = CHARACTERS


PUBLIC: dict[str, Any] = {
    "labels": ["deceptive", "truthful"],
    "columns": {"text": {"kind": "text", "about": ""}},
    "shape": "text",
}
PREDICATES = ("P", "Q", "R")


def all_readers() -> dict[str, Case]:
    """Return every function of the package that reads text of a model, by name."""
    return {**_program_readers(), **_logic_readers(), **_text_readers(), **_other_readers()}


def _program_readers() -> dict[str, Case]:
    from peirce.tasks.io.json_text import find_objects
    from peirce.tasks.programs import answers, source
    from peirce.tools.gear.memorisation import find_literals

    forms = ("tuple", "json", "fenced_function")
    return {
        **{f"answer, {form}": Case(partial(_read_answer, form)) for form in forms},
        "code of a tool call": Case(answers.read_code),
        "strict contract": Case(lambda text: answers.enforce_contract(answers.read_code(text))),
        "source": Case(source.read_source, source.MAX_SOURCE_CHARACTERS),
        "literals of a source": Case(find_literals, source.MAX_SOURCE_CHARACTERS),
        "escapes": Case(source.unescape),
        "objects in a text": Case(lambda text: find_objects(text, ("code", "formula"))),
    }


def _read_answer(form: str, text: str) -> object:
    from peirce.tasks.programs.answers import read_answer

    return read_answer(text, form)


def _logic_readers() -> dict[str, Case]:
    from peirce.tasks.logic.family import extract_formula
    from peirce.tools.logic.formula import format_infix, format_sexpr
    from peirce.tools.logic.rules import read_rule
    from peirce.tools.logic.theories import PUBLISHED_THEORIES

    theory = next(iter(PUBLISHED_THEORIES.values()))

    def read_and_write(text: str) -> object:
        formula = read_rule(text, theory).formula
        return formula and (
            format_sexpr(formula),
            format_infix(formula),
            formula.size,
            formula.depth,
        )

    return {
        "answer with a rule": Case(lambda text: extract_formula(text, theory.predicates)),
        "formula": Case(read_and_write),
    }


def _text_readers() -> dict[str, Case]:
    from peirce.records import InputSet, View
    from peirce.tasks.text import answers, rating_answers
    from peirce.tasks.text.family import FAMILY, MAX_CHARACTERS
    from peirce.tasks.text.generation import topic_parsers
    from peirce.tasks.text.generation.topic_draft import Definition, Draft, Template, WrittenPhrase
    from peirce.tasks.text.label_names import LabelNames
    from peirce.tasks.text.papers import contains_quote, split_text
    from peirce.tools.discovery.rule_cases import compile_truth
    from peirce.tools.sentence_rules.sentence_compiler import compile_sentence

    view = View("p", "t", "text", (), PUBLIC, InputSet("s", ()))
    labels, names = PUBLIC["labels"], LabelNames(PUBLIC["labels"])
    paper = "Reviews that mention a hotel are truthful. " * 200
    draft = Draft(
        "t",
        "reviews",
        [Definition("truthful"), Definition("deceptive")],
        [Definition("room")],
        [[WrittenPhrase("had a room", "room", 0)]],
        [Template(("We ", " there."), (0,))],
    )
    return {
        "answer with hypotheses": Case(lambda text: FAMILY.parse(view, text, "list")),
        "one hypothesis": Case(lambda text: answers.parse_hypotheses(text, 1)),
        "hypotheses with sources": Case(lambda text: answers.parse_sourced_hypotheses(text, 10)),
        "judge's label": Case(lambda text: answers.parse_judgement(text, labels)),
        "yes or no": Case(answers.parse_yes_no),
        "chosen pattern": Case(lambda text: answers.parse_pattern_number(text, 5)),
        "thoughts of a judge": Case(answers.strip_reasoning),
        "rating": Case(lambda text: rating_answers.parse_rating(text, rating_answers.FIVE_POINT_SCALE)),
        "reason of a rating": Case(rating_answers.parse_reason),
        "name of a label": Case(names.find),
        "sentence": Case(lambda text: compile_sentence(text, PUBLIC), 20_000),
        "sentence of a hypothesis": Case(lambda text: compile_sentence(text, PUBLIC), MAX_CHARACTERS),
        "true sentence": Case(lambda text: compile_truth(text, PUBLIC), 20_000),
        "pieces of a paper": Case(lambda text: split_text(text, 50)),
        "quote of a paper": Case(lambda text: contains_quote(text, paper)),
        "quote in a text": Case(lambda text: contains_quote("a hotel", text)),
        "labels of a topic": Case(lambda text: topic_parsers.parse_labels(text, draft, 5)),
        "types of a topic": Case(lambda text: topic_parsers.parse_types(text, draft, 5)),
        "phrases of a topic": Case(lambda text: topic_parsers.parse_phrases(text, draft, 0, 5)),
        "templates of a topic": Case(lambda text: topic_parsers.parse_templates(text, draft, 5)),
        "forms of a topic": Case(lambda text: topic_parsers.parse_forms(text, draft, 0, 0, 5)),
    }  # fmt: skip


def _other_readers() -> dict[str, Case]:
    from peirce import secrecy
    from peirce.agents.endpoint import faults, replies
    from peirce.agents.local.chat import extract_tool_calls
    from peirce.agents.reasoning import split_reasoning
    from peirce.records import DataError, Reply, ToolSpec
    from peirce.reports.files.tables import Table, as_csv, as_markdown, as_text
    from peirce.reports.page.document import encode_json
    from peirce.reports.screen.text import create_console, escape_unprintable, to_one_line
    from peirce.tasks.io.json_text import parse_json, parse_literal

    tools = [ToolSpec("execute", "", {})]

    def read(parse: Callable[[str, str], object], text: str) -> None:
        with contextlib.suppress(DataError):
            parse(text, "a line")

    def call(text: str) -> None:
        function = {"name": "execute", "arguments": text}
        with contextlib.suppress(faults.Fault, RecursionError):
            replies.normalise_choice({"message": {"tool_calls": [{"function": function}]}})

    def fault(text: str) -> object:
        return faults.error_detail({"error": {"message": text}}), faults.refused_part(
            text, ("tools", "seed")
        )

    def print_text(text: str) -> None:
        with open(os.devnull, "w") as file:
            screen = create_console()
            screen.file = file
            screen.print(escape_unprintable(text, keep_lines=True))

    def tables(text: str) -> object:
        table = Table(("a", "b"), [[text[:2_000], 1], [text, 2]])
        return as_text(table), as_markdown(table), as_csv(table)

    return {
        "reasoning": Case(split_reasoning),
        "tool calls of a local model": Case(lambda text: extract_tool_calls(text, tools)),
        "arguments of a tool call": Case(call),
        "message of a fault": Case(fault),
        "keys in a reply": Case(lambda text: replies.redact_reply(Reply(text), "sk-1234567890")),
        "secrets in a text": Case(secrecy.redact_secrets),
        "setting on the screen": Case(lambda text: secrecy.redact_setting("base_url", text)),
        "JSON of a file": Case(partial(read, parse_json)),
        "literal of a file": Case(partial(read, parse_literal)),
        "text on the screen": Case(print_text, 20_000),
        "text on one line": Case(to_one_line),
        "text in a table": Case(tables),
        "text on the page": Case(encode_json),
    }  # fmt: skip


# --- measuring --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Growth:
    """What a reader takes for a shape of text.

    Args:
        characters: The length of the longest text that was tried.
        seconds: CPU time for it.
        exponent: e where the time grows as n^e from a quarter of the length; 0 where it was not measured, 9.9
            where a text of an eighth took too long.
    """

    reader: str
    shape: str
    characters: int
    seconds: float
    exponent: float = 0.0

    @property
    def bounded(self) -> bool:
        """Whether the longest text takes little time, or about four times that of a quarter."""
        return self.seconds < ENOUGH_S or self.exponent <= EXPONENT


def cpu_seconds(read: Reader, text: str, rounds: int = 1) -> float:
    """Return the least CPU time of so many readings."""
    best = math.inf
    for _ in range(rounds):
        started = time.process_time()
        read(text)
        best = min(best, time.process_time() - started)
    return best


def measure_growth(name: str, case: Case, shape: str, thorough: bool = True) -> Growth:
    """Measure a reader on texts of one shape that grow to the most characters that it reads.

    Unless it is thorough, it ends early where even quadratic growth would leave the time small.
    """
    seconds: list[float] = []
    for part in (16, 8, 4, 2, 1):
        characters = case.characters // part
        seconds.append(cpu_seconds(case.read, text_of(shape, characters)))
        if seconds[-1] > LONGEST_S or (not thorough and seconds[-1] * part**2 < ENOUGH_S):
            break
    if seconds[-1] < ENOUGH_S or len(seconds) < 3:
        return Growth(name, shape, characters, seconds[-1], 0.0 if seconds[-1] < ENOUGH_S else 9.9)
    quarter, full = seconds[-3], seconds[-1]
    for rounds in (3, 5, 0):  # other processes disturb a short measurement
        grown = Growth(name, shape, characters, full, math.log(full / max(quarter, 1e-6), 4))
        if grown.bounded or not rounds:
            break
        quarter = cpu_seconds(case.read, text_of(shape, characters // 4), rounds)
        full = cpu_seconds(case.read, text_of(shape, characters), rounds)
    return grown


def measure_all(readers: Mapping[str, Case], shapes: Sequence[str]) -> list[Growth]:
    """Measure every reader on every shape."""
    return [measure_growth(name, case, shape) for name, case in readers.items() for shape in shapes]


def choose(names: str | None, there: Mapping[str, object]) -> list[str]:
    """Return the names of a list such as `reasoning,source`, or all. Raises SystemExit for others."""
    chosen = names.split(",") if names else list(there)
    for name in chosen:
        if name not in there:
            raise SystemExit(f"There is no {name!r}; choose from {', '.join(there)}.")
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", help="names, divided by commas")
    parser.add_argument("--shapes", help="names, divided by commas")
    parser.add_argument("--worst", type=int, default=1, help="shapes to print for each reader")
    add_json_option(parser)
    asked = parser.parse_args()
    there = all_readers()
    readers = {name: there[name] for name in choose(asked.readers, there)}
    shapes = choose(asked.shapes, SHAPES)
    body, rows = [], []
    for name, case in readers.items():
        found = measure_all({name: case}, shapes)
        found.sort(key=lambda one: (one.bounded, -one.seconds))
        worst = max(found, key=lambda one: one.seconds)
        faults = [one for one in found if not one.bounded]
        for one in [*faults, *(one for one in found if one.bounded)][
            : max(asked.worst, len(faults))
        ]:
            exponent = f"{one.exponent:.2f}" if one.exponent else "-"
            mark = "" if one.bounded else "GROWS TOO FAST"
            body.append(
                (name, one.shape, f"{one.characters:,}", f"{one.seconds:.3f}", exponent, mark)
            )
        rows.append(Row(f"{name}: slowest shape of text", worst.seconds * 1e6 / worst.characters,
                        "s/million characters"))  # fmt: skip
        print(body[-1], flush=True)
    rows.append(Row("readings that grow faster than n^1.4", sum(row[5] != "" for row in body), "",
                    limit=0))  # fmt: skip
    print(format_table(("reader", "shape", "characters", "seconds", "e", ""), body))
    print(
        f"{len(readers)} readers x {len(shapes)} shapes = {len(readers) * len(shapes):,} readings"
    )
    write_rows(asked.json, rows)


if __name__ == "__main__":
    main()
