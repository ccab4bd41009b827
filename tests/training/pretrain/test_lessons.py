"""Lessons of a small proposer: true unless a fault says so, in the protocol's own prompts, and read by
a model as single sequences would be.

Internals: lessons are drawn from libraries of five programs, without a tokenizer.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from peirce.records import Hypothesis, InputSet, Malformed, View
from peirce.tasks import load_family
from peirce.training.pretrain import Library, Program, Shares
from peirce.training.pretrain.corpus import ChainLessons, Lesson, LibraryLessons
from peirce.training.pretrain.library import (
    compile_program,
    grid_library,
    list_library,
    search_grid_programs,
    search_list_programs,
    search_scene_chains,
)

NONE = Shares(0, 0, 0, 0)
VIEW = View("p", "list_functions", "programs", (), {}, InputSet("S", ()))
PROGRAMS = [
    Program("def f(x):\n    return x[::-1]", "Return x in reverse order.", 2.0),
    Program("def f(x):\n    return sorted(x)", "Return x in ascending order.", 2.0, 3),
    Program("def f(x):\n    return sorted(x)[::-1]", "Return x in descending order.", 3.0),
    Program("def f(x):\n    return x[:1]", "Return the first element of x alone.", 2.0),
    Program("def f(x):\n    return [x[9]]", "Return the tenth element of x alone.", 2.0),
]


def drawn(source: LibraryLessons | ChainLessons, count: int, **of: bool) -> list[Lesson]:
    rng = random.Random(1)
    found = (source.draw(rng, 1.0, **of) for _ in itertools.count())
    return list(itertools.islice((one for one in found if one is not None), count))


def parsed(answer: str) -> Hypothesis | Malformed:
    """The one hypothesis of an answer, as a session reads it."""
    (found,) = load_family("programs").parse(VIEW, answer, "tuple")
    return found


@pytest.fixture(scope="module")
def library() -> Library:
    return list_library(PROGRAMS, 0)


def test_a_program_that_is_hardly_defined_is_left_out(library: Library) -> None:
    assert [one.sentence for one in library.programs] == [one.sentence for one in PROGRAMS[:4]]
    for row, program in zip(library.codes, library.programs, strict=True):
        function = compile_program(program.source)
        for code, given in list(zip(row, library.inputs, strict=True))[:40]:
            if code >= 0:
                assert library.outputs[code] == function(given)


def test_answers_without_faults_are_consistent_and_differ_from_those_before(
    library: Library,
) -> None:
    contexts: Counter[int] = Counter()
    for lesson in drawn(LibraryLessons(library, NONE, 600, {1: 1}), 60):
        texts = set()
        for answer in lesson.answers:
            read = parsed(answer.text)
            assert not isinstance(read, Malformed)
            function = compile_program(read.text)
            assert all(function(list(o.input)) == o.output for o in lesson.shown)
            contexts[answer.context] += 1
            if answer.context:
                assert all(f"- {said}" in answer.prompt_suffix for said in texts)
                assert read.description not in texts and answer.prompt_suffix.endswith("another:")
            if answer.context or not texts:
                texts.add(read.description)
    assert contexts[0] >= 60 and contexts[1] > 2


def test_each_fault_is_what_its_name_says(library: Library) -> None:
    for name in ("malformed", "narrow"):
        shares = replace(NONE, **{name: 1.0})
        for lesson in drawn(LibraryLessons(library, shares, 600, {2: 1}), 20):
            assert all(one.fault == "" for one in drawn(LibraryLessons(library, shares, 600, {2: 1}), 1,
                                                        faulty=False)[0].answers)  # fmt: skip
            for answer in lesson.answers:
                read = parsed(answer.text)
                if name == "malformed":
                    assert isinstance(read, Malformed)
                elif answer.fault:
                    function = compile_program(read.text)
                    assert all(function(list(o.input)) == o.output for o in lesson.shown)
                    assert "assert" in read.text


def test_cheap_programs_come_first(library: Library) -> None:
    source = LibraryLessons(library, NONE, 600, {2: 1})
    rng = random.Random(2)
    counts = []
    for done in (0.0, 1.0):
        source._set(done)
        counts.append(Counter(source._any(rng) for _ in range(2_000))[2])
    assert counts[0] < counts[1]


def test_the_search_fills_libraries_of_lists_and_grids() -> None:
    found = search_list_programs(0, 4)
    assert found and len(list_library(found, 0).programs) > 0
    grids = grid_library("mini_arc", search_grid_programs("mini_arc", 0, 8), 0)
    for lesson in drawn(LibraryLessons(grids, NONE, 600, {1: 1}), 5):
        assert "/" in lesson.prompt and lesson.task == "mini_arc"
        function = compile_program(parsed(lesson.answers[0].text).text)
        assert all(function(o.input) == o.output for o in lesson.shown)


def test_chains_of_scenes_keep_true_when_their_objects_are_renamed() -> None:
    chains = search_scene_chains(0, 4)
    assert chains
    first = drawn(ChainLessons(chains, NONE), 12)
    assert len({lesson.prompt for lesson in first}) > 8
    for lesson in first:
        for answer in lesson.answers:
            function = compile_program(parsed(answer.text).text)
            assert all(function(o.input) == o.output for o in lesson.shown)
    assert np.mean([len(lesson.answers) for lesson in first]) > 1
