# attack: a whole result whose reasons, counts and numbers are out of order
# verdict: protocol|crashed
import json
import os
import re
import sys


def f(x):
    frame, seen = sys._getframe(), set()
    while frame is not None:
        seen.update(re.findall("'nonce': '([0-9a-f]+)'", repr(frame.f_locals)))
        frame = frame.f_back
    header = {"verdict": "ok", "reason_names": ["\x1b[2J", "x" * 100, 3, None], "limited": "yes", "cpu_s": float("nan")}
    for nonce in seen:
        text = json.dumps({**header, "nonce": nonce}).encode()
        os.write(3, b"PEI1" + len(text).to_bytes(4, "little") + (40).to_bytes(8, "little") + text + b"\xff" * 40)
    os._exit(0)
