# attack: swallows every MemoryError and holds all memory when it returns, so that nothing is left to answer with
# verdict: ok|memory|crashed|too_slow
# limits: input_cpu_s=0.3 cpu_s=3 wall_s=8
kept = []


def f(x):
    size = 2**24
    for _ in range(100000):
        try:
            kept.append(bytearray(size))
        except MemoryError:
            size //= 2
            if size < 16:
                break
    return 1
