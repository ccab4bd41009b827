"""A stand-in for an endpoint with OpenAI's /v1/files and /v1/batches, over real HTTP.

    with BatchServer(looks=2) as server:
        ... server.url, server.batches, server.paid

A batch goes from validating over in_progress and finalizing to completed, one state for each `looks`
looks at it, and its answers are those of `FaultyServer` to the same requests. `paid` counts the
answers of each request by its custom_id, as a provider would charge them. Faults are planned by
keyword: see `BatchServer`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from email.parser import BytesParser
from typing import Any
from urllib.parse import parse_qs

from faulty_server import USAGE, FaultyServer, made_up

RUNNING = ("validating", "in_progress", "finalizing")
MOST_REQUESTS, MOST_BYTES = 50_000, 200_000_000


@dataclass
class StoredBatch:
    """A batch: its object as the interface describes it, its requests, and the looks at it so far."""

    told: dict[str, Any]
    requests: list[dict[str, Any]]
    seen: int = 0
    looks: int = 0  # while it was held, too
    answered: dict[str, Any] = field(default_factory=dict)


class BatchServer(FaultyServer):
    """A server with files and batches. It keeps them when it is closed: `restart` takes them over.

    looks: looks at a batch until its state changes, in each state.
    ends: how the first batches end, by their number from 0: "completed", or "expired", "cancelled"
        (half of the requests are answered) or "failed".
    fails_line: whether the line of a request is an error, from (custom_id, number of its batch).
    lost: numbers of the POST /batches whose confirmation is cut off after the batch was started.
    outages: numbers of the looks (GET /batches/ID, from 0) that are answered with 503.
    delay_start_s: how long the confirmation of a start takes.
    tokens_limit: a batch with more requests fails with token_limit_exceeded.
    hold_from: batches from this number on do not change; None for none.
    """

    def __init__(
        self,
        *,
        looks: int = 1,
        ends: tuple[str, ...] = (),
        fails_line: Callable[[str, int], dict[str, Any] | None] = lambda name, number: None,
        lost: tuple[int, ...] = (),
        outages: tuple[int, ...] = (),
        tokens_limit: int = MOST_REQUESTS,
        page: int = 20,
        delay_start_s: float = 0.0,
        model: Callable[[dict[str, Any]], dict[str, Any]] = made_up,
        **more: Any,
    ) -> None:
        super().__init__(model=model, **more)
        self._looks, self._ends, self._fails_line = looks, ends, fails_line
        self._lost, self._outages, self._tokens_limit = lost, outages, tokens_limit
        self._page, self._delay_start_s = page, delay_start_s
        self.hold_from: int | None = None
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, StoredBatch] = {}
        self.paid: Counter[str] = Counter()
        self.looked = self.created = 0

    def restart(self, port: int = 0) -> BatchServer:
        """Return a server, not yet open, with the files and batches of this one."""
        again = BatchServer(looks=self._looks, model=self._model, port=port)
        again.files, again.batches, again.paid = self.files, self.batches, self.paid
        return again

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        path, verb = scope["path"].removeprefix("/v1"), scope["method"]
        if not path.startswith(("/files", "/batches")):
            return await super()._app(scope, receive, send)
        body, more = b"", True
        while more:
            event = await receive()
            body, more = body + event.get("body", b""), event.get("more_body", False)
        match verb, path.strip("/").split("/"):
            case "POST", ["files"]:
                kind = dict(scope["headers"])[b"content-type"]
                told = self._store_file(kind, body)
            case "GET", ["files", name, "content"]:
                if name not in self.files:
                    return await self._send(send, 404, b'{"error": {"message": "No such File"}}')
                return await self._send(send, 200, self.files[name])
            case "POST", ["batches"]:
                told = self._create(json.loads(body))
                await asyncio.sleep(self._delay_start_s)
                if "error" not in told and self.created - 1 in self._lost:
                    return await self._start(send, 200, 1000)  # the connection breaks
            case "GET", ["batches"]:
                told = self._list(parse_qs(scope["query_string"].decode()))
            case "GET", ["batches", name]:
                self.looked += 1
                if self.looked - 1 in self._outages:
                    return await self._send(send, 503, b"{}")
                told = self._look(name)
            case _:
                told = {"error": {"message": "not found"}, "status": 404}
        status = told.pop("status_code", 400) if "error" in told and "id" not in told else 200
        return await self._send(send, status, json.dumps(told).encode())

    def _store_file(self, kind: bytes, body: bytes) -> dict[str, Any]:
        form = BytesParser().parsebytes(b"Content-Type: " + kind + b"\r\n\r\n" + body)
        parts = {
            part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
            for part in form.get_payload()
        }
        assert parts["purpose"] == b"batch"
        return self._add_file(parts["file"])

    def _add_file(self, content: bytes) -> dict[str, Any]:
        name = f"file-{len(self.files) + 1}"
        self.files[name] = content
        return {"id": name, "object": "file", "bytes": len(content), "purpose": "batch"}

    def _create(self, wanted: dict[str, Any]) -> dict[str, Any]:
        assert wanted["endpoint"] == "/v1/chat/completions"
        assert wanted["completion_window"] == "24h"
        metadata = wanted.get("metadata") or {}
        assert len(metadata) <= 16
        assert all(len(k) <= 64 and 0 < len(v) <= 512 for k, v in metadata.items())
        content = self.files[wanted["input_file_id"]]
        requests = [json.loads(line) for line in content.splitlines()]
        assert len(requests) <= MOST_REQUESTS and len(content) <= MOST_BYTES
        names = [one["custom_id"] for one in requests]
        assert len(set(names)) == len(names), "custom_id must be unique"
        assert all(len(name) <= 64 for name in names)
        number = len(self.batches)
        told = {
            "id": f"batch_{number}", "object": "batch", "status": "validating", "errors": None,
            "input_file_id": wanted["input_file_id"], "output_file_id": None, "error_file_id": None,
            "created_at": int(time.time()), "metadata": metadata, "completion_window": "24h",
            "endpoint": wanted["endpoint"],
            "request_counts": {"total": 0, "completed": 0, "failed": 0},
        }  # fmt: skip
        self.batches[told["id"]] = StoredBatch(told, requests)
        self.created += 1
        return dict(told)

    def _list(self, query: dict[str, list[str]]) -> dict[str, Any]:
        newest = [one.told for one in reversed(self.batches.values())]
        if after := query.get("after"):
            ids = [one["id"] for one in newest]
            newest = newest[ids.index(after[0]) + 1 :]
        size = min(self._page, int(query.get("limit", ["20"])[0]))
        page = newest[:size]
        return {"object": "list", "data": page, "has_more": len(newest) > size}

    def _look(self, name: str) -> dict[str, Any]:
        if name not in self.batches:
            return {"error": {"message": "no such batch"}, "status_code": 404}
        batch = self.batches[name]
        batch.looks += 1
        number = int(name.removeprefix("batch_"))
        held = self.hold_from is not None and number >= self.hold_from
        if batch.told["status"] in RUNNING and not held:
            batch.seen += 1
            state = batch.seen // self._looks
            if state < len(RUNNING):
                batch.told["status"] = RUNNING[state]
            else:
                self._end(name, batch)
        return dict(batch.told)

    def looks_at(self, number: int) -> int:
        """Return how often the batch of a number was looked at."""
        return self.batches[f"batch_{number}"].looks if number < len(self.batches) else 0

    def finish(self) -> None:
        """End every running batch, as it would while nobody looks."""
        for name, batch in self.batches.items():
            if batch.told["status"] in RUNNING:
                self._end(name, batch)

    def _end(self, name: str, batch: StoredBatch) -> None:
        number = int(name.removeprefix("batch_"))
        end = self._ends[number] if number < len(self._ends) else "completed"
        told = batch.told
        if len(batch.requests) > self._tokens_limit or end == "failed":
            code = "token_limit_exceeded" if end != "failed" else "invalid_request"
            told["errors"] = {"data": [{"code": code, "message": "Enqueued token limit reached"}]}
            told["status"] = "failed"
            return
        done = batch.requests if end == "completed" else batch.requests[::2]
        good, bad = [], []
        for one in reversed(batch.requests):  # results come in any order
            line = {"id": f"req_{one['custom_id']}", "custom_id": one["custom_id"]}
            if one not in done:
                code = {"code": "batch_expired", "message": "This request was not executed."}
                bad.append({**line, "response": None, "error": code})
            elif (fault := self._fails_line(one["custom_id"], number)) is not None:
                bad.append({**line, "response": fault, "error": None})
            else:
                self.paid[one["custom_id"]] += 1
                body = self.complete(one["body"])
                response = {"status_code": 200, "request_id": "r", "body": body}
                good.append({**line, "response": response, "error": None})
        for key, lines in (("output_file_id", good), ("error_file_id", bad)):
            if lines:
                content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
                told[key] = self._add_file(content)["id"]
        total = len(batch.requests)
        told["request_counts"] = {"total": total, "completed": len(good), "failed": len(bad)}
        told["status"] = end

    def complete(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the chat completion of a request."""
        said = self._model(request)
        finish = "tool_calls" if said.get("tool_calls") else "stop"
        choice = {"index": 0, "message": {"role": "assistant", **said}, "finish_reason": finish}
        return {"id": "c", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [choice], "usage": USAGE}  # fmt: skip
