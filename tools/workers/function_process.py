"""Worker process that applies functions of this package, as `python -m
peirce.tools.workers.function_process`.

Each request is {"function", "argument"}. The reply is {"result"}, or {"refused": [type, message]} if
the function raised a `PeirceError`. Any other exception is a bug: the process ends with a traceback.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import Any

from ...records import Json, PeirceError
from ..line_process import serve

_NAME = re.compile(r"[a-z_0-9]+(\.[a-z_0-9]+)*:[a-z][a-z_0-9]*")


def load_function(name: str) -> Callable[[Json], Json]:
    """Return the function of this package that "MODULE:NAME" names (`records.Compute`)."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} does not name a function as MODULE:NAME")
    module, function = name.split(":")
    package = (__package__ or "").removesuffix(".tools.workers")
    found: Callable[[Json], Json] = getattr(
        importlib.import_module(f"{package}.{module}"), function
    )
    return found


def answer_request(request: dict[str, Any]) -> dict[str, Json]:
    """Apply the function of a request to its argument, and return the reply."""
    try:
        return {"result": load_function(request["function"])(request["argument"])}
    except PeirceError as error:
        return {"refused": [type(error).__name__, str(error)]}


if __name__ == "__main__":
    serve(answer_request)
