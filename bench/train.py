"""What the curriculum costs beside plain TRL on the same pairs in the same order.

    python bench/train.py [--examples N] [--repeats N] [--json FILE]

A random model of about 0.9 million weights learns from pairs made here, of about 100 tokens each
side: once by TRL's DPOTrainer alone, once by `peirce.training.dpo.run.train` with a probe every 48
examples. Counted are CPU seconds of one thread, from the loaded model to trained weights on the disk
(tokens, reference, updates, checkpoint), in turns; the least of the repeats. What the probes' own
passes through the model take is measured apart and taken off: the rest is the overhead, of which
the aim is below 5%.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from peirce.training.base_models import INSTALL, PACKAGES
from peirce.training.dpo.mixture import Mixture
from peirce.training.dpo.progress import ListLog
from peirce.training.dpo.settings import TrainConfig
from peirce.training.pair_table import PairTable
from peirce.training.splits import Split
from peirce.training.stages import STAGES
from table import Row, add_json_option, write_rows, write_skipped

TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
LIMIT = 1.05  # of the time that TRL alone takes
KINDS = (("full", {"full": True}), ("LoRA", {}), ("LoRA, live reference", {"precompute": False}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("--examples", type=int, default=480)
    parser.add_argument("--repeats", type=int, default=3)
    add_json_option(parser)
    asked = parser.parse_args()
    absent = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if absent:
        write_skipped(asked.json, f"it needs {', '.join(absent)}: {INSTALL}")
        return
    table = make_pairs()
    rows = []
    with tempfile.TemporaryDirectory() as place:
        base = make_base(Path(place) / "base", table)
        for name, changed in KINDS:
            settings = TrainConfig.from_mapping({
                "examples": asked.examples, "period": 48, "batch": 16, "device_batch": 16,
                "probe_pairs": 64, "learning_rate": 1e-4, "beta": 0.1, "lora_rank": 16,
                "lora_alpha": 32, "device": "cpu", "schedule": "fixed", "save_every": 1000, **changed,
            })  # fmt: skip
            plain, ours = [], []
            for turn in range(asked.repeats):
                plain.append(by_trl(base, table, settings, Path(place) / f"trl {name} {turn}"))
                ours.append(by_peirce(base, table, settings, Path(place) / f"own {name} {turn}"))
                assert np.allclose(plain[-1][1], ours[-1][2], atol=1e-3), "the curves differ"
            alone = min(one[0] for one in plain)
            whole, probes = min((one[0], one[1]) for one in ours)
            rows.append({"kind": name, "trl_s": alone, "peirce_s": whole, "probes_s": probes,
                         "overhead": (whole - probes) / alone - 1})  # fmt: skip
    print(f"{asked.examples} examples, batch 16, CPU seconds, least of {asked.repeats}")
    for row in rows:
        print(
            f"{row['kind']:22} TRL {row['trl_s']:6.1f}  peirce {row['peirce_s']:6.1f}  of it probes"
            f" {row['probes_s']:5.1f}  overhead {row['overhead']:+.1%}"
        )
    found = [
        Row(f"DPO on {asked.examples} examples, {row['kind']}, CPU without probes",
            row["peirce_s"] - row["probes_s"], "s", reference=row["trl_s"],
            compared_with="TRL alone", limit=LIMIT, limit_of="ratio")
        for row in rows
    ]  # fmt: skip
    write_rows(asked.json, found)


def by_peirce(
    base: Path, table: PairTable, settings: TrainConfig, out: Path
) -> tuple[float, float, list[float]]:
    """CPU seconds in all and of the probes' passes, and the losses of the updates."""
    from peirce.training.dpo import models, run
    from peirce.training.dpo.scoring import Probe

    spent = 0.0
    opened, made, measured = models.load_base, Probe.__init__, Probe.measure
    began = time.process_time()

    def open_base(*given):
        nonlocal began
        found = opened(*given)
        began = time.process_time()
        return found

    def counted(work):
        def timed(*given):
            nonlocal spent
            start = time.process_time()
            found = work(*given)
            spent += time.process_time() - start
            return found

        return timed

    models.load_base, Probe.__init__, Probe.measure = open_base, counted(made), counted(measured)
    try:
        log = ListLog()
        run.train(str(base), table, settings, out, log)
    finally:
        models.load_base, Probe.__init__, Probe.measure = opened, made, measured
    return time.process_time() - began, spent, [value for _, value in log.curve("", "train_loss")]


def by_trl(
    base: Path, table: PairTable, settings: TrainConfig, out: Path
) -> tuple[float, list[float]]:
    """CPU seconds and the losses of the updates, by TRL as its documentation has it."""
    import torch
    from datasets import Dataset
    from peft import LoraConfig
    from peirce.training.external_libraries import quiet_libraries
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.trainer_callback import PrinterCallback
    from trl import DPOConfig, DPOTrainer

    class InOrder(DPOTrainer):
        def _get_train_sampler(self, dataset=None):
            return torch.utils.data.SequentialSampler(self.train_dataset)

        def _send_telemetry(self):
            return None

    with quiet_libraries():
        tokenizer = AutoTokenizer.from_pretrained(base)
        model = AutoModelForCausalLM.from_pretrained(base, dtype="float32")
        began = time.process_time()
        rows = []
        for pair in drawn(table, settings):
            prompt, chosen, rejected = table.texts(pair)
            asked = tokenizer.apply_chat_template(
                list(prompt), add_generation_prompt=True, tokenize=False
            )
            rows.append({"prompt": asked, "chosen": chosen, "rejected": rejected})
        args = DPOConfig(
            output_dir=str(out), use_cpu=True, bf16=False, num_train_epochs=1, seed=settings.seed,
            per_device_train_batch_size=16, learning_rate=settings.learning_rate, warmup_steps=0.1,
            lr_scheduler_type="cosine", beta=settings.beta, optim="adamw_torch", max_length=None,
            precompute_ref_log_probs=settings.precompute, precompute_ref_batch_size=32,
            gradient_checkpointing=False, logging_steps=1, save_strategy="no", report_to=[],
            disable_tqdm=True,
        )  # fmt: skip
        adapter = LoraConfig(
            r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM"
        )
        trainer = InOrder(
            model=model, args=args, train_dataset=Dataset.from_list(rows), processing_class=tokenizer,
            peft_config=None if settings.full else adapter,
        )  # fmt: skip
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        trainer.save_model(str(out / "model"))
    losses = [one["loss"] for one in trainer.state.log_history if "loss" in one]
    return time.process_time() - began, losses


def drawn(table: PairTable, settings: TrainConfig) -> list[int]:
    """The pairs that `fixed` draws."""
    from peirce.training.dpo.pair_tokens import shuffle_pairs

    pools = {}
    for number, stage in enumerate(STAGES):
        places = shuffle_pairs(
            table.positions(number, Split.TRAIN), settings.seed, f"{Split.TRAIN}/{stage}"
        )
        pools[stage] = places[: settings.examples].tolist()
    mixture = Mixture(pools, settings.seed, settings.period)
    history = [dict.fromkeys(STAGES, 1.0)] * settings.periods
    return [one.pair for one in mixture.draws(history, 0, settings.examples)]


def make_pairs(problems: int = 300) -> PairTable:
    """Eight answers a problem, three malformed, three wrong, two right: pairs of all stages."""
    draw = random.Random(1)
    prompts, split, answers, rows = [], [], [], []
    for number in range(problems):
        lists = [[draw.randrange(100) for _ in range(5)] for _ in range(4)]
        lines = [f"{one} -> {sorted(one)}" for one in lists]
        prompts.append(({"role": "user", "content": "\n".join(lines)},))
        split.append(Split.VALIDATION if number % 6 == 5 else Split.TRAIN)
        first = len(answers)
        for place in range(8):
            code = f"def f(x): return sorted(x)[{draw.randrange(9)}:] + [{draw.randrange(100)}]"
            answers.append(code if place < 3 else f'("Sort the list, then {draw.randrange(100)}.", "{code}")')  # fmt: skip
        for stage, better, worse in ((0, range(3, 8), range(3)), (1, (6, 7), range(3, 6)), (2, (6,), (7,))):  # fmt: skip
            rows += [(number, first + a, first + b, stage) for a in better for b in worse]
    columns = np.array(rows)
    return PairTable(
        prompts=prompts, prompt_task=["made"] * problems, prompt_split=split, answers=answers,
        prompt_problem=[str(one) for one in range(problems)], prompt_context=[0] * problems,
        answer_model=["made"] * len(answers), prompt=columns[:, 0].astype(np.int32),
        chosen=columns[:, 1].astype(np.int32), rejected=columns[:, 2].astype(np.int32),
        stage=columns[:, 3].astype(np.int8), digest="", settings={},
    ).with_digest()  # fmt: skip


def make_base(folder: Path, table: PairTable) -> Path:
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    marks = ["<|pad|>", "<|end|>", "<|user|>", "<|assistant|>"]
    trainer = trainers.BpeTrainer(vocab_size=700, special_tokens=marks, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())  # fmt: skip
    raw.train_from_iterator(
        [*table.answers, *(one[0]["content"] for one in table.prompts)], trainer
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<|end|>", pad_token="<|pad|>")  # fmt: skip
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=128, intermediate_size=344, num_hidden_layers=4,
        num_attention_heads=4, max_position_embeddings=512, bos_token_id=None, eos_token_id=1,
        pad_token_id=0,
    ))  # fmt: skip
    print(f"{model.num_parameters():,} weights", file=sys.stderr)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


if __name__ == "__main__":
    main()
