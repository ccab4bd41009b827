# attack: the import system's own loaders read any file and load any shared object
# verdict: ok
# values: [[], [], [], []]
import sys


def f(x):
    found = []
    boot = sys.modules.get("_frozen_importlib_external")
    for path in ("@FILE@", "@HOME_FILE@", "/etc/passwd"):
        try:
            found.append(boot.SourceFileLoader("m", path).get_data(path).decode())
        except Exception:
            pass
    for name in ("_socket", "_ctypes", "mmap"):
        for finder in (sys.modules.get("_frozen_importlib"), boot):
            for loader in ("BuiltinImporter", "FrozenImporter", "PathFinder"):
                try:
                    spec = getattr(finder, loader).find_spec(name, ["@DYNLOAD@"])
                    module = spec.loader.create_module(spec)
                    spec.loader.exec_module(module)
                    found.append(name)
                except Exception:
                    pass
    return found
