"""One line about the published protocol of a session and what differs from it."""

from __future__ import annotations

from collections.abc import Mapping

from ..records import Json

MAX_VALUE_CHARACTERS = 60


def summarise_protocol(record: Mapping[str, Json]) -> str:
    """Return a text such as "gear, with tool_calls=4" about a protocol.

    Args:
        record: {"name", "changed", "unused"} and optionally "advice", as a session records it.
    """
    changed = ", ".join(f"{name}={_value(one)}" for name, one in record["changed"].items())
    said = f"{record['name']}, with {changed}" if changed else str(record["name"])
    if record["unused"]:
        said += f" (not applicable here: {', '.join(record['unused'])})"
    return said


def _value(value: Json) -> str:
    shown = ("yes" if value else "no") if isinstance(value, bool) else str(value)
    if len(shown) > MAX_VALUE_CHARACTERS:
        shown = f"{shown[: MAX_VALUE_CHARACTERS - 1]}…"
    return shown
