# attack: takes the nonce from the harness' frames and writes a whole, well-formed result of its own
# verdict: ok|protocol|crashed
import json
import os
import re
import sys


def f(x):
    frame, seen = sys._getframe(), set()
    while frame is not None:
        for space in (frame.f_locals, frame.f_globals):
            for value in list(space.values()):
                seen.update(re.findall("[0-9a-f]{16,64}", repr(value)[:100000]))
        frame = frame.f_back
    for nonce in seen:
        for count in (4, 5):
            body = bytes(count) + json.dumps(["forged"] * count).encode()
            header = {"verdict": "ok", "reason_names": [], "limited": False, "cpu_s": 0.0, "nonce": nonce}
            text = json.dumps(header).encode()
            head = b"PEI1" + len(text).to_bytes(4, "little") + len(body).to_bytes(8, "little")
            os.write(3, head + text + body)
    os._exit(0)
