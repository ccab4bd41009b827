"""A small ASGI app that speaks the OpenAI chat protocol over real HTTP (tool calls, schemas, a list
of models and streaming included), with a made-up model behind it and faults in front of it.

    with FaultyServer(seed=1, rate=0.2) as server:
        ... server.url, server.requests, server.faults

What the model says depends on the messages and the seed of a request alone; some of it is bad in
itself (wrong tool arguments, an unknown tool, prose, a megabyte). Whether a request meets a fault
depends on the same, the server's seed and how often it came before, so two runs meet the same ones
in whatever order; after `PATIENCE` faults in a row it is answered.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Any

import uvicorn

FAULTS = ("429", "429 retry-after", "500", "503", "slow", "cut", "cut stream", "malformed", "no choices")  # fmt: skip
PATIENCE = 3
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
Said = dict[str, Any]


def draw(*parts: Any) -> int:
    text = json.dumps(parts, sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def made_up(request: dict[str, Any]) -> Said:
    """What the model says to a request: a tool call first, often, then an answer."""
    number = draw(request["messages"], request.get("seed"))
    source = f"def f(x):\n    return x if len(x) < 3 else [v + {number % 5} for v in x]"
    asked = any(message["role"] == "tool" for message in request["messages"])
    if request.get("tools") and not asked and number % 5 < 3:
        name, arguments = (
            ("execute", json.dumps({"code": source})),
            ("execute", '{"cod": 3'),
            ("prove", json.dumps({"code": source})),
        )[number % 5]
        function = {"name": name, "arguments": arguments}
        return {"content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}  # fmt: skip
    thought = "So many numbers."
    if request.get("response_format"):
        answer = {"description": f"adds {number % 5} to long lists", "code": source}
        return {"content": json.dumps(answer), "reasoning_content": thought}
    kind = number // 5 % 40
    if kind == 0:
        return {"content": "It adds something. " * 55_000}  # a megabyte
    if kind < 6:
        return {"content": "I cannot say what it does."}
    answer = repr((f"adds {number % 5} to long lists", source))
    if kind < 10:
        return {"content": answer, "reasoning_content": thought}
    return {"content": f"<think>{thought}</think>{answer}" if kind < 15 else answer}


class FaultyServer:
    """Listens on a free port of the loopback (or on `port`) while the context is open. rate: of requests that meet
    a fault; slow_s: how long a slow answer takes, delay_s: any other; status: what every request is
    answered with, but for 200; refuses: the parts of a request (tools, response_format,
    stream_options) that it cannot take; context_tokens: what `/models` tells, where it tells it."""

    def __init__(
        self,
        seed: int = 0,
        rate: float = 0.0,
        *,
        model: Callable[[dict[str, Any]], Said] = made_up,
        slow_s: float = 30.0,
        delay_s: float = 0.0,
        retry_after_s: float = 0.05,
        status: int = 200,
        refuses: Collection[str] = (),
        context_tokens: int | None = None,
        port: int = 0,
    ) -> None:
        self._status, self._refuses, self._context_tokens = status, refuses, context_tokens
        self._seed, self._rate, self._model = seed, rate, model
        self._slow_s, self._delay_s, self._retry_after_s = slow_s, delay_s, retry_after_s
        self._times: Counter[int] = Counter()
        self.requests = self.refusals = 0
        self.in_flight = self.most_in_flight = 0
        self.faults: Counter[str] = Counter()
        self._socket = socket.create_server(("127.0.0.1", port), backlog=2048)
        self.port = self._socket.getsockname()[1]
        config = uvicorn.Config(self._app, log_level="critical", interface="asgi3", lifespan="off", http="h11",
                                loop="asyncio", timeout_graceful_shutdown=1)  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> FaultyServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join()
        self._socket.close()

    def fault_of(self, request: dict[str, Any]) -> str | None:
        key = draw(request["messages"], request.get("seed"), request.get("tools"))
        time = self._times[key]
        self._times[key] += 1
        number = draw(self._seed, key, time)
        if time >= PATIENCE or number % 1000 >= self._rate * 1000:
            return None
        return FAULTS[number // 1000 % len(FAULTS)]

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            event = await receive()
            if event["type"] == "http.disconnect":
                return
            body, more = body + event.get("body", b""), event.get("more_body", False)
        if scope["path"].endswith("/models"):
            size = {"max_model_len": self._context_tokens} if self._context_tokens else {}
            entry = {"id": "m", "object": "model", "created": 1, "owned_by": "tests", **size}
            await self._send(send, 200, json.dumps({"object": "list", "data": [entry]}).encode())
            return
        if not scope["path"].endswith("/chat/completions"):
            await self._send(send, 404, b"{}")
            return
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await self._answer(json.loads(body), send)
        finally:
            self.in_flight -= 1

    async def _answer(self, request: dict[str, Any], send: Any) -> None:
        self.requests += 1
        refused = [part for part in self._refuses if part in request]
        if self._status != 200 or refused:
            self.refusals += 1
            told = {"message": f"{refused[0]} is not supported" if refused else "no"}
            code = 400 if refused else self._status
            await self._send(send, code, json.dumps({"error": told}).encode())
            return
        fault = self.fault_of(request)
        if fault is not None:
            self.faults[fault] += 1
        await asyncio.sleep(self._slow_s if fault == "slow" else self._delay_s)
        said = self._model(request)
        finish = "tool_calls" if said.get("tool_calls") else "stop"
        choice = {"index": 0, "message": {"role": "assistant", **said}, "finish_reason": finish}
        whole = {"id": "c", "object": "chat.completion", "created": 1, "model": "m",
                 "choices": [] if fault == "no choices" else [choice], "usage": USAGE}  # fmt: skip
        body = json.dumps(whole).encode()
        if fault in ("429", "500", "503"):
            await self._send(send, int(fault), b'{"error": {"message": "no"}}')
        elif fault == "429 retry-after":
            header = (b"retry-after", str(self._retry_after_s).encode())
            await self._send(send, 429, b'{"error": {"message": "no"}}', header)
        elif request.get("stream") and fault != "cut":
            await self._stream(said, finish, fault, bool(request.get("stream_options")), send)
        elif fault == "malformed":
            await self._send(send, 200, body[: len(body) // 2])
        elif fault in ("cut", "cut stream"):
            at = 0 if fault == "cut" else len(body) // 2
            await self._start(send, 200, len(body))
            await send({"type": "http.response.body", "body": body[:at], "more_body": True})
        else:
            await self._send(send, 200, body)

    async def _stream(
        self, said: Said, finish: str, fault: str | None, usage: bool, send: Any
    ) -> None:
        kind = (b"content-type", b"text/event-stream")
        await send({"type": "http.response.start", "status": 200, "headers": [kind]})
        told = [] if fault == "no choices" else list(chunks(said, finish, usage))
        if fault == "cut stream":  # never with its end
            told = told[: min(len(told) // 2 + 1, len(told) - 2)]
        for number, chunk in enumerate(told):
            bad = fault == "malformed" and number == len(told) // 2
            line = b"data: " + (chunk[: len(chunk) // 2] if bad else chunk) + b"\n\n"
            await send({"type": "http.response.body", "body": line, "more_body": True})
        if fault != "cut stream":  # else the connection breaks
            await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})

    async def _send(self, send: Any, status: int, body: bytes, *headers: Any) -> None:
        await self._start(send, status, len(body), *headers)
        await send({"type": "http.response.body", "body": body})

    async def _start(self, send: Any, status: int, length: int, *headers: Any) -> None:
        told = [(b"content-type", b"application/json"), (b"content-length", str(length).encode())]
        await send({"type": "http.response.start", "status": status, "headers": [*told, *headers]})


def chunks(said: Said, finish: str, usage: bool = True, at_once: int = 1000) -> Iterator[bytes]:
    """The events of a streamed answer: its thoughts and its text in pieces, its tool calls with
    their arguments in smaller ones, its end, its usage."""
    deltas: list[Said] = [{"role": "assistant", "content": ""}]
    for name in ("reasoning_content", "content"):
        text = said.get(name) or ""
        deltas += [{name: text[at : at + at_once]} for at in range(0, len(text), at_once)]
    for index, call in enumerate(said.get("tool_calls") or ()):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        begun = {**call, "index": index, "function": {"name": name, "arguments": ""}}
        deltas.append({"tool_calls": [begun]})
        for at in range(0, len(arguments), 7):
            function = {"arguments": arguments[at : at + 7]}
            deltas.append({"tool_calls": [{"index": index, "function": function}]})
    about = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    for number, delta in enumerate([*deltas, {}]):
        end = finish if number == len(deltas) else None
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        yield json.dumps({**about, "choices": [choice]}).encode()
    if usage:
        yield json.dumps({**about, "choices": [], "usage": USAGE}).encode()
