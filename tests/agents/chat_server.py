"""A server for tests that speaks the OpenAI chat protocol over real HTTP, tool calls and streams
included.

    with ChatServer([status(429, retry_after="0"), says("hello")]) as server:
        ... server.url, server.requests

Each request takes the next behaviour of the list; the last one repeats. A behaviour is a function
from the request's body to what goes back, so a server can also answer by what it was asked.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What goes back: a status and a body as it is written. cut: bytes sent of it before the
    connection breaks; delay_s: before anything is sent; pieces: sent instead of the body, chunked,
    each after pause_s; with cut, the connection breaks after so many of them."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "application/json"
    cut: int | None = None
    delay_s: float = 0.0
    pieces: tuple[bytes, ...] = ()
    pause_s: float = 0.0


Behaviour = Callable[[dict[str, Any]], Answer]


def completion(message: dict[str, Any], finish: str = "stop", **more: Any) -> Answer:
    """A chat completion with one choice."""
    usage = {
        "prompt_tokens": 11,
        "completion_tokens": 7,
        "total_tokens": 18,
        "prompt_tokens_details": {"cached_tokens": 3},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": None, **message},
        "finish_reason": finish,
    }
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": usage,
        **more,
    }
    return Answer(json.dumps(body).encode())


def says(text: str, finish: str = "stop", **message: Any) -> Behaviour:
    return lambda request: completion({"content": text, **message}, finish)


def calls(name: str, arguments: str, finish: str = "tool_calls", content: str = "") -> Behaviour:
    """Calls one tool; `arguments` as the text that a model wrote."""
    function = {"name": name, "arguments": arguments}
    call = {"id": "call_a", "type": "function", "function": function}
    return lambda request: completion({"content": content, "tool_calls": [call]}, finish)


def event(data: Any) -> bytes:
    return b"data: " + (data if isinstance(data, bytes) else json.dumps(data).encode()) + b"\n\n"


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [choice], **more}  # fmt: skip


def streams(*chunks: Any, done: bool = True, **more: Any) -> Behaviour:
    """Server-sent events: chunks as JSON, or as they are where they are bytes."""
    pieces = [event(one) if isinstance(one, dict) else one for one in chunks]
    pieces += [event(b"[DONE]")] if done else []
    return lambda request: Answer(kind="text/event-stream", pieces=tuple(pieces), **more)


def in_pieces(behaviour: Behaviour, length: int = 3) -> Behaviour:
    """The same answer as a stream: texts and tool arguments in pieces of so many characters, the
    usage after the end."""

    def behave(request: dict[str, Any]) -> Answer:
        body = json.loads(behaviour(request).body)
        (choice,) = body["choices"]
        said = choice["message"]
        deltas: list[dict[str, Any]] = [{"role": said.get("role"), "content": ""}]
        for name in ("reasoning_content", "reasoning", "content", "refusal"):
            text = said.get(name) or ""
            deltas += [{name: text[at : at + length]} for at in range(0, len(text), length)]
        for index, call in enumerate(said.get("tool_calls") or ()):
            function = call["function"]
            begun = {"index": index, "id": call["id"], "type": "function",
                     "function": {"name": function["name"], "arguments": ""}}  # fmt: skip
            deltas.append({"tool_calls": [begun]})
            for at in range(0, len(function["arguments"]), length):
                more = {"arguments": function["arguments"][at : at + length]}
                deltas.append({"tool_calls": [{"index": index, "function": more}]})
        chunks = [*map(chunk, deltas), chunk({}, choice["finish_reason"])]
        usage = {**chunk({}), "choices": [], "usage": body["usage"]}
        return streams(*chunks, *([usage] if request.get("stream_options") else []))(request)

    return behave


def status(number: int, message: str = "no", retry_after: str = "", **error: Any) -> Behaviour:
    headers = {"Retry-After": retry_after} if retry_after else {}
    body = json.dumps({"error": {"message": message, "type": "t", **error}}).encode()
    return lambda request: Answer(body, number, headers)


def raw(body: bytes, kind: str = "application/json", code: int = 200) -> Behaviour:
    return lambda request: Answer(body, code, kind=kind)


def cut(at: int) -> Behaviour:
    """Breaks the connection after `at` bytes of the body (0: before the status line)."""
    whole = completion({"content": "never read"})
    return lambda request: Answer(whole.body, cut=at)


def slow(seconds: float) -> Behaviour:
    whole = completion({"content": "late"})
    return lambda request: Answer(whole.body, delay_s=seconds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # of the default 5 the kernel drops what comes at once, for a second


class ChatServer:
    """Listens on a free port of the loopback while the context is open.

    requests: the bodies in the order of arrival, with "headers" (lower-case names) and "path" added.
    gets: what a GET of a path tells, as JSON or as an Answer (404 for any other); got: the paths
    asked for. port: 0 for any free one; connections: how many were made.
    """

    def __init__(
        self, behaviours: Sequence[Behaviour], gets: Mapping[str, Any] | None = None, port: int = 0
    ) -> None:
        self._behaviours = list(behaviours)
        self._gets = dict(gets or {})
        self.got: list[str] = []
        self.connections = 0
        self._lock = threading.Lock()
        self.requests: list[dict[str, Any]] = []
        self._server = _Server(("127.0.0.1", port), self._handler())
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> ChatServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, request: dict[str, Any]) -> Answer:
        with self._lock:
            self.requests.append(request)
            number = min(len(self.requests), len(self._behaviours)) - 1
        return self._behaviours[number](request)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement

            def setup(self) -> None:
                super().setup()
                server.connections += 1

            def do_GET(self) -> None:
                server.got.append(self.path)
                told = server._gets.get(self.path)
                if told is None:
                    told = Answer(b"{}", 404)
                elif not isinstance(told, Answer):
                    told = Answer(json.dumps(told).encode())
                self._send(told)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                request = {
                    **json.loads(body),
                    "headers": {name.lower(): value for name, value in self.headers.items()},
                    "path": self.path,
                }
                self._send(server._answer(request))

            def _send(self, answer: Answer) -> None:
                time.sleep(answer.delay_s)
                if answer.cut == 0:
                    self.close_connection = True
                    return
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.kind)
                if answer.pieces:
                    self.send_header("Transfer-Encoding", "chunked")
                else:
                    self.send_header("Content-Length", str(len(answer.body)))
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.close_connection = answer.cut is not None
                try:
                    if not answer.pieces:
                        self.wfile.write(answer.body[: answer.cut])
                        return
                    for piece in answer.pieces[: answer.cut]:
                        time.sleep(answer.pause_s)
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                    self.wfile.write(b"0\r\n\r\n" if answer.cut is None else b"")
                except OSError:  # who asked has gone
                    self.close_connection = True

            def log_message(self, *_: object) -> None:
                return None

        return Handler
