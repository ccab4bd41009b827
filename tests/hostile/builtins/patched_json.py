# attack: a json that writes other values than it was given
# verdict: ok|protocol
import sys


def f(x):
    sys.modules["json"].dumps = lambda *_, **__: '"forged"'
    sys.modules["json"].loads = lambda *_, **__: {"verdict": "ok"}
    return x
