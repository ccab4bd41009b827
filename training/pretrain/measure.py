"""Measure a small proposer on problems that it was not trained on.

The measurements are how many answers can be parsed, how many answers are consistent with the
observations, and on how many problems two consistent answers make different predictions. Answers
are sampled as in a session, with compact prompts, and run in the sandbox. The prompts contain only
the observations, without earlier hypotheses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...agents.prompts import protocol
from ...records import Family, Hypothesis, InputSet, Json, Oracles, Problem, View

PROBE_COUNT = 40  # inputs of the sample space on which answers are compared
MAX_ANSWER_TOKENS = 320  # the most tokens of an answer
ANSWERS_PER_BATCH = 64  # answers per batch


@dataclass(frozen=True)
class ProposerMeasurement:
    """The quality of a proposer's answers, measured on `prompts` * `answers` answers.

    Shares are numbers from 0 to 1.

    Attributes:
        task: The name of the task.
        prompts: The number of prompts.
        answers: The number of answers per prompt.
        instruction_following: The share of answers that can be parsed.
        consistent: The share of answers that are consistent with the observations.
        answered: The share of prompts with at least one consistent answer.
        different: The share of prompts with two consistent answers that make different predictions.
        cut: The share of answers that reached the token limit.
        tokens: The mean number of tokens of an answer.
    """

    task: str
    prompts: int
    answers: int
    instruction_following: float
    consistent: float
    answered: float
    different: float
    cut: float
    tokens: float

    def as_json(self) -> dict[str, Json]:
        """Return the measurements as JSON."""
        return asdict(self)


@dataclass(frozen=True)
class ProbePrompt:
    """A problem to ask a proposer about, with inputs on which different answers are compared."""

    problem: Problem
    view: View
    probes: InputSet


def make_prompts(problems: Sequence[Problem], spaces: Sequence[InputSet]) -> list[ProbePrompt]:
    """Return a prompt for each problem, with inputs on which answers are compared.

    Args:
        problems: The problems.
        spaces: The sample space of each problem, from which the inputs are taken.
    """
    found = []
    for problem, space in zip(problems, spaces, strict=True):
        step = max(1, len(space) // PROBE_COUNT)
        probes = InputSet(f"probes of {problem.id}", tuple(space.inputs[::step][:PROBE_COUNT]))
        view = View(problem.id, problem.task, problem.family, problem.shown, problem.public, probes)
        found.append(ProbePrompt(problem, view, probes))
    return found


def sample_answers(
    model: Any,
    tokenizer: Any,
    family: Family,
    prompts: Sequence[ProbePrompt],
    answers: int,
    seed: int,
) -> Iterator[tuple[int, str, bool, int]]:
    """Sample `answers` answers to each prompt at temperature 1.

    Args:
        model: The model.
        tokenizer: The tokenizer of the model.
        family: The family of the problems, which words the prompts.
        prompts: The prompts.
        answers: The number of answers per prompt.
        seed: The seed of torch's random generator.

    Yields:
        For each answer: the position of its prompt, its text, whether it ended before the token
            limit,
        and its number of tokens.
    """
    import torch

    torch.manual_seed(seed)
    model.eval()
    texts = []
    for one in prompts:
        said = protocol.build_messages(
            one.view, family.words, answer_format=family.answer_formats[0], template="compact"
        )
        texts.append(
            tokenizer.apply_chat_template(said, add_generation_prompt=True, tokenize=False)
        )
    places = sorted(range(len(prompts)), key=lambda k: len(texts[k]))
    per_batch = max(1, ANSWERS_PER_BATCH // answers)
    for start in range(0, len(places), per_batch):
        chosen = places[start : start + per_batch]
        given = tokenizer(
            [texts[k] for k in chosen for _ in range(answers)],
            add_special_tokens=False, padding=True, return_tensors="pt",
        ).to(model.device)  # fmt: skip
        width = given["input_ids"].shape[1]
        with torch.inference_mode():
            made = model.generate(
                input_ids=given["input_ids"], attention_mask=given["attention_mask"],
                do_sample=True, temperature=1.0, top_k=0, top_p=1.0, max_new_tokens=MAX_ANSWER_TOKENS,
                pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id,
            )[:, width:].tolist()  # fmt: skip
        for row, tokens in enumerate(made):
            ended = tokenizer.eos_token_id in tokens
            size = tokens.index(tokenizer.eos_token_id) if ended else len(tokens)
            text = tokenizer.decode(tokens[:size], skip_special_tokens=True)
            yield chosen[row // answers], text, ended, size


async def judge_answers(
    family: Family,
    prompts: Sequence[ProbePrompt],
    samples: Sequence[tuple[int, str, bool, int]],
    oracles: Oracles,
    answers: int,
) -> ProposerMeasurement:
    """Parse and run sampled answers, and return measures of their quality.

    Args:
        family: The family of the problems.
        prompts: The prompts.
        samples: The answers that `sample_answers` yielded.
        oracles: The sandbox that runs the answers.
        answers: The number of answers per prompt.
    """
    parsed = 0
    right: list[set[str]] = [set() for _ in prompts]
    count = 0
    waiting: dict[tuple[int, str], int] = {}
    known: dict[tuple[int, str], Hypothesis] = {}
    for place, text, _, _ in samples:
        read = family.parse(prompts[place].view, text, family.answer_formats[0])
        one = read[0] if read else None
        if isinstance(one, Hypothesis):
            parsed += 1
            key = place, one.text
            waiting[key] = waiting.get(key, 0) + 1
            known[key] = one
    gate = asyncio.Semaphore(8)

    async def run(place: int, hypothesis: Hypothesis) -> str | None:
        """What it predicts on the probes; None where it is not consistent."""
        view, probes = prompts[place].view, prompts[place].probes
        async with gate:
            agreed = await family.measure_agreement(hypothesis, view.shown, view, oracles)
            if not family.is_consistent(agreed):
                return None
            (found,) = await family.predict([hypothesis], probes, view, oracles)
            return repr((found.codes.tolist(), (found.reasons == 0).tolist()))

    results = await asyncio.gather(*(run(place, known[place, text]) for place, text in waiting))
    for (key, times), predicted in zip(waiting.items(), results, strict=True):
        if predicted is not None:
            count += times
            right[key[0]].add(predicted)
    total = max(1, len(samples))
    return ProposerMeasurement(
        prompts[0].problem.task if prompts else "", len(prompts), answers,
        parsed / total, count / total,
        sum(bool(found) for found in right) / max(1, len(prompts)),
        sum(len(found) > 1 for found in right) / max(1, len(prompts)),
        sum(not ended for _, _, ended, _ in samples) / total,
        sum(size for *_, size in samples) / total,
    )  # fmt: skip


def load_model(folder: str | Path) -> tuple[Any, Any]:
    """Load the model and the tokenizer from a folder that `pretrain` wrote."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    return AutoModelForCausalLM.from_pretrained(str(folder)), tokenizer
