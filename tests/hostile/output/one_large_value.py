# attack: one value larger than a value may be
# verdict: ok
# values: [{"undefined": "too_large"}, {"undefined": "too_large"}, [], {"undefined": "too_large"}]
def f(x):
    return "x" * 200_000 if x else x
