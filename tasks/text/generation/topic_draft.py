"""A topic that a model wrote: the parts of its texts, and a check that they fit together.

The parts are those of HypoBench, section 2 and appendix B.3: labels, types of phrases, five phrases
per type, templates with a slot for each type, and a form of each phrase that fits the slot of each
template. Beyond the paper, each phrase has a core: words that occur in all its forms and nowhere
else, so that a rule of the exact judge finds the phrase. topic_parsers.py holds the rules for each
part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ....records import DataError, Json
from ....tools.sentence_rules.prepared_rows import PreparedRows
from ..columns import Columns
from .phrases import Topic, mentions_any
from .planted import public_facts

LABEL_COUNT, TYPE_COUNT, PHRASE_COUNT, TEMPLATE_COUNT = 3, 4, 5, 4  # the numbers in the paper
ITEM = "text"
SUBJECT = "subject"  # a user's own topic
WRITABLE_GENERATORS = (
    "election",
    "personality",
    SUBJECT,
)  # generators whose topic a model can write


@dataclass(frozen=True)
class Definition:
    """A label or a type of phrase, with a description of its meaning."""

    name: str
    about: str = ""

    @property
    def text(self) -> str:
        """The name with its description, if there is one."""
        return f"{self.name}: {self.about}" if self.about else self.name


@dataclass(frozen=True)
class WrittenPhrase:
    """A phrase that a model wrote.

    Attributes:
        text: The phrase on its own.
        core: The words that occur in every form of it and nowhere else.
        expected_label: The index of the label that it suggests.
        forms: The text in the slot of each template.
    """

    text: str
    core: str
    expected_label: int
    forms: tuple[str, ...] = ()

    def render_form(self, name: str) -> str:
        """Return the form for template N if the name is `tN`, else the phrase on its own."""
        number = name.removeprefix("t")
        return self.forms[int(number)] if number.isdecimal() else self.text


@dataclass(frozen=True)
class Template:
    """A text with a slot for each type of phrase.

    Attributes:
        pieces: The texts around the slots, one more than there are slots.
        slots: The index of the type of each slot, in the order of the text.
    """

    pieces: tuple[str, ...]
    slots: tuple[int, ...]

    def split_at_slot(self, kind: int, types: Sequence[str]) -> tuple[str, str]:
        """Return the text before and after the slot of a type, with other slots as `[type]`."""
        at = self.slots.index(kind)
        marks = [f"[{types[one]}]" for one in self.slots] + [""]
        told = [piece + mark for piece, mark in zip(self.pieces, marks, strict=True)]
        before = "".join(told[: at + 1]).removesuffix(marks[at])
        return before, "".join(told[at + 1 :])

    def render(self, types: Sequence[str]) -> str:
        """Return the text with its slots as `[type]`."""
        marks = [f"[{types[one]}]" for one in self.slots] + [""]
        return "".join(piece + mark for piece, mark in zip(self.pieces, marks, strict=True))

    def to_format_string(self, number: int) -> str:
        """Return the text in the form of `Topic.templates`.

        `{2.t0}` is the phrase of the third type in template 0.
        """
        marks = [f"{{{one}.t{number}}}" for one in self.slots] + [""]
        told = (piece.replace("{", "{{").replace("}", "}}") for piece in self.pieces)
        return "".join(piece + mark for piece, mark in zip(told, marks, strict=True))


@dataclass
class Draft:
    """The parts of a topic that exist so far.

    Attributes:
        name: The name of the topic.
        description: What the texts are about.
        labels: The labels.
        types: The types of phrases.
        phrases: The phrases of each type.
        templates: The templates.
        forms: (index of a template, index of a phrase over all types) -> the text in the slot.
    """

    name: str
    description: str
    labels: list[Definition] = field(default_factory=list)
    types: list[Definition] = field(default_factory=list)
    phrases: list[list[WrittenPhrase]] = field(default_factory=list)
    templates: list[Template] = field(default_factory=list)
    forms: dict[tuple[int, int], str] = field(default_factory=dict)

    @property
    def kinds(self) -> list[str]:
        """The names of the types of phrases."""
        return [one.name for one in self.types]

    @property
    def label_names(self) -> list[str]:
        """The names of the labels."""
        return [one.name for one in self.labels]

    def build_topic(self) -> Topic:
        """Return the complete topic, from which data sets are generated.

        Raises:
            DataError: A generated text lacks one of its phrases or contains another one.
        """
        found, place = [], 0
        for kind, some in zip(self.types, self.phrases, strict=True):
            phrases = []
            for one in some:
                forms = tuple(self.forms[number, place] for number in range(len(self.templates)))
                phrases.append(WrittenPhrase(one.text, one.core, one.expected_label, forms))
                place += 1
            found.append((kind.name, tuple(phrases)))
        topic = Topic(
            self.name,
            self.description,
            tuple(self.label_names),
            tuple(found),
            tuple(one.to_format_string(number) for number, one in enumerate(self.templates)),
            ITEM,
            "be labelled {}",
        )
        _check(topic)
        return topic

    def to_json(self) -> dict[str, Json]:
        """Return the parts as JSON for metadata.json."""
        return {
            "labels": [{"name": one.name, "about": one.about} for one in self.labels],
            "types": [{"name": one.name, "about": one.about} for one in self.types],
            "phrases": [
                {"type": kind.name, "phrase": one.text, "stays": one.core,
                 "leans_to": self.label_names[one.expected_label]}
                for kind, some in zip(self.types, self.phrases, strict=True)
                for one in some
            ],
            "templates": [one.render(self.kinds) for one in self.templates],
            "forms": [
                [self.forms[number, place] for place in range(sum(map(len, self.phrases)))]
                for number in range(len(self.templates))
            ],
        }  # fmt: skip


def _check(topic: Topic) -> None:
    """Check that the judge finds in every text the phrases put into it, and no others."""
    texts, inside = [], []
    for choice in topic.choices:
        told = [topic.fill_template(template, choice) for template in topic.templates]
        for text in [topic.render_plain(choice), *told]:
            texts.append({"text": text})
            inside.append(choice)
    if len({one["text"] for one in texts}) < len(texts):
        raise DataError(f"{topic.name}: two of the texts made from the model's parts are equal")
    columns = Columns({"text": {"kind": "text", "about": ""}}, "text", topic.labels)
    rows = PreparedRows(texts, public_facts(columns, topic.labels))
    wanted = np.zeros((len(topic.phrases), len(texts)), bool)
    for at, choice in enumerate(inside):
        wanted[list(choice), at] = True
    for place, phrase in enumerate(topic.phrases):
        wrong = np.flatnonzero(mentions_any(phrase).holds(rows) != wanted[place])
        if wrong.size:
            there = "lacks" if wanted[place, wrong[0]] else "has"
            raise DataError(
                f"{topic.name}: a text made from the model's parts {there} {phrase.core!r}:"
                f" {texts[int(wrong[0])]['text']:.200}"
            )


def build_metadata(
    draft: Draft, model: Json, sources: Mapping[str, str], call_facts: Mapping[str, Json]
) -> dict[str, Json]:
    """Return the field `task_properties` of metadata.json for a topic that a model wrote.

    Args:
        draft: The parts.
        model: The settings of the model.
        sources: The parts that the model did not write, and where each came from.
        call_facts: Facts about the model calls.
    """
    parts = ("description", "labels", "types", "phrases", "templates", "forms")
    source = {part: sources.get(part, "model") for part in parts}
    return {"written": {"by": model, "from": source, **call_facts, **draft.to_json()}}
