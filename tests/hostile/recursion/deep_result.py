# attack: returns a value a million deep
# verdict: ok
# values: [{"undefined": "too_large"}, {"undefined": "too_large"}, {"undefined": "too_large"}, {"undefined": "too_large"}]
# limits: input_cpu_s=2 cpu_s=10 wall_s=10 memory_mb=256
def f(x):
    deep = []
    for n in range(200_000):
        deep = [deep] if n % 2 else {"k": deep}
    return deep
