# attack: ends by a fault of memory and by abort
# verdict: crashed
# values: []
import os
import sys


def f(x):
    if "faulthandler" in sys.builtin_module_names:
        __import__("faulthandler")._sigabrt()
    os.abort()
