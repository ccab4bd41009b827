"""Many rules with many at once: what each pair comes to by itself, whichever rules stand beside it.

Internals: matrices of overlaps are compared with overlaps one by one, in chunks of odd sizes.
"""

from __future__ import annotations

import random
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from peirce.records import Problem
from peirce.tasks import load_problems
from peirce.tools.discovery import InputSpace, score_exact
from peirce.tools.discovery import input_space as spaces
from peirce.tools.discovery import overlap as module
from peirce.tools.discovery.overlap import overlap, overlap_matrix
from peirce.tools.sentence_rules import Rule

sys.path.insert(0, str(Path(__file__).parent))
from made import GRADES, rule, students, texts

POSTS = [f"{a} and {b}, {c}" for a, b, c in product(("I run", "we rest"), ("you sing", "he sings"), ("now", "later", "never"))]  # fmt: skip


def drawn(problem: Problem, seed: int) -> Rule:
    draw = random.Random(seed)
    labels = problem.public["labels"]

    def condition() -> str:
        if problem.public["shape"] == "text":
            words = draw.sample(["run", "rest", "sing*", "he", "now", "later", "we rest"], 2)
            return f'the text {draw.choice(["mentions", "does not mention"])} one of "{words[0]}", "{words[1]}"'  # fmt: skip
        return draw.choice(
            [
                f"math is {draw.choice(['', 'not '])}one of {', '.join(draw.sample(GRADES, 2))}",
                f"english is {draw.choice(GRADES)}",
                f"papers is {draw.choice(['at least', 'less than'])} {draw.randint(0, 4)}",
                f"donated is {draw.choice(['true', 'false'])}",
            ]
        )

    clauses = [
        f"if {draw.choice([' and ', ' or ']).join(condition() for _ in range(draw.randint(1, 3)))},"
        f" the label is {draw.choice(labels)}"
        for _ in range(draw.randint(1, 2))
    ]
    rest = [f"otherwise, the label is {draw.choice(labels)}"] * draw.randint(0, 1)
    return rule("; ".join([*clauses, *rest]) + ".", problem)


@pytest.mark.parametrize("problem", [students(), texts(POSTS, ["in", "out", "off"])], ids=["fields", "texts"])  # fmt: skip
@pytest.mark.parametrize("most", [50_000, 30])
@pytest.mark.parametrize("at_once", [2_000_000, 50])
def test_all_pairs_at_once_are_as_each_pair_alone(
    problem: Problem, most: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the inputs that all rules tell apart are too many to be listed."""
    monkeypatch.setattr(spaces, "MAX_INPUTS", most)
    monkeypatch.setattr(module, "MAX_BATCH_CODES", at_once)
    ones, others = ([drawn(problem, n) for n in some] for some in (range(12), range(8, 30)))
    space = InputSpace(problem)
    found = overlap_matrix(ones, others, space)
    alone = np.array([[overlap(one, other, space) for other in others] for one in ones])
    assert found.shape == (12, 22)
    np.testing.assert_allclose(found, alone, atol=1e-9)
    assert ((found == 1) == (alone == 1)).all() and (found == 1).any() and (found == 0).any()


def test_no_rules_have_no_overlaps() -> None:
    problem = students()
    some = [drawn(problem, n) for n in range(4)]
    assert overlap_matrix([], some, InputSpace(problem)).shape == (0, 4)
    assert overlap_matrix(some, [], InputSpace(problem)).shape == (4, 0)


def test_a_rule_that_two_labels_make_whole_says_what_its_denial_says_of_the_other() -> None:
    problem = students()
    some = [
        rule(one, problem)
        for one in (
            "If math is A, the label is admitted.",
            "If math is not A, the label is rejected.",
            "If math is A, the label is rejected.",
        )
    ]
    assert overlap_matrix(some, some, InputSpace(problem)).tolist() == [
        [1, 1, 0],
        [1, 1, 0],
        [0, 0, 1],
    ]


def test_long_sentences_of_hundreds_of_cases_find_all_of_themselves() -> None:
    """30,000 characters, some 400 cases, of which each pair would take a millisecond."""
    ((problem, _),) = load_problems("labels:election", ids=["election/counterfactual/normal"])
    optimal = problem.secret["made"]["optimal"]
    found = score_exact(optimal, optimal, InputSpace(problem), problem.public)
    assert found is not None and sum(map(len, optimal)) > 20_000
    assert (found.hdr, found.precision, found.identical) == (1, 1, 1)
