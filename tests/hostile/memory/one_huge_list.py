# attack: one list of eight gigabytes
# verdict: ok
# values: [{"undefined": "MemoryError"}, {"undefined": "MemoryError"}, [], {"undefined": "MemoryError"}]
def f(x):
    return len([0] * 10**9) if x else x
