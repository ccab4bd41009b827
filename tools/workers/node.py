"""A node of a Ray cluster, as the driver sees it, and the choice of a node for a call."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...records import InputSet, Json
from .ray_node import Stored

SANDBOX = "sandbox"  # the resource of nodes that may run untrusted code
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
        unable: Why the node cannot be used at all; None if it can.
        lost: Whether the node or its actor has died.
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
    unable: str | None = None
    lost: bool = False

    @property
    def isolates(self) -> bool:
        """Whether the node offers the resource `SANDBOX`."""
        return self.resources.get(SANDBOX, 0) > 0

    def stand_in(self, inputs: InputSet) -> InputSet | Stored:
        """Return what to send for an input set: its digest if the actor has been sent it before."""
        if inputs.digest in self.sent:
            return Stored(inputs.digest)
        self.sent.add(inputs.digest)
        return inputs

    def describe(self) -> dict[str, Json]:
        """Return the description of `records.Workers.describe_nodes`."""
        last = max((*self.layers, *self.refused), default=0)
        return {
            "name": self.name,
            "cores": self.cpus,
            "resources": dict(sorted(self.resources.items())),
            "layers": self.layers.get(last),
            "refused": self.refused.get(last),
            "unable": self.unable,
            "lost": self.lost,
        }


def choose_node(nodes: Sequence[Node], key: str) -> Node | None:
    """Return the node for a call.

    Args:
        nodes: The nodes that can do the work.
        key: Calls with equal keys go to one node while it lives, as it has cached what they need. ""
            for the node with the least work for its cores.

    Returns:
        None if there is no node, or if all are busy and the call has no key.
    """
    if key:
        return max(nodes, key=lambda node: _score(key, node), default=None)
    free = [node for node in nodes if node.running < OPEN_CALLS * node.cpus]
    return min(free, key=lambda node: (node.running / node.cpus, node.id), default=None)


def _score(key: str, node: Node) -> float:
    """Return the score of weighted rendezvous hashing: the highest wins.

    A node receives keys in proportion to its cores, and only the keys of a lost node move.
    """
    drawn = hashlib.blake2b(f"{key} {node.id}".encode(), digest_size=6).digest()
    uniform = (int.from_bytes(drawn, "big") + 1) / ((1 << 48) + 1)  # in (0, 1)
    return -node.cpus / math.log(uniform)
