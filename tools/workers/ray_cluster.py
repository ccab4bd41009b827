"""The workers of a Ray cluster: one actor on each node, and the calls to them.

A call is bound to no node. If a node or its actor dies, its open calls are made again on another
node, and a new actor is started where the node still lives. Ray may therefore compute a result
twice, but `apply` returns it once, and the journal's key keeps the session free of duplicates.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

from ...records import (
    Apply,
    InputSet,
    JsonService,
    Limits,
    OpenOracle,
    OracleKind,
    OracleSettings,
    SandboxUnavailable,
    Unavailable,
    parse_strictly,
)
from .outcomes import decode_outcome
from .ray_node import FAILED, NEEDS_INPUTS, NodeWorker, Stored

SANDBOX = "sandbox"  # the resource of nodes that may run untrusted code
ATTEMPTS = 6  # of one call, each on a node that lives
WAIT_S = 120.0  # for a node, where none is left
WATCH_S = 2.0  # between looks for new nodes
OPEN_CALLS = 2  # of one node, for each of its cores; further calls wait at the driver


@dataclass
class Node:
    """A node with its actor.

    Attributes:
        id: The node's id in the cluster.
        sent: Digests of the input sets that the actor was sent.
        refused: By number of an oracle, why the node cannot open it.
        layers: By number of an oracle, the layers of its sandbox.
    """

    id: str
    name: str
    cpus: int
    resources: Mapping[str, float]
    actor: Any
    running: int = 0
    sent: set[str] = field(default_factory=set)
    refused: dict[int, str] = field(default_factory=dict)
    layers: dict[int, dict[str, bool]] = field(default_factory=dict)

    @property
    def isolates(self) -> bool:
        """Whether the node offers the resource `SANDBOX`."""
        return self.resources.get(SANDBOX, 0) > 0


class RayWorkers:
    """The `records.Workers` of a Ray cluster."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._oracles: dict[int, tuple[OracleKind, OracleSettings]] = {}
        self._numbers = count(1)
        self._changed = asyncio.Condition()
        self._watch: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start an actor on each node, and later on nodes that join.

        Raises:
            Unavailable: The cluster has no node with a processor core.
        """
        await self._look()
        if not self._nodes:
            raise Unavailable("The Ray cluster has no node with a processor core.")
        self._watch = asyncio.create_task(self._keep_looking())

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(WATCH_S)
            await self._look()

    async def _look(self) -> None:
        """Start actors on new nodes, and forget nodes that are gone."""
        import ray

        listed = await asyncio.to_thread(ray.nodes)
        alive = {row["NodeID"]: row for row in listed if row["Alive"]}
        for gone in [name for name in self._nodes if name not in alive]:
            del self._nodes[gone]
        new = [row for name, row in alive.items() if name not in self._nodes]
        await asyncio.gather(*(self._join(row) for row in new if row["Resources"].get("CPU")))

    async def _join(self, row: Mapping[str, Any]) -> None:
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        resources = dict(row["Resources"])
        cpus = int(resources.pop("CPU"))
        place = NodeAffinitySchedulingStrategy(row["NodeID"], soft=False)
        actor = (
            ray.remote(NodeWorker)
            .options(num_cpus=cpus, scheduling_strategy=place, max_concurrency=1_000)
            .remote()
        )
        name = f"{row['NodeManagerHostname']}-{row['NodeID'][:6]}"
        named = {key: one for key, one in resources.items() if ":" not in key}
        node = Node(row["NodeID"], name, cpus, named, actor)
        try:
            for number in self._oracles:
                await self._open_on(node, number)
        except _lost():
            return
        async with self._changed:
            self._nodes[node.id] = node
            self._changed.notify_all()

    async def _open_on(self, node: Node, number: int) -> None:
        kind, settings = self._oracles[number]
        if kind.untrusted and not node.isolates:
            node.refused[number] = f"the node {node.name} does not offer the resource {SANDBOX}"
            return
        workers = min(settings.workers or node.cpus, node.cpus)
        own = OracleSettings(settings.sandbox, workers, settings.strict, settings.solver)
        reply = await node.actor.open_oracle.remote(number, kind, own)
        if reply.startswith(FAILED):
            node.refused[number] = reply.removeprefix(FAILED).decode()
        else:
            node.layers[number] = parse_strictly(reply)

    # --- Protocol `Workers` ---

    async def open_oracle(self, kind: OracleKind, settings: OracleSettings) -> OpenOracle:
        """Open an oracle on every node; if it runs untrusted code, only where `Node.isolates`."""
        number = next(self._numbers)
        self._oracles[number] = kind, settings
        await asyncio.gather(*(self._open_on(node, number) for node in self._nodes.values()))
        if not any(number in node.layers for node in self._nodes.values()):
            reasons = dict.fromkeys(node.refused[number] for node in self._nodes.values())
            del self._oracles[number]
            raise SandboxUnavailable(
                f"no node of the cluster can run untrusted code: {'; '.join(reasons)}"
            )
        return RayOracle(self, number, kind)

    def open_service(self, module: str, workers: int | None) -> JsonService:
        """Return a service with `workers` processes on each node; None for one per core."""
        return RayService(self, next(self._numbers), module, workers)

    async def close(self) -> None:
        """End the actors of this driver."""
        import ray

        if self._watch is not None:
            self._watch.cancel()
            with suppress(asyncio.CancelledError):
                await self._watch
        for node in self._nodes.values():
            ray.kill(node.actor)
        self._nodes.clear()

    # --- Calls ---

    async def call(
        self,
        send: Callable[[Node], Awaitable[bytes]],
        inputs: Sequence[InputSet],
        choose: Callable[[Sequence[Node]], Node | None],
    ) -> bytes:
        """Make a call on a node, again on another node if its node dies, and return its reply.

        Args:
            send: Sends the call to the actor of a node.
            inputs: The input sets that the node needs.
            choose: Returns a node of those that live; None to wait until a node is free.

        Raises:
            Unavailable: No node was left for `WAIT_S`, or `ATTEMPTS` nodes died, or the work failed.
        """
        for _ in range(ATTEMPTS):
            node = await self._free_node(choose)
            try:
                for one in inputs:
                    if one.digest not in node.sent:
                        await node.actor.keep_inputs.remote(one)
                        node.sent.add(one.digest)
                reply = await send(node)
                if reply == NEEDS_INPUTS:  # dropped there, as others were used more recently
                    node.sent.clear()
                    continue
            except _lost():
                await self._forget(node)
                continue
            finally:
                node.running -= 1
                async with self._changed:
                    self._changed.notify_all()
            if reply.startswith(FAILED):
                raise Unavailable(reply.removeprefix(FAILED).decode())
            return reply
        raise Unavailable(f"{ATTEMPTS} nodes of the cluster died during one call.")

    async def _free_node(self, choose: Callable[[Sequence[Node]], Node | None]) -> Node:
        try:
            async with asyncio.timeout(WAIT_S) as limit, self._changed:
                while (node := choose(list(self._nodes.values()))) is None:
                    if self._nodes:  # busy nodes may take as long as their work does
                        limit.reschedule(asyncio.get_running_loop().time() + WAIT_S)
                    await self._changed.wait()
                node.running += 1
                return node
        except TimeoutError:
            raise Unavailable(f"The cluster had no node for {WAIT_S:g} s.") from None

    async def _forget(self, node: Node) -> None:
        """Take a node whose actor died out of use. `_look` starts a new actor if the node lives."""
        if self._nodes.get(node.id) is node:
            del self._nodes[node.id]


def least_busy(nodes: Sequence[Node]) -> Node | None:
    """Return the node with the least work for its cores, or None if all are busy."""
    able = [node for node in nodes if node.running < OPEN_CALLS * node.cpus]
    return min(able, key=lambda node: (node.running / node.cpus, node.id), default=None)


def least_busy_with(number: int, nodes: Sequence[Node]) -> Node | None:
    """Return the node with the least work for its cores among those with this oracle, or None if
    all are busy.
    """
    return least_busy([node for node in nodes if number in node.layers])


def by_key(key: str, nodes: Sequence[Node]) -> Node | None:
    """Return the node of a key by rendezvous hashing: only the keys of a lost node move."""

    def score(node: Node) -> bytes:
        return hashlib.blake2b(f"{key} {node.id}".encode(), digest_size=8).digest()

    return max(nodes, key=score, default=None)


class RayOracle:
    """An oracle (`records.OpenOracle`) that is open on several nodes."""

    def __init__(self, workers: RayWorkers, number: int, kind: OracleKind) -> None:
        self._workers, self._number, self._kind = workers, number, kind

    def with_limits(self, limits: Limits) -> Apply:
        """Return the function that applies a hypothesis to inputs under these limits."""
        return partial(self._apply, limits)

    async def _apply(self, limits: Limits, *arguments: Any) -> Any:
        sets = [one for one in arguments if isinstance(one, InputSet)]
        sent = [Stored(one.digest) if isinstance(one, InputSet) else one for one in arguments]

        async def send(node: Node) -> bytes:
            reply: bytes = await node.actor.apply.remote(self._number, limits, sent)
            return reply

        reply = await self._workers.call(send, sets, partial(least_busy_with, self._number))
        try:
            return self._kind.result(decode_outcome(reply))
        except (ValueError, KeyError, TypeError) as error:
            raise Unavailable(f"A node returned a malformed result: {error}") from error

    def layers(self) -> Mapping[str, bool]:
        """Return the layers of the sandbox, and whether each is active on every node."""
        found: dict[str, bool] = {}
        for node in self._workers._nodes.values():
            for name, active in node.layers.get(self._number, {}).items():
                found[name] = found.get(name, True) and active
        return found

    async def close(self) -> None:
        """Close the oracle on every node."""
        self._workers._oracles.pop(self._number, None)
        await _close_part(self._workers, self._number)


class RayService:
    """A `records.JsonService` with processes on every node."""

    def __init__(self, cluster: RayWorkers, number: int, module: str, workers: int | None) -> None:
        self._cluster, self._number, self._module, self._workers = cluster, number, module, workers

    async def ask(self, key: str, request: dict[str, Any], space: InputSet) -> dict[str, Any]:
        """Send a request to a process on the node of this key, and return its reply.

        With the key "", the node with the least work is used.
        """

        async def send(node: Node) -> bytes:
            reply: bytes = await node.actor.ask.remote(
                self._number, self._module, self._workers or node.cpus, key, request, space.digest
            )
            return reply

        choose = partial(by_key, key) if key else least_busy
        found = parse_strictly(await self._cluster.call(send, [space], choose))
        if type(found) is not dict:
            raise Unavailable("A node returned a malformed reply.")
        return found

    async def close(self) -> None:
        """Stop the processes on every node."""
        await _close_part(self._cluster, self._number)


async def _close_part(workers: RayWorkers, number: int) -> None:
    for node in list(workers._nodes.values()):
        with suppress(*_lost()):
            await node.actor.close_part.remote(number)


def _lost() -> tuple[type[BaseException], ...]:
    """Return the exceptions by which Ray says that an actor or its node died."""
    from ray import exceptions

    return (exceptions.RayActorError, exceptions.NodeDiedError, exceptions.WorkerCrashedError)


async def connect(address: str) -> RayWorkers:
    """Connect this process to a cluster, and return its workers.

    Raises:
        Unavailable: The cluster cannot be reached.
    """
    await asyncio.to_thread(_connect, address)
    workers = RayWorkers()
    await workers.start()
    return workers


def _connect(address: str) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    if ray.is_initialized():
        return
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if address != "ray":
            ray.init(address, **quiet)
            return
        with suppress(ConnectionError):
            ray.init("auto", **quiet)
            return
        ray.init("local", resources={SANDBOX: 1}, include_dashboard=False, **quiet)
    except (ConnectionError, RuntimeError, TimeoutError) as error:
        first = str(error).strip().split("\n")[0]
        raise Unavailable(f"The Ray cluster at {address!r} cannot be reached: {first}") from error
