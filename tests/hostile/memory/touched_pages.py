# attack: asks for pages and writes to each of them, so that they are real
# verdict: ok
# values: [{"undefined": "MemoryError"}, {"undefined": "MemoryError"}, {"undefined": "MemoryError"}, {"undefined": "MemoryError"}]
# limits: input_cpu_s=2 cpu_s=10 wall_s=10
def f(x):
    kept = []
    for _ in range(10**6):
        kept.append(bytearray(b"\x01" * 2**20))
    return len(kept)
