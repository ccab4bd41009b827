"""Texts built from templates and phrases, and the topic that holds these.

A post has one phrase of each of four types, with five phrases per type. A phrase is a verb and a
core, words that no other phrase and no template contains, so a search for the core finds the phrase
in any of its forms. Four templates with 5 x 5 x 5 x 5 phrases give 2,500 posts; without templates
("plain", one line per type) there are 625.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

from ....tools.sentence_rules.conditions import Comparison, mentions
from ....tools.sentence_rules.terms import Term


class TopicPhrase(Protocol):
    """A phrase, written by this project (`Phrase`) or by a model (topic_draft.py)."""

    @property
    def core(self) -> str:
        """The words that occur in every form of the phrase and nowhere else."""
        ...

    @property
    def expected_label(self) -> int:
        """The index of the label that the phrase suggests."""
        ...

    def render_form(self, name: str) -> str:
        """Return the phrase in the form with this name."""
        ...


@dataclass(frozen=True)
class Phrase:
    """A phrase with the forms of its verb.

    Attributes:
        base, third, gerund: The forms of the verb.
        core: The words after the verb.
        expected_label: The index of the label that the phrase suggests.
    """

    base: str
    third: str
    gerund: str
    core: str
    expected_label: int

    def render_form(self, name: str) -> str:
        """Return the phrase with a form of its verb.

        Args:
            name: `base`, `third` or `gerund`, or with a capital (`Gerund`) at the beginning of a
                sentence.
        """
        verb = getattr(self, name.lower())
        return f"{verb[0].upper() + verb[1:] if name[0].isupper() else verb} {self.core}"


@dataclass(frozen=True)
class Topic:
    """The parts of a data set of posts.

    Attributes:
        name: The name of the topic.
        description: What the posts are about.
        labels: The three labels.
        types: The names of the four types, each with its five phrases.
        templates: Texts with a slot such as `{0.base}` for each type, by its index.
        item: What one text is called.
        verdict: What a label says about a text.
    """

    name: str
    description: str
    labels: tuple[str, ...]
    types: tuple[tuple[str, tuple[TopicPhrase, ...]], ...]
    templates: tuple[str, ...]
    item: str = "post"
    verdict: str = "be by a {} author"

    @property
    def phrases(self) -> tuple[TopicPhrase, ...]:
        """The phrases of all types, in order (20)."""
        return tuple(one for _, some in self.types for one in some)

    @property
    def choices(self) -> list[tuple[int, ...]]:
        """All choices of one phrase per type, as indices into `phrases`, (625, 4)."""
        return list(product(*self.type_indices))

    @property
    def type_indices(self) -> list[range]:
        """The indices of the phrases of each type."""
        starts = [sum(len(some) for _, some in self.types[:n]) for n in range(len(self.types))]
        return [
            range(start, start + len(some))
            for start, (_, some) in zip(starts, self.types, strict=True)
        ]

    def render_plain(self, choice: Sequence[int]) -> str:
        """Return a choice of phrases as a text with one line per type."""
        phrases = self.phrases
        lines = zip(self.types, choice, strict=True)
        return "\n".join(
            f"{name}: {phrases[place].render_form('third')}" for (name, _), place in lines
        )

    def fill_template(self, template: str, choice: Sequence[int]) -> str:
        """Return a template filled with a choice of phrases."""
        phrases = self.phrases
        return template.format(*(_Forms(phrases[place]) for place in choice))


class _Forms:
    """Resolver of `{0.third}` in a template."""

    def __init__(self, phrase: TopicPhrase) -> None:
        self._phrase = phrase

    def __getattr__(self, name: str) -> str:
        return self._phrase.render_form(name)


def mentions_any(*phrases: TopicPhrase) -> Comparison:
    """Return the condition that a post has one of the phrases."""
    return mentions(tuple(Term(one.core) for one in phrases))
