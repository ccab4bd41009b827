"""What a model under training is asked meanwhile, and how its answers are counted.

Internals: the prompts are drawn and answers are counted without a model in training.
"""

from __future__ import annotations

from pathlib import Path

import peirce
import pytest
from peirce.commands.train.sampled_answers import SampleMetrics, draw_validation_prompts
from peirce.store import Store

RIGHT = repr(("the list itself", "def f(x):\n    return x"))
WRONG = repr(("nothing", "def f(x):\n    return []"))
ALL = {"splits": {"seed": 0, "fractions": {"train": 0.0, "validation": 1.0, "held_out": 0.0}}}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    place = tmp_path_factory.mktemp("sampled")
    rows = [
        f'{{"problem": "{name}", "input": [{n}, {at}], "output": [{n}, {at}]}}\n'
        for at, name in enumerate(("one", "two")) for n in (1, 2)
    ]  # fmt: skip
    (place / "pairs.jsonl").write_text("".join(rows))
    session = peirce.run(
        "examples", data=str(place / "pairs.jsonl"), model="search", max_answers=1,
        store=place / "s.duckdb",
    ).session  # fmt: skip
    return place / "s.duckdb", session


def test_answers_that_can_be_read_and_that_agree_are_counted(store: tuple[Path, str]) -> None:
    with Store.open(store[0], write=False) as opened:
        asked = draw_validation_prompts(opened, [store[1], "gone"], ALL)
    assert [one.view.problem for one in asked] in (["one", "two"], ["two", "one"])
    sampled = SampleMetrics(asked, 8, seed=3)
    seen = []

    def ask(prompts, seed):
        seen.append((len(prompts), seed, prompts[0] == prompts[1]))
        return [RIGHT, WRONG, "no idea", RIGHT, RIGHT, WRONG, "", WRONG]

    assert sampled(ask) == {"instruction_following": 6 / 8, "consistent": 3 / 8}
    sampled(ask)
    assert seen == [(8, 3, True)] * 2


def test_problems_of_other_splits_are_never_asked(store: tuple[Path, str]) -> None:
    none = {"splits": {"seed": 0, "fractions": {"train": 1.0, "validation": 0.0, "held_out": 0.0}}}
    with Store.open(store[0], write=False) as opened:
        assert draw_validation_prompts(opened, [store[1]], none) == []
        fixed = {"splits": {**none["splits"], "fixed": {"two": "validation"}}}
        (one,) = draw_validation_prompts(opened, [store[1]], fixed)
        assert (
            one.view.problem == "two"
            and len(draw_validation_prompts(opened, [store[1]], ALL, max_prompts=1)) == 1
        )


@pytest.mark.parametrize(("answers", "to_each"), [(1, [1, 0]), (5, [3, 2]), (8, [4, 4])])
def test_as_many_answers_are_asked_as_are_wanted(
    store: tuple[Path, str], answers: int, to_each: list[int]
) -> None:
    with Store.open(store[0], write=False) as opened:
        asked = draw_validation_prompts(opened, [store[1]], ALL)
    seen = []

    def ask(prompts, seed):
        seen.extend(prompts)
        return [RIGHT] * len(prompts)

    assert SampleMetrics(asked, answers, seed=3)(ask)["instruction_following"] == 1.0
    assert [seen.count(one.messages) for one in asked] == to_each


def test_a_prompt_that_a_held_out_problem_has_too_is_never_asked(tmp_path: Path) -> None:
    rows = [
        f'{{"problem": "{name}", "input": {[n]}, "output": {[n]}, "split": "shown"}}\n'
        for name in ("one", "two", "other") for n in ((1, 2) if name != "other" else (3, 4))
    ]  # fmt: skip
    (tmp_path / "pairs.jsonl").write_text("".join(rows))
    session = peirce.run(
        "examples", data=str(tmp_path / "pairs.jsonl"), model="search", max_answers=1,
        store=tmp_path / "s.duckdb",
    ).session  # fmt: skip
    fixed = {"one": "validation", "two": "held-out", "other": "validation"}
    with Store.open(tmp_path / "s.duckdb", write=False) as opened:
        (one,) = draw_validation_prompts(
            opened, [session], {"splits": {**ALL["splits"], "fixed": fixed}}
        )
    assert one.view.problem == "other"


def test_a_training_whose_answers_nobody_can_sample_says_so_and_is_not_stopped_by_them(
    tmp_path: Path,
) -> None:
    from peirce.commands.train.training import _sampler
    from peirce.records import UsageError
    from peirce.tasks import DataWarning
    from peirce.training.dpo import TrainConfig

    Store.open(tmp_path / "s.duckdb", write=True).close()
    counts = {"sessions": [{"session": "gone"}]}
    with Store.open(tmp_path / "s.duckdb", write=False) as opened:
        with pytest.warns(
            DataWarning,
            match="no answers are sampled during training, because the store has no session of these pairs with a validation problem: only the chosen log-ratio can warn of a collapse",
        ):
            assert _sampler(opened, ALL, counts, 8, TrainConfig(stop="either")) is None
        for answers, told in (
            (0, TrainConfig(stop="following")),
            (8, TrainConfig(stop="following", sample_every=0)),
        ):
            with pytest.raises(
                UsageError,
                match="--stop following depends on sampled answers, but none are sampled here",
            ):
                _sampler(opened, ALL, counts, answers, told)
        assert _sampler(opened, ALL, counts, 0, TrainConfig()) is None
