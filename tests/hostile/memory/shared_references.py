# attack: a value that is small in memory and endless when written out
# verdict: ok
# values: [{"undefined": "too_large"}, {"undefined": "too_large"}, {"undefined": "too_large"}, {"undefined": "too_large"}]
def f(x):
    value = [1, 2, 3]
    for _ in range(60):
        value = [value, value]
    return value
