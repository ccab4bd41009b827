"""A topic whose phrases and templates a model writes, and a check that its texts are consistent.

As in HypoBench, section 2 and appendix B.3, a topic has labels, types of phrases, five phrases per
type, and templates with a slot for each type. For each slot, a phrase has a form that fits. In
addition, each phrase has a core: words that occur in all forms of the phrase and nowhere else. With
the core, a rule that is executed without a model can find the phrase. topic_parsers.py holds the
requirements for each element of a topic.
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
        """The name, followed by the description if there is one."""
        return f"{self.name}: {self.about}" if self.about else self.name


@dataclass(frozen=True)
class WrittenPhrase:
    """A phrase that a model wrote.

    Attributes:
        text: The phrase by itself.
        core: Words that occur in every form of the phrase and nowhere else.
        expected_label: The index of the label that the phrase suggests.
        forms: For each template, the text that stands for the phrase in its slot.
    """

    text: str
    core: str
    expected_label: int
    forms: tuple[str, ...] = ()

    def render_form(self, name: str) -> str:
        """Return the form of the phrase for template N if `name` is `tN`, otherwise the phrase by
        itself.
        """
        number = name.removeprefix("t")
        return self.forms[int(number)] if number.isdecimal() else self.text


@dataclass(frozen=True)
class Template:
    """A text with a slot for a phrase of each type.

    Attributes:
        pieces: The texts before, between and after the slots, one more than there are slots.
        slots: The index of the type of phrase for each slot, in the order of the text.
    """

    pieces: tuple[str, ...]
    slots: tuple[int, ...]

    def split_at_slot(self, kind: int, types: Sequence[str]) -> tuple[str, str]:
        """Return the texts before and after the slot of a type. Other slots are shown as `[type]`.

        Args:
            kind: The index of the type.
            types: The names of all types.
        """
        at = self.slots.index(kind)
        marks = [f"[{types[one]}]" for one in self.slots] + [""]
        told = [piece + mark for piece, mark in zip(self.pieces, marks, strict=True)]
        before = "".join(told[: at + 1]).removesuffix(marks[at])
        return before, "".join(told[at + 1 :])

    def render(self, types: Sequence[str]) -> str:
        """Return the text of the template with its slots shown as `[type]`."""
        marks = [f"[{types[one]}]" for one in self.slots] + [""]
        return "".join(piece + mark for piece, mark in zip(self.pieces, marks, strict=True))

    def to_format_string(self, number: int) -> str:
        """Return the template in the format of `Topic.templates`.

        In this format, `{2.t0}` is the phrase of the third type in template 0.

        Args:
            number: The index of this template.
        """
        marks = [f"{{{one}.t{number}}}" for one in self.slots] + [""]
        told = (piece.replace("{", "{{").replace("}", "}}") for piece in self.pieces)
        return "".join(piece + mark for piece, mark in zip(told, marks, strict=True))


@dataclass
class Draft:
    """An unfinished topic, to which labels, types, phrases and templates are added one after the
    other.

    Attributes:
        name: The name of the topic.
        description: The subject of the texts.
        labels: The labels.
        types: The types of phrases.
        phrases: The phrases of each type.
        templates: The templates.
        forms: The text in a slot, by (index of the template, index of the phrase among all
            phrases).
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
        """Return the finished topic, from which data sets can be generated.

        Raises:
            DataError: In a generated text, one of its phrases cannot be found or another phrase is
                found.
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
        """Return the contents of the draft as JSON for metadata.json."""
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
    """Return the entry `task_properties` of metadata.json for a topic that a model wrote.

    Args:
        draft: The topic.
        model: The settings of the model.
        sources: For each element that the model did not write, a text that says where it came from.
        call_facts: Facts about the calls of the model.
    """
    parts = ("description", "labels", "types", "phrases", "templates", "forms")
    source = {part: sources.get(part, "model") for part in parts}
    return {"written": {"by": model, "from": source, **call_facts, **draft.to_json()}}
