"""Which input sets a node of a cluster keeps, so that they need not be sent again.

Internals: the actor of a node is called only by Ray; here it is called without Ray.
"""

from __future__ import annotations

import asyncio

from peirce.records import InputSet, Limits, OracleKind, OracleSettings, Outcome, Unavailable
from peirce.tools.workers.outcomes import decode_outcome
from peirce.tools.workers.ray_node import KEPT_INPUTS, NEEDS_INPUTS, NodeWorker, Stored


class Counter:
    """An oracle that counts inputs."""

    def with_limits(self, limits: Limits):
        async def count(inputs: InputSet) -> int:
            return len(inputs.inputs)

        return count


async def open_counter(settings: OracleSettings):
    return Counter()


COUNT = OracleKind(
    "count",
    open_counter,
    lambda limits, inputs: inputs.digest,
    lambda result, inputs: Outcome(result),
    lambda outcome: outcome.response,
    Unavailable("no counter"),
)


async def open_node() -> NodeWorker:
    node = NodeWorker()
    node._oracles[1] = COUNT, await COUNT.open(OracleSettings())
    return node


async def count(node: NodeWorker, inputs: InputSet | Stored) -> int | None:
    """Return the number of inputs, or None if the node lacks them."""
    reply = await node.apply(1, Limits(), [inputs])
    return None if reply == NEEDS_INPUTS else decode_outcome(reply).response


def test_a_node_keeps_the_pairs_of_a_thousand_problems_and_their_sample_space() -> None:
    async def check() -> None:
        node = await open_node()
        space = InputSet("space", tuple(range(14_101)))
        problems = [InputSet(str(n), (n, n + 1)) for n in range(1_000)]
        for one in (space, *problems):
            await count(node, one)
        kept = [await count(node, Stored(one.digest)) for one in (space, *problems)]
        assert kept == [14_101, *[2] * 1_000]

    asyncio.run(check())


def test_a_node_drops_the_inputs_that_were_used_least_recently() -> None:
    async def check() -> None:
        node = await open_node()
        sets = [InputSet(str(n), tuple(range(n, n + KEPT_INPUTS // 4))) for n in range(4)]
        for one in sets:
            await count(node, one)
        await count(node, Stored(sets[0].digest))
        await count(node, InputSet("one more", (0,)))
        kept = [await count(node, Stored(one.digest)) is not None for one in sets]
        assert kept == [True, False, True, True]

    asyncio.run(check())


def test_a_node_keeps_the_inputs_of_the_call_however_many_they_are() -> None:
    async def check() -> None:
        node = await open_node()
        large = InputSet("large", (0,) * (KEPT_INPUTS + 1))
        assert await count(node, large) == await count(node, Stored(large.digest))

    asyncio.run(check())
