"""Multinomial logistic models that give labels to posts, and rules that describe the labels.

The score of a label is an intercept in (-1, 1) plus a weight in (-5, 5) for each phrase in the
post. The post gets the label with the highest score. (HypoBench, section 2, speaks of
probabilities, but the published code also takes the highest score.) Templates have no weights.
Weights are drawn again until each label has at least a tenth of the posts, so no data set has only
one label.

For each phrase with a weight, there is one finding: the label that most posts with this phrase
have. The rows of the data set can show this. The published findings name the label with the highest
weight instead, which rows cannot show. The reason is that the weights are not unique: if a number
is added to the weights of all phrases of a type for one label and subtracted from the intercept, no
post changes its label. `describe_weights` returns the published wording.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....records import DataError, Json
from ....tools.sentence_rules.conditions import AllOf, AnyOf, Condition
from ....tools.sentence_rules.rules import ConditionClause, Rule
from .phrases import Topic, TopicPhrase, mentions_any
from .planted import MAX_SENTENCE_CHARACTERS

MAX_WEIGHT, MAX_INTERCEPT = 5.0, 1.0
MIN_LABEL_SHARE = 0.1  # minimum share of the posts with each label
_TRIES = 10_000
Weights = NDArray[np.float64]


@dataclass(frozen=True)
class LogisticModel:
    """A logistic model that gives a label to each post on a topic.

    Attributes:
        topic: The topic.
        weights: The weight of each phrase for each label, shape (labels, phrases).
        intercepts: The intercept of each label, shape (labels,).
    """

    topic: Topic
    weights: Weights
    intercepts: Weights

    def predict_codes(self) -> dict[tuple[int, ...], int]:
        """Return the label index for every combination of phrases."""
        choices = self.topic.choices
        scores = self.intercepts[:, None] + self.weights[:, np.array(choices)].sum(axis=2)
        best = scores.argmax(axis=0).tolist()
        return dict(zip(choices, best, strict=True))


def draw_model(
    topic: Topic, count: int, dropout: float, draw: np.random.Generator, as_expected: bool = False
) -> LogisticModel:
    """Return a random model in which each label has at least a share of `MIN_LABEL_SHARE` of the
    posts.

    Args:
        topic: The topic.
        count: The number of phrases with a weight, which are all phrases of count / 5 types.
        dropout: The share of these weights that is set to 0.
        draw: The random number generator.
        as_expected: Whether weights agree with the meaning of the phrases: above 1 for the label
            that a phrase suggests, below -1 for the other labels.

    Raises:
        DataError: No random model meets the condition.
    """
    labels = len(topic.labels)
    for _ in range(_TRIES):
        types = draw.permutation(len(topic.types))[: count // len(topic.type_indices[0])]
        places = [place for one in sorted(types) for place in topic.type_indices[one]]
        weights = np.zeros((labels, len(topic.phrases)))
        weights[:, places] = draw.uniform(-MAX_WEIGHT, MAX_WEIGHT, (labels, len(places)))
        if as_expected:
            weights = _leaning(topic, weights)
        dropped = draw.permutation(labels * len(places))[: round(dropout * labels * len(places))]
        weights[dropped // len(places), np.array(places)[dropped % len(places)]] = 0.0
        model = LogisticModel(topic, weights, draw.uniform(-MAX_INTERCEPT, MAX_INTERCEPT, labels))
        counts = Counter(model.predict_codes().values())
        if min(counts[code] for code in range(labels)) >= MIN_LABEL_SHARE * len(topic.choices):
            return model
    raise DataError(
        f"{topic.name}: none of {_TRIES:,} drawn models gives each label at least"
        f" {MIN_LABEL_SHARE:.0%} of the posts"
    )


def _leaning(topic: Topic, weights: Weights) -> Weights:
    """Rescale the weights to a magnitude of at least 1 and give them the expected signs."""
    sizes = 1.0 + np.abs(weights) * (MAX_WEIGHT - 1) / MAX_WEIGHT
    signs = np.full(weights.shape, -1.0)
    for place, phrase in enumerate(topic.phrases):
        signs[phrase.expected_label, place] = 1.0
    return np.where(weights == 0.0, 0.0, sizes * signs)


# --- in words -------------------------------------------------------------------------


def build_findings(
    topic: Topic, codes: Mapping[tuple[int, ...], int], weighted: Sequence[int]
) -> list[Rule]:
    """Return one rule for each phrase with a weight, which names the label of most posts with it.

    Args:
        topic: The topic.
        codes: The label index for every combination of phrases.
        weighted: The indices of the phrases with a weight.
    """
    found = []
    for place in weighted:
        counts = Counter(code for choice, code in codes.items() if place in choice)
        best = min(counts, key=lambda code: (-counts[code], code))
        found.append(
            Rule((ConditionClause(mentions_any(topic.phrases[place]), topic.labels[best]),))
        )
    return found


def model_parameters(
    model: LogisticModel, weighted: Sequence[int], rotation: int
) -> dict[str, Json]:
    """Return the weights and intercepts of the model by label, as JSON.

    They define the rule of the data set: a post gets the label with the highest sum of the
    intercept and the weights of the phrases in the post.

    Args:
        model: The model.
        weighted: The indices of the phrases with a weight.
        rotation: The number of positions by which the labels are rotated.

    Returns:
        {"weights": {label: the weight of each phrase in `weighted`}, "intercepts": {label: its
        intercept}}.
    """
    names = model.topic.labels
    labels = [names[(code + rotation) % len(names)] for code in range(len(names))]
    weights = {
        label: [float(own[place]) for place in weighted]
        for label, own in zip(labels, model.weights, strict=True)
    }
    intercepts = dict(zip(labels, model.intercepts.tolist(), strict=True))
    return {"weights": weights, "intercepts": intercepts}


def build_optimal_rules(topic: Topic, codes: Mapping[tuple[int, ...], int]) -> list[Rule]:
    """Return rules that give the right label to each combination of phrases and never contradict.

    For each label, the rules list all cases in which posts have this label. The text of a rule has
    at most `MAX_SENTENCE_CHARACTERS` characters.

    Args:
        topic: The topic.
        codes: The label index for every combination of phrases.
    """
    cases: dict[int, list[tuple[tuple[int, ...], ...]]] = {}
    for code, case in _cases(topic, dict(codes), 0):
        cases.setdefault(code, []).append(case)
    found = []
    for code in sorted(cases):
        told = [_condition(topic, case) for case in cases[code]]
        found += _sentences(told, topic.labels[code])
    return found


def _cases(
    topic: Topic, codes: Mapping[tuple[int, ...], int], depth: int
) -> list[tuple[int, tuple[tuple[int, ...], ...]]]:
    """Return the cases of choices that are equal before `depth`, each with its label.

    A case is a list with the indices of the allowed phrases, for each type that matters. Phrases
    after which everything is the same form one group.
    """
    if len(set(codes.values())) == 1:
        return [(next(iter(codes.values())), ())]
    alike: dict[tuple[tuple[tuple[int, ...], int], ...], list[int]] = {}
    for place in topic.type_indices[depth]:
        rest = tuple((c[depth + 1 :], code) for c, code in codes.items() if c[depth] == place)
        alike.setdefault(rest, []).append(place)
    found = []
    for places in alike.values():
        inner = {choice: code for choice, code in codes.items() if choice[depth] == places[0]}
        own = (tuple(places),) if len(alike) > 1 else ()
        found += [(code, (*own, *case)) for code, case in _cases(topic, inner, depth + 1)]
    return found


def _condition(topic: Topic, case: Sequence[Sequence[int]]) -> Condition:
    phrases = topic.phrases
    parts = tuple(mentions_any(*(phrases[place] for place in some)) for some in case)
    return parts[0] if len(parts) == 1 else AllOf(parts)


def _sentences(conditions: Sequence[Condition], label: str) -> list[Rule]:
    found: list[Rule] = []
    some: list[Condition] = []
    for one in conditions:
        if some and len(_one([*some, one], label).to_text()) > MAX_SENTENCE_CHARACTERS:
            found.append(_one(some, label))
            some = []
        some.append(one)
    return [*found, _one(some, label)] if some else found


def _one(conditions: Sequence[Condition], label: str) -> Rule:
    whole = conditions[0] if len(conditions) == 1 else AnyOf(tuple(conditions))
    return Rule((ConditionClause(whole, label),))


def describe_weights(model: LogisticModel) -> list[str]:
    """Return one sentence per phrase with a weight, in the wording of HypoBench (appendix B.5).

    A sentence says which labels are most and least likely for posts with the phrase.
    """
    topic = model.topic
    found = []
    for place, (kind, phrase) in enumerate(
        (kind, phrase) for kind, some in topic.types for phrase in some
    ):
        own = model.weights[:, place]
        if own.any():
            found.append(
                describe_likelihoods(kind, phrase, own, topic.labels, topic.item, topic.verdict)
            )
    return found


def describe_likelihoods(
    kind: str,
    phrase: TopicPhrase,
    weights: Weights,
    labels: Sequence[str],
    item: str = Topic.item,
    verdict: str = Topic.verdict,
) -> str:
    """Return a sentence about the effect of one phrase on the label, in the published wording.

    Args:
        kind: The type of the phrase.
        phrase: The phrase.
        weights: The weight of the phrase for each label, shape (labels,).
        labels: The labels.
        item: The noun for one text, such as "post".
        verdict: A template for what a label says about a text, such as "be by a {} author".
    """
    high, low = int(weights.argmax()), int(weights.argmin())
    most, least = (_likely(float(weights[one])) for one in (high, low))
    if weights[low] > 0:
        most, least = "highly likely", "a bit likely"
    elif weights[high] < 0:
        most, least = "a bit unlikely", "highly unlikely"
    return (
        f'If the {kind} of a {item} is "{phrase.render_form("third")}", it is {most} to'
        f" {verdict.format(labels[high])} and {least} to {verdict.format(labels[low])}."
    )


def _likely(weight: float) -> str:
    return "likely" if weight > 0 else "unlikely" if weight < 0 else "neutral"
