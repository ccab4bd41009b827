"""A made-up model for labelled text, which plays every role, and small data sets to ask it about.

What it says depends on the messages alone, in our own prompts and in published ones: exact rules and
free sentences, papers that are quoted rightly and wrongly, labels, "does not apply", and some nonsense.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import threading
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from peirce.agents.scripted import FunctionProposer, prompt_text
from peirce.records import Json, Message
from peirce.store import Store

FALSE_QUOTE = "words that no paper of ours holds"


def draw(*parts: Any) -> int:
    text = json.dumps(parts, sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


class TextModel:
    """labels: of the data set. rules: sentences that are exact rules there. nonsense: of so many
    answers about labels one names none (0: all do). asked: how often it was asked, by role."""

    def __init__(self, labels: Sequence[str], rules: Sequence[str], nonsense: int = 25) -> None:
        self.labels, self.rules, self.nonsense = list(labels), list(rules), nonsense
        self.asked: dict[str, int] = {}
        self._lock = threading.Lock()

    @property
    def calls(self) -> int:
        return sum(self.asked.values())

    @property
    def proposer(self) -> FunctionProposer:
        return FunctionProposer(self, "text model")

    def __call__(self, messages: Sequence[Message]) -> str:
        prompt = prompt_text(messages)
        role = role_of(prompt)
        with self._lock:
            self.asked[role] = self.asked.get(role, 0) + 1
        number = draw(prompt)
        if role == "summary":
            title = re.findall(r"Title: (.*)", prompt)[-1]
            quotes = re.findall(r"FINDING: (.*)", prompt)
            return "\n".join(f'- of {title} ["{quote}"]' for quote in quotes) or "none"
        if role == "propose":
            return self._hypotheses(prompt, number)
        if role in ("relevant", "same"):
            return f"Because.\nFinal answer: {('no', 'no', 'yes', 'yes', 'perhaps')[number % 5]}"
        if role == "select":
            return f"As there.\nChosen pattern: {number % 6}"
        return f"{f'Chosen pattern: {number % 6}' if role == 'adaptive' else 'So.'}\n{self._label(number, role)}"

    def _label(self, number: int, role: str) -> str:
        if self.nonsense and number % self.nonsense == 0:
            return "I would rather not say."
        if role == "judge" and number % 4 == 0:
            return "Final answer: does not apply"
        return f"Final answer: {self.labels[number // 100 % len(self.labels)]}"

    def _hypotheses(self, prompt: str, number: int) -> str:
        found = re.findall(r"exactly (\d+)|generate (\d+) hyp|(\d+) possible|(\d+) refined", prompt)
        wanted = 1 if "exactly one" in prompt else int("".join(found[-1])) if found else 5
        quotes = re.findall(r'\["(.*?)"\]', prompt) if "Findings of papers" in prompt else []
        lines = []
        for n in range(wanted):
            one = draw(number, n)
            if self.rules and one % 2:
                said = self.rules[one // 2 % len(self.rules)]
            else:
                said = f"Inputs of mood {one % 997} are {self.labels[one // 5 % len(self.labels)]}."
            if quotes and n % 3 < 2:
                quote = quotes[one % len(quotes)] if n % 3 else FALSE_QUOTE
                said += f' [paper 1: "{quote}"]'
            lines.append(f"{n + 1}. {said}")
        return "\n".join(lines)


_ROLES = (  # what only the prompts of a role say, ours first
    ("summary", "You read a research paper|[Ss]ummarize the following|summarizing key findings"),
    ("same", "whether two hypotheses"),
    ("relevant", "says anything of one input|is relevant|relevant or not"),
    ("select", "You choose the hypothesis that fits"),
    ("adaptive", "Chosen pattern: NUMBER\nFinal answer"),
    ("judge", "You apply a hypothesis"),
    ("label", "You label one input|Final answer"),
)


def role_of(prompt: str) -> str:
    return next((role for role, says in _ROLES if re.search(says, prompt)), "propose")


def calls_of(session: Any) -> dict[str, dict[str, Any]]:
    """The journal of a session that `peirce.run` returned: its calls by path."""
    with closing(Store.open(Path(session.store), write=False)) as store:
        return {call["path"]: call for call in store.calls(session.session)}


# --- data sets ------------------------------------------------------------------------------

WORDS = ("garden", "engine", "silver", "winter", "letter", "market", "doctor", "window")


def text_rows(count: int, start: int) -> dict[str, Json]:
    """One text; of its words `garden` and `engine` decide, a mark tells nothing."""
    texts, labels = [], []
    for n in range(start, start + count):
        some = [WORDS[(n * step + n // 3) % len(WORDS)] for step in (1, 3, 5)]
        texts.append(f"The {some[0]} met the {some[1]}, and a {some[2]} came{'!' * (n % 3)} {n}")
        labels.append("warm" if "garden" in some or "engine" in some else "cold")
    return {"text": texts, "label": labels}


def pair_rows(count: int, start: int) -> dict[str, Json]:
    """Two texts; the one with more words wins."""
    first, second, labels = [], [], []
    for n in range(start, start + count):
        one, other = 3 + n % 5, 3 + (n * 7 + 2) % 6
        other += one == other
        first.append(" ".join(WORDS[(n + k) % 8] for k in range(one)))
        second.append(" ".join(WORDS[(n + 3 * k + 1) % 8] for k in range(other)))
        labels.append("first" if one > other else "second")
    return {"headline_1": first, "headline_2": second, "label": labels}


def field_rows(count: int, start: int) -> dict[str, Json]:
    """A grade and a count; three labels."""
    grades = ["ABC"[n % 3] for n in range(start, start + count)]
    counts = [(n * 5 + 1) % 7 for n in range(start, start + count)]
    labels = [
        "taken" if grade == "A" and n >= 2 else "waiting" if n >= 4 else "refused"
        for grade, n in zip(grades, counts, strict=True)
    ]
    return {"grade": grades, "papers": counts, "label": labels}


OWN = {"text": text_rows, "pair": pair_rows, "fields": field_rows}


def write_own(folder: Path, kind: str, sizes: Mapping[str, int] | None = None) -> Path:
    """A data set in the published layout; ood: rows of elsewhere."""
    folder.mkdir(parents=True)
    lines = ["task_name: made"]
    starts = {"train": 0, "val": 100, "test": 200, "ood": 300}
    for split, size in (sizes or {"train": 30, "val": 10, "test": 12, "ood": 6}).items():
        (folder / f"made_{split}.json").write_text(json.dumps(OWN[kind](size, starts[split])))
        lines.append(f"{split}_data_path: ./made_{split}.json")
    (folder / "config.yaml").write_text("\n".join(lines) + "\n")
    return folder


def shortened(source: Path, folder: Path, rows: int = 20) -> Path:
    """A published data set with the first `rows` rows of each file but the training rows, of which
    it has 80."""
    folder.mkdir(parents=True)
    for file in sorted(source.iterdir()):
        if file.suffix != ".json" or file.name == "metadata.json":
            shutil.copy(file, folder)
            continue
        most = 80 if "train" in file.name else rows
        columns = json.loads(file.read_text())
        (folder / file.name).write_text(
            json.dumps({name: values[:most] for name, values in columns.items()})
        )
    return folder


RULES: Mapping[str, Sequence[str]] = {
    "text": (
        'If the text mentions one of "garden" or "engine", the label is warm; otherwise cold.',
        'If the text mentions "silver", the label is cold.',
        "If the text has at least 2 exclamation marks, the label is warm.",
    ),
    "pair": (
        "The text with more words wins.",
        'The text that mentions "garden" wins.',
        'The text with more occurrences of "silver" wins.',
    ),
    "fields": (
        "If grade is A and papers is at least 2, the label is taken.",
        "If papers is at least 4, the label is waiting; otherwise refused.",
        "If grade is C, the label is refused.",
    ),
    "shoe": (
        'If the text mentions "white shirt", the label is white.',
        'If the text mentions "black hat", the label is black; otherwise red.',
        'If the text mentions "blue shirt", the label is blue.',
    ),
    "hotel_reviews": (
        'If the text mentions one of "luxury", "husband" or "wife", the label is deceptive.',
        'If the text mentions one of "bathroom", "floor" or "$", the label is truthful;'
        " otherwise deceptive.",
    ),
    "dreaddit": (
        'If the text mentions one of "anxiety", "scared" or "panic", the label is has stress.',
        "If the text has at least 100 words, the label is has stress; otherwise no stress.",
    ),
    "admission": (
        "If math is A, the label is admitted.",
        "If math is F, the label is rejected; otherwise admitted.",
    ),
}
PUBLISHED = {
    "shoe": "shoe",
    "hotel_reviews": "hotel_reviews",
    "dreaddit": "dreaddit",
    "admission": "admission/level_2/depth_2",
}
