"""Vectors of terms that come from outside: which are asked for, and that themes follow them.

Internals: how given vectors divide terms of equal weights is compared with the expected themes.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from peirce.search.engines import SearchService
from peirce.search.novelty import NeedsVectors
from peirce.search.text.embedded import embedded_vectors
from peirce.search.text.regression import Weights
from peirce.search.text.themes import group_terms
from peirce.tools.sentence_rules import Term

PUBLIC = {"labels": ["a", "b"], "columns": {"text": {"kind": "text"}}, "shape": "text"}
OTHER = [one + other for one in "bdgkmprt" for other in ("alta", "orvi", "unpo", "iqu", "ess")]


def request(**more):
    drawn = random.Random(1)
    shown = []
    for place in range(120):
        words = drawn.sample(OTHER, 10) + drawn.sample(["wave", "oven"], 1) * (place % 2)
        label = "a" if (place % 2 == 0) == (drawn.random() < 0.85) else "b"
        shown.append([{"text": " ".join(words)}, label])
    return {
        "shown": shown, "family": "text", "told": PUBLIC, "space": "s", "inputs": [],
        "expansions": 150_000, "earlier": [], "skip": [], **more,
    }  # fmt: skip


def test_the_search_asks_for_missing_vectors_and_then_answers() -> None:
    service = SearchService()
    asked = service.propose(request(vectors={}))
    assert set(asked) == {"need", "terms"} and asked["need"] == "vectors"
    assert {"wave", "oven"} <= set(asked["terms"]) and "*" not in "".join(asked["terms"])
    known = {term: [float(len(term)), 1.0] for term in asked["terms"]}
    some = dict(list(known.items())[:5])
    assert service.propose(request(vectors=some))["need"] == "vectors"
    found = service.propose(request(vectors=known))
    assert '"wave"' in found["source"] or '"oven"' in found["source"]
    assert SearchService().propose(request(vectors=known)) == found


def test_without_the_key_no_vectors_are_asked_for() -> None:
    assert "source" in SearchService().propose(request())


def test_terms_of_equal_weight_are_divided_by_their_vectors() -> None:
    terms = [Term("wave"), Term("oven"), Term("boat*"), Term("pan"), Term(kind="number")]
    known = {"wave": [1, 0], "boat": [1, 0.1], "oven": [0, 1], "pan": [0.1, 1], "number": [0, 0.9]}
    vectors = embedded_vectors(terms, known)
    weights = Weights(np.ones(5), np.zeros(0), 0.0)
    themes = group_terms(np.arange(5), weights, np.ones(5), vectors, (2, 0))
    assert {frozenset(one.terms) for one in themes} == {frozenset({0, 2}), frozenset({1, 3, 4})}


def test_missing_vectors_are_named_once() -> None:
    with pytest.raises(NeedsVectors) as needed:
        embedded_vectors([Term("wave"), Term("wav*"), Term("wave*"), Term("pan")], {"pan": [1.0]})
    assert needed.value.terms == ["wave", "wav"]
