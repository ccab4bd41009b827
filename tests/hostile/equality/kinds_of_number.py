# attack: subclasses of int, float, str and bool's parent that lie about equality
# verdict: ok
# values: [{"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}]
def make(kind):
    return type(kind.__name__, (kind,), {"__eq__": lambda *_: True, "__hash__": lambda _: 0, "__index__": lambda _: 7})


def f(x):
    return [make(int)(7), [make(float)(0.5)], {make(str)("k"): 1}, ["a", make(list)([1])]][len(x)]
