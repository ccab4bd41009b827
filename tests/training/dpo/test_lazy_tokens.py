"""Only the pairs that a training draws are tokenized, if `peirce pairs` left out longer ones by the tokens
of the same base, and the draws are the same as without. Skipped where the extra `train` is absent.

Internals: the tokenized prompts and answers are counted where a training keeps them.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from tiny_model import make_model, require
from tiny_pairs import make_table

require("trl", "datasets")
from peirce.training.dpo import ListLog, TrainConfig, train  # noqa: E402
from peirce.training.dpo.pair_tokens import PairTokens  # noqa: E402
from peirce.training.pairs import ModelText, OwnRendering, TokenLimit  # noqa: E402

TABLE = make_table(problems=150)
SMALL = {"examples": 16, "period": 8, "batch": 4, "device_batch": 4, "probe_pairs": 2, "lora_rank": 2,
         "device": "cpu", "schedule": "momentum", "max_length": 256}  # fmt: skip


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("models") / "base", num_hidden_layers=1)


@pytest.fixture
def limited(base):
    settings = {**TABLE.settings, "length": TokenLimit(ModelText(base), 256).settings()}
    return replace(TABLE, settings=settings).with_digest()


@pytest.fixture
def work(base, tmp_path, monkeypatch):
    """Trains, and returns the drawn pairs and the counts of tokenized prompts and answers."""
    made, drawn = [], []
    taken, opened = PairTokens.__getitem__, PairTokens.__init__

    def init(self, *args, **more):
        opened(self, *args, **more)
        made.append(self)

    monkeypatch.setattr(PairTokens, "__init__", init)
    monkeypatch.setattr(PairTokens, "__getitem__", lambda self, pair: drawn.append(pair) or taken(self, pair))  # fmt: skip

    def run(table, **changed):
        drawn.clear()
        settings = TrainConfig.from_mapping({**SMALL, **changed})
        out = tmp_path / f"out{len(made)}"
        trained = train(str(base), table, settings, out, ListLog())
        return list(drawn), made[-1].tokenized, trained.fields["probes"]

    return run


def test_only_drawn_pairs_are_tokenized_and_the_draws_stay_the_same(work, limited):
    pairs, (prompts, answers), probes = work(TABLE)
    same, (fewer_prompts, fewer_answers), same_probes = work(limited)
    assert same == pairs and same_probes == probes
    used = {int(TABLE.prompt[pair]) for pair in pairs}
    assert len(used) <= fewer_prompts <= len(used) + 6  # of the probes
    assert fewer_prompts < 0.6 * prompts and fewer_answers < 0.6 * answers


def test_a_set_that_was_limited_otherwise_is_tokenized_first(work, limited, base):
    _, (eager, _), _ = work(TABLE)
    length = limited.settings["length"]
    for changed in ({"max_length": 300}, {"tokenizer": "0" * 64}, {"counts": None}):
        settings = {**TABLE.settings, "length": {**length, **changed}}
        _, (prompts, _), _ = work(replace(TABLE, settings=settings).with_digest())
        assert prompts == eager
    _, (prompts, _), _ = work(limited, render_anew=True)
    assert prompts == eager


def test_prompts_rendered_anew_are_tokenized_when_drawn_if_the_limit_counted_them_so(work, base):
    _, (eager, _), _ = work(TABLE)
    for date, fewer in (("2026-11-29", True), (None, True)):  # the template writes no date
        limit = TokenLimit(ModelText(base, own=OwnRendering(date=date)), 256)
        assert limit.with_variables({"a": 1}).settings() == limit.settings()
        settings = {**TABLE.settings, "length": limit.settings()}
        table = replace(TABLE, settings=settings).with_digest()
        _, (prompts, _), _ = work(table, render_anew=True)
        assert (prompts < 0.6 * eager) is fewer
    _, (prompts, _), _ = work(table)  # rendered as the sessions did
    assert prompts == eager
