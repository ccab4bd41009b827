# attack: fills and poisons the cache of compiled patterns
# verdict: nondeterministic|crashed|protocol
import re
import sys


class Never:
    def __getattr__(self, name):
        return lambda *_, **__: None


def f(x):
    re._cache.clear()
    re._compile = lambda *_: Never()
    re.compile = re.match = re.sub = re.fullmatch = lambda *_, **__: Never()
    sys.modules["re"] = Never()
    return x
