# attack: swallows each limit as it comes and goes on
# verdict: too_slow
def f(x):
    for _ in iter(int, 1):
        try:
            for _ in iter(int, 1):
                pass
        except BaseException:
            pass
