# attack: an iterator without end, which no count of `while` passes sees
# verdict: ok
# values: [{"undefined": "timeout"}, 1, 0, {"undefined": "timeout"}]
# limits: cpu_s=3
def f(x):
    for _ in iter(int, 1 if len(x) > 1 else 0):
        pass
    return len(x)
