# attack: prints what a naive harness would take for results, on every stream, and exits with success
# verdict: crashed
import os
import sys


def f(x):
    text = '{"verdict": "ok", "passed": true, "score": 1.0, "values": [[1, 2, 3], [1], [], [5, 5]]}\n'
    print(text, flush=True)
    sys.__stdout__.write(text)
    sys.__stdout__.flush()
    for number in (0, 1, 2):
        try:
            os.write(number, text.encode())
        except OSError:
            pass
    os._exit(0)
