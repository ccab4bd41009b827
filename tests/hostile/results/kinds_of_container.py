# attack: containers that look like lists and dicts
# verdict: ok
# values: [{"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}]
import collections
import types


def f(x):
    point = collections.namedtuple("Point", "x y")(1, 2)
    return [point, types.MappingProxyType({1: 2}), collections.OrderedDict(a=1), collections.UserList([1])][len(x)]
