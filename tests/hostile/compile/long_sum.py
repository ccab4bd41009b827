# attack: an expression of a hundred thousand terms, a tree that is as deep
# verdict: syntax|crashed|ok
x = 1@REPEAT 100000  + 1@


def f(x):
    return x
