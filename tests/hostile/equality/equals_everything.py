# attack: an object that is equal to everything, true, zero long and in every container
# verdict: ok
# values: [{"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}]
class Any:
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __hash__(self):
        return 0

    __contains__ = __ge__ = __le__ = __bool__ = __eq__


def f(x):
    return [Any(), [Any()], {1: Any()}, (Any(), Any())][len(x)]
