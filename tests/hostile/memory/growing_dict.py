# attack: a dict whose table is copied each time it grows
# verdict: ok
# values: [{"undefined": "MemoryError"}, {"undefined": "MemoryError"}, {"undefined": "MemoryError"}, {"undefined": "MemoryError"}]
# limits: memory_mb=32 input_cpu_s=5 cpu_s=30 wall_s=30
# seconds: 30
def f(x):
    table = {}
    for n in range(10**8):
        table[n] = None
    return len(table)
