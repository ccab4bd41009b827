# attack: NaN, infinities, minus zero and numbers of other kinds
# verdict: ok
# values: [[{"$float": "nan"}, {"$float": "inf"}, {"$float": "-inf"}], {"undefined": "unrepresentable"}, -0.0, {"undefined": "OverflowError"}]
def f(x):
    if len(x) == 3:
        return [float("nan"), float("inf"), float("-inf")]
    if len(x) == 1:
        return 1j
    return float(10**400) if x else -0.0
