# attack: a string that doubles until there is no more
# verdict: ok
# values: [{"undefined": "MemoryError"}, {"undefined": "MemoryError"}, {"undefined": "MemoryError"}, {"undefined": "MemoryError"}]
# limits: input_cpu_s=2 cpu_s=10 wall_s=10
def f(x):
    text = "peirce"
    for _ in range(60):
        text += text
    return len(text)
