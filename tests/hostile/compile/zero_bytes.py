# attack: a zero byte, half a character and a form feed in the source
# verdict: syntax
text = "@ZERO@@HALF@"


def f(x):
    return x
