"""Child process that asks pyoperon or gplearn for the laws of a table, started as `python -m
peirce.agents.regression.process`.

It answers one line of JSON with another (tools/line_process.py). The packages end their search at the
time limit by themselves. If one does not, the parent kills the process; the limit on CPU time ends it
if the parent is gone.
"""

from __future__ import annotations

import math
import resource
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

import numpy as np

from ...tools.formulas import (
    Column,
    Expression,
    FormulaError,
    Operation,
    Text,
    evaluate_formula,
    format_formula,
    parse_formula,
)
from ...tools.line_process import serve
from .table import GRACE_S, Untranslatable

MAX_LAWS = 20
MAX_INDICATORS = 10  # of a column of categories: its most frequent ones


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a request.

    Args:
        request: {"peer": name} alone, to import the package, or a mapping with the keys "peer"
            ("pyoperon" or "gplearn"), "columns" (lists of n numbers or texts, by identifier),
            "categories" (the identifiers of the columns of texts), "target" (n numbers), "seconds",
            "memory_mb" and "seed".

    Returns:
        {"ready": True}, or {"laws": texts, the chosen one first}, or {"reason": why there is none}.
    """
    peer = import_module(f".{request['peer']}_laws", __package__)
    if "target" not in request:
        return {"ready": True}
    _set_limits(request["memory_mb"], math.ceil(2 * request["seconds"] + GRACE_S))
    columns = {
        name: np.array(values, dtype=str if name in request["categories"] else np.float64)
        for name, values in request["columns"].items()
    }
    features = list(_features(columns, request["categories"]))
    if not features:
        return {"reason": f"no column varies, and {request['peer']} needs one that does"}
    table = np.stack([evaluate_formula(one, columns) for one in features], axis=1)
    target = np.array(request["target"], np.float64)
    laws: list[str] = []
    for law in peer.find_laws(table, target, features, request["seconds"], request["seed"]):
        with suppress(FormulaError, Untranslatable):
            text = format_formula(law())
            parse_formula(text, columns, request["categories"])  # as long as a formula may be
            if text not in laws:
                laws.append(text)
        if len(laws) == MAX_LAWS:
            break
    return {"laws": laws} if laws else {"reason": f"{request['peer']} finds no law"}


def _features(columns: Mapping[str, Any], categories: list[str]) -> Iterator[Expression]:
    """Yield each column of numbers that varies, and a comparison for each category."""
    for name, values in columns.items():
        if name not in categories:
            if np.ptp(values) > 0:
                yield Column(name)
            continue
        found, counts = np.unique(values, return_counts=True)
        frequent = [str(found[place]) for place in np.argsort(-counts, kind="stable")]
        # The last category is the one that is none of the others.
        for text in frequent[: min(len(frequent) - 1, MAX_INDICATORS)]:
            yield Operation("==", (Column(name), Text(text)))


def _set_limits(memory_mb: int, cpu_s: int) -> None:
    limits = ((resource.RLIMIT_AS, memory_mb << 20), (resource.RLIMIT_CPU, cpu_s))
    for limit, value in limits:
        with suppress(OSError, ValueError):  # macOS refuses some values of RLIMIT_AS
            resource.setrlimit(limit, (value, value))
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    serve(answer)
