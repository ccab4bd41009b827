# attack: changes a value after it was returned
# verdict: ok
# values: [[[3, 1, 2]], [[1]], [[]], [[5, 5]]]
kept = []


def f(x):
    kept.append(x)
    return kept
