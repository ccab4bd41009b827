# attack: garbage in cycles with the collector off
# verdict: ok
# values: [{"undefined": "MemoryError"}, {"undefined": "MemoryError"}, {"undefined": "MemoryError"}, {"undefined": "MemoryError"}]
# limits: memory_mb=32 input_cpu_s=3 cpu_s=15 wall_s=15
# seconds: 15
import gc


def f(x):
    gc.disable()
    for n in range(10**7):
        one = [bytearray(10000)]
        one.append(one)
    return n
