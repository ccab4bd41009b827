"""What cannot be trained, merged or resumed is one sentence each, before anything is computed; and a
merged adapter is the model that was trained. Skipped where the extra `train` is absent.

Internals: a checkpoint of no training is written by its name, and a merge is made without the
command.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import resource
import shutil

import pytest
from tiny_model import edit_json, make_adapter, make_model, require
from tiny_pairs import make_table

require("trl", "datasets")
import torch  # noqa: E402
from peft import PeftModel  # noqa: E402
from peirce.records import DataError, PeirceError, UsageError  # noqa: E402
from peirce.training.dpo import ListLog, TrainConfig, checkpoints, train  # noqa: E402
from peirce.training.dpo.models import merge_adapter  # noqa: E402
from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: E402

TABLE = make_table(9)
SMALL = {"examples": 8, "period": 8, "batch": 8, "lora_rank": 2, "learning_rate": 1e-2, "device": "cpu",
         "warmup": 0.0}  # fmt: skip


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("models") / "base")


@pytest.fixture(scope="module")
def trained(base, tmp_path_factory):
    return train(
        str(base),
        TABLE,
        TrainConfig.from_mapping(SMALL),
        tmp_path_factory.mktemp("trained") / "out",
        ListLog(),
    )


def refused(base, out, said, table=TABLE, kind=UsageError, **changed):
    resume = changed.pop("resume", False)
    log = ListLog()
    with pytest.raises(kind) as caught:
        train(
            str(base),
            table,
            TrainConfig.from_mapping({**SMALL, **changed}),
            out,
            log,
            resume=resume,
        )
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not log.points


def test_a_base_that_is_not_there(tmp_path):
    refused(tmp_path / "no such", tmp_path / "out", "no such' does not exist")
    assert not (tmp_path / "out").exists()


def test_an_adapter_as_base(base, tmp_path):
    adapter = make_adapter(tmp_path / "adapter", base)
    refused(
        adapter,
        tmp_path / "out",
        "is an adapter: first merge it into its own base (peirce train --merge), then train the merged model.",
    )


def test_a_tokenizer_without_a_chat_template_unless_none_is_wanted(base, tmp_path):
    bare = make_model(tmp_path / "bare", template=None)
    refused(bare, tmp_path / "out", f"'{bare}' has no chat template")
    plain = TrainConfig.from_mapping({**SMALL, "chat_template": "plain"})
    assert train(str(bare), TABLE, plain, tmp_path / "plain", ListLog()).status == "done"


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ raise_exception('no') }}", "refuses the conversation: no"),
        (
            "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}x",
            "does not end: it was stopped after ",
        ),
    ],
)
def test_a_template_that_refuses_or_never_ends(base, tmp_path, template, said):
    bad = make_model(tmp_path / "bad", template=template)
    refused(bad, tmp_path / "out", said, kind=DataError)


def test_a_template_given_for_the_training_goes_with_what_was_trained(base, tmp_path):
    path = tmp_path / "own.jinja"
    path.write_text("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}A:")
    ended = train(str(base), TABLE, TrainConfig.from_mapping({**SMALL, "chat_template": str(path)}),
                  tmp_path / "out", ListLog())  # fmt: skip
    assert AutoTokenizer.from_pretrained(ended.model).chat_template == path.read_text()


def test_pairs_of_no_stage_that_could_be_probed(base, tmp_path):
    table = dataclasses.replace(TABLE, prompt_split=["train"] * len(TABLE.prompts)).with_digest()
    refused(base, tmp_path / "out", "no validation pairs", table)


def test_pairs_that_are_all_too_long(base, tmp_path):
    # Of 9 problems with six pairs each two are held out, and nobody looks at theirs.
    refused(
        base,
        tmp_path / "out",
        "42 pairs were longer than the token limit (max_length or the model's context length).",
        max_length=20,
    )


def test_layers_that_are_not_there(base, tmp_path):
    refused(base, tmp_path / "out", "has no layers 'wq,wk' for an adapter", lora_targets="wq,wk")


def test_a_device_that_is_not_here(base, tmp_path):
    if torch.cuda.is_available():
        pytest.skip("a GPU is here")
    refused(
        base,
        tmp_path / "out",
        "The device cuda is not available; available devices: ",
        device="cuda",
    )


def test_a_tracker_that_is_not_there(base, tmp_path):
    refused(base, tmp_path / "out", "report_to 'notes' cannot be served: notes is not supported",
            report_to="notes")  # fmt: skip


def test_checkpoints_of_no_training_are_not_taken_up(base, tmp_path):
    lost = tmp_path / "out" / "checkpoints" / "checkpoint-4"
    lost.mkdir(parents=True)
    (lost / checkpoints.STATE_FILE).write_text("{}")
    refused(base, tmp_path / "out", "contains checkpoints but not the record of their training (")
    assert lost.is_dir() and not (tmp_path / "out" / "training.json").exists()


def test_two_processes_never_train_in_one_folder(base, tmp_path):
    import fcntl

    (tmp_path / "out").mkdir()
    with (tmp_path / "out" / ".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused(base, tmp_path / "out", "Another process is training in")
    # Nothing was begun: the folder is free again.
    log = ListLog()
    assert (
        train(str(base), TABLE, TrainConfig.from_mapping(SMALL), tmp_path / "out", log).status
        == "done"
    )


def test_a_missing_extra_is_one_sentence(base, tmp_path, monkeypatch):
    found = importlib_find_spec()
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == "trl" else found(name)
    )
    refused(base, tmp_path / "out", "Training needs trl: pip install 'peirce[train]'")


def importlib_find_spec():
    import importlib.util

    return importlib.util.find_spec


# --- a folder that holds a training -----------------------------------------------------------


def test_a_training_that_knew_fewer_settings_goes_on(base, trained, tmp_path):
    """Of an older Peirce: what it did not know is as it was then, the default."""
    out = shutil.copytree(trained.out, tmp_path / "out")
    held = json.loads((out / "training.json").read_text())
    for name in ("precompute", "keep"):
        del held["settings"][name]
    (out / "training.json").write_text(json.dumps(held | {"digest": "0" * 64}))
    settings = TrainConfig.from_mapping(SMALL)
    assert train(str(base), TABLE, settings, out, ListLog(), resume=True).status == "done"
    refused(base, out, "with precompute True, not False", precompute=False, resume=True)


def test_a_folder_that_holds_a_training_is_not_written_over(base, trained):
    before = (trained.out / "training.json").read_text()
    refused(
        base,
        trained.out,
        f" contains the training {trained.training} (done, 8 examples). Use --resume to continue it, or choose another folder.",
    )
    assert (trained.out / "training.json").read_text() == before


def test_a_resume_with_another_setting_other_pairs_or_another_base(base, trained, tmp_path):
    refused(
        base,
        trained.out,
        "contains a training with beta 0.5, not 0.1: resume with the same value.",
        beta=0.1,
        resume=True,
    )
    refused(base, trained.out, "a training on other pairs", make_table(9, seed=6), resume=True)
    other = make_model(tmp_path / "other", seed=2)
    refused(other, trained.out, "contains a training of another base model", resume=True)


def test_a_record_that_is_damaged(base, trained, tmp_path):
    out = shutil.copytree(trained.out, tmp_path / "out")
    (out / "training.json").write_text("{}")
    refused(base, out, "is not a record of a training", kind=DataError, resume=True)
    for lost in ("settings", "fields", "examples"):
        shutil.copyfile(trained.out / "training.json", out / "training.json")
        edit_json(out / "training.json", **{lost: None})
        refused(base, out, "is not a record of a training", kind=DataError, resume=True)


# --- a disk that is full ------------------------------------------------------------------------


@contextlib.contextmanager
def largest_file(size):
    """No file grows beyond so many bytes: what is written then fails as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("full, size", [(False, 60_000), (True, 400_000)])
def test_a_full_disk_is_one_sentence_and_a_resume_goes_on(base, tmp_path, full, size):
    """Of an adapter its weights do not fit, of a whole model the state of the optimizer, which torch
    writes."""
    out, settings = (
        tmp_path / "out",
        TrainConfig.from_mapping({**SMALL, "full": full, "lora_rank": 16}),
    )
    with (
        largest_file(size),
        pytest.raises(PeirceError, match="cannot be written, is the disk full"),
    ):
        train(str(base), TABLE, settings, out, ListLog())
    assert json.loads((out / "training.json").read_text())["status"] == "failed"
    assert train(str(base), TABLE, settings, out, ListLog(), resume=True).status == "done"


def test_a_merge_that_does_not_fit_the_disk_leaves_nothing(base, trained, tmp_path):
    with largest_file(60_000), pytest.raises(PeirceError, match="cannot be written"):
        merge_adapter(trained.model, str(base), tmp_path / "merged")
    assert not list(tmp_path.iterdir())


# --- merging ------------------------------------------------------------------------------------


def logits(model, base):
    ids = AutoTokenizer.from_pretrained(base)(
        "The input is [1, 2, 3]", return_tensors="pt"
    ).input_ids
    with torch.no_grad():
        return model.eval()(ids).logits


def test_a_merged_model_answers_as_base_and_adapter_do(base, trained, tmp_path):
    plain = AutoModelForCausalLM.from_pretrained(base, dtype="float32")
    before = logits(plain, base)
    both = PeftModel.from_pretrained(plain, trained.model)
    wanted = logits(both, base)
    assert (wanted - before).abs().max() > 0.05
    out = merge_adapter(trained.model, str(base), tmp_path / "merged")
    found = logits(AutoModelForCausalLM.from_pretrained(out, dtype="float32"), out)
    assert torch.allclose(found, wanted, atol=1e-3)
    assert (out / "generation_config.json").read_text() == (
        base / "generation_config.json"
    ).read_text()
    assert json.loads((out / "peirce.json").read_text())["training"] == trained.training
    assert merge_adapter(trained.model, None, tmp_path / "by its own name").is_dir()
    named = json.loads((trained.model / "adapter_config.json").read_text())
    assert named["base_model_name_or_path"] == str(base.resolve())  # found from any folder


def test_an_adapter_of_another_base(base, trained, tmp_path):
    other = make_model(tmp_path / "other", seed=2)
    with pytest.raises(
        UsageError, match=r"was trained on other weights .* than those of"
    ) as caught:
        merge_adapter(trained.model, str(other), tmp_path / "merged")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "merged").exists()
    wide = make_model(tmp_path / "wide", hidden_size=32)
    foreign = shutil.copytree(trained.model, tmp_path / "foreign")
    (foreign / "peirce.json").unlink()
    edit_json(foreign / "adapter_config.json", base_model_name_or_path="nobody/knows")
    with pytest.raises(DataError, match="cannot be loaded"):
        merge_adapter(tmp_path / "foreign", str(wide), tmp_path / "merged")


def test_a_foreign_adapter_goes_on_the_weights_of_the_base_that_it_names(base, tmp_path):
    """Trained elsewhere, nothing beside it says by which weights: its settings name a folder."""
    other = make_model(tmp_path / "other", seed=5)
    adapter = make_adapter(tmp_path / "foreign", base)
    with pytest.raises(
        UsageError, match=r"'foreign' was trained on other weights .* than .*'other'"
    ):
        merge_adapter(adapter, str(other), tmp_path / "merged")
    copied = shutil.copytree(base, tmp_path / "copied")
    assert merge_adapter(adapter, str(copied), tmp_path / "merged").is_dir()
    edit_json(adapter / "adapter_config.json", base_model_name_or_path="nobody/knows")
    assert merge_adapter(adapter, str(other), tmp_path / "unknown").is_dir()
    edit_json(adapter / "adapter_config.json", base_model_name_or_path=str(base))
    edit_json(other / "config.json", dtype="bfloat16")  # in another precision weights differ anyway
    assert merge_adapter(adapter, str(other), tmp_path / "precision").is_dir()


def test_what_cannot_be_merged(base, trained, tmp_path):
    with pytest.raises(
        UsageError, match="already exists; choose a new folder for the merged model"
    ):
        merge_adapter(trained.model, str(base), tmp_path)
    with pytest.raises(UsageError, match="does not contain a LoRA adapter: "):
        merge_adapter(base, str(base), tmp_path / "merged")
    with pytest.raises(UsageError, match="contains a complete model, not an adapter"):
        merge_adapter(base, None, tmp_path / "merged")
    gone = shutil.copytree(trained.model, tmp_path / "gone")
    edit_json(gone / "adapter_config.json", base_model_name_or_path=str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match="nowhere' does not exist"):
        merge_adapter(gone, None, tmp_path / "merged")
