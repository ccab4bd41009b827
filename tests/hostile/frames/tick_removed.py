# attack: removes the counter of loop passes from its namespace, then loops without end
# verdict: ok
# values: [{"undefined": "timeout"}, {"undefined": "timeout"}, [], {"undefined": "timeout"}]
# limits: input_cpu_s=0.1 cpu_s=4 wall_s=8
def f(x):
    for name in list(globals()):
        if "tick" in name:
            globals()[name] = lambda: None
    while x:
        pass
    return x
