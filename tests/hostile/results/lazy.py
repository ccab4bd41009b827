# attack: values that are made only when somebody looks
# verdict: ok
# values: [{"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}]
def f(x):
    return [iter(int, 1), (n for n in iter(int, 1)), map(f, [x]), range(10**18)][len(x)]
