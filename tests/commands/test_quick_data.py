"""The data of `peirce train --quick`: recorded answers have the verdicts that the family gives them now,
their rules are not those that the command measures on, and 8 bits hardly change the base.

Internals: the recorded answers and the held-out problems are no part of what the package offers.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from peirce.commands.oracles import open_oracles
from peirce.commands.train import quick_training
from peirce.commands.train.pretraining import make_unseen_problems
from peirce.records import Hypothesis, InputSet, UsageError, View
from peirce.tasks import load_family
from peirce.training import Split, Stage, quick
from tiny_model import require


@pytest.mark.parametrize("task", quick.TASKS)
def test_recorded_answers_have_the_verdicts_of_today(task: str) -> None:
    family = load_family("programs")

    async def judge() -> list[tuple[str, str]]:
        found = []
        async with open_oracles(family) as tools:
            for one in quick.read_recorded(task)[:8]:
                view = View(one.problem, task, "programs", one.shown, {}, InputSet("S", ()))
                for verdict, text in one.answers:
                    read, now = family.parse(view, text, family.answer_formats[0]), "malformed"
                    if read and isinstance(read[0], Hypothesis):
                        oracles = tools.make_oracles()
                        agreed = await family.measure_agreement(read[0], one.shown, view, oracles)
                        now = "consistent" if family.is_consistent(agreed) else "inconsistent"
                    found.append((verdict, now))
        return found

    found = asyncio.run(judge())
    assert {verdict for verdict, _ in found} == {"malformed", "inconsistent", "consistent"}
    assert all(verdict == now for verdict, now in found)


@pytest.mark.parametrize("task", quick.TASKS)
def test_recorded_rules_are_not_those_that_are_measured(task: str) -> None:
    measured, _ = make_unseen_problems(
        task, quick_training.OBSERVATIONS, 2 * quick_training.PROBLEMS, quick_training.HELD_OUT_SEED
    )
    rules = {str(one.secret["rule"]) for one in measured}
    assert len(rules) > 20 and not rules & {one.rule for one in quick.read_recorded(task)}


def test_pairs_prefer_what_is_read_and_what_agrees() -> None:
    problems = quick.read_recorded("acre")
    table = quick.recorded_pairs(problems)
    for stage in (Stage.PARSING, Stage.CONSISTENCY):
        assert len(table.positions(stage, Split.TRAIN)) > 100
        assert len(table.positions(stage, Split.VALIDATION)) > 10
        for pair in table.positions(stage)[::97]:
            one = problems[int(table.prompt[pair])]
            _, chosen, rejected = table.texts(pair)
            verdicts = {text: verdict for verdict, text in one.answers}
            if stage is Stage.PARSING:
                assert verdicts[chosen] != "malformed" == verdicts[rejected]
            else:
                assert (verdicts[chosen], verdicts[rejected]) == ("consistent", "inconsistent")


def test_joined_tables_keep_every_pair() -> None:
    first, second = (quick.recorded_pairs(quick.read_recorded(task)) for task in quick.TASKS)
    both = quick.join_tables(first, second)
    assert both.digest and len(both) == len(first) + len(second)
    for pair in (0, len(first) - 1):
        assert both.texts(pair) == first.texts(pair)
    for pair in (0, len(second) - 1):
        assert both.texts(len(first) + pair) == second.texts(pair)


def test_joined_tables_keep_the_prompts_and_sessions_of_both() -> None:
    first, second = (
        replace(
            quick.recorded_pairs(quick.read_recorded(task)),
            settings={
                "sessions": [name], "rendering": [{"session": name, "variables": {}}],
                "length": {"max_length": limit},
            },
        )
        for task, name, limit in zip(quick.TASKS, ("a", "b"), (100, 200), strict=True)
    )  # fmt: skip
    both = quick.join_tables(first, second).settings
    assert both["sessions"] == ["a", "b"]
    assert [one["session"] for one in both["rendering"]] == ["a", "b"]
    assert "length" not in both  # the second set has longer pairs than the first allows
    assert quick.join_tables(first, first).settings == first.settings
    thinking = replace(second, settings={**second.settings, "template_variables": {"think": True}})
    with pytest.raises(UsageError, match="used different variables of the chat template"):
        quick.join_tables(first, thinking)


def test_the_base_is_a_folder_of_any_tool_and_8_bits_keep_it(tmp_path: Path) -> None:
    require("transformers", "safetensors")
    from safetensors.numpy import load_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    quick.write_base(tmp_path / "base")
    model = AutoModelForCausalLM.from_pretrained(str(tmp_path / "base"))
    assert len(AutoTokenizer.from_pretrained(str(tmp_path / "base"))) == model.config.vocab_size
    quick.store_base(tmp_path / "base", tmp_path / "stored")
    assert (tmp_path / "stored" / "model.safetensors").stat().st_size < 1_100_000
    quick.write_base(tmp_path / "again", tmp_path / "stored")
    before, after = (load_file(tmp_path / one / "model.safetensors") for one in ("base", "again"))
    assert before.keys() == after.keys()
    for name, weights in before.items():
        assert np.abs(weights - after[name]).max() <= np.abs(weights).max() / 127
