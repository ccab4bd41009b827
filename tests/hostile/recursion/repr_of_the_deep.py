# attack: a list a million deep, shown, compared, copied and dropped
# verdict: ok
# values: [["RecursionError", "RecursionError"], ["RecursionError", "RecursionError"], ["RecursionError", "RecursionError"], ["RecursionError", "RecursionError"]]
# limits: input_cpu_s=2 cpu_s=10 wall_s=10 memory_mb=256
# seconds: 10
def f(x):
    said, deep, other = [], [], []
    for _ in range(200_000):
        deep, other = [deep], [other]
    for action in (lambda: repr(deep), lambda: deep == other):
        try:
            action()
            said.append("done")
        except BaseException as error:
            said.append(type(error).__name__)
    return said
