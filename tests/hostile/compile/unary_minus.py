# attack: a hundred thousand minus signs
# verdict: syntax
x = @REPEAT 100000 -@1


def f(x):
    return x
