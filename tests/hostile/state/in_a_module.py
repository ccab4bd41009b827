# attack: counts its calls in a module that all share
# verdict: nondeterministic|ok
import math


def f(x):
    math.peirce_hostile = getattr(math, "peirce_hostile", 0) + 1
    return math.peirce_hostile
