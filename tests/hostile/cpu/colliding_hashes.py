# attack: a hundred thousand keys with one hash
# verdict: ok|too_slow
# values: [{"undefined": "timeout"}, {"undefined": "timeout"}, {"undefined": "timeout"}, {"undefined": "timeout"}]
# limits: input_cpu_s=0.2 cpu_s=4 wall_s=8
def f(x):
    return len({n * (2**61 - 1): n for n in range(1, 200_000)})
