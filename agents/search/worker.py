"""A worker of the embedded search: `python -m peirce.agents.search.worker`, one JSON object a line
in and out. It ignores SIGINT (the parent drains) and leaves when its standard input ends, in the
midst of a search too: so no worker outlives a parent that was killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from queue import SimpleQueue

from .engines import Engine


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lines: SimpleQueue[str] = SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    engine = Engine()
    while True:
        print(json.dumps(engine.propose(json.loads(lines.get()))), flush=True)


if __name__ == "__main__":
    main()
