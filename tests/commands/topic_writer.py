"""A model for tests that writes a topic about notes to a landlord, by the rules or against them.

It reads the prompts as a model would: labels, types, phrases, templates, and forms made of the texts
that it is shown. `faults` replaces its answers, by a word of the question and the number of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

ABOUT = "Notes to a landlord, and what their author wants of him."
LABELS = ("wants a repair", "wants to move out", "wants lower rent")
TYPES: dict[str, list[tuple[str, str, str, int]]] = {
    "complaint": [
        ("reports", "reporting", "a dripping tap", 0),
        ("mentions", "mentioning", "mould behind the wardrobe", 0),
        ("dislikes", "disliking", "noisy upstairs neighbours", 1),
        ("counts", "counting", "empty flats nearby", 2),
        ("misses", "missing", "warm radiators", 0),
    ],
    "plan": [
        ("packs", "packing", "cardboard boxes", 1),
        ("visits", "visiting", "a cheaper district", 2),
        ("books", "booking", "a removal van", 1),
        ("awaits", "awaiting", "the plumber's visit", 0),
        ("compares", "comparing", "advertised prices", 2),
    ],
    "money": [
        ("withholds", "withholding", "part of the payment", 2),
        ("asks back", "asking back", "the deposit", 1),
        ("pays", "paying", "an electrician's bill", 0),
        ("doubts", "doubting", "the heating costs", 2),
        ("ends", "ending", "the standing order", 1),
    ],
    "tone": [
        ("stays", "staying", "polite throughout", 0),
        ("threatens", "threatening", "legal steps", 2),
        ("recalls", "recalling", "happier years", 1),
        ("repeats", "repeating", "old requests", 0),
        ("says", "saying", "a fond goodbye", 1),
    ],
}
TEMPLATES = (
    "This month the tenant [complaint] and [plan], says the caretaker. He also [money] when he"
    " writes to us, and [tone].",
    "[Money] is what she does first; then she [complaint]. Her friends say that she [plan] and [tone].",
    "Our neighbour {third floor} often [tone] in his letters. Last week he [plan]; today he [money]"
    " and even [complaint].",
    "Who [plan] and [money] will hardly stay. Yesterday one of them [complaint], though she [tone] as ever.",
)


class TopicWriter:
    """`writer(messages)` is an answer; asked: the contents of the last message of each question."""

    def __init__(self, faults: Mapping[tuple[str, int], str] | None = None) -> None:
        self.faults = dict(faults or {})
        self.asked: list[str] = []
        self.counts: dict[str, int] = {}

    def __call__(self, messages: Sequence[Mapping[str, Any]]) -> str:
        question = str(messages[0]["content"])
        self.asked.append(str(messages[-1]["content"]))
        part, answer = self._part(question)
        number = self.counts.get(part, 0)
        self.counts[part] = number + 1
        return self.faults.get((part, number), answer)

    def _part(self, question: str) -> tuple[str, str]:
        if "Name the classes" in question:
            return "labels", _numbered(f"{one}: so it is" for one in LABELS)
        if "Which kinds of part" in question:
            return "types", _numbered(f"{one}: what is said of it" for one in TYPES)
        if "Write phrases of one type" in question:
            kind = question.split("The type: ")[1].split(":")[0]
            lines = [f"{verb} [{rest}] | {LABELS[n]}" for verb, _, rest, n in TYPES[kind]]
            return f"phrases of {kind}", _numbered(lines)
        if "Write the texts with their slots" in question:
            return "templates", _numbered(TEMPLATES)
        kind = question.split("The slot: [")[1].split("]")[0]
        number = next(
            n for n, one in enumerate(TEMPLATES, 1)
            if one.lower()[:20] in question.lower().split("the text: ")[1][:60]
        )  # fmt: skip
        shown = re.findall(r"^\d+\. (.*)$", question.split("With each phrase put in:")[1], re.M)
        return f"forms of {kind} in {number}", _numbered(_mended(one, kind) for one in shown)


def _mended(text: str, kind: str) -> str:
    """At the beginning of a text with the gerund; elsewhere as it is."""
    for verb, gerund, rest, _ in TYPES[kind]:
        if text.startswith(f"[{verb} {rest}]"):
            return text.replace(f"[{verb} {rest}]", f"[{gerund} {rest}]", 1)
    return text


def _numbered(lines: Any) -> str:
    return "Here they are:\n" + "\n".join(f"{n}. {one}" for n, one in enumerate(lines, 1))
