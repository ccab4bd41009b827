# attack: a metaclass that makes its class equal to int, hash alike and pass instance checks
# verdict: ok
# values: [{"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}]
class Meta(type):
    def __eq__(cls, other):
        return True

    def __hash__(cls):
        return hash(int)

    def __instancecheck__(cls, one):
        return True

    __subclasscheck__ = __instancecheck__


class Liar(int, metaclass=Meta):
    pass


def f(x):
    return [Liar(1), [Liar(1)], [1, Liar(2)], {"k": Liar(3)}][len(x)]
