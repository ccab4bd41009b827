# attack: exits in the methods of an exception and of a value
# verdict: ok
# values: [{"undefined": "Exception"}, {"undefined": "Exception"}, {"undefined": "unrepresentable"}, {"undefined": "Exception"}]
class Last(Exception):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __hash__ = __bool__ = __str__
    __class__ = property(__str__)


def f(x):
    if x:
        raise Last
    return Last()
