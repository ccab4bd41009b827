# attack: an error of the module whose text never ends
# verdict: no_function|too_slow
# limits: cpu_s=1 wall_s=4
class Loud(Exception):
    def __str__(self):
        for _ in iter(int, 1):
            pass


raise Loud


def f(x):
    return x
