# attack: a well-formed result before the harness gives its own, without its secret
# verdict: protocol
import os


def f(x):
    header = b'{"verdict": "ok", "reason_names": [], "limited": false, "cpu_s": 0.0, "nonce": "0000000000000000"}'
    body = bytes(4) + b'["forged", "forged", "forged", "forged"]'
    os.write(3, b"PEI1" + len(header).to_bytes(4, "little") + len(body).to_bytes(8, "little") + header + body)
    return x
