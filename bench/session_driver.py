"""Run command lines of Peirce one after the other in this process, for bench/agent.py.

    PYTHON bench/session_driver.py

The interpreter decides which checkout is measured, and imports it once. Each line of stdin is a JSON
list: the words after `peirce`. Each line of stdout is a JSON object: "code" (the exit code), "stdout",
"stderr" and "seconds".
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import IO


@contextlib.contextmanager
def redirect(number: int) -> Iterator[IO[bytes]]:
    """Write what goes to a file descriptor into a temporary file instead."""
    with tempfile.TemporaryFile() as file:
        kept = os.dup(number)
        os.dup2(file.fileno(), number)
        try:
            yield file
        finally:
            os.dup2(kept, number)
            os.close(kept)


def run(words: list[str]) -> dict[str, object]:
    """Return the result of one command line."""
    from peirce import cli

    code: object = 0
    with redirect(1) as out, redirect(2) as err:
        began = time.perf_counter()
        try:
            cli.main(words)
        except SystemExit as ended:
            code = ended.code
        seconds = time.perf_counter() - began
        sys.stdout.flush()
        sys.stderr.flush()
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return {"code": code or 0, "stdout": texts[0], "stderr": texts[1][-2000:], "seconds": seconds}


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
