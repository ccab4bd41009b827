"""The data sets of `labels:election` and `labels:personality` (HypoBench, appendix B.3).

There are six levels. Each level has a data set of 2,500 posts from templates, and a plain data set
of 625 posts without templates (`_nosubtlety`):

| level | what decides the label |
|---|---|
| 0 | one phrase: posts with the phrase have one label, and all others another label |
| 1 | the five phrases of one type |
| 2 | the fifteen phrases of three types; the fourth type is irrelevant |
| 3 | as level 1, with 10% of the labels changed |
| 4 | as level 2, with 25% of the weights set to 0 |
| 5 | as level 2, with both |

There is also a grid of 64 data sets: 5, 10, 15 or 20 phrases with weights, 0 to 30% of the labels
changed, and 0 to 30% of the weights set to 0 (`election_controlled/10_0.1_0.2`). The election also
has a pair of data sets with the same posts (`counterfactual`). In one, the weights agree with the
meaning of the phrases. In the other, the labels are rotated.

There are four differences from the published data sets. A template has no influence on the label,
no data set has only one label (logistic.py), the labels follow the stated rule, and the plain data
sets are also split 70/10/20.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from ....records import Json, Observation
from ....tools.sentence_rules.conditions import Not
from ....tools.sentence_rules.rules import ConditionClause, Rule
from ..columns import Columns
from ..problems import LabelledData
from . import logistic
from .phrases import Topic, mentions_any
from .planted import Noise, add_noise, build_labelled_data, make_clean_splits, split_rows

TEXT_COLUMN = "text"
GRID_RATES = (0.0, 0.1, 0.2, 0.3)


@dataclass(frozen=True)
class Level:
    """The settings that determine the difficulty of a data set of posts.

    Attributes:
        count: The number of phrases with weights; 1 if a single phrase decides the label.
        noise: The share of labels that are changed.
        dropout: The share of weights that are set to 0.
        plain: Whether texts have one line per type instead of a template.
        twin: 0 for weights that agree with the meaning of the phrases, 1 for rotated labels, None
            for a data set that is not in such a pair.
    """

    count: int
    noise: float = 0.0
    dropout: float = 0.0
    plain: bool = False
    twin: int | None = None


LEVELS: Mapping[int, Level] = {
    0: Level(1),
    1: Level(5),
    2: Level(15),
    3: Level(5, noise=0.1),
    4: Level(15, dropout=0.25),
    5: Level(15, noise=0.1, dropout=0.25),
}


@dataclass(frozen=True)
class PostGenerator:
    """A generator of data sets of posts on a topic.

    Attributes:
        topic: The topic.
        with_twin: Whether there is also a pair of data sets with expected and rotated labels.
        written_properties: Entries for metadata.json about the model that wrote the topic; empty if
            no model did.
    """

    topic: Topic
    with_twin: bool
    written_properties: Mapping[str, Json] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the generator, which is the name of the topic."""
        return self.topic.name

    @property
    def about(self) -> str:
        """A description of the generator in one line."""
        return f"{self.topic.description} Six levels, subtle and plain, and a grid of 64"

    def list_sets(self, seed: int) -> Mapping[str, frozenset[str]]:
        """Return the names of the data sets with their tags."""
        return {name: self._tags(name, level) for name, level in self.levels().items()}

    def iter_further_names(self, seed: int) -> Iterator[str]:
        """Return an empty iterator, because this generator has no additional data sets."""
        return iter(())

    def levels(self) -> dict[str, Level]:
        """Return the difficulty settings of each data set by name, in order."""
        found = {}
        for number, one in LEVELS.items():
            told = {"count": one.count, "noise": one.noise, "dropout": one.dropout}
            found[f"{self.name}/level{number}_nosubtlety"] = Level(**told, plain=True)  # type: ignore[arg-type]
        found |= {f"{self.name}/level{number}": one for number, one in LEVELS.items()}
        if self.with_twin:
            for twin, side in enumerate(("normal", "counterfactual")):
                found[f"{self.name}/counterfactual/{side}"] = Level(20, twin=twin)
        for count, noise, dropout in product((5, 10, 15, 20), GRID_RATES, GRID_RATES):
            name = f"{self.name}_controlled/{count}_{noise:g}_{dropout:g}"
            found[name] = Level(count, noise, dropout)
        return found

    def _tags(self, name: str, level: Level) -> frozenset[str]:
        root, *_, own = name.split("/")
        if root.endswith("_controlled"):
            return frozenset(("grid", own, f"features_{level.count}"))
        if level.twin is not None:
            return frozenset(("twin", own, "subtle"))
        number = own.removeprefix("level")[0]
        return frozenset((number, f"level{number}", "plain" if level.plain else "subtle", own))

    def generate(self, name: str, seed: int, noise: Noise = "exact") -> LabelledData:
        """Return the data set with this name."""
        level = self.levels()[name]
        topic = self.topic
        base = (
            name.rpartition("/")[0] if level.twin is not None else name
        )  # twins share all random draws
        draw = np.random.default_rng(list(f"{base} {seed}".encode()))
        told: dict[str, Json] = {
            "underlying_model": "logistic_regression",
            "noise_level": level.noise,
            "noise": noise,
            "random_dropout": level.dropout,
            "subtlety": not level.plain,
            "num_impactful_feature": level.count,
            "seed": seed,
            **self.written_properties,
        }
        if level.count == 1:
            codes, known, best = self._one_phrase(draw)
        else:
            model = logistic.draw_model(
                topic, level.count, level.dropout, draw, level.twin is not None
            )
            codes = model.predict_codes()
            weighted = [
                place for place in range(len(topic.phrases)) if model.weights[:, place].any()
            ]
            if level.twin:
                codes = {choice: (code + 1) % len(topic.labels) for choice, code in codes.items()}
            else:
                told["worded"] = logistic.describe_weights(model)
            told |= logistic.model_parameters(model, weighted, rotation=1 if level.twin else 0)
            known = logistic.build_findings(topic, codes, weighted)
            best = logistic.build_optimal_rules(topic, codes)
        told["true_num_hypotheses"] = len(known)
        told["counterintuitive"] = bool(level.twin)
        labels = tuple(one for code, one in enumerate(topic.labels) if code in codes.values())
        rows = [
            Observation({TEXT_COLUMN: text}, topic.labels[code])
            for choice, code in codes.items()
            for text in (
                [topic.render_plain(choice)]
                if level.plain
                else [topic.fill_template(template, choice) for template in topic.templates]
            )
        ]
        splits = make_clean_splits(split_rows(rows, random.Random(f"{base} {seed}")))
        splits = add_noise(splits, level.noise, labels, noise, f"{base} {seed}")
        columns = Columns(
            {TEXT_COLUMN: {"kind": "text", "about": f"the {topic.item}"}}, "text", labels
        )
        return build_labelled_data(
            name, columns, labels, splits, topic.description, known, best, told
        )

    def _one_phrase(
        self, draw: np.random.Generator
    ) -> tuple[dict[tuple[int, ...], int], list[Rule], list[Rule]]:
        """Return codes, findings and optimal rules of level 0, where one phrase decides."""
        topic = self.topic
        place = int(draw.integers(len(topic.phrases)))
        here, elsewhere = (int(one) for one in draw.permutation(len(topic.labels))[:2])
        codes = {choice: here if place in choice else elsewhere for choice in topic.choices}
        there = mentions_any(topic.phrases[place])
        rule = Rule((ConditionClause(there, topic.labels[here]),), topic.labels[elsewhere])
        parts = [
            Rule((ConditionClause(there, topic.labels[here]),)),
            Rule((ConditionClause(Not(there), topic.labels[elsewhere]),)),
        ]
        return codes, [rule], parts
