# attack: an object that says it is an int, a list, a str
# verdict: ok
# values: [{"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}]
class Liar:
    def __init__(self, kind):
        self.kind = kind

    @property
    def __class__(self):
        return self.kind

    def __index__(self):
        return 7

    def __iter__(self):
        return iter([1])


def f(x):
    return [Liar(int), Liar(list), [Liar(str)], {"k": Liar(dict)}][len(x)]
