"""The answer contract of programs, held to the letter (`--strict-contract`): one function, no more.

By default what breaches it runs and the breaches are counted; held strictly, the answer is
malformed by the reason `breach_` and the gravest of its breaches. Nothing about safety rests on
this: the sandbox runs whatever is not malformed, and stops what it must.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..records import Hypothesis, Malformed

BREACHES = {  # the gravest first
    "import": "imports {modules}",
    "helper_function": "defines another function",
    "helper_class": "defines a class",
    "top_level_code": "has code outside of the function",
    "prints": "prints",
    "lambda": "is a lambda and no def",
    "no_return": "returns nothing",
}


def held_strictly(read: Hypothesis | Malformed) -> Hypothesis | Malformed:
    """`read` itself, malformed where it breaches the contract."""
    if isinstance(read, Malformed) or not read.breaches:
        return read
    found = sorted(read.breaches, key=list(BREACHES).index)
    modules = ", ".join(sorted(set(_modules(read.text)))) if "import" in found else ""
    said = ", ".join(BREACHES[name].format(modules=modules) for name in found)
    detail = f"{said}; one function alone is allowed under --strict-contract"
    return Malformed(f"breach_{found[0]}", detail[:300])


def _modules(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")
