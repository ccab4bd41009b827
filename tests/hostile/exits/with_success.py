# attack: ends with success before there is a result
# verdict: crashed
import os


def f(x):
    os._exit(0)
