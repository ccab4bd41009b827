# attack: SystemExit, KeyboardInterrupt, GeneratorExit and a BaseException of its own
# verdict: ok
# values: [{"undefined": "exit"}, {"undefined": "exit"}, {"undefined": "exit"}, {"undefined": "Exception"}]
class Own(BaseException):
    pass


def f(x):
    raise [SystemExit(0), KeyboardInterrupt, Own, GeneratorExit][len(x)]
