"""The actor that computes on one node of a Ray cluster: it hosts oracles and worker processes.

It keeps what is slow to start: zygotes of a sandbox, Z3 processes, processes of the embedded
search, and input sets. All replies are bytes (outcomes.py).
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from ...records import (
    InputSet,
    Limits,
    OpenOracle,
    OracleKind,
    OracleSettings,
    PeirceError,
)
from .line_pool import LinePool
from .outcomes import encode_outcome

KEPT_INPUTS = 1_000_000  # of all input sets of a node; a large sample space has 14,101
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
        self._count = 0  # of inputs in all these sets
        self._oracles: dict[int, tuple[OracleKind, OpenOracle]] = {}
        self._pools: dict[int, LinePool] = {}

    async def get_ready(self) -> str:
        """Return this node's version of Peirce when the actor has started."""
        return version("peirce")

    def _find_inputs(self, sent: InputSet | Stored) -> InputSet | None:
        """Return the input set that was sent or that is kept; None if it is kept no longer.

        It is kept from then on. The least recently used sets are dropped.
        """
        found = sent if isinstance(sent, InputSet) else self._inputs.get(sent.digest)
        if found is not None:
            if found.digest not in self._inputs:
                self._inputs[found.digest] = found
                self._count += len(found.inputs)
            self._inputs.move_to_end(found.digest)
            while self._count > KEPT_INPUTS and len(self._inputs) > 1:
                self._count -= len(self._inputs.popitem(last=False)[1].inputs)
        return found

    async def open_oracle(self, number: int, kind: OracleKind, settings: OracleSettings) -> bytes:
        """Open an oracle, and return the JSON text of its layers, or the reason why it cannot be
        opened after `FAILED`.
        """
        try:
            opened = await kind.open(settings)
        except PeirceError as error:
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
            if isinstance(one, InputSet | Stored):
                one = self._find_inputs(one)
                if one is None:
                    return NEEDS_INPUTS
            filled.append(one)
        try:
            result = await oracle.with_limits(limits)(*filled)
        except PeirceError as error:
            return FAILED + str(error).encode()
        return encode_outcome(kind.outcome(result, *filled))

    async def ask(
        self,
        number: int,
        module: str,
        workers: int,
        key: str,
        request: dict[str, Any],
        space: InputSet | Stored,
    ) -> bytes:
        """Return the JSON reply of a worker process (line_pool.py), or `NEEDS_INPUTS`."""
        inputs = self._find_inputs(space)
        if inputs is None:
            return NEEDS_INPUTS
        if number not in self._pools:
            self._pools[number] = LinePool(module, workers)
        try:
            reply = await self._pools[number].ask(key, request, inputs)
        except PeirceError as error:
            return FAILED + str(error).encode()
        return json.dumps(reply).encode()

    async def close_part(self, number: int) -> None:
        """Close the oracle or the processes of this number, if it exists."""
        if (known := self._oracles.pop(number, None)) is not None:
            await known[1].close()
        if (pool := self._pools.pop(number, None)) is not None:
            await pool.close()
