# attack: code in decorators, defaults, class bodies and annotations that does not end
# verdict: too_slow
# limits: cpu_s=1 wall_s=4
def spin(*_):
    for _ in iter(int, 1):
        try:
            for _ in iter(int, 1):
                pass
        except BaseException:
            pass


@spin
class Late:
    spin()


def f(x: spin() = spin()):
    return x
