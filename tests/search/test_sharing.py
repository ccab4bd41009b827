"""What votes do: among novel rules the one that likely rules agree with comes first.

Internals: the vote among candidates is called with predictions worked by hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from peirce.search.lists.voting import DEARER, FEW, VotingRanker
from peirce.search.novelty import ANSWERS_BY_COST

INPUTS = list(range(200))


@dataclass
class Rule:
    text: str
    cost: float
    codes: np.ndarray = field(repr=False)
    sentence: str = ""

    def predict(self, inputs):
        return self.codes[np.array(inputs)], np.ones(len(inputs), bool)


def said(text: str, cost: float, value: int) -> Rule:
    return Rule(text, cost, np.full(len(INPUTS), value, np.int64))


KNOWN = [said(f"known {k}", 1.0 + k / 10, -1 - k) for k in range(ANSWERS_BY_COST)]


def next_of(candidates, known=KNOWN):
    chosen = VotingRanker(INPUTS, 100).choose([*known, *candidates], known, {k.text for k in known})
    return chosen.text if chosen else None


def test_a_rule_that_others_agree_with_comes_before_a_cheaper_one_alone():
    alone = said("alone", 4.0, 100)
    agreed = [said(f"agreed {k}", 4.5 + k / 100, 7) for k in range(6)]
    assert next_of([alone, *agreed]) == "agreed 0"
    assert next_of([alone, agreed[0]]) == "alone"  # where none agrees the price decides


def test_the_votes_of_dear_rules_weigh_little():
    alone = said("alone", 4.0, 100)
    dear = [said(f"dear {k}", 14.0 + k / 100, 7) for k in range(6)]
    assert next_of([alone, *dear]) == "alone"


def test_the_first_answers_go_by_price_alone():
    alone = said("alone", 4.0, 100)
    agreed = [said(f"agreed {k}", 4.5 + k / 100, 7) for k in range(6)]
    assert next_of([alone, *agreed], KNOWN[:2]) == "alone"


def test_after_some_answers_nothing_much_dearer_is_said():
    known = [said(f"known {k}", 1.0, -1 - k) for k in range(FEW)]
    assert next_of([said("dear", 1.0 + DEARER + 0.1, 5)], known) is None
    assert next_of([said("dear", 1.0 + DEARER - 0.1, 5)], known) == "dear"
    assert next_of([said("dear", 1.0 + DEARER + 0.1, 5)], known[: FEW - 1]) == "dear"
