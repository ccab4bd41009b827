# attack: sort with a comparison that does not end
# verdict: ok
# values: [{"undefined": "timeout"}, [1], [], {"undefined": "timeout"}]
# limits: cpu_s=3
class Slow(int):
    def __lt__(self, other):
        for _ in iter(int, 1):
            pass


def f(x):
    return [int(v) for v in sorted(map(Slow, x))]
