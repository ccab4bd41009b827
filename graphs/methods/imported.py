"""`imported`: judge recorded answers, one after the other, until none is left.

Answers are judged as in `abduce`, but bad answers do not stop a problem. A step is one turn of the
recorded conversation, which may contain several answers (five in the records of Qiu et al.). Other
fields of the record, such as the rule that was chosen in a turn, are stored with the step.
"""

from __future__ import annotations

from typing import Any

from ...config import BankSettings, Lenient
from .. import Method
from ..runtime.case import Runtime
from ..runtime.judging import judge
from ..runtime.steps import END, START, State, compile_graph, new_graph, read_recorded, record


class ImportedSettings(BankSettings):
    """Settings of `imported`."""

    lenient: Lenient = False  # the recorded model was asked in another form than Peirce's


async def after_read(state: State, runtime: Runtime) -> str:
    """Return the name of the node that follows a read answer."""
    return "record" if state["stop"] else "judge"


async def after_judge(state: State, runtime: Runtime) -> str:
    """Return the name of the node that follows a judged answer.

    The node reads the next answer of the same turn, or records the turn after its last answer.
    """
    return "record" if runtime.context.reply.meta.get("last_of_turn", True) else "read_recorded"


async def after_record(state: State, runtime: Runtime) -> str:
    """Return the name of the node that follows a recorded turn."""
    return END if state["stop"] or runtime.context.stopping.is_set() else "read_recorded"


def build() -> Any:
    """Build the graph of `imported`.

    read_recorded -> judge -> (read_recorded ...) -> record -> read_recorded ...
    """
    graph = new_graph()
    for node in (read_recorded, judge, record):
        graph.add_node(node)
    graph.add_edge(START, "read_recorded")
    graph.add_conditional_edges("read_recorded", after_read, ["judge", "record"])
    graph.add_conditional_edges("judge", after_judge, ["read_recorded", "record"])
    graph.add_conditional_edges("record", after_record, ["read_recorded", END])
    return compile_graph(graph)


METHOD = Method(
    "imported",
    "judge recorded answers; decide nothing",
    None,
    build,
    asks=False,
    forecast=lambda of: {},
    settings=ImportedSettings,
    takes_hints=False,
)
