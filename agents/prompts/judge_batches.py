"""The prompt that asks a judge about several texts in one call (the setting `judge_batch`).

As in the prompt about one text, everything that questions about one sentence share comes first, so
that an endpoint can cache it. The texts are numbered from 1, and the answer is one JSON object that
maps each number to a label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Digest, Json, Message, View, digest_of
from ...tasks.text.words import DOES_NOT_APPLY, TextWords, format_input
from .text_parts import label_choice, user_message

BATCH_PROMPT_VERSION = 1

_ROLE = "You apply a hypothesis about labelled data to several inputs, as it is written."
_AS_WRITTEN = (
    "Go by the hypothesis alone, whether or not you believe it: find out for each input whether the "
    "hypothesis says anything of it, and if so, which label follows from it. Look at each input by "
    "itself: the other inputs and their order have no bearing on it."
)


def ask_about_batch(
    view: View, hypothesis: str, inputs: Sequence[Mapping[str, Json]]
) -> list[Message]:
    """Return the prompt that asks for the label of several rows according to one hypothesis.

    Args:
        view: The problem as the judge may see it.
        hypothesis: The sentence to apply.
        inputs: The rows, which the prompt numbers from 1.
    """
    words = TextWords.from_public(view.public)
    form = (
        "Answer with one JSON object and nothing else. It has one key for each input, the number of"
        f" the input, and each value is a label, {label_choice(words)}, or, if the hypothesis says"
        f' nothing of the input, "{DOES_NOT_APPLY}". The form of the answer:'
        ' {"1": "LABEL", "2": "LABEL"}'
    )
    texts = [f"Input {n}:\n{format_input(row)}" for n, row in enumerate(inputs, start=1)]
    return user_message(_ROLE, words.about, f"Hypothesis: {hypothesis}", _AS_WRITTEN, form, *texts)


def batch_schema(labels: Sequence[str], count: int) -> dict[str, Json]:
    """Return the JSON schema of the answer about `count` rows."""
    label: Json = {"type": "string", "enum": [*labels, DOES_NOT_APPLY]}
    names = [str(number) for number in range(1, count + 1)]
    return {
        "type": "object",
        "properties": dict.fromkeys(names, label),
        "required": names,
        "additionalProperties": False,
    }


def batch_prompt_hash() -> Digest:
    """Return a digest of the wording of the prompt, which a session records."""
    return digest_of([BATCH_PROMPT_VERSION, _ROLE, _AS_WRITTEN])
