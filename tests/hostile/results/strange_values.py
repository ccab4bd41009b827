# attack: a whole result whose values are no values: tags that are none, brackets, numbers without end
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
    body = bytes(4) + b'[{"$int": "0x' + b"f" * 90_000 + b'g"}, ' + b"[" * 50_000
    for nonce in seen:
        text = json.dumps({"verdict": "ok", "reason_names": [], "limited": False, "cpu_s": 0.0, "nonce": nonce}).encode()
        os.write(3, b"PEI1" + len(text).to_bytes(4, "little") + len(body).to_bytes(8, "little") + text + body)
    os._exit(0)
