# attack: recursion through attribute access, boolean value and representation
# verdict: ok
# values: [3, 3, 3, 3]
class Odd:
    def __getattr__(self, name):
        return getattr(self, name + "a")

    def __bool__(self):
        return bool(self)

    def __repr__(self):
        return repr([self])


def f(x):
    caught = 0
    for action in (lambda: Odd().a, lambda: bool(Odd()), lambda: repr(Odd())):
        try:
            action()
        except RecursionError:
            caught += 1
    return caught
