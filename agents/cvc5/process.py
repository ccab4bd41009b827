"""Child process that asks the SyGuS solver of cvc5 for one program, started as `python -m
peirce.agents.cvc5.process`.

It answers one line of JSON with another (tools/line_process.py). Its parent kills it at the time
limit. The limit on CPU time ends it if the parent is gone: a solver at work reads no input.
"""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import cvc5
from cvc5 import Kind

from ...tools.line_process import serve
from .translation import Untranslatable, program_of

SPARE_S = 5  # of CPU time, in which the parent kills the process


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a request.

    Args:
        request: Empty, to learn when the process is ready, or a mapping with the keys "types" (of
            the arguments, then of the result: "str", "int" or "bool"), "pairs" ([arguments, result]),
            "arguments" (their Python texts), "texts" and "numbers" (the constants), "earlier" (the
            programs that are not given again), "memory_mb" and "seconds".

    Returns:
        {"ready": True}, or a mapping with the keys "source" (a Python program) and "term" (as text
        of SMT-LIB), or {"reason": why there is none}.
    """
    if not request:
        return {"ready": True}
    _set_limits(request["memory_mb"], math.ceil(request["seconds"]) + SPARE_S)
    earlier = {text.strip() for text in request["earlier"]}
    try:
        for solver, solution in _solutions(request):
            with suppress(Untranslatable):
                source = program_of(solution, request["arguments"], solver.simplify)
                if source.strip() not in earlier:
                    body = solution[1] if solution.getKind() is Kind.LAMBDA else solution
                    return {"source": source, "term": str(body)}
    except RuntimeError as error:
        return {"reason": f"cvc5 failed: {' '.join(str(error).split()) or 'it says no reason'}"}
    return {"reason": "cvc5 finds no further program"}


def _set_limits(memory_mb: int, cpu_s: int) -> None:
    limits = ((resource.RLIMIT_AS, memory_mb << 20), (resource.RLIMIT_CPU, cpu_s))
    for limit, value in limits:
        with suppress(OSError, ValueError):  # macOS refuses some values of RLIMIT_AS
            resource.setrlimit(limit, (value, value))
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _solutions(request: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield solver and solution: whole programs that cvc5 enumerates, and in the second half of the time
    the program that it composes, by conditions, of programs that are right on some of the pairs. If
    cvc5 fails while it enumerates, its failure is raised after the second half.

    Composed programs are found for more problems, but more of them fit only the shown pairs.
    """
    half_s = request["seconds"] / 2
    end = time.monotonic() + half_s
    options = {"incremental": "true", "tlimit-per": str(math.ceil(1000 * half_s))}
    if request["earlier"]:
        # Otherwise cvc5 leaves out all programs with the outputs of one that it found.
        options["sygus-sym-break-pbe"] = "false"
    solver, function = _pose(request, options)
    failure: RuntimeError | None = None
    try:
        found = solver.checkSynth()
        while found.hasSolution():
            yield solver, solver.getSynthSolution(function)
            if time.monotonic() > end:
                break
            found = solver.checkSynthNext()
    except RuntimeError as error:  # cvc5 1.4 fails at some grammars while it enumerates
        failure = error
    solver, function = _pose(request, {"incremental": "false"})  # otherwise cvc5 does not compose
    if solver.checkSynth().hasSolution():
        yield solver, solver.getSynthSolution(function)
    if failure is not None:
        raise failure


def _pose(request: Mapping[str, Any], options: Mapping[str, str]) -> tuple[Any, Any]:
    """Return a solver with these options that knows the problem, and the function to find."""
    solver = cvc5.Solver()
    for name, value in {"sygus": "true", **options}.items():
        solver.setOption(name, value)
    solver.setLogic("SLIA")
    *takes, gives = (_sort(solver, name) for name in request["types"])
    variables = [solver.mkVar(sort, f"x{place}") for place, sort in enumerate(takes)]
    function = solver.synthFun("f", variables, gives, _grammar(solver, variables, request))
    for given, wanted in request["pairs"]:
        values = [_value(solver, one) for one in given]
        called = solver.mkTerm(Kind.APPLY_UF, function, *values)
        solver.addSygusConstraint(solver.mkTerm(Kind.EQUAL, called, _value(solver, wanted)))
    return solver, function


def _grammar(solver: Any, variables: Sequence[Any], request: Mapping[str, Any]) -> Any:
    """Return the grammar of the SyGuS competition's track of string examples."""
    text, number, truth = (
        solver.mkVar(_sort(solver, name), f"a_{name}") for name in ("str", "int", "bool")
    )
    given: dict[str, list[Any]] = {"str": [], "int": [], "bool": []}
    for name, variable in zip(request["types"], variables, strict=False):
        given[name].append(variable)
    term = solver.mkTerm
    rules = {
        text: [
            *given["str"],
            *(solver.mkString(one) for one in request["texts"]),
            term(Kind.STRING_CONCAT, text, text),
            term(Kind.STRING_REPLACE, text, text, text),
            term(Kind.STRING_CHARAT, text, number),
            term(Kind.STRING_FROM_INT, number),
            term(Kind.ITE, truth, text, text),
            term(Kind.STRING_SUBSTR, text, number, number),
        ],
        number: [
            *given["int"],
            *(solver.mkInteger(one) for one in request["numbers"]),
            term(Kind.ADD, number, number),
            term(Kind.SUB, number, number),
            term(Kind.STRING_LENGTH, text),
            term(Kind.STRING_TO_INT, text),
            term(Kind.ITE, truth, number, number),
            term(Kind.STRING_INDEXOF, text, text, number),
        ],
        truth: [
            *given["bool"],
            solver.mkTrue(),
            solver.mkFalse(),
            term(Kind.STRING_PREFIX, text, text),
            term(Kind.STRING_SUFFIX, text, text),
            term(Kind.STRING_CONTAINS, text, text),
        ],
    }
    first = {"str": text, "int": number, "bool": truth}[request["types"][-1]]
    grammar = solver.mkGrammar(variables, [first, *(one for one in rules if one is not first)])
    for symbol, alternatives in rules.items():
        grammar.addRules(symbol, alternatives)
    return grammar


def _sort(solver: Any, name: str) -> Any:
    return {
        "str": solver.getStringSort,
        "int": solver.getIntegerSort,
        "bool": solver.getBooleanSort,
    }[name]()


def _value(solver: Any, value: Any) -> Any:
    if isinstance(value, bool):
        return solver.mkBoolean(value)
    return solver.mkInteger(value) if isinstance(value, int) else solver.mkString(value)


if __name__ == "__main__":
    serve(answer)
