"""A stand-in for a model behind a URL, to try Peirce on: `python server.py [PORT]` (8000), on loopback.

It speaks OpenAI's chat protocol, as vLLM, Ollama and llama.cpp do, and thinks nothing: it knows four
functions by heart and says the first one that its prompt does not hold yet. Its model is called
`parrot`, its key is `cracker`. The standard library is all that it needs.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL, KEY = "parrot", "cracker"
KNOWN = (
    ("the numbers backwards", "def f(x):\n    return x[::-1]"),
    ("the numbers in ascending order", "def f(x):\n    return sorted(x)"),
    ("the largest number", "def f(x):\n    return max(x, default=0)"),
    ("the sum of the numbers", "def f(x):\n    return sum(x)"),
)


def answer(prompt: str) -> str:
    """A pair of Python texts, as Peirce asks for: a description and a function."""
    fresh = [pair for pair in KNOWN if pair[0] not in prompt]
    return repr(fresh[0]) if fresh else "Nothing else comes to my mind."


class Chat(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.tell(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers.get("Authorization") != f"Bearer {KEY}":
            self.tell(401, {"error": {"message": "Who are you?", "code": "invalid_api_key"}})
        elif not self.path.endswith("/v1/chat/completions"):
            self.tell(404, {"error": {"message": f"There is nothing at {self.path}."}})
        elif asked["model"] != MODEL:
            said = f"The model {asked['model']!r} does not exist."
            self.tell(404, {"error": {"message": said, "code": "model_not_found"}})
        else:
            self.tell(200, completion("\n".join(str(m["content"]) for m in asked["messages"])))

    def tell(self, status: int, content: Any) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return None


def completion(prompt: str) -> dict[str, Any]:
    """A chat completion; a token is a word here."""
    said = answer(prompt)
    counted = {"prompt_tokens": len(prompt.split()), "completion_tokens": len(said.split())}
    message = {"role": "assistant", "content": said}
    return {
        "id": "chat-1", "object": "chat.completion", "created": 0, "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": counted | {"total_tokens": sum(counted.values())},
    }  # fmt: skip


if __name__ == "__main__":
    port = int(sys.argv[1]) if sys.argv[1:] else 8000
    print(f"listening at http://127.0.0.1:{port}/v1", flush=True)
    ThreadingHTTPServer(("127.0.0.1", port), Chat).serve_forever()
