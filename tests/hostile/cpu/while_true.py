# attack: a loop without end
# verdict: ok
# values: [{"undefined": "steps"}, {"undefined": "steps"}, [], {"undefined": "steps"}]
def f(x):
    while x:
        pass
    return x
