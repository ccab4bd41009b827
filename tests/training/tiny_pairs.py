"""A small set of preference pairs of all three stages, made here: no session, no store."""

from __future__ import annotations

import random

import numpy as np
from peirce.training import PairTable, Split, Stage


def make_table(problems: int = 24, seed: int = 5, long: int = 0) -> PairTable:
    """Of each problem one prompt and six pairs, two of a stage; of the first `long` problems a prompt
    of some hundred tokens. Two problems of three train, the rest are for validation, two are held out."""
    draw = random.Random(seed)
    prompts, split, answers, rows = [], [], [], []
    for number in range(problems):
        listed = [draw.randint(0, 9) for _ in range(4)]
        asked = f"The input is {listed} and the output is {listed[::-1]}." + " more" * 400 * (
            number < long
        )
        prompts.append(({"role": "user", "content": asked},))
        kind = Split.VALIDATION if number % 3 == 2 else Split.TRAIN
        split.append(Split.HELD_OUT if number >= problems - 2 else kind)
        first = len(answers)
        answers += [
            f'("Return the list reversed.", "def f(xs): return xs[::-1]  # {number}")',
            f'("Return the list sorted.", "def f(xs): return sorted(xs)[::-1]  # {number}")',
            f'("Return the list.", "def f(xs): return xs  # {number}")',
            f"a function that explains the data {number}",
        ]
        for stage, chosen, rejected in (
            (Stage.PARSING, 0, 3), (Stage.PARSING, 2, 3), (Stage.CONSISTENCY, 0, 2),
            (Stage.CONSISTENCY, 1, 2), (Stage.GEAR, 0, 1), (Stage.GEAR, 1, 0),
        ):  # fmt: skip
            rows.append((number, first + chosen, first + rejected, int(stage)))
    columns = np.array(rows)
    return PairTable(
        prompts=prompts,
        prompt_task=["list_functions"] * problems,
        prompt_problem=[str(number) for number in range(problems)],
        prompt_split=split,
        prompt_context=[0] * problems,
        answers=answers,
        answer_model=["made"] * len(answers),
        prompt=columns[:, 0].astype(np.int32),
        chosen=columns[:, 1].astype(np.int32),
        rejected=columns[:, 2].astype(np.int32),
        stage=columns[:, 3].astype(np.int8),
        digest="",
        settings={"made": seed},
    ).with_digest()
