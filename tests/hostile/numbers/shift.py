# attack: a shift by a trillion
# verdict: ok
# values: [{"undefined": "MemoryError"}, {"undefined": "MemoryError"}, {"undefined": "MemoryError"}, {"undefined": "MemoryError"}]
def f(x):
    return 1 << 10**12
