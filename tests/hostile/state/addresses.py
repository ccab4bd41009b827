# attack: answers by where things lie in memory
# verdict: nondeterministic|ok
def f(x):
    return [id(x), hash(object()), repr(object())]
