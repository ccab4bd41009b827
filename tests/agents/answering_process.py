"""A chat server in a process of its own, which can be killed: `python answering_process.py LOG [PORT]
[DELAY_S]`.

Its answers depend on the prompt alone. It prints its port, and appends a line to LOG for each answer.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time

from chat_server import Answer, ChatServer, completion

DELAY_S = float(sys.argv[3]) if len(sys.argv) > 3 else 0.0
RULES = ("x[1:]", "x[::-1]", "sorted(x)", "x[:3]", "x + x", "[max(x)] if x else []", "x[-1:]", "list(dict.fromkeys(x))")  # fmt: skip


def answer(request: dict) -> Answer:
    prompt = json.dumps(request["messages"], sort_keys=True)
    number = int.from_bytes(hashlib.sha256(prompt.encode()).digest()[:4], "big")
    time.sleep(DELAY_S)
    rule = f"def f(x):\n    return {RULES[number % len(RULES)]}"
    with open(sys.argv[1], "a") as log:
        log.write(f"{number}\n")
    return completion({"content": f"A rule.\n```python\n{rule}\n```"})


if __name__ == "__main__":
    with ChatServer([answer], port=int(sys.argv[2]) if len(sys.argv) > 2 else 0) as server:
        print(server.url, flush=True)
        time.sleep(600)
