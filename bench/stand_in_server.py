"""A chat endpoint over real HTTP, behind which a benchmark puts stand-ins for language models."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CHARACTERS_PER_TOKEN = 4  # an estimate, by which stand-ins count tokens
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
