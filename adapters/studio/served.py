"""The graphs that `langgraph.json` names: one variable for each method, for example `hyporefine`.

Methods of other packages are served too. In a variable's name, "_" stands for each character of the
method's name that Python does not allow there, so the method `zero-shot-gen` is `zero_shot_gen`. The
server imports this module once, in a thread of its own, and all graphs are built then, because
building them reads files, which the server's event loop forbids.
"""

from __future__ import annotations

import re

from ...records import registry
from .outer_graph import build_graph

METHODS = {re.sub(r"\W", "_", method.name): method for method in registry.load_all("methods")}
GRAPHS = {name: build_graph(method) for name, method in METHODS.items()}
globals().update(GRAPHS)
