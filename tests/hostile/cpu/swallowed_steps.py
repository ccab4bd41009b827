# attack: swallows the end of its budget and returns a value all the same
# verdict: ok
# values: [{"undefined": "steps"}, {"undefined": "steps"}, "fine", {"undefined": "steps"}]
def f(x):
    try:
        while x:
            pass
    except BaseException:
        return "cheated"
    return "fine"
