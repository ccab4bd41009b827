# attack: replaces the rule of equality where the harness keeps it
# verdict: ok|protocol|crashed
import sys


def f(x):
    for module in list(sys.modules.values()):
        for name in ("equal", "code_of", "code_bytes", "canonical_bytes", "coder", "plain", "restore"):
            if hasattr(module, name):
                setattr(module, name, lambda *_: True)
        for name in ("MAX_BYTES", "MAX_DEPTH"):
            if hasattr(module, name):
                setattr(module, name, 10**12)
    return x
