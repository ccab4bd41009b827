"""Read an answer whose form is nearly that of its contract, and name what was wrong with the form.

`read_leniently` first reads the answer as the family reads it. Only if this gives no hypothesis, the
repaired answer is read: JSON with the faults that json_repair.py repairs, or typographic quotes where
straight ones belong. The families already tolerate fences, prose and drafts around JSON; for these,
only the name is added.

Everything here is a pure function of the text, so a replay reads an answer in the same way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from ...records import Hypothesis, Json, Malformed
from .json_repair import SMART_QUOTES, describe_surroundings, repair_object

OTHER_FORM = "other_form"  # read, but without the JSON object that the contract asks for
TOOL_CALL_TEXT = "tool_call_text"  # a tool call that the model wrote into its text
Items = Sequence[Hypothesis | Malformed]
_STRAIGHT = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"})


def read_leniently(
    parse: Callable[[str], Items], text: str, schema: Mapping[str, Json] | None
) -> tuple[Items, tuple[str, ...]]:
    """Return the hypotheses in an answer, and the names of the faults of its form.

    The faults are those of `repair_object`, and other_form for an answer that should be JSON and was
    read although it holds no such object. They are empty for an answer that could not be read.

    Args:
        parse: The family's function that reads the text of an answer.
        text: The answer. It was not cut at a token limit.
        schema: The JSON schema of the answer; None for a format that is not JSON.
    """
    items = parse(text)
    keys = tuple(schema["properties"]) if schema else ()
    if _holds_hypothesis(items):
        return items, _name_faults(text, keys) if schema else ()
    for faults, repaired in _repair(text, keys):
        found = parse(repaired)
        if _holds_hypothesis(found):
            return found, faults
    return items, ()


def describe_breach(faults: Sequence[str]) -> Malformed:
    """Return the judgement of an answer with these faults under the strict contract."""
    said = ", ".join(fault.replace("_", " ") for fault in faults)
    return Malformed(
        f"breach_{faults[0]}",
        f"the form of the answer has {said}; only the form that the prompt states is allowed under"
        " --strict-contract",
    )


def _holds_hypothesis(items: Items) -> bool:
    return any(isinstance(one, Hypothesis) for one in items)


def _name_faults(text: str, keys: Sequence[str]) -> tuple[str, ...]:
    around = describe_surroundings(text, keys)
    if around is not None:
        return around
    repaired = repair_object(text, keys)
    return repaired.faults if repaired else (OTHER_FORM,)


def _repair(text: str, keys: Sequence[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the faults and the text of each repaired answer."""
    if not keys:
        straight = text.translate(_STRAIGHT)
        if straight != text:
            yield (SMART_QUOTES,), straight
        return
    repaired = repair_object(text, keys)  # also reads a valid object
    if repaired is None:
        return
    yield repaired.faults, json.dumps(repaired.value)
    straightened = {
        key: one.translate(_STRAIGHT) if isinstance(one, str) else one
        for key, one in repaired.value.items()
    }
    if straightened != repaired.value:
        yield tuple(dict.fromkeys((*repaired.faults, SMART_QUOTES))), json.dumps(straightened)
