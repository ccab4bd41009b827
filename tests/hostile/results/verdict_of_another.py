# attack: a whole result that claims a verdict which is not its own to give
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
        text = json.dumps({"verdict": "cancelled", "ending": "fault", "id": 1, "op": "hello", "nonce": nonce}).encode()
        os.write(3, b"PEI1" + len(text).to_bytes(4, "little") + bytes(8) + text)
    os._exit(0)
