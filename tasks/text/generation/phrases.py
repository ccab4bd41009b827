"""Build texts from templates and phrases, and define the topics that contain them.

A post contains one phrase of each of four types, and each type has five phrases. A phrase consists
of a verb and a core. The core does not occur in any other phrase or template, so searching for the
core finds the phrase in all its grammatical forms. Four templates and 5 x 5 x 5 x 5 phrases give
2,500 posts. Without templates ("plain", one line per type) there are 625 posts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

from ....tools.sentence_rules.conditions import Comparison, mentions
from ....tools.sentence_rules.terms import Term


class TopicPhrase(Protocol):
    """A phrase of a topic, written by this project (`Phrase`) or by a model (topic_draft.py)."""

    @property
    def core(self) -> str:
        """The words that occur in every form of the phrase and nowhere else."""
        ...

    @property
    def expected_label(self) -> int:
        """The index of the label that the phrase suggests."""
        ...

    def render_form(self, name: str) -> str:
        """Return the phrase in the grammatical form with this name."""
        ...


@dataclass(frozen=True)
class Phrase:
    """A phrase with the grammatical forms of its verb.

    Attributes:
        base: The verb in its base form.
        third: The verb in the third person.
        gerund: The gerund of the verb.
        core: The words after the verb.
        expected_label: The index of the label that the phrase suggests.
    """

    base: str
    third: str
    gerund: str
    core: str
    expected_label: int

    def render_form(self, name: str) -> str:
        """Return the phrase with its verb in a grammatical form.

        Args:
            name: `base`, `third` or `gerund`. With a capital (`Gerund`), the result begins with a
                capital.
        """
        verb = getattr(self, name.lower())
        return f"{verb[0].upper() + verb[1:] if name[0].isupper() else verb} {self.core}"


@dataclass(frozen=True)
class Topic:
    """A topic of posts, with the labels, phrases and templates from which posts are made.

    Attributes:
        name: The name of the topic.
        description: The subject of the posts.
        labels: The three labels.
        types: The names of the four types of phrases, each with its five phrases.
        templates: Texts with a slot for each type, such as `{0.base}` for the first type.
        item: The noun for one text, such as "post".
        verdict: A template for what a label says about a text, such as "be by a {} author".
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
        """All 20 phrases, in the order of their types."""
        return tuple(one for _, some in self.types for one in some)

    @property
    def choices(self) -> list[tuple[int, ...]]:
        """All 625 combinations of one phrase per type, each as four indices into `phrases`."""
        return list(product(*self.type_indices))

    @property
    def type_indices(self) -> list[range]:
        """The indices in `phrases` of the phrases of each type."""
        starts = [sum(len(some) for _, some in self.types[:n]) for n in range(len(self.types))]
        return [
            range(start, start + len(some))
            for start, (_, some) in zip(starts, self.types, strict=True)
        ]

    def render_plain(self, choice: Sequence[int]) -> str:
        """Return a text with the chosen phrases, one line per type.

        Args:
            choice: The indices of the chosen phrases in `phrases`, one per type.
        """
        phrases = self.phrases
        lines = zip(self.types, choice, strict=True)
        return "\n".join(
            f"{name}: {phrases[place].render_form('third')}" for (name, _), place in lines
        )

    def fill_template(self, template: str, choice: Sequence[int]) -> str:
        """Return the text of a template with the chosen phrases in its slots.

        Args:
            template: A text with slots such as `{0.base}`.
            choice: The indices of the chosen phrases in `phrases`, one per type.
        """
        phrases = self.phrases
        return template.format(*(_Forms(phrases[place]) for place in choice))


class _Forms:
    """Resolver of `{0.third}` in a template."""

    def __init__(self, phrase: TopicPhrase) -> None:
        self._phrase = phrase

    def __getattr__(self, name: str) -> str:
        return self._phrase.render_form(name)


def mentions_any(*phrases: TopicPhrase) -> Comparison:
    """Return the condition that a post contains at least one of the phrases."""
    return mentions(tuple(Term(one.core) for one in phrases))
