# attack: calls itself without end
# verdict: ok
# values: [{"undefined": "RecursionError"}, {"undefined": "RecursionError"}, {"undefined": "RecursionError"}, {"undefined": "RecursionError"}]
def f(x):
    return f(x)
