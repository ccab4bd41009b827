"""What a session's model was told by the oracle while it answered, from the session's settings. Rows
made so are no single-turn rows, so tables name it.

    none            nothing: asked once, or again and again without a word
    tool            it was offered the oracle as a tool (a model that turns out to refuse tools is
                    told in its next prompt what a call would have said)
    solver          each answer is told of in the next prompt
    solver+search   and a search mends and shrinks them; so are all parts put together
"""

from __future__ import annotations

from collections.abc import Mapping

from ..records import Json

NONE, TOOL, SOLVER = "none", "tool", "solver"


def feedback_of(settings: Mapping[str, Json]) -> str:
    """settings: of a session, as it records them. What the embedded search asks of itself is not
    counted: its name says it."""
    if settings.get("method") == "imported":
        return NONE
    takes_tools = settings.get("model_settings", {}).get("tools") is not False
    calls = settings.get("tool_calls", 0) > 0
    told = settings.get("feedback")
    if told is None:
        told = calls and not takes_tools
    parts = [SOLVER] if told else []
    parts += [TOOL] if calls and takes_tools else []
    parts += [str(settings["repair"]).partition(":")[0]] if settings.get("repair") else []
    return "+".join(parts) or NONE
