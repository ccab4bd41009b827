"""The execute oracle finds its input set in the sandbox, and what a model is told of a trial is short."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

import numpy as np
from peirce.records import Batch, Digest, InputSet, Keep, Limits, Observation
from peirce.tools.execute import (
    MAX_FAILING_SHOWN,
    MAX_TRIAL_CHARACTERS,
    MAX_VALUE_CHARACTERS,
    build_executor,
    format_trial,
    summarise_trial,
)


class Forgets:
    """A sandbox that keeps one input set, and answers nothing."""

    def __init__(self) -> None:
        self.kept: Digest = ""
        self.runs: list[tuple[str, str, str, str, Limits]] = []

    async def put(self, inputs: InputSet) -> Digest:
        self.kept = f"stored {inputs.digest}"
        return self.kept

    async def run(
        self, source: str, entry: str, inputs: Digest, keep: Keep, limits: Limits
    ) -> Batch:
        assert inputs == self.kept
        await asyncio.sleep(0.01)
        self.runs.append((source, entry, inputs, keep, limits))
        return Batch("ok", np.zeros(0, np.int64), np.zeros(0, np.uint8))

    def layers(self) -> Mapping[str, bool]:
        return {}

    async def close(self) -> None:
        return None


def test_an_input_set_that_the_sandbox_has_forgotten_is_put_again() -> None:
    sandbox, limits = Forgets(), Limits(loop_steps=7)
    execute = build_executor(sandbox, limits)
    first, second = InputSet("a", ([1], [2])), InputSet("b", ([3],))

    async def ask() -> None:
        await asyncio.gather(*(execute("src", "f", one, "codes") for one in (first, second, first)))

    asyncio.run(ask())
    found = [run[2] for run in sandbox.runs]
    assert found == [f"stored {one.digest}" for one in (first, second, first)]
    assert all(run[4] is limits for run in sandbox.runs)


PAIRS = [Observation([i], [i]) for i in range(5)]


def test_a_trial_counts_all_and_shows_the_first_failures() -> None:
    got = [{"value": [0]}, {"value": [9]}, {"undefined": "steps"}, {"value": 3}, {"value": 4}]
    found = summarise_trial(PAIRS, [True, False, None, False, False], got)
    assert (found["consistent"], found["passed"], found["of"]) == (False, 1, 5)
    assert len(found["failing"]) == MAX_FAILING_SHOWN == 3
    assert found["failing"][1] == {"input": [2], "expected": [2], "got": "undefined: steps"}
    right = summarise_trial(PAIRS, [True] * 5, [{"value": [i]} for i in range(5)])
    assert right == {"consistent": True, "passed": 5, "of": 5, "failing": []}


def test_long_values_are_trimmed_and_a_failed_run_is_named() -> None:
    got = [{"value": list(range(10_000))}] + [{"undefined": "memory"}] * 4
    found = summarise_trial(PAIRS, [False] + [None] * 4, got, "memory")
    assert found["verdict"] == "memory"
    assert len(str(found["failing"][0]["got"])) == MAX_VALUE_CHARACTERS


def grid(size: int, cell: int = 0) -> list[list[int]]:
    return [[(i + j + cell) % 10 for j in range(size)] for i in range(size)]


def test_grids_are_shown_whole_up_to_thirty_by_thirty() -> None:
    for size, fit in ((5, 3), (12, 3), (20, 3), (30, 1)):
        pairs = [Observation(grid(size), grid(size, 1)) for _ in range(5)]
        found = summarise_trial(pairs, [False] * 5, [{"value": grid(size, 2)}] * 5)
        whole = {"input": grid(size), "expected": grid(size, 1), "got": grid(size, 2)}
        assert json.loads(format_trial(found))["failing"] == [whole] * fit, size
        assert (found["passed"], found["of"]) == (0, 5)


def test_what_is_cut_keeps_both_ends_and_says_its_size() -> None:
    shown = summarise_trial([Observation(1, 2)], [False], [{"value": list(range(10_000))}])[
        "failing"
    ][0]
    assert shown["got"].startswith("[0,1,2,") and shown["got"].endswith(",9998,9999]")
    assert "[10,000 items, 48,891 characters, the middle left out]" in shown["got"]
    text = summarise_trial([Observation("a" * 5000, 2)], [False], [{"value": "b"}])["failing"][0][
        "input"
    ]
    assert len(text) == MAX_VALUE_CHARACTERS and "[5,000 characters, the middle left out]" in text


def test_a_result_is_bounded_whatever_the_values_are() -> None:
    for text in ("x", "\u0001", "\\", '"'):
        long = Observation(text * 10**6, list(range(10**5)))
        found = summarise_trial([long] * 9, [False] * 9, [{"value": text * 10**6}] * 9)
        assert len(format_trial(found)) < 2 * MAX_TRIAL_CHARACTERS, text
