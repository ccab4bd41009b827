# attack: an exit at the top level, before there is a function
# verdict: no_function
raise SystemExit(0)


def f(x):
    return x
