# attack: a whole result whose verdict is a list, which the reader cannot look up in a set
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
    for nonce in seen:
        header = {"verdict": ["ok"], "reason_names": [], "limited": False, "cpu_s": 0.0, "nonce": nonce}
        text = json.dumps(header).encode()
        os.write(3, b"PEI1" + len(text).to_bytes(4, "little") + bytes(8) + text)
    os._exit(0)
