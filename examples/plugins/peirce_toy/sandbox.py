"""Sandbox backend `unsafe`: a subprocess with rlimits and nothing else. NOT FOR CODE THAT YOU DO NOT TRUST.

It shows what a backend has to answer. Code that it runs can read every file of yours and use the network;
`layers` says so, and `--strict-sandbox` refuses it.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from peirce.records import Batch, Digest, InputSet, Json, Keep, Limits, SandboxUnavailable
from peirce.sandbox import Unrepresentable, code_of

PROGRAM = """
import json, sys
source, entry, inputs = json.load(sys.stdin)
space = {}
try:
    exec(compile(source, "hypothesis", "exec"), space)
    function = space[entry]
except BaseException as error:
    print(json.dumps({"verdict": "syntax", "detail": repr(error)[:500]}))
    sys.exit()
came = []
for one in inputs:
    try:
        came.append({"value": function(one)})
    except BaseException as error:
        came.append({"undefined": type(error).__name__})
print(json.dumps({"verdict": "ok", "values": came}))
"""
LAYERS = ("memory", "cpu_time")  # that it has
MISSING = ("namespaces", "no_network", "no_files", "seccomp")


class Subprocess:
    """A `records.Sandbox`."""

    def __init__(self, workers: int) -> None:
        self.turns = asyncio.Semaphore(workers)
        self.inputs: dict[Digest, InputSet] = {}

    async def put(self, inputs: InputSet) -> Digest:
        self.inputs[inputs.digest] = inputs
        return inputs.digest

    async def run(
        self, source: str, entry: str, inputs: Digest, keep: Keep, limits: Limits,
        equality: Json = None,
    ) -> Batch:  # fmt: skip
        if equality is not None:
            raise SandboxUnavailable("the sandbox unsafe knows no rule of equality: take process")
        given = json.dumps([source, entry, list(self.inputs[inputs].inputs)]).encode()
        async with self.turns:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-I", "-c", PROGRAM, preexec_fn=lambda: _bound(limits),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )  # fmt: skip
            try:
                out, _ = await asyncio.wait_for(process.communicate(given), limits.wall_s)
            except TimeoutError:
                process.kill()
                await process.wait()
                return _nothing("too_slow")
        try:
            said = json.loads(out)
        except ValueError:
            return _nothing("crashed")
        if said["verdict"] != "ok":
            return _nothing(said["verdict"], said.get("detail", ""))
        return _batch(said["values"], keep)

    def layers(self) -> Mapping[str, bool]:
        return dict.fromkeys(LAYERS, True) | dict.fromkeys(MISSING, False)

    async def close(self) -> None:
        self.inputs.clear()


def _bound(limits: Limits) -> None:
    memory = limits.memory_mb * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (int(limits.cpu_s) + 1, int(limits.cpu_s) + 1))


def _nothing(verdict: str, detail: str = "") -> Batch:
    return Batch(verdict, np.zeros(0, np.int64), np.zeros(0, np.uint8), detail=detail)


def _batch(values: list[dict[str, Any]], keep: Keep) -> Batch:
    if keep == "values":
        return Batch("ok", np.zeros(0, np.int64), np.zeros(0, np.uint8), values=tuple(values))
    names: list[str] = []
    codes = np.zeros(len(values), np.int64)
    reasons = np.zeros(len(values), np.uint8)
    for place, one in enumerate(values):
        reason = one.get("undefined")
        if reason is None:
            try:
                codes[place] = code_of(one["value"])
            except Unrepresentable:
                reason = "unrepresentable"
        if reason is not None:
            if reason not in names:
                names.append(reason)
            reasons[place] = names.index(reason) + 1
    return Batch("ok", codes, reasons, tuple(names))


async def open_backend(workers: int | None, strict: bool) -> Subprocess:
    if strict:
        raise SandboxUnavailable(f"the sandbox unsafe has no layers {', '.join(MISSING)}")
    return Subprocess(workers or 2)
