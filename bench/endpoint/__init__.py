"""An endpoint of the OpenAI chat protocol for benches, in a process of its own, so that its time
and memory are not counted:
`python bench/endpoint/__init__.py LEAST_S MOST_S`.

Prints its URL, answers until it is ended. What the model says, and how long it takes (between
LEAST_S and MOST_S), depend on the messages and the seed of a request alone. The milliseconds that
it took stand in the answer's usage as `prompt_tokens`, the most requests that waited at one moment
as `completion_tokens`.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import uvicorn

Said = dict[str, Any]


def drawn(messages: Any, seed: Any) -> int:
    text = json.dumps([messages, seed])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def answer_request(messages: Sequence[Any], tools: Any, number: int) -> Said:
    """A tool call first, in three of five steps, then an answer: each another rule, consistent on
    what the bench shows, so that no step ends its problem."""
    source = f"def f(x):\n    return x if len(x) < 3 else [v + {number % 1_000_003} for v in x]"
    asked = any(message["role"] == "tool" for message in messages)
    if tools and not asked and number % 5 < 3:
        function = {"name": "execute", "arguments": json.dumps({"code": source})}
        call = {"id": "call_1", "type": "function", "function": function}
        return {"content": None, "tool_calls": [call]}
    return {"content": repr((f"adds {number % 1_000_003} to long lists", source))}


class Endpoint:
    def __init__(self, least_s: float, most_s: float) -> None:
        self._least_s, self._spread_s = least_s, most_s - least_s
        self._waiting = self._most = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            event = await receive()
            body, more = body + event.get("body", b""), event.get("more_body", False)
        request = json.loads(body)
        number = drawn(request["messages"], request.get("seed"))
        delay_s = self._least_s + self._spread_s * (number % 1_000) / 1_000
        self._waiting += 1
        self._most = max(self._most, self._waiting)
        await asyncio.sleep(delay_s)
        self._waiting -= 1
        message = answer_request(request["messages"], request.get("tools"), number // 1_000)
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
        took = {"prompt_tokens": round(1e3 * delay_s), "completion_tokens": self._most}
        whole = {"id": "c", "object": "chat.completion", "created": 1, "model": "m",
                 "choices": [choice], "usage": {**took, "total_tokens": sum(took.values())}}  # fmt: skip
        answer = json.dumps(whole).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})


@contextlib.contextmanager
def served(least_s: float = 0.0, most_s: float = 0.0) -> Iterator[str]:
    """The model string of an endpoint that answers while the context is open."""
    command = [sys.executable, __file__, str(least_s), str(most_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"{process.stdout.readline().strip()}#m"
        finally:
            process.terminate()


def main() -> None:
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/v1", flush=True)
    app: Any = Endpoint(*(float(text) for text in sys.argv[1:]))
    config = uvicorn.Config(app, log_level="critical", interface="asgi3", lifespan="off",
                            timeout_keep_alive=60, timeout_graceful_shutdown=1)  # fmt: skip
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
