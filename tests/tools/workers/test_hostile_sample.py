"""A hostile hypothesis of each category, on this machine and on a node of a cluster: each gets its
verdict, and the honest one after it is served as if nothing had been. tests/hostile has all of them.

Internals: a session would check the programs before it runs them.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from peirce.records import InputSet, OracleSettings
from peirce.tests.hostile.scene import HONEST, INPUTS, LIMITS, Attack, agree, attacks
from peirce.tools.execute import EXECUTE
from peirce.tools.workers import open_workers

SPACE = InputSet("hostile", INPUTS)


def sample() -> list[Attack]:
    """The first attack of each category that needs neither a scene nor a layer."""
    first: dict[str, Attack] = {}
    for attack in attacks():
        if not attack.needs and not re.search(r"@\w+@", attack.source):
            first.setdefault(attack.category, attack)
    return list(first.values())


def test_every_category_is_in_the_sample() -> None:
    assert {one.category for one in sample()} == {one.category for one in attacks()}


@pytest.mark.parametrize("where", ["local", "ray"])
def test_a_hostile_hypothesis_gets_its_verdict_and_the_next_is_served(
    where: str, request: pytest.FixtureRequest
) -> None:
    if where == "ray":
        request.getfixturevalue("cluster")

    async def judge_all() -> tuple[list[str], list[Any]]:
        workers = await open_workers(where)
        try:
            oracle = await workers.open_oracle(EXECUTE, OracleSettings(workers=1))
            wrong, honest = [], []
            for attack in sample():
                judge = oracle.with_limits(attack.limits)
                batch = await judge(attack.source, "f", SPACE, "values")
                verdicts, values = attack.expected(oracle.layers())
                told = [v["value"] if "value" in v else dict(v) for v in batch.values or ()]
                differ = batch.verdict == "ok" and values and not agree(values, told)
                if batch.verdict not in verdicts or differ:
                    wrong.append(f"{attack.name}: {batch.verdict} {told}, not {verdicts} {values}")
                honest.append(await oracle.with_limits(LIMITS)(HONEST, "f", SPACE, "values"))
            await oracle.close()
            return wrong, [(one.verdict, one.values) for one in honest]
        finally:
            await workers.close()

    wrong, honest = asyncio.run(judge_all())
    assert not wrong
    expected = [[sorted(x), sum(x), len(x), str(x), max(x, default=None), x[::-1]] for x in INPUTS]
    for verdict, values in honest:
        assert verdict == "ok" and [one["value"] for one in values] == expected
