"""A chat endpoint over real HTTP, behind which a benchmark puts stand-ins for language models.

It counts a token for four characters. `serve_timed` also takes the time of a model: it has a cache of
prefixes in blocks of 128 tokens for prompts of at least 1,024 tokens, as OpenAI documents it. Each answer
takes FIRST_S, the time to read what is not cached and the time to write, all multiplied by `scale`.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CHARACTERS_PER_TOKEN = 4  # an estimate, by which stand-ins count tokens
BLOCK_CHARACTERS, LEAST_CACHED_TOKENS = 512, 1_024
FIRST_S, READ_TOKENS_PER_S, WRITE_TOKENS_PER_S = 0.3, 5_000, 60
Request = dict[str, Any]
Answer = tuple[dict[str, Any], dict[str, Any]]  # a message (content, tool_calls), and its usage


class ChatServer(ThreadingHTTPServer):
    """A server with a thread for each connection."""

    daemon_threads = True
    request_queue_size = 256


def count_usage(tokens_in: int, tokens_out: int) -> dict[str, Any]:
    """Return the usage of an answer in OpenAI's form."""
    total = tokens_in + tokens_out
    return {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": total}


@contextmanager
def serve_chat(answer: Callable[[Request], Answer], models: Sequence[str] = ()) -> Iterator[str]:
    """Yield the URL of an endpoint at a free port of the loopback.

    Args:
        answer: Function that answers the body of a request; several threads call it.
        models: The models that the endpoint lists.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message, usage = answer(request)
            finish = "tool_calls" if message.get("tool_calls") else "stop"
            message = {"role": "assistant", **message}
            choice = {"index": 0, "message": message, "finish_reason": finish}
            about = {"id": "1", "object": "chat.completion", "created": 1}
            self._send({**about, "model": request["model"], "choices": [choice], "usage": usage})

        def do_GET(self) -> None:
            listed = [{"id": name, "object": "model", "owned_by": "bench"} for name in models]
            self._send({"object": "list", "data": listed})

        def _send(self, body: Any) -> None:
            content = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: Any) -> None:
            """Keep the output to the table."""

    server = ChatServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
    )
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Counts:
    """What the endpoint served: by the name of the model, and in all.

    model_s: the time that the answers would have taken with `scale` 1, one after the other.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_out: int = 0
    model_s: float = 0.0


class PrefixCache:
    """The blocks of earlier prompts, each with all before it."""

    def __init__(self) -> None:
        self._blocks: set[str] = set()
        self._lock = threading.Lock()

    def add(self, text: str) -> int:
        """Add a prompt and return how many of its tokens were cached."""
        digest, known, found = hashlib.sha256(), 0, True
        with self._lock:
            for at in range(0, len(text) - BLOCK_CHARACTERS + 1, BLOCK_CHARACTERS):
                digest.update(text[at : at + BLOCK_CHARACTERS].encode())
                name = digest.hexdigest()
                found = found and name in self._blocks
                known += found
                self._blocks.add(name)
        if len(text) // CHARACTERS_PER_TOKEN < LEAST_CACHED_TOKENS:
            return 0
        cached = known * BLOCK_CHARACTERS // CHARACTERS_PER_TOKEN
        return cached if cached >= LEAST_CACHED_TOKENS else 0


@contextmanager
def serve_timed(
    answer: Callable[[Request], dict[str, Any]], scale: float, models: Sequence[str] = ()
) -> Iterator[tuple[str, Counts]]:
    """Serve `models` at a free port of the loopback, each answer after its time; count what is served."""
    counts, cache, lock = Counts(), PrefixCache(), threading.Lock()

    def reply(request: Request) -> Answer:
        message = answer(request)
        seen = json.dumps([request["model"], request.get("tools"), request["messages"]])
        written = json.dumps(message)
        size, out = (len(text) // CHARACTERS_PER_TOKEN for text in (seen, written))
        cached = cache.add(seen)
        took = FIRST_S + (size - cached) / READ_TOKENS_PER_S + out / WRITE_TOKENS_PER_S
        with lock:
            counts.calls += 1
            counts.tokens_in += size
            counts.tokens_cached += cached
            counts.tokens_out += out
            counts.model_s += took
        time.sleep(took * scale)
        details = {"prompt_tokens_details": {"cached_tokens": cached}}
        return message, count_usage(size, out) | details

    with serve_chat(reply, models) as url:
        yield url, counts
