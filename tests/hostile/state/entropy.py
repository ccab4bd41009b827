# attack: answers by chance
# verdict: nondeterministic|ok
import os
import random


def f(x):
    random.seed(None)
    return [random.random(), random.SystemRandom().random(), os.urandom(4).hex()]
