"""`peirce pretrain`: a folder that any tool of Hugging Face reads, made once, from its settings alone.

Internals: the tokenizer and the libraries are cut down so that a training takes seconds.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import peirce
import pytest
from peirce.records import DataError, UsageError
from peirce.training.pretrain import PretrainSettings, Program, run
from peirce.training.pretrain.settings import ARCHITECTURES
from tiny_model import require

require("tokenizers", "safetensors")

TINY = PretrainSettings(
    tokens=4_000, tasks={"list_functions": 1.0}, problems={"list_functions": 6}, faults_from=0.5
)


PROGRAMS = [
    Program(f"def f(x):\n    return {code}", f"Return {said}.", 2.0)
    for code, said in (
        ("x[::-1]", "x in reverse order"), ("sorted(x)", "x in ascending order"),
        ("x[:1]", "the first element of x alone"), ("x[1:]", "x without its first element"),
        ("[v for v in x if v > 5]", "the elements of x that are above 5"),
    )
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def quick(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A cache of its own, a tokenizer of few texts, and no search."""
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    patch.setattr(run, "TOKENIZER_LESSONS", 200)
    patch.setattr(run.library, "load_programs", lambda *told, **options: PROGRAMS)
    patch.setattr("peirce.training.pretrain.model.NAME_REPETITIONS", 1_000)
    yield
    patch.undo()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> run.PretrainResult:
    return run.pretrain(TINY, tmp_path_factory.mktemp("made") / "base")


def test_the_folder_is_an_ordinary_one(made: run.PretrainResult) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(str(made.out))
    tokenizer = AutoTokenizer.from_pretrained(str(made.out))
    assert model.generation_config.do_sample and model.generation_config.temperature == 1.0
    assert model.config.vocab_size == len(tokenizer)
    said = tokenizer.apply_chat_template(
        [{"role": "user", "content": "[1 2]"}], add_generation_prompt=True, tokenize=False
    )
    assert said == "<|user|>[1 2]<|assistant|>"
    ids = tokenizer("[7 42] -> [99]", add_special_tokens=False)["input_ids"]
    assert {"7", " 42", "99"} <= {tokenizer.decode([one]) for one in ids}
    assert tokenizer.decode(ids) == "[7 42] -> [99]"
    record = json.loads((made.out / "pretrain.json").read_text())
    assert record["digest"] == TINY.digest and record["parameters"] < 1_000_000
    assert record["tokens"] >= 4_000 and "nothing" in (made.out / "README.md").read_text()


def test_it_is_used_again_and_other_settings_are_refused(
    made: run.PretrainResult, tmp_path: Path
) -> None:
    again = run.pretrain(TINY, made.out)
    assert again.reused and again.record == made.record
    with pytest.raises(UsageError, match=r"other settings \(seed 0, not 1\)"):
        run.pretrain(TINY.model_copy(update={"seed": 1}), made.out)
    (tmp_path / "x").write_text("mine")
    with pytest.raises(
        UsageError,
        match="exists but does not contain a model of `peirce pretrain`: choose another folder",
    ):
        run.pretrain(TINY, tmp_path)
    (tmp_path / "pretrain.json").write_text("{")
    with pytest.raises(DataError, match="is not a record of a pretraining: remove the folder"):
        run.pretrain(TINY, tmp_path)


def test_so_many_tokens_give_the_same_weights_twice(
    made: run.PretrainResult, tmp_path: Path
) -> None:
    again = run.pretrain(TINY, tmp_path / "again")
    first, second = (one.out / "model.safetensors" for one in (made, again))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_packed_lessons_say_what_single_sequences_say(
    architecture: str, made: run.PretrainResult
) -> None:
    import torch
    from peirce.training.pretrain.measure import load_model
    from peirce.training.pretrain.model import build_model
    from peirce.training.pretrain.packing import LessonTokenizer, pack_rows

    _, tokenizer = load_model(made.out)
    model = build_model(architecture, "small", tokenizer, (), 512, 0).eval()
    lessons = run.LessonStream(TINY, lambda said: None)
    trees = []
    for lesson in lessons:
        trees.append(LessonTokenizer(tokenizer).build_tree(lesson))
        if len(trees) == 12:
            break
    batch = next(pack_rows([*trees, trees[0]], 300, 2, tokenizer.pad_token_id))
    with torch.inference_mode():
        logits = model(
            input_ids=torch.from_numpy(batch.tokens),
            position_ids=torch.from_numpy(batch.positions),
            attention_mask=torch.from_numpy(batch.attention_mask()),
        ).logits
        checked = 0
        for row, number in {(0, 0), (0, 1), (1, 0)}:
            mine = batch.lesson[row] == number
            for branch in sorted(set(batch.branch[row][mine]) - {0}):
                places = np.flatnonzero(mine & np.isin(batch.branch[row], (0, branch)))
                alone = model(input_ids=torch.from_numpy(batch.tokens[row][places])[None]).logits[0]
                assert torch.allclose(logits[row, places], alone, atol=2e-3)
                checked += 1
    assert checked > 2


def test_outputs_and_answers_have_weight_and_inputs_none(made: run.PretrainResult) -> None:
    from peirce.training.pretrain.measure import load_model
    from peirce.training.pretrain.packing import LessonTokenizer

    _, tokenizer = load_model(made.out)
    lesson = next(iter(run.LessonStream(TINY, lambda said: None)))
    tree = LessonTokenizer(tokenizer).build_tree(lesson)
    trunk = tree.branch == 0
    weighted = tokenizer.decode(tree.targets[trunk & (tree.weights > 0)])
    inputs = lesson.prompt.split("->")[0]
    assert weighted and inputs not in weighted
    answers = tokenizer.decode(tree.targets[(tree.branch == 1) & (tree.weights == 1)])
    assert answers == lesson.answers[0].text + "<|end|>"


def test_what_it_answers_is_measured(made: run.PretrainResult, monkeypatch: Any) -> None:
    command = inspect.getmodule(inspect.unwrap(peirce.pretrain))
    monkeypatch.setattr(command, "PretrainSettings", lambda *_, **__: TINY)
    monkeypatch.setattr(command, "OBSERVATION_COUNTS", {"list_functions": (2,)})
    monkeypatch.setattr("peirce.training.pretrain.measure.MAX_ANSWER_TOKENS", 12)
    told = peirce.pretrain(made.out, measure=2, sandbox="process", workers=1)
    (row,) = told["measured"]
    assert told["used"] and row["prompts"] == 2 and row["answers"] == 8
    assert 0 <= row["consistent"] <= row["instruction_following"] <= 1
    assert "| list_functions | 2 | 2 | 8 |" in (made.out / "README.md").read_text()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"architecture": "mamba"}, "unknown architecture 'mamba': it must be one of llama"),
        ({"size": "huge"}, "unknown size 'huge'"),
        ({"tasks": ["abd"]}, "unknown task 'abd'"),
        ({"minutes": 0}, "minutes is 0"),
        ({"tokens": 0}, "tokens is 0"),
        ({"template": "full"}, "unknown template 'full'"),
        ({"measure": -1}, "measure is -1"),
    ],
)
def test_mistakes_are_named(options: dict, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=sentence):
        peirce.pretrain(tmp_path / "out", **options)
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_said_before_anything_is_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "LessonStream", lambda *_: pytest.fail("it began"))
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be created; choose another folder"):
        peirce.pretrain(tmp_path / "file" / "out")
    with pytest.raises(UsageError, match="a link to a missing target; choose a folder"):
        (tmp_path / "link").symlink_to(tmp_path / "gone")
        peirce.pretrain(tmp_path / "link" / "out")


def test_a_model_that_does_not_fit_the_disk_is_one_sentence_and_leaves_nothing(
    made: run.PretrainResult, tmp_path: Path
) -> None:
    import resource

    from peirce.records import PeirceError
    from peirce.training.pretrain.measure import load_model

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    model, tokenizer = load_model(made.out)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, before[1]))
    try:
        with pytest.raises(PeirceError, match="cannot be written, is the disk full"):
            run._write(tmp_path / "out", model, tokenizer, made.record)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.iterdir())
