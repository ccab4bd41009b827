"""The actor that computes on one node of a Ray cluster: it hosts oracles and worker processes.

It keeps what is slow to start: zygotes of a sandbox, Z3 processes, processes of the embedded
search, and input sets. All replies are bytes (outcomes.py).
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...records import (
    InputSet,
    Limits,
    OpenOracle,
    OracleKind,
    OracleSettings,
    PeirceError,
    SandboxUnavailable,
)
from .line_pool import LinePool
from .outcomes import encode_outcome

KEPT_INPUTS = 64  # input sets of a node
NEEDS_INPUTS = b"!inputs"
FAILED = b"!failed "


@dataclass(frozen=True)
class Stored:
    """Stands for an input set among the arguments of a call, which the node has under its digest."""

    digest: str


class NodeWorker:
    """The work of one driver on one node."""

    def __init__(self) -> None:
        self._inputs: OrderedDict[str, InputSet] = OrderedDict()
        self._oracles: dict[int, tuple[OracleKind, OpenOracle]] = {}
        self._pools: dict[int, LinePool] = {}

    async def get_ready(self) -> None:
        """Return when the actor has started."""

    async def keep_inputs(self, inputs: InputSet) -> None:
        """Keep an input set; the least recently used sets are dropped."""
        self._inputs[inputs.digest] = inputs
        self._inputs.move_to_end(inputs.digest)
        while len(self._inputs) > KEPT_INPUTS:
            self._inputs.popitem(last=False)

    async def open_oracle(self, number: int, kind: OracleKind, settings: OracleSettings) -> bytes:
        """Open an oracle, and return the JSON text of its layers, or the reason why it cannot be
        opened after `FAILED`.
        """
        try:
            opened = await kind.open(settings)
        except SandboxUnavailable as error:
            return FAILED + str(error).encode()
        self._oracles[number] = kind, opened
        return json.dumps(dict(opened.layers())).encode()

    async def apply(self, number: int, limits: Limits, arguments: Sequence[Any]) -> bytes:
        """Apply an oracle to its arguments and return the encoded outcome.

        The reply is `NEEDS_INPUTS` if this node lacks an input set, and begins with `FAILED` if the
        oracle failed.
        """
        kind, oracle = self._oracles[number]
        filled = []
        for one in arguments:
            if isinstance(one, Stored):
                if one.digest not in self._inputs:
                    return NEEDS_INPUTS
                self._inputs.move_to_end(one.digest)
                one = self._inputs[one.digest]
            filled.append(one)
        try:
            result = await oracle.with_limits(limits)(*filled)
        except PeirceError as error:
            return FAILED + str(error).encode()
        return encode_outcome(kind.outcome(result, *filled))

    async def ask(
        self, number: int, module: str, workers: int, key: str, request: dict[str, Any], digest: str
    ) -> bytes:
        """Return the JSON reply of a worker process (line_pool.py), or `NEEDS_INPUTS`."""
        if digest not in self._inputs:
            return NEEDS_INPUTS
        if number not in self._pools:
            self._pools[number] = LinePool(module, workers)
        try:
            reply = await self._pools[number].ask(key, request, self._inputs[digest])
        except PeirceError as error:
            return FAILED + str(error).encode()
        return json.dumps(reply).encode()

    async def close_part(self, number: int) -> None:
        """Close the oracle or the processes of this number, if it exists."""
        if (known := self._oracles.pop(number, None)) is not None:
            await known[1].close()
        if (pool := self._pools.pop(number, None)) is not None:
            await pool.close()
