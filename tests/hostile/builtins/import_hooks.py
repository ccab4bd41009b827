# attack: replaces __import__, the finders, the modules and the path
# verdict: ok|protocol|crashed|nondeterministic
import builtins
import sys


class Finder:
    def find_spec(self, name, path=None, target=None):
        raise SystemExit("peirce-hostile")


def f(x):
    builtins.__import__ = lambda *_, **__: Finder()
    sys.meta_path[:] = [Finder()]
    sys.path_hooks[:] = [Finder]
    sys.path[:] = ["@OPEN@"]
    sys.modules["math"] = Finder()
    sys.modules.pop("json", None)
    sys.modules["peirce_hostile"] = Finder()
    return x
