"""The workers of a Ray cluster: one actor on each node, and the calls to them.

A call is bound to no node. If a node or its actor dies, its open calls are made again on another
node, and a new actor is started where the node still lives. Ray may therefore compute a result
twice, but `apply` returns it once, and the journal's key keeps the session free of duplicates.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

from ...records import (
    Apply,
    InputSet,
    Json,
    JsonService,
    Limits,
    OpenOracle,
    OracleKind,
    OracleSettings,
    PeirceError,
    SandboxUnavailable,
    Unavailable,
    parse_strictly,
)
from .outcomes import decode_outcome
from .ray_node import FAILED, NEEDS_INPUTS, NodeWorker, Stored

SANDBOX = "sandbox"  # the resource of nodes that may run untrusted code
CLAIMED_SANDBOX = 0.001  # the part of it that an actor claims, so that drivers can share a node
MEMORY_PER_CORE = 1 << 29  # bytes to claim for each core: the memory limit of one hypothesis
ATTEMPTS = 6  # of one call, each on a node that lives
WAIT_S = 120.0  # for a node, where none is left
START_S = 60.0  # for the first actor to start
WATCH_S = 2.0  # between looks for new nodes
OPEN_CALLS = 2  # of one node, for each of its cores; further calls wait at the driver


@dataclass
class Node:
    """A node with its actor.

    Attributes:
        id: The node's id in the cluster.
        cpus: The cores that the actor claims.
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
    """The `records.Workers` of a Ray cluster.

    Args:
        cores: The cores to claim on each node; None for all of them.
    """

    def __init__(self, cores: int | None = None) -> None:
        self._cores = cores
        self._nodes: dict[str, Node] = {}
        self._joining: dict[str, asyncio.Task[None]] = {}
        self._oracles: dict[int, tuple[OracleKind, OracleSettings]] = {}
        self._numbers = count(1)
        self._changed = asyncio.Condition()
        self._watch: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start an actor on each node, and later on nodes that join.

        Raises:
            Unavailable: The cluster has no node with a free processor core.
        """
        await self._look()
        if not self._joining:
            raise Unavailable("The Ray cluster has no node with a processor core.")
        await asyncio.wait(self._joining.values(), timeout=START_S)
        if not self._nodes:
            await self.close()
            raise Unavailable(
                f"The Ray cluster has no free processor core for {START_S:g} s: another driver claims"
                " them; wait until it ends, or let it claim fewer cores of each node (--workers)."
            )
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
        for name, row in alive.items():
            if (
                name not in self._nodes
                and name not in self._joining
                and row["Resources"].get("CPU")
            ):
                self._joining[name] = asyncio.create_task(self._join(row))

    async def _join(self, row: Mapping[str, Any]) -> None:
        """Start an actor on a node when its cores are free, and use the node from then on."""
        node = self._start_actor(row)
        try:
            await node.actor.get_ready.remote()
            opened: set[int] = set()
            while missing := self._oracles.keys() - opened:  # more may be opened meanwhile
                for number in missing:
                    await self._open_on(node, number)
                opened |= missing
            async with self._changed:
                self._nodes[node.id] = node
                self._changed.notify_all()
        except _lost():
            pass  # it is tried again if the node still lives
        except asyncio.CancelledError:
            import ray

            ray.kill(node.actor)
            raise
        finally:
            del self._joining[node.id]

    def _start_actor(self, row: Mapping[str, Any]) -> Node:
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        resources = dict(row["Resources"])
        cpus = int(resources.pop("CPU"))
        claimed = min(self._cores or cpus, cpus)
        named = {key: one for key, one in resources.items() if ":" not in key}
        actor = (
            ray.remote(NodeWorker)
            .options(
                num_cpus=claimed,
                memory=min(claimed * MEMORY_PER_CORE, int(named.get("memory", 0))),
                resources={SANDBOX: CLAIMED_SANDBOX} if named.get(SANDBOX) else None,
                scheduling_strategy=NodeAffinitySchedulingStrategy(row["NodeID"], soft=False),
                max_concurrency=1_000,
            )
            .remote()
        )
        name = f"{row['NodeManagerHostname']}-{row['NodeID'][:6]}"
        return Node(row["NodeID"], name, claimed, named, actor)

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

        async def open_on(node: Node) -> None:
            try:
                await self._open_on(node, number)
            except _lost():
                await self._forget(node)

        await asyncio.gather(*map(open_on, list(self._nodes.values())))
        nodes = list(self._nodes.values())
        if not any(number in node.layers for node in nodes):
            reasons = dict.fromkeys(
                node.refused[number] for node in nodes if number in node.refused
            )
            del self._oracles[number]
            raise SandboxUnavailable(
                f"no node of the cluster can run untrusted code: {'; '.join(reasons)}"
            )
        return RayOracle(self, number, kind)

    def open_service(self, module: str, workers: int | None) -> JsonService:
        """Return a service with `workers` processes on each node; None for one per core."""
        return RayService(self, next(self._numbers), module, workers)

    def describe_nodes(self) -> list[dict[str, Json]]:
        """Return name, claimed cores, resources and sandbox layers of each node, sorted by name."""
        return [
            {
                "name": node.name,
                "cores": node.cpus,
                "resources": dict(sorted(node.resources.items())),
                "layers": next(reversed(node.layers.values()), None),
                "refused": next(reversed(node.refused.values()), None),
            }
            for node in sorted(self._nodes.values(), key=lambda one: one.name)
        ]

    async def close(self) -> None:
        """End the actors of this driver."""
        import ray

        tasks = [*self._joining.values(), *([self._watch] if self._watch is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for node in self._nodes.values():
            ray.kill(node.actor)
        self._nodes.clear()

    # --- Calls ---

    async def call(
        self,
        send: Callable[[Node], Any],
        inputs: Sequence[InputSet],
        choose: Callable[[Sequence[Node]], Node | None],
    ) -> bytes:
        """Make a call on a node, again on another node if its node dies, and return its reply.

        Args:
            send: Sends the call to the actor of a node, and returns Ray's reference to the reply.
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
                reply = await _await_reply(send(node))
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

        def send(node: Node) -> Any:
            return node.actor.apply.remote(self._number, limits, sent)

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

        def send(node: Node) -> Any:
            processes = min(self._workers or node.cpus, node.cpus)
            return node.actor.ask.remote(
                self._number, self._module, processes, key, request, space.digest
            )

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


async def _await_reply(reference: Any) -> bytes:
    """Return the reply of a call. If this is cancelled, the work on the node is cancelled too."""
    import ray

    try:
        reply: bytes = await reference
    except asyncio.CancelledError:
        ray.cancel(reference)
        raise
    return reply


def _lost() -> tuple[type[BaseException], ...]:
    """Return the exceptions by which Ray says that an actor or its node died."""
    from ray import exceptions

    return (
        exceptions.RayActorError,
        exceptions.ActorUnschedulableError,
        exceptions.NodeDiedError,
        exceptions.ObjectLostError,
        exceptions.WorkerCrashedError,
    )


async def connect(address: str, cores: int | None = None) -> RayWorkers:
    """Connect this process to a cluster, and return its workers.

    Args:
        address: The value of `--cluster`.
        cores: The cores to claim on each node; None for all of them.

    Raises:
        Unavailable: The cluster cannot be reached, or has no free core.
    """
    connected: Future[None] = Future()
    threading.Thread(target=_connect_for_good, args=(address, connected), daemon=True).start()
    try:
        await asyncio.wait_for(asyncio.wrap_future(connected), START_S)
    except TimeoutError:
        raise Unavailable(
            f"The Ray cluster at {address!r} does not answer within {START_S:g} s; if Ray does not run"
            " any more on this machine, `ray stop` removes its traces."
        ) from None
    workers = RayWorkers(cores)
    await workers.start()
    return workers


def _connect_for_good(address: str, connected: Future[None]) -> None:
    """Connect, and never return: Linux ends a Ray that this process started when the thread ends
    that started it.
    """
    try:
        _connect(address)
    except PeirceError as error:
        connected.set_exception(error)
        return
    connected.set_result(None)
    threading.Event().wait()


def _print_on_stderr() -> None:
    """Let Ray print its own messages, such as that a node died, on stderr.

    stdout belongs to the results of a command, and Ray has no setting for this.
    """
    from ray._private import worker

    with suppress(AttributeError):
        write = worker.print_worker_logs
        worker.print_worker_logs = lambda data, file, *rest: write(data, sys.stderr, *rest)


def _connect(address: str) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    if ray.is_initialized():
        return
    _print_on_stderr()
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
