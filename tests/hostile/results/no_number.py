# attack: a whole result with a number that is none in its header
# verdict: protocol|crashed
import os
import re
import sys


def f(x):
    frame, seen = sys._getframe(), set()
    while frame is not None:
        seen.update(re.findall("'nonce': '([0-9a-f]+)'", repr(frame.f_locals)))
        frame = frame.f_back
    body = bytes(4) + b"".join(n.to_bytes(4, "little") for n in (1, 1, 1, 1)) + b"1111"
    for nonce in seen:
        text = ('{"verdict": "ok", "reason_names": [], "limited": false, "cpu_s": NaN, "nonce": "%s"}' % nonce).encode()
        os.write(3, b"PEI1" + len(text).to_bytes(4, "little") + len(body).to_bytes(8, "little") + text + body)
    os._exit(0)
