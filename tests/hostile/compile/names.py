# attack: names that must be brought to another form, names of a megabyte, names that only look alike
# verdict: ok
# values: [[3, 3, 3], [1, 1, 1], [0, 0, 0], [2, 2, 2]]
def f(x):
    ﬁ, 𝐧, @REPEAT 100000 x@ = len(x), len(x), len(x)
    return [fi, n, @REPEAT 100000 x@]
