"""The rules that data sets written by a model state, on all their rows.

Internals: rows and stated rules are read as they lie in the folder; a session draws from them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from peirce import tasks_generate
from peirce.agents.scripted import FunctionProposer
from peirce.tasks.text.generation.planted import public_facts
from peirce.tasks.text.sources import parse_source
from peirce.tools.sentence_rules import PreparedRows, Rule, compile_sentence

sys.path.insert(0, str(Path(__file__).parents[1] / "commands"))
from topic_writer import ABOUT, LABELS, TopicWriter


@pytest.mark.soak
def test_the_stated_rules_of_written_sets_score_the_stated_accuracy(tmp_path: Path) -> None:
    writer = TopicWriter()
    told = tasks_generate(
        "labels:subject", tmp_path / "made", model=FunctionProposer(writer, "writer"), about=ABOUT,
        problems=15, calls=tmp_path / "calls.jsonl",
    )  # fmt: skip
    assert (told["problems"], told["calls"]["asked"], len(writer.asked)) == (15, 23, 23)
    source = parse_source(tmp_path / "made")
    assert "subject/counterfactual/normal" in source.find_data_sets()
    for name, place in source.find_data_sets().items():
        rows = source.read(place, 0)
        assert set(rows.labels) <= set(LABELS) and rows.properties is not None
        public = public_facts(rows.columns, rows.labels)
        for split, some in rows.splits.items():
            assert len({one.output for one in some}) > 1
            found = np.full(len(some), -1)
            for sentence in rows.properties["optimal"]:
                rule = compile_sentence(sentence, public)
                assert isinstance(rule, Rule), name
                codes = rule.codes(PreparedRows([one.input for one in some], public))
                assert not ((found >= 0) & (codes >= 0) & (found != codes)).any()
                found = np.where(codes >= 0, codes, found)
            right = np.mean(
                [rows.labels[n] == one.output for n, one in zip(found, some, strict=True)]
            )
            assert right == pytest.approx(rows.properties["best_accuracy"][split], abs=1e-4)
        for sentence in rows.known:
            assert isinstance(compile_sentence(sentence, public), Rule)
