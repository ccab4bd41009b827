"""The workers of a Ray cluster: one actor on each node, and the calls to them.

A call is bound to no node. If a node or its actor dies, its open calls are made again on another
node, and a new actor is started where the node still lives. Ray may therefore compute a result
twice, but `apply` returns it once, and the journal's key keeps the session free of duplicates.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from itertools import count
from typing import Any, TypeAlias

from ...records import (
    Apply,
    InputSet,
    Json,
    JsonService,
    Limits,
    OpenOracle,
    OracleKind,
    OracleSettings,
    SandboxUnavailable,
    Unavailable,
    parse_strictly,
)
from .node import SANDBOX, Node, choose_node
from .outcomes import decode_outcome
from .ray_connection import connect, failure_of_start, last_line, lost_errors
from .ray_node import FAILED, NEEDS_INPUTS, NodeWorker, Stored

CLAIMED_SANDBOX = (
    0.001  # the part of `SANDBOX` that an actor claims, so that drivers can share a node
)
MEMORY_PER_CORE = 1 << 29  # bytes to claim for each core: the memory limit of one hypothesis
ATTEMPTS = 6  # of one call, each on a node that lives
WAIT_S = 120.0  # for a node, where none is left
START_S = 60.0  # for the first actor to start
SETTLE_S = 5.0  # for more actors to start, after the first
WATCH_S = 2.0  # between looks for new nodes

StandIn: TypeAlias = Callable[[InputSet], "InputSet | Stored"]


async def open_cluster(address: str, cores: int | None = None) -> RayWorkers:
    """Connect this process to a cluster, and return its workers.

    Args:
        address: The value of `--cluster`.
        cores: The cores to claim on each node; None for all of them.

    Raises:
        Unavailable: The cluster cannot be reached, or no node of it can be used.
    """
    await connect(address)
    workers = RayWorkers(cores)
    await workers.start()
    return workers


class RayWorkers:
    """The `records.Workers` of a Ray cluster.

    Args:
        cores: The cores to claim on each node; None for all of them.
    """

    def __init__(self, cores: int | None = None) -> None:
        self._cores = cores
        self._nodes: dict[str, Node] = {}  # those that can be used
        self._known: dict[str, Node] = {}  # these, those that were lost and those that are unable
        self._joining: dict[str, asyncio.Task[None]] = {}
        self._oracles: dict[int, tuple[OracleKind, OracleSettings]] = {}
        self._numbers = count(1)
        self._changed = asyncio.Condition()
        self._watch: asyncio.Task[None] | None = None
        self._missing: dict[Callable[[Node], bool], float] = {}  # since when no node can
        self._ended = asyncio.Event()  # whether the node of this process has left the cluster

    # --- Nodes ---

    async def start(self) -> None:
        """Start an actor on each node, and later on nodes that join.

        Raises:
            Unavailable: The cluster has no node with a free processor core and with this Peirce.
        """
        await self._look()
        if not self._joining:
            raise Unavailable("The Ray cluster has no node with a processor core.")
        await self._await_joining(lambda: bool(self._nodes))
        if self._joining and self._nodes:
            await asyncio.wait(self._joining.values(), timeout=SETTLE_S)
        if not self._nodes:
            unable = [f"{node.name}: {node.unable}" for node in self._known.values()]
            await self.close()
            raise Unavailable(
                f"No node of the Ray cluster can be used: {'; '.join(unable)}"
                if unable
                else f"The Ray cluster has no free processor core for {START_S:g} s: another driver"
                " claims them; wait until it ends, or let it claim fewer cores of each node"
                " (--workers)."
            )
        self._watch = asyncio.create_task(self._keep_looking())

    async def _await_joining(self, ready: Callable[[], bool]) -> None:
        """Wait until the nodes that are joining make `ready` true, or `START_S` is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(START_S):
                while not ready() and self._joining:
                    await asyncio.wait(self._joining.values(), return_when=asyncio.FIRST_COMPLETED)

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(WATCH_S)
            # Ray raises errors of many kinds while its head is away, which may come back.
            with suppress(Exception):
                await self._look()

    async def _look(self) -> None:
        """Start actors on new nodes, and forget nodes that are gone."""
        import ray

        listed = await asyncio.to_thread(ray.nodes)
        alive = {row["NodeID"]: row for row in listed if row["Alive"]}
        if ray.get_runtime_context().get_node_id() not in alive:
            self._ended.set()
            await self._notify()
            return
        for node in [node for name, node in self._nodes.items() if name not in alive]:
            await self._forget(node)
        for name, row in alive.items():
            known = self._known.get(name)
            usable = row["Resources"].get("CPU") and (known is None or known.lost)
            if usable and name not in self._joining:
                self._joining[name] = asyncio.create_task(self._join(row))

    async def _join(self, row: Mapping[str, Any]) -> None:
        """Start an actor on a node when its cores are free, and use the node from then on."""
        import ray

        node = self._start_actor(row)
        try:
            node.unable = await self._make_ready(node)
        except lost_errors() as error:
            node.unable = failure_of_start(error)
            if node.unable is None:
                return  # `_look` tries again if the node still lives
        except ray.exceptions.RayError as error:
            node.unable = last_line(str(error))
        except asyncio.CancelledError:
            ray.kill(node.actor)
            raise
        finally:
            del self._joining[node.id]
        self._known[node.id] = node
        if node.unable is None:
            self._nodes[node.id] = node
            await self._notify()
        else:
            ray.kill(node.actor)

    async def _make_ready(self, node: Node) -> str | None:
        """Open all oracles on a node, and return why it cannot be used, or None."""
        found, wanted = await node.actor.get_ready.remote(), version("peirce")
        if found != wanted:
            return f"it has Peirce {found}, and the driver has {wanted}"
        opened: set[int] = set()
        while missing := self._oracles.keys() - opened:  # more may be opened meanwhile
            for number in missing:
                await self._open_on(node, number)
            opened |= missing
        return None

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
        if number not in self._oracles:
            return  # closed meanwhile
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

    async def _forget(self, node: Node) -> None:
        """Take a node whose actor died out of use. `_look` starts a new actor if the node lives."""
        import ray

        node.lost = True
        with suppress(Exception):  # it may only be out of reach, and would keep its cores
            ray.kill(node.actor)
        if self._nodes.get(node.id) is node:
            del self._nodes[node.id]
        await self._notify()

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    # --- Protocol `Workers` ---

    async def open_oracle(self, kind: OracleKind, settings: OracleSettings) -> OpenOracle:
        """Open an oracle on every node; if it runs untrusted code, only where `Node.isolates`."""
        number = next(self._numbers)
        self._oracles[number] = kind, settings

        async def open_on(node: Node) -> None:
            try:
                await self._open_on(node, number)
            except lost_errors():
                await self._forget(node)

        await asyncio.gather(*map(open_on, list(self._nodes.values())))
        oracle = RayOracle(self, number, kind)
        await self._await_joining(lambda: any(map(oracle.is_open_on, self._nodes.values())))
        if not any(map(oracle.is_open_on, self._nodes.values())):
            reasons = dict.fromkeys(
                node.refused[number] for node in self._nodes.values() if number in node.refused
            )
            del self._oracles[number]
            raise SandboxUnavailable(
                f"no node of the cluster can run untrusted code: {'; '.join(reasons)}"
            )
        return oracle

    def open_service(self, module: str, workers: int | None) -> JsonService:
        """Return a service with `workers` processes on each node; None for one per core."""
        return RayService(self, next(self._numbers), module, workers)

    def describe_nodes(self) -> list[dict[str, Json]]:
        """Return a description of each node that was seen, also of lost nodes, sorted by name."""
        return [node.describe() for node in sorted(self._known.values(), key=lambda one: one.name)]

    def common_layers(self, number: int) -> dict[str, bool]:
        """Return the layers of an oracle, and whether each is active on every node that has it."""
        found = [node.layers[number] for node in self._nodes.values() if number in node.layers]
        names = dict.fromkeys(name for layers in found for name in layers)
        return {name: all(layers.get(name, False) for layers in found) for name in names}

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

    async def close_part(self, number: int) -> None:
        """Close an oracle, or the processes of a service, on every node."""
        self._oracles.pop(number, None)
        for node in list(self._nodes.values()):
            node.layers.pop(number, None)
            node.refused.pop(number, None)
            with suppress(*lost_errors()):
                await node.actor.close_part.remote(number)

    # --- Calls ---

    async def call(
        self, send: Callable[[Node, StandIn], Any], can: Callable[[Node], bool], key: str = ""
    ) -> bytes:
        """Make a call on a node, again on another node if its node dies, and return its reply.

        Args:
            send: Sends the call to the actor of a node, with what stands there for each of its input
                sets, and returns Ray's reference to the reply.
            can: Whether a node can do the work.
            key: The key of `choose_node`.

        Raises:
            Unavailable: No able node was there for `WAIT_S`, or `ATTEMPTS` nodes died, or the work
                failed.
        """
        from ray.exceptions import RayError

        deaths, whole = 0, False
        while deaths < ATTEMPTS:
            node = await self._await_node(can, key)
            try:
                reply = await self._await_reply(send(node, _itself if whole else node.stand_in))
            except lost_errors():
                await self._forget(node)
                deaths += 1
                continue
            except RayError as error:
                raise Unavailable(
                    f"A call to {node.name} failed: {last_line(str(error))}"
                ) from error
            finally:
                node.running -= 1
                await self._notify()
            if reply == NEEDS_INPUTS:  # dropped there, as others were used more recently
                node.sent.clear()
                whole = True
            elif reply.startswith(FAILED):
                raise Unavailable(reply.removeprefix(FAILED).decode())
            else:
                return reply
        raise Unavailable(f"{ATTEMPTS} nodes of the cluster died during one call.")

    async def _await_reply(self, reference: Any) -> bytes:
        """Return the reply of a call. If this is cancelled, the work on the node is cancelled too."""
        import ray

        reply = asyncio.ensure_future(reference)
        ended = asyncio.create_task(self._ended.wait())
        try:
            await asyncio.wait((reply, ended), return_when=asyncio.FIRST_COMPLETED)
            if not reply.done():  # it would never come
                raise ray.exceptions.RayActorError
            found: bytes = reply.result()
        except asyncio.CancelledError:
            ray.cancel(reference)
            raise
        finally:
            ended.cancel()
            reply.cancel()
        return found

    async def _await_node(self, can: Callable[[Node], bool], key: str) -> Node:
        """Return a node for a call. Busy nodes are awaited without a limit, able ones for `WAIT_S`."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(None) as limit, self._changed:
                while True:
                    if self._ended.is_set():
                        raise Unavailable(
                            "The Ray node to which this process belongs has ended. Start it again,"
                            " and go on with `peirce resume`."
                        )
                    able = [node for node in self._nodes.values() if can(node)]
                    if (node := choose_node(able, key)) is not None:
                        node.running += 1
                        return node
                    if able:
                        self._missing.pop(can, None)
                        limit.reschedule(None)
                    else:  # all calls give up together, instead of each after its own wait
                        since = self._missing.setdefault(can, loop.time())
                        limit.reschedule(since + WAIT_S)
                    await self._changed.wait()
        except TimeoutError:
            raise Unavailable(f"The cluster had no node for this work for {WAIT_S:g} s.") from None


class RayOracle:
    """An oracle (`records.OpenOracle`) that is open on several nodes."""

    def __init__(self, workers: RayWorkers, number: int, kind: OracleKind) -> None:
        self._workers, self._number, self._kind = workers, number, kind

    def is_open_on(self, node: Node) -> bool:
        """Whether a node can apply the oracle."""
        return self._number in node.layers

    def with_limits(self, limits: Limits) -> Apply:
        """Return the function that applies a hypothesis to inputs under these limits."""
        return partial(self._apply, limits)

    async def _apply(self, limits: Limits, *arguments: Any) -> Any:
        def send(node: Node, stand_in: StandIn) -> Any:
            sent = [stand_in(one) if isinstance(one, InputSet) else one for one in arguments]
            return node.actor.apply.remote(self._number, limits, sent)

        reply = await self._workers.call(send, self.is_open_on)
        try:
            return self._kind.result(decode_outcome(reply))
        except (ValueError, KeyError, TypeError) as error:
            raise Unavailable(f"A node returned a malformed result: {error}") from error

    def layers(self) -> Mapping[str, bool]:
        """Return the layers of the sandbox, and whether each is active on every node."""
        return self._workers.common_layers(self._number)

    async def close(self) -> None:
        """Close the oracle on every node."""
        await self._workers.close_part(self._number)


class RayService:
    """A `records.JsonService` with processes on every node."""

    def __init__(self, cluster: RayWorkers, number: int, module: str, workers: int | None) -> None:
        self._cluster, self._number, self._module, self._workers = cluster, number, module, workers

    async def ask(self, key: str, request: dict[str, Any], space: InputSet) -> dict[str, Any]:
        """Send a request to a process on the node of this key, and return its reply.

        With the key "", the node with the least work is used.
        """

        def send(node: Node, stand_in: StandIn) -> Any:
            processes = min(self._workers or node.cpus, node.cpus)
            return node.actor.ask.remote(
                self._number, self._module, processes, key, request, stand_in(space)
            )

        found = parse_strictly(await self._cluster.call(send, _any_node, key))
        if type(found) is not dict:
            raise Unavailable("A node returned a malformed reply.")
        return found

    def is_idle(self, key: str) -> bool:
        """Return False, because a node does not report what its processes do."""
        return False

    async def close(self) -> None:
        """Stop the processes on every node."""
        await self._cluster.close_part(self._number)


def _any_node(node: Node) -> bool:
    return True


def _itself(inputs: InputSet) -> InputSet:
    return inputs
