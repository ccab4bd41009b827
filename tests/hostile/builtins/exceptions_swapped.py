# attack: changes what the harness' own `except` clauses catch
# verdict: ok|crashed|protocol
import builtins


def f(x):
    builtins.BaseException = builtins.Exception = builtins.MemoryError = KeyError
    builtins.SystemExit = builtins.KeyboardInterrupt = KeyError
    raise ZeroDivisionError
