"""DPO by a schedule on tiny random models: the draws and the curves are what they are said to be, a
stop or a kill at any place changes nothing, and what was trained is what lies in the folder.
Skipped where the extra `train` is absent. Not covered: GPUs, several processes.

Internals: the pairs that a trainer takes are compared with the draws of the mixture.
"""

from __future__ import annotations

import json
import math
import shutil
import signal
import subprocess
import sys

import pytest
from tiny_model import make_model, make_short_model, require
from tiny_pairs import make_table

require("trl", "datasets")
import torch  # noqa: E402
from peirce.records import PeirceError  # noqa: E402
from peirce.training import STAGES  # noqa: E402
from peirce.training.dpo import ListLog, TrainConfig, train  # noqa: E402
from peirce.training.dpo.mixture import Mixture  # noqa: E402
from peirce.training.dpo.pair_tokens import PairTokens  # noqa: E402
from peirce.training.dpo.progress import METRICS, PROBE_METRICS, SAMPLE_METRICS  # noqa: E402
from peirce.training.dpo.reach import find_reach  # noqa: E402
from safetensors.torch import load_file  # noqa: E402
from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: E402

TABLE = make_table()
SMALL = {"examples": 48, "period": 16, "batch": 8, "device_batch": 4, "probe_pairs": 20, "lora_rank": 4,
         "lora_alpha": 8, "learning_rate": 1e-3, "device": "cpu", "schedule": "fixed"}  # fmt: skip


def small(**changed):
    return TrainConfig.from_mapping({**SMALL, **changed})


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("models") / "base", num_hidden_layers=1)


def run(base, out, table=TABLE, *, resume=False, interrupt=None, sampled=None, **changed):
    log = ListLog()
    trained = train(str(base), table, small(**changed), out, log, resume=resume,
                    interrupt=interrupt, measure_samples=sampled)  # fmt: skip
    return trained, log


def weights(folder):
    (path,) = folder.glob("*.safetensors")
    return load_file(path)


def same(first, second):
    assert first.keys() == second.keys()
    return all(torch.equal(first[name], second[name]) for name in first)


def numbers(log):
    """All points but the times."""
    return {key: value for key, value in log.points.items() if key[2] != "seconds"}


@pytest.fixture(scope="module")
def fixed(base, tmp_path_factory):
    return run(base, tmp_path_factory.mktemp("fixed") / "out")


@pytest.fixture(scope="module")
def momentum(base, tmp_path_factory):
    drawn = []
    taken = PairTokens.__getitem__

    def seen(self, pair):
        drawn.append(pair)
        return taken(self, pair)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PairTokens, "__getitem__", seen)
        made = run(
            base, tmp_path_factory.mktemp("momentum") / "out", schedule="momentum", full=True
        )
    return *made, drawn


# --- what is drawn and what is written down -------------------------------------------------


def test_batches_hold_what_the_mixture_draws_by_the_logged_weights(momentum):
    _, log, drawn = momentum
    pools = {
        stage: TABLE.positions(number, "train").tolist() for number, stage in enumerate(STAGES)
    }
    history = [{stage: log.points[at, stage, "weight"] for stage in STAGES} for at in (0, 16, 32)]
    assert history[1] != history[0]  # else any weights would do
    wanted = Mixture(pools, 0, 16).draws(history, 0, 48)
    assert drawn == [one.pair for one in wanted]
    for stage in STAGES:
        assert log.points[48, stage, "drawn"] == sum(one.stage == stage for one in wanted)


def test_a_log_has_every_name_and_no_other(momentum):
    found = {name for _, _, name in momentum[1].points}
    assert found == set(METRICS) - set(SAMPLE_METRICS)  # no sampler was given


def test_weights_follow_the_logged_losses_by_hand(momentum):
    """w = 3 (.1 + m) / sum of (.1 + m), m the fall of E = .9 E + .1 L, from 0 to .03."""
    _, log, _ = momentum
    average = {stage: log.points[0, stage, "probe_loss"] for stage in STAGES}
    for at in (16, 32, 48):
        before = dict(average)
        for stage in STAGES:
            average[stage] = 0.9 * before[stage] + 0.1 * log.points[at, stage, "probe_loss"]
        fall = {stage: min(max(before[stage] - average[stage], 0.0), 0.03) for stage in STAGES}
        total = sum(0.1 + one for one in fall.values())
        for stage in STAGES:
            assert log.points[at, stage, "ewma"] == pytest.approx(average[stage], abs=1e-12)
            assert log.points[at, stage, "improvement"] == pytest.approx(fall[stage], abs=1e-12)
            assert log.points[at, stage, "weight"] == pytest.approx(3 * (0.1 + fall[stage]) / total)


def test_remaining_loss_draws_by_the_logged_losses_and_says_its_reach(base, tmp_path, fixed):
    """Shares .1 + .7 L / sum of L, with mean weight 1; the first period is equal."""
    trained, log = run(base, tmp_path / "out", schedule="remaining-loss", full=True)
    for at in (16, 32, 48):
        losses = {stage: log.points[at, stage, "probe_loss"] for stage in STAGES}
        assert len(set(losses.values())) > 1
        for stage in STAGES:
            share = 0.1 + 0.7 * losses[stage] / sum(losses.values())
            assert log.points[at, stage, "share"] == pytest.approx(share)
            assert log.points[at, stage, "weight"] == pytest.approx(3 * share)
    record = json.loads((trained.out / "training.json").read_text())
    wanted = find_reach(small(schedule="remaining-loss"), STAGES)
    assert record["reach"] == wanted.to_record() and record["reach"]["moved"] > 0
    assert json.loads((fixed[0].out / "training.json").read_text())["reach"] is None


def test_a_mix_is_drawn_in_its_parts(base, tmp_path):
    _, log = run(base, tmp_path / "out", mix="2:1:1")
    assert [log.points[48, stage, "drawn"] for stage in STAGES] == [24, 12, 12]


def test_the_reach_is_reported_from_the_first_progress_of_the_training(base, tmp_path):
    seen = []
    settings = small(schedule="momentum", examples=16)
    train(str(base), TABLE, settings, tmp_path / "out", ListLog(), progress=seen.append)
    assert {one.reach for one in seen if one.phase != "tokens"} == {
        find_reach(settings, STAGES).describe()
    }


def test_before_training_model_and_reference_are_equal_to_the_last_digit(fixed, momentum):
    for log in (fixed[1], momentum[1]):
        for stage in STAGES:
            assert log.points[0, stage, "probe_loss"] == pytest.approx(math.log(2), abs=1e-15)
            assert log.points[0, stage, "chosen_logratio"] == 0.0
            assert log.points[0, stage, "probe_accuracy"] == 0.5


def test_bounds_of_one_give_the_curve_of_fixed_to_the_last_digit(base, fixed, tmp_path):
    bound, log = run(base, tmp_path / "out", schedule="momentum", w_min=1.0, w_max=1.0)
    own = ("ewma", "improvement")
    assert {k: v for k, v in numbers(log).items() if k[2] not in own} == numbers(fixed[1])
    assert same(weights(bound.model), weights(fixed[0].model))
    assert log.points[16, "parsing", "improvement"] > 0  # the bounds did it, not losses that rest


def test_a_single_stage_draws_nothing_else_but_probes_all(base, tmp_path):
    trained, log = run(base, tmp_path / "out", schedule="single:parsing", examples=16)
    assert {stage: log.points[16, stage, "drawn"] for stage in STAGES} == {
        "parsing": 16, "consistency": 0, "gear": 0}  # fmt: skip
    for stage in STAGES:
        assert (16, stage, "probe_loss") in log.points
    assert trained.fields["used"]["parsing"] == {"draws": 16, "pairs": 16}


def test_the_learning_rate_warms_up_and_falls_by_the_cosine(fixed):
    rates = [value for _, value in fixed[1].curve("", "learning_rate")]
    wanted = [0.0] + [1e-3 * (1 + math.cos(math.pi * one / 5)) / 2 for one in range(5)]
    assert rates == pytest.approx(wanted)


# --- two ways that must agree -----------------------------------------------------------------


def answer_logp(model, tokenizer, messages, answer):
    """Summed log-probability of an answer and its end, by a plain forward pass over all logits."""
    asked = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    prompt = tokenizer(asked, add_special_tokens=False)["input_ids"]
    rest = tokenizer(answer + tokenizer.eos_token, add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        logits = model(torch.tensor([prompt + rest])).logits[0]
    scores = logits.log_softmax(-1)
    return sum(scores[len(prompt) - 1 + at, token].item() for at, token in enumerate(rest))


@pytest.mark.parametrize("kind", ["fixed", "momentum"])
def test_the_last_probe_is_what_the_saved_weights_give_in_plain_transformers(request, base, kind):
    trained, log = request.getfixturevalue(kind)[:2]
    tokenizer = AutoTokenizer.from_pretrained(base)
    before = AutoModelForCausalLM.from_pretrained(base, dtype="float32").eval()
    after = AutoModelForCausalLM.from_pretrained(
        trained.model if kind == "momentum" else base, dtype="float32"
    )
    if kind == "fixed":
        from peft import PeftModel

        after = PeftModel.from_pretrained(after, trained.model)
    after.eval()
    for number, stage in enumerate(STAGES):  # the probe holds all validation pairs
        ratios = []
        for pair in TABLE.positions(number, "validation"):
            messages, *answers = TABLE.texts(pair)
            ratios.append([
                answer_logp(after, tokenizer, list(messages), one)
                - answer_logp(before, tokenizer, list(messages), one)
                for one in answers
            ])  # fmt: skip
        losses = [math.log1p(math.exp(-0.5 * (chosen - rejected))) for chosen, rejected in ratios]
        right = [(chosen > rejected) for chosen, rejected in ratios]
        found = {name: log.points[48, stage, name] for name in PROBE_METRICS}
        assert found["probe_loss"] == pytest.approx(sum(losses) / len(losses), abs=1e-4)
        assert found["probe_accuracy"] == pytest.approx(sum(right) / len(right))
        for place, name in enumerate(("chosen_logratio", "rejected_logratio")):
            wanted = sum(one[place] for one in ratios) / len(ratios)
            assert found[name] == pytest.approx(wanted, abs=2e-4)


def test_the_curve_is_that_of_plain_trl_on_the_same_pairs(base, fixed, tmp_path):
    """TRL prepares, tokenizes and scores the same texts itself, with its own live reference."""
    from datasets import Dataset
    from peft import LoraConfig
    from trl import DPOConfig, DPOTrainer

    pools = {
        stage: TABLE.positions(number, "train").tolist() for number, stage in enumerate(STAGES)
    }
    drawn = Mixture(pools, 0, 16).draws([dict.fromkeys(STAGES, 1.0)] * 3, 0, 48)
    tokenizer = AutoTokenizer.from_pretrained(base)
    rows = []
    for one in drawn:
        messages, chosen, rejected = TABLE.texts(one.pair)
        asked = tokenizer.apply_chat_template(
            list(messages), add_generation_prompt=True, tokenize=False
        )
        rows.append({"prompt": asked, "chosen": chosen, "rejected": rejected})

    class InOrder(DPOTrainer):
        def _get_train_sampler(self, dataset=None):
            return torch.utils.data.SequentialSampler(self.train_dataset)

        def _send_telemetry(self):
            return None

    args = DPOConfig(output_dir=str(tmp_path), use_cpu=True, bf16=False, num_train_epochs=1,
                     per_device_train_batch_size=4, gradient_accumulation_steps=2, seed=0,
                     learning_rate=1e-3, lr_scheduler_type="cosine", warmup_steps=0.1, beta=0.5,
                     optim="adamw_torch", gradient_checkpointing=False, logging_steps=1,
                     save_strategy="no", report_to=[], max_length=None, disable_tqdm=True)  # fmt: skip
    adapter = LoraConfig(r=4, lora_alpha=8, lora_dropout=0.05, target_modules="all-linear",
                         task_type="CAUSAL_LM")  # fmt: skip
    model = AutoModelForCausalLM.from_pretrained(base, dtype="float32")
    trainer = InOrder(model=model, args=args, train_dataset=Dataset.from_list(rows),
                      processing_class=tokenizer, peft_config=adapter)  # fmt: skip
    trainer.train()
    theirs = [one["loss"] for one in trainer.state.log_history if "loss" in one]
    ours = [value for _, value in fixed[1].curve("", "train_loss")]
    assert ours == pytest.approx(theirs, abs=2e-4)
    assert max(ours) - min(ours) > 0.05


# --- stops, kills and resumes -----------------------------------------------------------------


@pytest.mark.parametrize("full", [False, True])
def test_a_training_stopped_within_a_period_ends_like_one_that_never_was(
    base, tmp_path, full, request
):
    changed = {"schedule": "momentum", "full": True} if full else {}
    straight, wanted = request.getfixturevalue("momentum" if full else "fixed")[:2]
    calls = []
    out = tmp_path / "out"

    def interrupt():
        calls.append(1)
        return len(calls) == 4  # after update 1, 3, 4 (period's end: asked after the probe) ...

    stopped, log = run(base, out, interrupt=interrupt, **changed)
    assert (stopped.status, log.status, stopped.model) == ("interrupted", "interrupted", None)
    assert 16 < stopped.examples < 48
    before = numbers(log)
    ended, log = run(base, out, resume=True, **changed)
    assert ended.status == "done" and ended.training == stopped.training
    assert same(weights(ended.model), weights(straight.model))
    assert not (out / "model").exists() or full
    # What it writes again is what stood there, and together it is all.
    assert {key: log.points[key] for key in before.keys() & log.points.keys()} == {
        key: before[key] for key in before.keys() & log.points.keys()
    }
    assert before | numbers(log) == numbers(wanted)


def test_a_resume_with_smaller_parts_of_a_batch_ends_with_the_same_weights(base, fixed, tmp_path):
    """After a batch that did not fit into memory; sums of other parts differ in the last digits."""
    calls = []
    stop = lambda: calls.append(1) or len(calls) == 3
    stopped, _ = run(base, tmp_path / "out", interrupt=stop)
    assert stopped.examples == 24
    changed = {"device_batch": 2, "recompute": True, "attention": "eager"}
    ended, _ = run(base, tmp_path / "out", resume=True, **changed)
    found, wanted = weights(ended.model), weights(fixed[0].model)
    assert ended.status == "done" and found.keys() == wanted.keys()
    assert all(torch.allclose(found[name], wanted[name], atol=1e-4) for name in wanted)
    settings = json.loads((tmp_path / "out" / "training.json").read_text())["settings"]
    assert settings["device_batch"] == 2 and settings["attention"] == "eager"


@pytest.mark.soak
def test_a_killed_process_is_gone_on_with_to_the_same_weights(base, momentum, tmp_path):
    straight, wanted = momentum[:2]
    out = tmp_path / "out"
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    told = [sys.executable, str(script), str(base), str(out), json.dumps(SMALL), *sys.path]
    ended = subprocess.run(told, capture_output=True, text=True, timeout=300)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    record = json.loads((out / "training.json").read_text())
    assert record["status"] == "running"
    assert not (out / "model").exists()
    assert (out / "checkpoints" / "checkpoint-4").is_dir()
    resumed, log = run(base, out, resume=True, schedule="momentum", full=True)
    assert resumed.training == record["training"]
    # from the end of period 2, not from the start; the seconds so far are logged again
    assert min(key[0] for key in log.points if key[2] != "seconds") == 40
    assert same(weights(resumed.model), weights(straight.model))
    assert numbers(log) == {key: wanted.points[key] for key in numbers(log)}


KILLED = """
import json, os, signal, sys
base, out, settings, *sys.path[:] = sys.argv[1:]
from pathlib import Path
from peirce.training.dpo import ListLog, TrainConfig, train
from tiny_pairs import make_table

def progress(told):
    if told.examples == 40 and told.phase == "train":
        os.kill(os.getpid(), signal.SIGKILL)

settings = TrainConfig.from_mapping({**json.loads(settings), "schedule": "momentum", "full": True})
train(base, make_table(), settings, Path(out), ListLog(), progress=progress)
"""


def test_a_training_that_is_done_is_not_trained_again(base, fixed, monkeypatch):
    monkeypatch.setattr("peirce.training.dpo.run._Run", None)
    again, _ = run(base, fixed[0].out, resume=True)
    assert again == fixed[0]


def test_weights_that_were_removed_are_made_again_from_the_last_checkpoint(base, fixed, tmp_path):
    out = shutil.copytree(fixed[0].out, tmp_path / "out")
    shutil.rmtree(out / "adapter")
    again, _ = run(base, out, resume=True)
    assert again.status == "done" and same(weights(again.model), weights(fixed[0].model))
    assert again.fields["probes"] == fixed[0].fields["probes"] != {}


# --- what watches over it ---------------------------------------------------------------------


def test_answers_that_cannot_be_read_any_more_end_a_training_where_that_is_set(base, tmp_path):
    shares = iter([0.9, 0.5])
    asked = []

    def sampled(ask):
        prompts = [TABLE.prompts[0], TABLE.prompts[1], TABLE.prompts[0]]
        first = ask(prompts, 3)
        state = torch.get_rng_state()
        assert first == ask(prompts, 3) != ask(prompts, 4)
        assert torch.equal(state, torch.get_rng_state())
        asked.append(first)
        return {"instruction_following": next(shares)}

    ended, log = run(base, tmp_path / "out", sampled=sampled, stop="following", sample_tokens=40,
                     full=True, learning_rate=1e-2)  # fmt: skip
    assert (ended.status, ended.examples) == ("stopped", 16)
    assert "50.0% of the sampled answers can be parsed, compared with " in ended.fields["stopped"]
    assert [value for _, value in log.curve("", "instruction_following")] == [0.9, 0.5]
    assert ended.model is not None and weights(ended.model)
    assert asked[0] != asked[1]  # of the model in training, not of the base
    changed = {"sampled": None, "sample_tokens": 40, "full": True, "learning_rate": 1e-2}
    again, _ = run(base, tmp_path / "out", stop="following", resume=True, **changed)
    assert (again.status, again.fields) == ("stopped", ended.fields)
    on, _ = run(base, tmp_path / "out", stop="never", resume=True, **changed)
    assert on.status == "done" and on.examples > ended.examples


def test_no_answer_is_sampled_beyond_what_the_model_holds(tmp_path):
    """GPT-2 has a row of weights for each place, and none behind the last."""
    from transformers import GPT2Config, GPT2LMHeadModel

    base = make_model(tmp_path / "base")
    known = AutoTokenizer.from_pretrained(base)
    config = GPT2Config(vocab_size=len(known), n_positions=160, n_embd=32, n_layer=1, n_head=2,
                        eos_token_id=2, pad_token_id=0, bos_token_id=None)  # fmt: skip
    GPT2LMHeadModel(config).save_pretrained(base)
    long = [{"role": "user", "content": "more " * 200}]
    told = []

    def sampled(ask):
        told.append(ask([long, TABLE.prompts[0], TABLE.prompts[1]], 3))
        return {"instruction_following": 1.0}

    ended, _ = run(base, tmp_path / "out", sampled=sampled, examples=16, full=True, device_batch=1)
    assert ended.status == "done" and len(told) == 2
    for first, *others in told:
        assert first == "" and all(others)
        assert all(len(known(one)["input_ids"]) < 160 for one in others)


def test_sampling_does_not_change_what_is_trained(base, fixed, tmp_path):
    def sampled(ask):
        ask([TABLE.prompts[0]], 1)
        return {"instruction_following": 1.0}

    ended, log = run(base, tmp_path / "out", sampled=sampled, sample_tokens=4)
    assert same(weights(ended.model), weights(fixed[0].model))
    assert log.points[48, "", "train_loss"] == fixed[1].points[48, "", "train_loss"]


def test_answers_are_sampled_within_what_the_model_holds(base, tmp_path):
    """Learned positions end: past them a model of this kind cannot be asked."""
    short = make_short_model(tmp_path / "short", base, positions=220)
    long = [{"role": "user", "content": "more " * 300}]
    said = []

    def sampled(ask):
        said.append(ask([TABLE.prompts[0], long], 1))
        return {"instruction_following": 1.0}

    run(short, tmp_path / "out", sampled=sampled, sample_tokens=10**6, examples=16, full=True)
    assert all(first and second == "" for first, second in said) and len(said) == 2


def test_a_loss_that_is_no_number_ends_in_one_sentence(base, tmp_path):
    log = ListLog()
    with pytest.raises(PeirceError, match="training has diverged"):
        train(str(base), TABLE, small(learning_rate=1e30, full=True, warmup=0.0),
              tmp_path / "out", log)  # fmt: skip
    assert log.status == "failed"
    assert json.loads((tmp_path / "out" / "training.json").read_text())["status"] == "failed"


def test_pairs_that_are_too_long_are_refused_and_counted_never_cut(base, tmp_path):
    table = make_table(long=3)  # problems 0 and 1 train, 2 is for validation
    ended, log = run(base, tmp_path / "out", table, examples=32, max_length=300)
    assert "18 pairs were left out: prompt and answer are longer" in ended.fields["said"][0]
    pools = log.settings["pools"]
    assert pools["too_long"] == 18
    assert pools["train"] == dict.fromkeys(STAGES, 26)
    assert pools["validation"] == dict.fromkeys(STAGES, 12)


# --- other precisions -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changed",
    [{"four_bit": True},
     pytest.param({"compute": "bfloat16"}, marks=pytest.mark.soak),
     pytest.param({"precompute": False}, marks=pytest.mark.soak)],
)  # fmt: skip
def test_a_stop_changes_nothing_in_4_bits_in_bfloat16_and_with_a_live_reference(
    base, tmp_path, changed
):
    """4 bits: a probe is a pass without gradients, after which bitsandbytes on some CPUs can train no
    more unless its packing is off; and peft loads adapters in another precision than they had."""
    if "four_bit" in changed:
        require("bitsandbytes")
    straight, wanted = run(base, tmp_path / "straight", examples=32, **changed)
    calls = []
    stop = lambda: calls.append(1) or len(calls) == 3  # within the second period
    stopped, _ = run(base, tmp_path / "out", interrupt=stop, examples=32, **changed)
    assert (stopped.status, stopped.examples) == ("interrupted", 24)
    ended, log = run(base, tmp_path / "out", resume=True, examples=32, **changed)
    found = weights(ended.model)
    assert same(found, weights(straight.model))
    assert {str(one.dtype) for one in found.values()} == {"torch.float32"}
    assert log.points[32, "gear", "probe_loss"] == wanted.points[32, "gear", "probe_loss"]
    assert wanted.points[32, "parsing", "probe_loss"] < 0.6


def test_computing_activations_again_changes_no_digit(base, fixed, tmp_path):
    _, log = run(base, tmp_path / "out", recompute=True)
    assert numbers(log) == numbers(fixed[1])
