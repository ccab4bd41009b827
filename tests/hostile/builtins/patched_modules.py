# attack: replaces what modules offer: json, math, marshal, random, hashlib, time
# verdict: ok|protocol|crashed
import sys


def f(x):
    for name in ("json", "math", "marshal", "random", "_random", "hashlib", "_blake2", "time", "struct", "ast", "copy", "collections"):
        module = sys.modules.get(name)
        for attribute in list(vars(module)) if module else ():
            if callable(getattr(module, attribute)) and not attribute.startswith("__"):
                try:
                    setattr(module, attribute, lambda *_, **__: b"")
                except (AttributeError, TypeError):
                    pass
    sys.modules["peirce_hostile"] = sys
    return x
