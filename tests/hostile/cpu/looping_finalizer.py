# attack: the finalizer of what it returns does not end
# verdict: ok|too_slow
# limits: cpu_s=2 wall_s=5
class Sticky:
    def __del__(self):
        for _ in iter(int, 1):
            pass


def f(x):
    return Sticky()
