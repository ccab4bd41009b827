"""A plain bottom-up enumeration of the grammar of list functions, to compare the embedded search with.

    python bench/plain_enumeration.py [--json FILE]

Programs are made by price, cheapest first, of the operations, features, terms and predicates that
search/lists/ knows, with its prices. One program is evaluated at a time, by the Python text of
its outermost operation (compiled once for all problems) on the values that its parts have on each
shown input. No two programs are ever one for having the same values, nothing is deduced from the
outputs, and nothing is evaluated by numpy; the first program that is right on all shown pairs is the
answer. What is not made: lists of fixed numbers otherwise than number by number, conditionals within
anything, `next_in`. Last digits and halves of elements cost what their parts do, without a discount.

bench/search.py prints it beside the search. Alone it makes ten problems and gives a second to each.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from peirce.search.lists import element_goals, integers
from peirce.search.lists.codegen import TooLong, generate_source, generate_term, uses_index
from peirce.search.lists.features import FEATURES, INPUT_FEATURES, PREDICATES, TERMS
from peirce.search.lists.grammar import (
    LARGEST_COUNT,
    LARGEST_INTEGER,
    LONGEST_VALUE,
    OPERATIONS,
    REPEATING,
    Node,
    X,
    compile_operation,
    constant_cost,
    is_modest,
)
from table import Row, add_json_option, write_rows

FIFTH = 5  # prices are multiples of 0.2
MOST_KEPT = 800_000  # programs that may be parts, many with their values: about half a gigabyte
LATER = 8  # fifths: so much dearer, at least, is what a term or a predicate is a part of
CONSTANTS = (*range(11), -1, *range(20, 101, 10))
LOOKED = 256  # programs between two looks at the clock
ABSENT = (ArithmeticError, LookupError, TypeError, ValueError, MemoryError)


class Part(NamedTuple):
    """values: on each shown input; empty for what is said of elements, which has a text instead."""

    node: Node
    values: tuple[Any, ...]


class Production(NamedTuple):
    """takes: L list, I integer, B truth value of the whole; T term, P predicate of an element."""

    makes: str
    op: str
    takes: str
    price: float


_OVER = "for i, v in enumerate(x)"
# Forms over the elements of a list x, where X is the input.
ELEMENTWISE = {
    "map": f"[{{0}} {_OVER}]",
    "filter": f"[v {_OVER} if {{0}}]",
    "map_filter": f"[{{1}} {_OVER} if {{0}}]",
    "map_if": f"[{{1}} if {{0}} else {{2}} {_OVER}]",
    "sort_by": "sorted(x, key=lambda v: {0})",
    "each_by": f"[v {_OVER} for _ in range(min({{0}}, 300))]",
    "until": "x[:next((i for i, v in enumerate(x) if {0}), len(x))]",
    "since": "x[next((i for i, v in enumerate(x) if {0}), len(x)):]",
    "countif": f"sum(1 {_OVER} if {{0}})",
    "sumif": f"sum(v {_OVER} if {{0}})",
}
_KINDS = {"list": "L", "int": "I", "bool": "B"}
PRODUCTIONS = (
    *(Production(_KINDS[o.kind], o.name, o.takes, o.cost) for o in OPERATIONS.values()),
    Production("L", "single", "I", 0.8),
    Production("L", "map", "LT", element_goals.MAP),
    Production("L", "filter", "LP", element_goals.FILTER),
    Production("L", "map_filter", "LPT", element_goals.MAP_FILTER),
    Production("L", "map_if", "LPTT", element_goals.MAP_IF),
    Production("L", "sort_by", "LT", element_goals.SORT),
    Production("L", "each_by", "LT", element_goals.EACH),
    Production("L", "until", "LP", element_goals.CUT),
    Production("L", "since", "LP", element_goals.CUT),
    Production("I", "countif", "LP", integers._COUNT),
    Production("I", "sumif", "LP", integers._SUM),
    Production("L", "if", "BLL", 4.0),
    *(Production("T", op, "TT", price) for op, (_, price, _) in TERMS.items()),
    *(Production("P", op, "TT", PREDICATES[op][1]) for op in ("<", ">", "<=", ">=", "==", "!=")),
    *(Production("P", op, "PP", PREDICATES[op][1]) for op in ("and", "or")),
    Production("P", "not", "P", PREDICATES["not"][1]),
)


class Found(NamedTuple):
    """text: of the answer, None where there is none; after: seconds of CPU until it was found."""

    text: str | None
    after: float
    candidates: int
    seconds: float


def enumerate_plainly(shown: list[list[Any]], seconds: float, whole: bool = False) -> Found:
    """shown: pairs [input, output]. Ends with the first answer; whole: goes on to the end."""
    return _Enumeration(shown).run(seconds, whole)


def whole_texts(shown: list[list[Any]], seconds: float) -> float:
    """Programs a second where each is written out, compiled, and run on all shown inputs: no values of
    parts are kept then. The writing counts, the enumeration does not."""
    made = _Enumeration(shown)
    made.run(seconds, whole=True)
    parts = [part for (makes, _), some in made.made.items() if makes == "L" for part in some]
    began, count = time.process_time(), 0
    for part in parts:
        count += 1
        names: dict[str, Any] = {}
        try:
            exec(compile(generate_source(part.node), "<plain>", "exec"), names)
            for given in made.inputs:
                names["f"](given)
        except (*ABSENT, TooLong):
            pass
        if time.process_time() - began > seconds:
            break
    return count / (time.process_time() - began)


class _Enumeration:
    def __init__(self, shown: list[list[Any]]) -> None:
        self.shown = shown
        self.inputs = [list(given) for given, _ in shown]
        out = shown[0][1]
        self.kind = "bool" if type(out) is bool else "list" if type(out) is list else "int"
        self.goal = tuple(out for _, out in shown)
        self.made: dict[tuple[str, int], list[Part]] = {}
        self.kept = 0
        self.deadline = float("inf")

    def run(self, seconds: float, whole: bool) -> Found:
        began = time.process_time()
        self.deadline = began + seconds
        candidates, text, after = 0, None, 0.0
        for part in self._programs():
            candidates += 1
            if part is not None and text is None and part.values == self.goal:
                text = self._written(part.node)
                after = time.process_time() - began
                if text and not whole:
                    break
            if candidates % LOOKED == 0 and time.process_time() > self.deadline:
                break
        return Found(text, after, candidates, time.process_time() - began)

    def _programs(self) -> Iterator[Part | None]:
        """Every program on the shown inputs, by price, None where it has no value there; those whose
        value is of the outputs' type may be the answer."""
        wanted = _KINDS[self.kind]
        for price in itertools.count():
            if self.kept >= MOST_KEPT:  # the next price would lack parts
                return
            for kinds, at in (("TP", price - LATER), ("LIB", price)):
                for makes, nodes in _leaves(at).items():
                    if makes in kinds:
                        self.made[makes, at] = [Part(n, self._leaf(n, makes)) for n in nodes]
                for production in PRODUCTIONS:
                    if production.makes in kinds:
                        yield from self._entered(production, at, production.makes == wanted)

    def _entered(self, production: Production, price: int, wanted: bool) -> Iterator[Part | None]:
        made = self.made.setdefault((production.makes, price), [])
        for part in self._build_parts(production, price):
            if part is not None and self.kept < MOST_KEPT:
                made.append(part)
                self.kept += 1
            if production.makes not in "TP":
                yield part if wanted else None
            elif self.kept % LOOKED == 0 and time.process_time() > self.deadline:
                return

    def _leaf(self, leaf: Node, makes: str) -> tuple[Any, ...]:
        if makes == "L":
            return tuple(self.inputs)
        return (leaf.args[0],) * len(self.inputs) if makes == "I" else ()

    def _build_parts(self, production: Production, price: int) -> Iterator[Part | None]:
        _, op, takes, own = production
        for prices in _splits(price - round(own * FIFTH), len(takes)):
            pools = [self.made.get(key, ()) for key in zip(takes, prices, strict=True)]
            for parts in itertools.product(*pools) if all(pools) else ():
                nodes = tuple(part.node for part in parts)
                if not _sensible(op, nodes):
                    continue
                made = Node(op, nodes, price / FIFTH)
                if production.makes in "TP":
                    yield Part(made, ())
                    continue
                values = self._values(made, parts)
                yield None if values is None else Part(made, values)

    def _values(self, made: Node, parts: tuple[Part, ...]) -> tuple[Any, ...] | None:
        """None where a list is not there, or too large, on some input, or an integer on all."""
        op = made.op
        if op in REPEATING and (not is_modest(made) or any(map(_large, parts))):
            return None
        if op in ELEMENTWISE:
            function = _elementwise(op, made.args[1:])
            operands = list(zip(parts[0].values, self.inputs, strict=True))
        else:
            function = _FORMS[op] if op in _FORMS else compile_operation(op)
            operands = list(zip(*(part.values for part in parts), strict=True))
        values = []
        for some in operands:
            try:
                value = None if None in some and op != "single" else function(*some)
            except ABSENT:
                value = None
            if type(value) is list:
                if len(value) > LONGEST_VALUE or any(abs(v) > LARGEST_INTEGER for v in value):
                    return None
            elif value is None:
                kind = OPERATIONS[op].kind if op in OPERATIONS else "list"
                if kind == "list":
                    return None
                value = False if kind == "bool" else None
            elif abs(value) > LARGEST_INTEGER:
                return None
            values.append(value)
        return tuple(values) if any(v is not None for v in values) else None

    def _written(self, program: Node) -> str | None:
        """The text of an answer, where it is right on the shown pairs."""
        if self.kind == "int":
            program = Node("single", (program,), program.cost)
        names: dict[str, Any] = {}
        try:
            text = generate_source(program, self.kind)
            exec(compile(text, "<plain>", "exec"), names)
            right = all(names["f"](list(given)) == out for given, out in self.shown)
        except (*ABSENT, TooLong):
            return None
        return text if right else None


_FORMS: dict[str, Callable[..., Any]] = {
    "single": lambda integer: [] if integer is None else [integer],
    "if": lambda test, then, other: then if test else other,
}


@cache
def _elementwise(op: str, said: tuple[Node, ...]) -> Callable[..., Any]:
    text = ELEMENTWISE[op].format(*(generate_term(node, "x", "X") for node in said))
    made: Callable[..., Any] = eval(compile(f"lambda x, X: {text}", "<plain>", "eval"), {})
    return made


@cache
def _splits(total: int, count: int) -> tuple[tuple[int, ...], ...]:
    """Prices of `count` parts that add up to the total."""
    if count == 1:
        return ((total,),) if total >= 0 else ()
    return tuple((k, *rest) for k in range(total + 1) for rest in _splits(total - k, count - 1))


@cache
def _leaves(price: int) -> dict[str, list[Node]]:
    constants = [Node("const", (c,), constant_cost(c)) for c in CONSTANTS]
    features = [Node(f.name, (), f.cost) for f in (*FEATURES.values(), *INPUT_FEATURES.values())]
    leaves = {"L": [X], "I": constants, "T": [*features, *constants]}
    return {
        makes: [node for node in nodes if round(node.cost * FIFTH) == price]
        for makes, nodes in leaves.items()
    }


@cache
def _of_input(node: Node) -> bool:
    return node.op in INPUT_FEATURES or any(isinstance(a, Node) and _of_input(a) for a in node.args)


def _sensible(op: str, nodes: tuple[Node, ...]) -> bool:
    """False for what is written otherwise: constants alone, keys of a sort that speak of places, the
    input as another list than itself; and for conditionals within something."""
    if all(node.op == "const" for node in nodes):
        return op in ("single", "copies", "upto", "oneto", "downto", "range", "range_down")
    if any(node.op == "if" for node in nodes):
        return False
    if op in ELEMENTWISE:
        if op == "sort_by" and uses_index(nodes[1]):
            return False
        return nodes[0].op != "x" or not any(_of_input(node) for node in nodes[1:])
    return True


def _large(part: Part) -> bool:
    return any(
        abs(v) > LARGEST_COUNT
        for value in part.values
        for v in (value if type(value) is list else (value or 0,))
    )


def main() -> None:
    from peirce.tasks import load_problems

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_json_option(parser)
    options = parser.parse_args()
    solved = candidates = 0
    seconds = 0.0
    for problem, _ in load_problems("list_functions", problems=10):
        found = enumerate_plainly([[o.input, o.output] for o in problem.shown], 1.0)
        solved += found.text is not None
        candidates += found.candidates
        seconds += found.seconds
    print(
        f"plain enumeration, a second a problem: {solved} of 10 have an answer,"
        f" {candidates / seconds:,.0f} candidates a second"
    )
    work = "plain enumeration of list functions"
    write_rows(options.json, [Row(work, candidates / seconds, "candidates/s", "higher")])


if __name__ == "__main__":
    main()
