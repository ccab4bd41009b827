# attack: a whole result of its own and a second one after it
# verdict: protocol|ok|crashed
import json
import os
import re
import sys


def f(x):
    frame, seen = sys._getframe(), set()
    while frame is not None:
        seen.update(re.findall("'nonce': '([0-9a-f]+)'", repr(frame.f_locals)))
        frame = frame.f_back
    for nonce in seen:
        text = json.dumps({"verdict": "too_slow", "limited": True, "cpu_s": 1e300, "detail": "x" * 60000, "nonce": nonce}).encode()
        os.write(3, (b"PEI1" + len(text).to_bytes(4, "little") + bytes(8) + text) * 2)
    os._exit(0)
