# attack: objects whose unpickling and copying would run a command
# verdict: ok
# values: [{"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}]
import os


class Bomb(list):
    def __reduce__(self):
        return os.system, (": > @OPEN@/peirce-hostile-marker",)

    __reduce_ex__ = lambda self, _: self.__reduce__()
    __deepcopy__ = __copy__ = lambda self, *_: open("@OPEN@/peirce-hostile-marker", "w")


def f(x):
    return [Bomb(), {"k": Bomb()}, (Bomb(),), Bomb(x)][len(x)]
